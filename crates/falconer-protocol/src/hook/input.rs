//! What a hook is told.

use serde_json::Value;

use super::HookEvent;
use crate::id::{AgentId, SessionId, TaskId, ToolUseId};
use crate::mcp::McpServerProvenance;
use crate::message::AssistantError;
use crate::number::Number;
use crate::permission::{PermissionMode, PermissionUpdate};
use crate::wire::{Object, tagged_enum, wire_struct};

macro_rules! hook_inputs {
    ($(
        $(#[$meta:meta])*
        $variant:ident($name:ident) = $event:literal { $($body:tt)* }
    )+) => {
        tagged_enum! {
            /// What a hook is told.
            pub enum HookInput by "hook_event_name" {
                $($(#[$meta])* $variant(Box<$name>) = $event,)+
            }
        }

        impl HookInput {
            /// The event.
            pub fn event(&self) -> HookEvent {
                HookEvent::from(self.tag().unwrap_or_default())
            }

            /// The session it happens in.
            pub fn session_id(&self) -> Option<&str> {
                match self {
                    $(Self::$variant(input) => input.session_id.as_ref().map(SessionId::as_str),)+
                    Self::Unknown(object) => object.get("session_id")?.as_str(),
                }
            }

            /// The directory it happens in.
            pub fn cwd(&self) -> Option<&str> {
                match self {
                    $(Self::$variant(input) => input.cwd.as_deref(),)+
                    Self::Unknown(object) => object.get("cwd")?.as_str(),
                }
            }

            /// The sub-agent it happens in; `None` in the main conversation.
            pub fn agent_id(&self) -> Option<&str> {
                match self {
                    $(Self::$variant(input) => input.agent_id.as_ref().map(AgentId::as_str),)+
                    Self::Unknown(object) => object.get("agent_id")?.as_str(),
                }
            }
        }

        $(
            wire_struct! {
                $(#[$meta])*
                pub struct $name ["hook_event_name" = $event] {
                    pub session_id ? SessionId,
                    pub transcript_path ? String,
                    pub cwd ? String,
                    pub prompt_id ? String,
                    pub permission_mode ? PermissionMode,
                    pub agent_id ? AgentId,
                    pub agent_type ? String,
                    pub effort ? Effort,
                    $($body)*
                }
            }
        )+
    };
}

wire_struct! {
    /// How hard the model thinks.
    pub struct Effort {
        pub level: String,
    }
}

hook_inputs! {
    /// Before a tool runs.
    PreToolUse(PreToolUseInput) = "PreToolUse" {
        pub tool_name: String,
        pub tool_input: Value,
        pub tool_use_id ? ToolUseId,
        pub mcp_server ? McpServerProvenance,
    }
    /// After a tool ran.
    PostToolUse(PostToolUseInput) = "PostToolUse" {
        pub tool_name: String,
        pub tool_input: Value,
        pub tool_response: Value,
        pub tool_use_id ? ToolUseId,
        pub duration_ms ? Number,
        pub mcp_server ? McpServerProvenance,
    }
    /// After a tool failed.
    PostToolUseFailure(PostToolUseFailureInput) = "PostToolUseFailure" {
        pub tool_name: String,
        pub tool_input: Value,
        pub tool_use_id ? ToolUseId,
        pub error: String,
        pub is_interrupt ? bool,
        pub duration_ms ? Number,
        pub mcp_server ? McpServerProvenance,
    }
    /// After all tools of a message.
    PostToolBatch(PostToolBatchInput) = "PostToolBatch" {
        pub tool_calls: Vec<ToolBatchCall>,
    }
    /// While the host is asked for permission.
    PermissionRequest(PermissionRequestInput) = "PermissionRequest" {
        pub tool_name: String,
        pub tool_input: Value,
        pub permission_suggestions ? Vec<PermissionUpdate>,
        pub mcp_server ? McpServerProvenance,
    }
    /// After a tool was denied.
    PermissionDenied(PermissionDeniedInput) = "PermissionDenied" {
        pub tool_name: String,
        pub tool_input: Value,
        pub tool_use_id ? ToolUseId,
        pub reason: String,
        pub mcp_server ? McpServerProvenance,
    }
    /// Before a prompt reaches the model.
    UserPromptSubmit(UserPromptSubmitInput) = "UserPromptSubmit" {
        pub prompt: String,
        pub source ? String,
        pub session_title ? String,
    }
    /// Before an expanded command reaches the model.
    UserPromptExpansion(UserPromptExpansionInput) = "UserPromptExpansion" {
        pub expansion_type: String,
        pub command_name: String,
        pub command_args ? String,
        pub command_source ? String,
        pub prompt ? String,
    }
    /// When a session begins.
    SessionStart(SessionStartInput) = "SessionStart" {
        pub source: String,
        pub model ? String,
        pub session_title ? String,
        pub seconds_since_last_response ? Number,
        pub context_tokens ? u64,
        pub prompt_cache_likely_expired ? bool,
        pub estimated_cache_write_usd ? Number,
    }
    /// When a session ends.
    SessionEnd(SessionEndInput) = "SessionEnd" {
        pub reason: String,
    }
    /// When a project is set up.
    Setup(SetupInput) = "Setup" {
        pub trigger: String,
    }
    /// When the model wants to stop.
    Stop(StopInput) = "Stop" {
        pub stop_hook_active: bool,
        pub last_assistant_message ? String,
        pub background_tasks ? Vec<BackgroundTaskSummary>,
        pub session_crons ? Vec<SessionCronSummary>,
    }
    /// When a turn failed.
    StopFailure(StopFailureInput) = "StopFailure" {
        pub error: AssistantError,
        pub error_details ? String,
        pub last_assistant_message ? String,
    }
    /// When a sub-agent starts.
    SubagentStart(SubagentStartInput) = "SubagentStart" {}
    /// When a sub-agent wants to stop.
    SubagentStop(SubagentStopInput) = "SubagentStop" {
        pub stop_hook_active: bool,
        pub agent_transcript_path ? String,
        pub last_assistant_message ? String,
        pub background_tasks ? Vec<BackgroundTaskSummary>,
        pub session_crons ? Vec<SessionCronSummary>,
    }
    /// Before earlier messages are replaced by a summary.
    PreCompact(PreCompactInput) = "PreCompact" {
        pub trigger: String,
        pub custom_instructions ? String,
    }
    /// After earlier messages were replaced by a summary.
    PostCompact(PostCompactInput) = "PostCompact" {
        pub trigger: String,
        pub compact_summary ? String,
    }
    /// Before the model changes.
    PreModelSwitch(PreModelSwitchInput) = "PreModelSwitch" {
        pub from_model: String,
        pub to_model: String,
        pub requested_model ? String,
        pub source ? String,
        pub context_tokens ? u64,
        pub prompt_cache_warm ? bool,
        pub cache_ttl ? String,
        pub estimated_cache_write_usd ? Number,
        pub pricing ? String,
    }
    /// After the model changed.
    PostModelSwitch(PostModelSwitchInput) = "PostModelSwitch" {
        pub from_model: String,
        pub to_model: String,
        pub requested_model ? String,
        pub source ? String,
        pub context_tokens ? u64,
        pub prompt_cache_warm ? bool,
        pub cache_ttl ? String,
        pub estimated_cache_write_usd ? Number,
        pub pricing ? String,
    }
    /// When the user is told something.
    Notification(NotificationInput) = "Notification" {
        pub message: String,
        pub title ? String,
        pub notification_type ? String,
    }
    /// When an MCP server asks the user.
    Elicitation(ElicitationInput) = "Elicitation" {
        pub mcp_server_name: String,
        pub message: String,
        pub mode ? String,
        pub url ? String,
        pub elicitation_id ? String,
        pub requested_schema ? Object,
    }
    /// When the user answered an MCP server.
    ElicitationResult(ElicitationResultInput) = "ElicitationResult" {
        pub mcp_server_name: String,
        pub elicitation_id ? String,
        pub mode ? String,
        pub action: String,
        pub content ? Object,
    }
    /// When a task of a team is made.
    TaskCreated(TaskCreatedInput) = "TaskCreated" {
        pub task_id: TaskId,
        pub task_subject: String,
        pub task_description ? String,
        pub teammate_name ? String,
        pub team_name ? String,
    }
    /// When a task of a team is done.
    TaskCompleted(TaskCompletedInput) = "TaskCompleted" {
        pub task_id: TaskId,
        pub task_subject: String,
        pub task_description ? String,
        pub teammate_name ? String,
        pub team_name ? String,
    }
    /// When a member of a team has nothing to do.
    TeammateIdle(TeammateIdleInput) = "TeammateIdle" {
        pub teammate_name: String,
        pub team_name: String,
    }
    /// When a settings file changed.
    ConfigChange(ConfigChangeInput) = "ConfigChange" {
        pub source: String,
        pub file_path ? String,
    }
    /// When a file of instructions was read.
    InstructionsLoaded(InstructionsLoadedInput) = "InstructionsLoaded" {
        pub file_path: String,
        pub memory_type ? String,
        pub load_reason ? String,
        pub globs ? Vec<String>,
        pub trigger_file_path ? String,
        pub parent_file_path ? String,
    }
    /// When a directory to work in was added.
    DirectoryAdded(DirectoryAddedInput) = "DirectoryAdded" {
        pub directory: String,
        pub source ? String,
    }
    /// When the working directory changed.
    CwdChanged(CwdChangedInput) = "CwdChanged" {
        pub old_cwd: String,
        pub new_cwd: String,
    }
    /// When a watched file changed.
    FileChanged(FileChangedInput) = "FileChanged" {
        pub file_path: String,
        pub event: String,
    }
    /// When a worktree is wanted.
    WorktreeCreate(WorktreeCreateInput) = "WorktreeCreate" {
        pub name: String,
    }
    /// When a worktree is no longer wanted.
    WorktreeRemove(WorktreeRemoveInput) = "WorktreeRemove" {
        pub worktree_path: String,
    }
    /// Before a piece of text is shown.
    MessageDisplay(MessageDisplayInput) = "MessageDisplay" {
        pub turn_id: String,
        pub message_id: String,
        pub index: u64,
        pub final_: bool => "final",
        pub delta: String,
    }
}

wire_struct! {
    /// One of the tool calls of a message.
    pub struct ToolBatchCall {
        pub tool_name: String,
        pub tool_input: Value,
        pub tool_use_id ? ToolUseId,
        pub tool_response ? Value,
    }
}

wire_struct! {
    /// A task in the background.
    pub struct BackgroundTaskSummary {
        pub id: TaskId,
        pub kind ? String => "type",
        pub status ? String,
        pub description ? String,
        pub command ? String,
        pub agent_type ? String,
        pub server ? String,
        pub tool ? String,
        pub name ? String,
    }
}

wire_struct! {
    /// A prompt that comes back at fixed times.
    pub struct SessionCronSummary {
        pub id: String,
        pub schedule ? String,
        pub recurring ? bool,
        pub prompt ? String,
    }
}
