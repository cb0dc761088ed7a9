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
        pub permission_decision ? HookPermissionDecision => "permissionDecision",
        pub permission_decision_reason ? String => "permissionDecisionReason",
        /// Replaces the whole input.
        pub updated_input ? Value => "updatedInput",
        pub additional_context ? String => "additionalContext",
    }
    /// After a tool ran.
    PostToolUse(PostToolUseOutput) = "PostToolUse" {
        pub additional_context ? String => "additionalContext",
        pub classifier_context ? String => "classifierContext",
        pub updated_tool_output ? Value => "updatedToolOutput",
        pub updated_mcp_tool_output ? Value => "updatedMCPToolOutput",
    }
    /// After a tool failed.
    PostToolUseFailure(PostToolUseFailureOutput) = "PostToolUseFailure" {
        pub additional_context ? String => "additionalContext",
    }
    /// After all tools of a message.
    PostToolBatch(PostToolBatchOutput) = "PostToolBatch" {
        pub additional_context ? String => "additionalContext",
    }
    /// While the host is asked for permission.
    PermissionRequest(PermissionRequestOutput) = "PermissionRequest" {
        pub decision: PermissionResult,
    }
    /// After a tool was denied.
    PermissionDenied(PermissionDeniedOutput) = "PermissionDenied" {
        pub retry ? bool,
    }
    /// Before a prompt reaches the model.
    UserPromptSubmit(UserPromptSubmitOutput) = "UserPromptSubmit" {
        pub additional_context ? String => "additionalContext",
        pub session_title ? String => "sessionTitle",
        pub suppress_original_prompt ? bool => "suppressOriginalPrompt",
    }
    /// Before an expanded command reaches the model.
    UserPromptExpansion(UserPromptExpansionOutput) = "UserPromptExpansion" {
        pub additional_context ? String => "additionalContext",
        pub suppress_original_prompt ? bool => "suppressOriginalPrompt",
    }
    /// When a session begins.
    SessionStart(SessionStartOutput) = "SessionStart" {
        pub additional_context ? String => "additionalContext",
        pub initial_user_message ? String => "initialUserMessage",
        pub session_title ? String => "sessionTitle",
        pub watch_paths ? Vec<String> => "watchPaths",
        pub reload_skills ? bool => "reloadSkills",
    }
    /// When a project is set up.
    Setup(SetupOutput) = "Setup" {
        pub additional_context ? String => "additionalContext",
    }
    /// When the model wants to stop.
    Stop(StopOutput) = "Stop" {
        pub additional_context ? String => "additionalContext",
    }
    /// When a sub-agent starts.
    SubagentStart(SubagentStartOutput) = "SubagentStart" {
        pub additional_context ? String => "additionalContext",
    }
    /// When a sub-agent wants to stop.
    SubagentStop(SubagentStopOutput) = "SubagentStop" {
        pub additional_context ? String => "additionalContext",
    }
    /// Before the model changes.
    PreModelSwitch(PreModelSwitchOutput) = "PreModelSwitch" {
        pub permission_decision ? HookPermissionDecision => "permissionDecision",
        pub permission_decision_reason ? String => "permissionDecisionReason",
    }
    /// After the model changed.
    PostModelSwitch(PostModelSwitchOutput) = "PostModelSwitch" {
        pub additional_context ? String => "additionalContext",
    }
    /// When the user is told something.
    Notification(NotificationOutput) = "Notification" {
        pub additional_context ? String => "additionalContext",
    }
    /// When an MCP server asks the user.
    Elicitation(ElicitationOutput) = "Elicitation" {
        pub action ? String,
        pub content ? Object,
    }
    /// When the user answered an MCP server.
    ElicitationResult(ElicitationResultOutput) = "ElicitationResult" {
        pub action ? String,
        pub content ? Object,
    }
    /// When the working directory changed.
    CwdChanged(CwdChangedOutput) = "CwdChanged" {
        pub watch_paths ? Vec<String> => "watchPaths",
    }
    /// When a watched file changed.
    FileChanged(FileChangedOutput) = "FileChanged" {
        pub watch_paths ? Vec<String> => "watchPaths",
    }
    /// When a worktree is wanted.
    WorktreeCreate(WorktreeCreateOutput) = "WorktreeCreate" {
        pub worktree_path: String => "worktreePath",
    }
    /// Before a piece of text is shown.
    MessageDisplay(MessageDisplayOutput) = "MessageDisplay" {
        pub display_content ? String => "displayContent",
    }
}

open_enum! {
    /// What a hook says about a tool call.
    pub enum HookPermissionDecision {
        /// Ask the host.
        Ask = "ask",
        /// Run it; a deny rule still wins.
        Allow = "allow",
        /// Do not run it.
        Deny = "deny",
        /// End the turn; the call is handed to the host.
        Defer = "defer",
    }
}
