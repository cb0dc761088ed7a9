//! Answers that only one event understands.

use serde_json::Value;

use crate::permission::PermissionResult;
use crate::wire::{Object, open_enum, tagged_enum, wire_struct};

macro_rules! specific_outputs {
    ($(
        $(#[$meta:meta])*
        $variant:ident($name:ident) = $event:literal { $($body:tt)* }
    )+) => {
        tagged_enum! {
            /// An answer that only one event understands.
            pub enum HookSpecificOutput by "hookEventName" {
                $($(#[$meta])* $variant($name) = $event,)+
            }
        }

        $(
            wire_struct! {
                $(#[$meta])*
                pub struct $name ["hookEventName" = $event] { $($body)* }
            }

            impl From<$name> for HookSpecificOutput {
                fn from(output: $name) -> Self {
                    Self::$variant(output)
                }
            }
        )+
    };
}

specific_outputs! {
    /// Before a tool runs.
    PreToolUse(PreToolUseOutput) = "PreToolUse" {
        /// Decision; absent leaves it to the rules and the host.
        pub permission_decision ? HookPermissionDecision => "permissionDecision",
        /// Reason for the model if denied, for the user if asked.
        pub permission_decision_reason ? String => "permissionDecisionReason",
        /// Arguments in place of all those of the model; permissions are judged on them.
        pub updated_input ? Value => "updatedInput",
        /// Text that the model reads beside the result.
        pub additional_context ? String => "additionalContext",
    }
    /// After a tool ran.
    PostToolUse(PostToolUseOutput) = "PostToolUse" {
        /// Text that the model reads beside the result.
        pub additional_context ? String => "additionalContext",
        /// Text for the classifier of auto mode only.
        pub classifier_context ? String => "classifierContext",
        /// Output in place of the tool's.
        pub updated_tool_output ? Value => "updatedToolOutput",
        /// Output in place of an MCP tool's; older than `updated_tool_output`.
        pub updated_mcp_tool_output ? Value => "updatedMCPToolOutput",
    }
    /// After a tool failed.
    PostToolUseFailure(PostToolUseFailureOutput) = "PostToolUseFailure" {
        /// Text that the model reads beside the error.
        pub additional_context ? String => "additionalContext",
    }
    /// After all tools of a message.
    PostToolBatch(PostToolBatchOutput) = "PostToolBatch" {
        /// Text that the model reads after the results.
        pub additional_context ? String => "additionalContext",
    }
    /// While the host is asked for permission.
    PermissionRequest(PermissionRequestOutput) = "PermissionRequest" {
        /// Answer in place of the host's; the request to the host is then taken back.
        pub decision: PermissionResult,
    }
    /// After a tool was denied.
    PermissionDenied(PermissionDeniedOutput) = "PermissionDenied" {
        /// `true` to tell the model that it may try again.
        pub retry ? bool,
    }
    /// Before a prompt reaches the model.
    UserPromptSubmit(UserPromptSubmitOutput) = "UserPromptSubmit" {
        /// Text that the model reads with the prompt.
        pub additional_context ? String => "additionalContext",
        /// New title of the session.
        pub session_title ? String => "sessionTitle",
        /// `true` to leave the prompt out of the notice that it was blocked.
        pub suppress_original_prompt ? bool => "suppressOriginalPrompt",
    }
    /// Before an expanded command reaches the model.
    UserPromptExpansion(UserPromptExpansionOutput) = "UserPromptExpansion" {
        /// Text that the model reads with the prompt.
        pub additional_context ? String => "additionalContext",
        /// `true` to leave the prompt out of the notice that it was blocked.
        pub suppress_original_prompt ? bool => "suppressOriginalPrompt",
    }
    /// On the beginning of a session.
    SessionStart(SessionStartOutput) = "SessionStart" {
        /// Text that the model reads first.
        pub additional_context ? String => "additionalContext",
        /// First prompt of the session.
        pub initial_user_message ? String => "initialUserMessage",
        /// Title of the session.
        pub session_title ? String => "sessionTitle",
        /// Absolute paths for which `FileChanged` is to fire.
        pub watch_paths ? Vec<String> => "watchPaths",
        /// `true` to read the skills again after the hook.
        pub reload_skills ? bool => "reloadSkills",
    }
    /// On the setup of a project.
    Setup(SetupOutput) = "Setup" {
        /// Text that the model reads first.
        pub additional_context ? String => "additionalContext",
    }
    /// Before the turn ends.
    Stop(StopOutput) = "Stop" {
        /// Text that the model reads if it goes on.
        pub additional_context ? String => "additionalContext",
    }
    /// On the start of a sub-agent.
    SubagentStart(SubagentStartOutput) = "SubagentStart" {
        /// Text that the sub-agent reads first.
        pub additional_context ? String => "additionalContext",
    }
    /// Before a sub-agent ends.
    SubagentStop(SubagentStopOutput) = "SubagentStop" {
        /// Text that the sub-agent reads if it goes on.
        pub additional_context ? String => "additionalContext",
    }
    /// Before the model changes.
    PreModelSwitch(PreModelSwitchOutput) = "PreModelSwitch" {
        /// Decision; `deny` keeps the model.
        pub permission_decision ? HookPermissionDecision => "permissionDecision",
        /// Reason for the user.
        pub permission_decision_reason ? String => "permissionDecisionReason",
    }
    /// After the model changed.
    PostModelSwitch(PostModelSwitchOutput) = "PostModelSwitch" {
        /// Text that the model reads with the next prompt.
        pub additional_context ? String => "additionalContext",
    }
    /// On a notice to the user.
    Notification(NotificationOutput) = "Notification" {
        /// Text that the model reads.
        pub additional_context ? String => "additionalContext",
    }
    /// Before an MCP server's form is shown.
    Elicitation(ElicitationOutput) = "Elicitation" {
        /// `accept`, `decline` or `cancel` in place of the user; absent to ask.
        pub action ? String,
        /// Values of the form, with `accept`.
        pub content ? Object,
    }
    /// After the user answered an MCP server.
    ElicitationResult(ElicitationResultOutput) = "ElicitationResult" {
        /// Action in place of the user's; absent to keep it.
        pub action ? String,
        /// Values in place of the user's.
        pub content ? Object,
    }
    /// After the working directory changed.
    CwdChanged(CwdChangedOutput) = "CwdChanged" {
        /// Absolute paths for which `FileChanged` is to fire.
        pub watch_paths ? Vec<String> => "watchPaths",
    }
    /// After a watched file changed.
    FileChanged(FileChangedOutput) = "FileChanged" {
        /// Absolute paths for which `FileChanged` is to fire from now on.
        pub watch_paths ? Vec<String> => "watchPaths",
    }
    /// On the need for a worktree.
    WorktreeCreate(WorktreeCreateOutput) = "WorktreeCreate" {
        /// Path of the worktree that the hook has made.
        pub worktree_path: String => "worktreePath",
    }
    /// Before a piece of text is shown.
    MessageDisplay(MessageDisplayOutput) = "MessageDisplay" {
        /// Text in place of the piece; absent shows it unchanged.
        pub display_content ? String => "displayContent",
    }
}

open_enum! {
    /// A hook's decision about a tool call.
    pub enum HookPermissionDecision {
        /// Ask the host.
        Ask = "ask",
        /// Run without asking; a deny rule still wins.
        Allow = "allow",
        /// Do not run.
        Deny = "deny",
        /// End the turn; the call is handed to the host in the result.
        Defer = "defer",
    }
}
