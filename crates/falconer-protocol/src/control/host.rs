//! Questions of the host.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{InitializeRequest, McpMessage, PluginConfig};
use crate::id::{MessageUuid, SessionId, TaskId, ToolUseId};
use crate::mcp::McpServerConfig;
use crate::number::Number;
use crate::permission::PermissionMode;
use crate::wire::{Object, tagged_enum, wire_struct};

macro_rules! host_requests {
    (
        also { $($(#[$also_meta:meta])* $also:ident($also_ty:ty) = $also_tag:literal,)+ }
        $($(#[$meta:meta])* $name:ident = $tag:literal { $($body:tt)* })+
    ) => {
        tagged_enum! {
            /// What the host asks the engine.
            pub enum HostRequest by "subtype" {
                $($(#[$also_meta])* $also($also_ty) = $also_tag,)+
                $($(#[$meta])* $name($name) = $tag,)+
            }
        }

        $(
            wire_struct! {
                $(#[$meta])*
                pub struct $name ["subtype" = $tag] { $($body)* }
            }

            impl From<$name> for HostRequest {
                fn from(request: $name) -> Self {
                    Self::$name(request)
                }
            }
        )+
    };
}

host_requests! {
    also {
        /// Opens the session: hooks, MCP servers, prompts. Answer: `InitializeResponse`.
        Initialize(Box<InitializeRequest>) = "initialize",
        /// A message of an MCP server in the host.
        McpMessage(McpMessage) = "mcp_message",
    }
    /// Ends the turn. Answer: `InterruptResponse`.
    Interrupt = "interrupt" {
        /// Drops the queued prompts too.
        pub cancel_queued ? bool,
    }
    /// Changes the model; `None` for the default one. Answer: `SetModelResponse`.
    SetModel = "set_model" {
        pub model ? String,
    }
    /// Changes the permission mode. Answer: `SetPermissionModeResponse`.
    SetPermissionMode = "set_permission_mode" {
        pub mode: PermissionMode,
    }
    /// Changes how much the model may think.
    SetMaxThinkingTokens = "set_max_thinking_tokens" {
        pub max_thinking_tokens ? u64,
        pub thinking_display ? String,
    }
    /// How the MCP servers are. Answer: `McpStatusResponse`.
    McpStatus = "mcp_status" {
        pub live_reply ? bool => "liveReply",
    }
    /// Replaces the MCP servers that were added while running. Answer: `McpSetServersResponse`.
    McpSetServers = "mcp_set_servers" {
        pub servers: BTreeMap<String, McpServerConfig>,
    }
    /// Connects an MCP server again.
    McpReconnect = "mcp_reconnect" {
        pub server_name: String => "serverName",
    }
    /// Switches an MCP server on or off.
    McpToggle = "mcp_toggle" {
        pub server_name: String => "serverName",
        pub enabled: bool,
    }
    /// Calls an MCP tool.
    McpCall = "mcp_call" {
        pub tool: String,
        pub arguments ? Object,
        pub expires_at ? String,
        pub timeout_ms ? Number,
        pub result_not_for_model ? bool,
        pub check_permissions ? bool,
        pub input_files ? Vec<Value>,
        pub output_files ? Vec<Value>,
    }
    /// Reads a resource of an MCP server. Answer: `McpReadResourceResponse`.
    McpReadResource = "mcp_read_resource" {
        pub server_name: String => "serverName",
        pub uri: String,
    }
    /// Overrides the permission mode for MCP tools.
    SetMcpPermissionModeOverride = "set_mcp_permission_mode_override" {
        pub mode ? PermissionMode,
    }
    /// What fills the context. Answer: `ContextUsage`.
    GetContextUsage = "get_context_usage" {
        /// `summary` or `full`.
        pub detail ? String,
    }
    /// Money, time and limits.
    GetUsage = "get_usage" {
        pub skip_behaviors ? bool,
    }
    /// What the session cost, in words. Answer: `SessionCostResponse`.
    GetSessionCost = "get_session_cost" {}
    /// Which models there are. Answer: `ListModelsResponse`.
    ListModels = "list_models" {}
    /// The version of the engine. Answer: `BinaryVersionResponse`.
    GetBinaryVersion = "get_binary_version" {}
    /// The settings in force.
    GetSettings = "get_settings" {}
    /// The hooks in force.
    GetHooksListing = "get_hooks_listing" {}
    /// The permission rules in force. Answer: `ListPermissionRulesResponse`.
    ListPermissionRules = "list_permission_rules" {}
    /// The plan.
    GetPlan = "get_plan" {}
    /// The status of the session.
    GetStatus = "get_status" {}
    /// The output of a task. Answer: `TaskOutputResponse`.
    GetTaskOutput = "get_task_output" {
        pub task_id: TaskId,
    }
    /// Undoes changes of files back to a prompt. Answer: `RewindResponse`.
    RewindFiles = "rewind_files" {
        /// The uuid that the host gave the prompt.
        pub user_message_id: MessageUuid,
        pub dry_run ? bool,
    }
    /// Takes back a queued prompt. Answer: `CancelAsyncMessageResponse`.
    CancelAsyncMessage = "cancel_async_message" {
        pub message_uuid: MessageUuid,
    }
    /// Stops a task.
    StopTask = "stop_task" {
        pub task_id: TaskId,
    }
    /// Moves running tools to the background.
    BackgroundTasks = "background_tasks" {
        pub tool_use_id ? ToolUseId,
    }
    /// Changes settings for this process.
    ApplyFlagSettings = "apply_flag_settings" {
        pub settings: Value,
    }
    /// Changes a settings file.
    UpdateSettings = "update_settings" {
        /// `localSettings` or `userSettings`.
        pub source: String,
        pub settings: Value,
    }
    /// Ends the process, with its input still open.
    EndSession = "end_session" {
        pub reason ? String,
    }
    /// Asks the model beside the conversation. Answer: `SideQuestionResponse`.
    SideQuestion = "side_question" {
        pub question: String,
    }
    /// Gives the session a title.
    RenameSession = "rename_session" {
        pub title: String,
        pub source ? String,
        pub session_id ? SessionId,
    }
    /// Lets the model find a title.
    GenerateSessionTitle = "generate_session_title" {
        pub description ? String,
        pub persist ? bool,
    }
    /// Reads the skills again. Answer: `ReloadSkillsResponse`.
    ReloadSkills = "reload_skills" {}
    /// Reads the plugins again. Answer: `ReloadPluginsResponse`.
    ReloadPlugins = "reload_plugins" {
        pub hold_on_cache_impact ? bool,
        pub add_plugins ? Vec<PluginConfig>,
        pub refuse_if_busy ? bool,
    }
    /// Reads the output styles again. Answer: `ReloadOutputStylesResponse`.
    ReloadOutputStyles = "reload_output_styles" {}
    /// Files that match what the user types.
    FileSuggestions = "file_suggestions" {
        pub query: String,
    }
    /// Reads a file. Answer: `ReadFileResponse`.
    ReadFile = "read_file" {
        pub path: String,
        pub max_bytes ? u64,
        /// `utf-8` or `base64`.
        pub encoding ? String,
    }
    /// Tells the engine that the model knows a file.
    SeedReadState = "seed_read_state" {
        pub path: String,
        pub mtime: Number,
    }
    /// Tells the engine whether anybody listens.
    SetHasSubscribers = "set_has_subscribers" {
        pub has_subscribers ? bool,
    }
    /// Adds the root of a repository.
    RegisterRepoRoot = "register_repo_root" {
        pub directory: String,
        pub reload_claude_md ? bool,
        pub reload_plugins ? bool,
        pub reload_skills ? bool,
    }
    /// Changes the working directory.
    SetCwd = "set_cwd" {
        pub cwd ? String,
    }
    /// Gives the session a colour.
    SetColor = "set_color" {
        pub color: String,
    }
}

impl From<InitializeRequest> for HostRequest {
    fn from(request: InitializeRequest) -> Self {
        Self::Initialize(Box::new(request))
    }
}

impl From<McpMessage> for HostRequest {
    fn from(request: McpMessage) -> Self {
        Self::McpMessage(request)
    }
}
