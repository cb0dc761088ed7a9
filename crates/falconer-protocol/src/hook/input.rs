//! The event that a hook is asked about.

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
            /// The event that a hook is asked about.
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
                    /// Session the event happens in.
                    pub session_id ? SessionId,
                    /// Transcript of the session; the latest entries may not be written yet.
                    pub transcript_path ? String,
                    /// Working directory at the time.
                    pub cwd ? String,
                    /// Id shared by all events from one prompt to the next; absent before the first
                    /// prompt.
                    pub prompt_id ? String,
                    /// Mode at the time; absent for events outside a turn.
                    pub permission_mode ? PermissionMode,
                    /// Sub-agent the event happens in; absent in the main conversation.
                    pub agent_id ? AgentId,
                    /// Type of that sub-agent; also set if an agent runs the main conversation.
                    pub agent_type ? String,
                    /// Effort of the turn; only for events in a turn.
                    pub effort ? Effort,
                    $($body)*
                }
            }
        )+
    };
}

wire_struct! {
    /// The reasoning effort of the turn.
    pub struct Effort {
        /// Level in use after limits of the model, such as `medium`.
        pub level: String,
    }
}

hook_inputs! {
    /// Before a tool runs.
    PreToolUse(PreToolUseInput) = "PreToolUse" {
        /// Tool that wants to run; MCP tools are called `mcp__SERVER__TOOL`.
        pub tool_name: String,
        /// Arguments as the model wrote them.
        pub tool_input: Value,
        /// Id of the call in the `assistant` line.
        pub tool_use_id ? ToolUseId,
        /// Server of the tool; absent for built-in tools.
        pub mcp_server ? McpServerProvenance,
    }
    /// After a tool ran.
    PostToolUse(PostToolUseInput) = "PostToolUse" {
        /// Tool that ran.
        pub tool_name: String,
        /// Arguments it ran with, after hooks and permission answers.
        pub tool_input: Value,
        /// Output in the tool's own shape, such as [`BashOutput`](crate::tool::BashOutput).
        pub tool_response: Value,
        /// Id of the call in the `assistant` line.
        pub tool_use_id ? ToolUseId,
        /// Milliseconds the tool ran.
        pub duration_ms ? Number,
        /// Server of the tool; absent for built-in tools.
        pub mcp_server ? McpServerProvenance,
    }
    /// After a tool failed.
    PostToolUseFailure(PostToolUseFailureInput) = "PostToolUseFailure" {
        /// Tool that failed.
        pub tool_name: String,
        /// Arguments it ran with.
        pub tool_input: Value,
        /// Id of the call in the `assistant` line.
        pub tool_use_id ? ToolUseId,
        /// Text that the model gets as the result.
        pub error: String,
        /// `true` if an interrupt ended the tool.
        pub is_interrupt ? bool,
        /// Milliseconds the tool ran.
        pub duration_ms ? Number,
        /// Server of the tool; absent for built-in tools.
        pub mcp_server ? McpServerProvenance,
    }
    /// After all tools of a message.
    PostToolBatch(PostToolBatchInput) = "PostToolBatch" {
        /// Calls of the message with their outputs.
        pub tool_calls: Vec<ToolBatchCall>,
    }
    /// While the host is asked for permission.
    PermissionRequest(PermissionRequestInput) = "PermissionRequest" {
        /// Tool that wants to run.
        pub tool_name: String,
        /// Arguments, after `PreToolUse` hooks.
        pub tool_input: Value,
        /// Ready-made updates to choose from, as the host gets them.
        pub permission_suggestions ? Vec<PermissionUpdate>,
        /// Server of the tool; absent for built-in tools.
        pub mcp_server ? McpServerProvenance,
    }
    /// After a tool was denied.
    PermissionDenied(PermissionDeniedInput) = "PermissionDenied" {
        /// Tool that was denied.
        pub tool_name: String,
        /// Arguments of the call.
        pub tool_input: Value,
        /// Id of the call in the `assistant` line.
        pub tool_use_id ? ToolUseId,
        /// Text that the model gets as the result.
        pub reason: String,
        /// Server of the tool; absent for built-in tools.
        pub mcp_server ? McpServerProvenance,
    }
    /// Before a prompt reaches the model.
    UserPromptSubmit(UserPromptSubmitInput) = "UserPromptSubmit" {
        /// Text of the prompt, or of the notice about a finished task.
        pub prompt: String,
        /// Author of the prompt: `user`, `sdk`, `system` and others; absent from older engines.
        pub source ? String,
        /// Title of the session; absent if it has none.
        pub session_title ? String,
    }
    /// Before an expanded command reaches the model.
    UserPromptExpansion(UserPromptExpansionInput) = "UserPromptExpansion" {
        /// `slash_command` or `mcp_prompt`.
        pub expansion_type: String,
        /// Name of the command without the slash.
        pub command_name: String,
        /// Text after the name; empty if there is none.
        pub command_args ? String,
        /// Origin of the command; absent if unknown.
        pub command_source ? String,
        /// Prompt as the user wrote it.
        pub prompt ? String,
    }
    /// On the beginning of a session.
    SessionStart(SessionStartInput) = "SessionStart" {
        /// `startup`, `resume`, `clear`, `compact` or `fork`.
        pub source: String,
        /// Model the session starts with.
        pub model ? String,
        /// Title of the session; absent if it has none.
        pub session_title ? String,
        /// Seconds since the last answer in the transcript; for `resume` and `fork`.
        pub seconds_since_last_response ? Number,
        /// Tokens that the first request sends again; for `resume` and `fork`.
        pub context_tokens ? u64,
        /// `true` if the first request cannot use the cache; for `resume` and `fork`.
        pub prompt_cache_likely_expired ? bool,
        /// Estimated cost in US dollars of writing the cache again; for `resume` and `fork`.
        pub estimated_cache_write_usd ? Number,
    }
    /// On the end of a session.
    SessionEnd(SessionEndInput) = "SessionEnd" {
        /// `clear`, `resume`, `logout`, `prompt_input_exit` or `other`.
        pub reason: String,
    }
    /// On the setup of a project.
    Setup(SetupInput) = "Setup" {
        /// `init` or `maintenance`.
        pub trigger: String,
    }
    /// Before the turn ends.
    Stop(StopInput) = "Stop" {
        /// `true` if a `Stop` hook has already made the model go on in this turn.
        pub stop_hook_active: bool,
        /// Text of the model's last answer; absent if it has none.
        pub last_assistant_message ? String,
        /// Tasks still running; empty if there are none.
        pub background_tasks ? Vec<BackgroundTaskSummary>,
        /// Prompts that will wake the session; empty if there are none.
        pub session_crons ? Vec<SessionCronSummary>,
    }
    /// After a turn that failed.
    StopFailure(StopFailureInput) = "StopFailure" {
        /// Class of the failure.
        pub error: AssistantError,
        /// Text of the failure; absent if there is none.
        pub error_details ? String,
        /// Error text that stands in place of an answer.
        pub last_assistant_message ? String,
    }
    /// On the start of a sub-agent.
    SubagentStart(SubagentStartInput) = "SubagentStart" {}
    /// Before a sub-agent ends.
    SubagentStop(SubagentStopInput) = "SubagentStop" {
        /// `true` if a `SubagentStop` hook has already made it go on.
        pub stop_hook_active: bool,
        /// Transcript of the sub-agent.
        pub agent_transcript_path ? String,
        /// Text of its last answer; absent if it has none.
        pub last_assistant_message ? String,
        /// Tasks still running in the session.
        pub background_tasks ? Vec<BackgroundTaskSummary>,
        /// Prompts that will wake the session.
        pub session_crons ? Vec<SessionCronSummary>,
    }
    /// Before earlier messages are replaced by a summary.
    PreCompact(PreCompactInput) = "PreCompact" {
        /// `manual` for `/compact`, or `auto`.
        pub trigger: String,
        /// Text after `/compact`; `null` if there is none.
        pub custom_instructions ? String,
    }
    /// After earlier messages were replaced by a summary.
    PostCompact(PostCompactInput) = "PostCompact" {
        /// `manual` for `/compact`, or `auto`.
        pub trigger: String,
        /// Summary that stands for the earlier messages.
        pub compact_summary ? String,
    }
    /// Before the model changes.
    PreModelSwitch(PreModelSwitchInput) = "PreModelSwitch" {
        /// Model id in use.
        pub from_model: String,
        /// Model id to be used.
        pub to_model: String,
        /// Alias or id that was asked for; `null` for the default.
        pub requested_model ? String,
        /// `command`, `picker` or `sdk`.
        pub source ? String,
        /// Tokens that the next request sends again; 0 before the first answer.
        pub context_tokens ? u64,
        /// `true` if the switch gives up a cache that is still of use.
        pub prompt_cache_warm ? bool,
        /// Lifetime of the cache: `5m` or `1h`.
        pub cache_ttl ? String,
        /// Estimated cost in US dollars of writing the cache of the new model.
        pub estimated_cache_write_usd ? Number,
        /// Price table of that estimate: `configured`, `catalog` or `default`.
        pub pricing ? String,
    }
    /// After the model changed.
    PostModelSwitch(PostModelSwitchInput) = "PostModelSwitch" {
        /// Model id that was in use.
        pub from_model: String,
        /// Model id now in use.
        pub to_model: String,
        /// Alias or id that was asked for; `null` for the default.
        pub requested_model ? String,
        /// `command`, `picker`, `sdk`, `auto` or `resume`.
        pub source ? String,
        /// Tokens that the next request sends again; 0 before the first answer.
        pub context_tokens ? u64,
        /// `true` if the switch gave up a cache that was still of use.
        pub prompt_cache_warm ? bool,
        /// Lifetime of the cache: `5m` or `1h`.
        pub cache_ttl ? String,
        /// Estimated cost in US dollars of writing the cache of the new model.
        pub estimated_cache_write_usd ? Number,
        /// Price table of that estimate: `configured`, `catalog` or `default`.
        pub pricing ? String,
    }
    /// On a notice to the user.
    Notification(NotificationInput) = "Notification" {
        /// Text of the notice.
        pub message: String,
        /// Heading of the notice; absent in the recorded sessions.
        pub title ? String,
        /// Kind of notice; observed as `permission_prompt`.
        pub notification_type ? String,
    }
    /// Before an MCP server's form is shown.
    Elicitation(ElicitationInput) = "Elicitation" {
        /// Server that asks.
        pub mcp_server_name: String,
        /// Text for the user.
        pub message: String,
        /// `form` to fill in, or `url` to open; absent counts as `form`.
        pub mode ? String,
        /// Address to open, in mode `url`.
        pub url ? String,
        /// Id by which the server reports completion, in mode `url`.
        pub elicitation_id ? String,
        /// JSON schema of the answer, in mode `form`.
        pub requested_schema ? Object,
    }
    /// After the user answered an MCP server.
    ElicitationResult(ElicitationResultInput) = "ElicitationResult" {
        /// Server that asked.
        pub mcp_server_name: String,
        /// Id of the request, in mode `url`.
        pub elicitation_id ? String,
        /// `form` or `url`; absent counts as `form`.
        pub mode ? String,
        /// `accept`, `decline` or `cancel`.
        pub action: String,
        /// Values of the form; only with `accept`.
        pub content ? Object,
    }
    /// On a new task of a team.
    TaskCreated(TaskCreatedInput) = "TaskCreated" {
        /// Id of the task in the team's list.
        pub task_id: TaskId,
        /// Title of the task.
        pub task_subject: String,
        /// Details of the task; absent if there are none.
        pub task_description ? String,
        /// Member that created it; absent for the main conversation.
        pub teammate_name ? String,
        /// Name derived from the session; deprecated by the CLI.
        pub team_name ? String,
    }
    /// On a finished task of a team.
    TaskCompleted(TaskCompletedInput) = "TaskCompleted" {
        /// Id of the task in the team's list.
        pub task_id: TaskId,
        /// Title of the task.
        pub task_subject: String,
        /// Details of the task; absent if there are none.
        pub task_description ? String,
        /// Member that completed it; absent for the main conversation.
        pub teammate_name ? String,
        /// Name derived from the session; deprecated by the CLI.
        pub team_name ? String,
    }
    /// On a member of a team running out of work.
    TeammateIdle(TeammateIdleInput) = "TeammateIdle" {
        /// Member that has nothing to do.
        pub teammate_name: String,
        /// Name derived from the session; deprecated by the CLI.
        pub team_name: String,
    }
    /// On a change of a settings file.
    ConfigChange(ConfigChangeInput) = "ConfigChange" {
        /// `user_settings`, `project_settings`, `local_settings`, `policy_settings` or `skills`.
        pub source: String,
        /// File that changed; absent if several did.
        pub file_path ? String,
    }
    /// After a file of instructions was read.
    InstructionsLoaded(InstructionsLoadedInput) = "InstructionsLoaded" {
        /// File that was read.
        pub file_path: String,
        /// `User`, `Project`, `Local` or `Managed`.
        pub memory_type ? String,
        /// Cause, such as `session_start`, `nested_traversal` or `include`.
        pub load_reason ? String,
        /// Patterns that the file applies to; absent if it applies to all files.
        pub globs ? Vec<String>,
        /// File whose use caused the reading.
        pub trigger_file_path ? String,
        /// File that includes this one.
        pub parent_file_path ? String,
    }
    /// After a working directory was added.
    DirectoryAdded(DirectoryAddedInput) = "DirectoryAdded" {
        /// Absolute path.
        pub directory: String,
        /// `slash_command` for `/add-dir`, or `register_repo_root`.
        pub source ? String,
    }
    /// After the working directory changed.
    CwdChanged(CwdChangedInput) = "CwdChanged" {
        /// Directory before the change.
        pub old_cwd: String,
        /// Directory after the change.
        pub new_cwd: String,
    }
    /// After a watched file changed.
    FileChanged(FileChangedInput) = "FileChanged" {
        /// File that changed, out of the paths a hook asked to watch.
        pub file_path: String,
        /// `change`, `add` or `unlink`.
        pub event: String,
    }
    /// On the need for a worktree.
    WorktreeCreate(WorktreeCreateInput) = "WorktreeCreate" {
        /// Name for the worktree, chosen by the engine.
        pub name: String,
    }
    /// On the end of a worktree.
    WorktreeRemove(WorktreeRemoveInput) = "WorktreeRemove" {
        /// Path that the `WorktreeCreate` hook returned.
        pub worktree_path: String,
    }
    /// Before a piece of text is shown.
    MessageDisplay(MessageDisplayInput) = "MessageDisplay" {
        /// Id of the turn.
        pub turn_id: String,
        /// Id of the message, the same for all its pieces; not the API's id.
        pub message_id: String,
        /// Position of the piece in the message, counted from zero.
        pub index: u64,
        /// `true` for the last piece of the message.
        pub final_: bool => "final",
        /// New text: whole lines, except in the last piece.
        pub delta: String,
    }
}

wire_struct! {
    /// One of the tool calls of a message.
    pub struct ToolBatchCall {
        /// Tool that ran.
        pub tool_name: String,
        /// Arguments it ran with.
        pub tool_input: Value,
        /// Id of the call in the `assistant` line.
        pub tool_use_id ? ToolUseId,
        /// Output in the tool's own shape; absent if it failed.
        pub tool_response ? Value,
    }
}

wire_struct! {
    /// A task in the background.
    pub struct BackgroundTaskSummary {
        /// Id as in the task messages.
        pub id: TaskId,
        /// Readable kind: `shell`, `subagent`, `monitor`, `workflow` and others.
        pub kind ? String => "type",
        /// State of the task, such as `running`.
        pub status ? String,
        /// Description, cut after 1,000 characters.
        pub description ? String,
        /// Command line of a `shell`, cut after 1,000 characters.
        pub command ? String,
        /// Type of a `subagent`.
        pub agent_type ? String,
        /// MCP server of a `monitor`.
        pub server ? String,
        /// MCP tool of a `monitor`.
        pub tool ? String,
        /// Name of a `workflow`.
        pub name ? String,
    }
}

wire_struct! {
    /// A prompt that comes back at fixed times.
    pub struct SessionCronSummary {
        /// Id of the entry.
        pub id: String,
        /// Cron expression, such as `0 9 * * 1-5`.
        pub schedule ? String,
        /// `false` if it fires once.
        pub recurring ? bool,
        /// Text that is sent then, cut after 1,000 characters.
        pub prompt ? String,
    }
}
