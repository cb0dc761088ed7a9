//! Requests of the host.

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
            /// A request that the host makes of the engine.
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
        /// `true` to drop the queued prompts too; otherwise they run next.
        pub cancel_queued ? bool,
    }
    /// Changes the model; `None` for the default one. Answer: `SetModelResponse`.
    SetModel = "set_model" {
        /// Alias or model id; `None` or `default` for the session's default.
        pub model ? String,
    }
    /// Changes the permission mode. Answer: `SetPermissionModeResponse`.
    SetPermissionMode = "set_permission_mode" {
        /// Mode to switch to. `bypassPermissions` is refused unless the engine was launched for it.
        pub mode: PermissionMode,
    }
    /// Changes the model's thinking budget.
    SetMaxThinkingTokens = "set_max_thinking_tokens" {
        /// Budget in tokens; 0 switches thinking off, `None` returns to the default.
        pub max_thinking_tokens ? u64,
        /// Form in which reasoning is shown: `summarized`, `omitted` or `highlights`.
        pub thinking_display ? String,
    }
    /// Lists the MCP servers and their state. Answer: `McpStatusResponse`.
    McpStatus = "mcp_status" {
        /// `true` to have the answer sent to attached clients only; has no effect over stdio.
        pub live_reply ? bool => "liveReply",
    }
    /// Replaces the MCP servers that were added while running. Answer: `McpSetServersResponse`.
    McpSetServers = "mcp_set_servers" {
        /// Complete new set, by name; servers that are missing from it are disconnected.
        pub servers: BTreeMap<String, McpServerConfig>,
    }
    /// Connects an MCP server again.
    McpReconnect = "mcp_reconnect" {
        /// Name of the server; an unknown one is an error.
        pub server_name: String => "serverName",
    }
    /// Switches an MCP server on or off.
    McpToggle = "mcp_toggle" {
        /// Name of the server; an unknown one is an error.
        pub server_name: String => "serverName",
        /// `false` to disconnect the server and hide its tools.
        pub enabled: bool,
    }
    /// Calls an MCP tool.
    McpCall = "mcp_call" {
        /// Full name, `mcp__SERVER__TOOL`; servers in the host are not called this way.
        pub tool: String,
        /// Arguments in the tool's schema; absent for none.
        pub arguments ? Object,
        /// RFC 3339 time after which the call must not run; required with `output_files`.
        pub expires_at ? String,
        /// Limit on the call, in milliseconds.
        pub timeout_ms ? Number,
        /// `true` if a program takes the result, so that it need not fit a model's context.
        pub result_not_for_model ? bool,
        /// `true` to decide the call like one of the model's, hooks included.
        pub check_permissions ? bool,
        /// Files to stage before the call, by the names used in `arguments`.
        pub input_files ? Vec<Value>,
        /// Files to collect after the call, by the names used in `arguments`.
        pub output_files ? Vec<Value>,
    }
    /// Reads a resource of an MCP server. Answer: `McpReadResourceResponse`.
    McpReadResource = "mcp_read_resource" {
        /// Name of the server; an unknown one is an error.
        pub server_name: String => "serverName",
        /// Address of the resource; the CLI reads only `ui://`.
        pub uri: String,
    }
    /// Overrides the permission mode for MCP tools.
    SetMcpPermissionModeOverride = "set_mcp_permission_mode_override" {
        /// Mode for MCP tools; `None` removes the override.
        pub mode ? PermissionMode,
    }
    /// Measures the context window. Answer: `ContextUsage`.
    GetContextUsage = "get_context_usage" {
        /// `full` counts each category with API requests; `summary` estimates without them.
        pub detail ? String,
    }
    /// Reports costs, times and rate limits.
    GetUsage = "get_usage" {
        /// `true` to leave out the statistics that need a scan of recent transcripts.
        pub skip_behaviors ? bool,
    }
    /// Reports the session's cost as text. Answer: `SessionCostResponse`.
    GetSessionCost = "get_session_cost" {}
    /// Lists the models. Answer: `ListModelsResponse`.
    ListModels = "list_models" {}
    /// Reports the engine's version. Answer: `BinaryVersionResponse`.
    GetBinaryVersion = "get_binary_version" {}
    /// Lists the settings in force.
    GetSettings = "get_settings" {}
    /// Lists the hooks in force.
    GetHooksListing = "get_hooks_listing" {}
    /// Lists the permission rules in force. Answer: `ListPermissionRulesResponse`.
    ListPermissionRules = "list_permission_rules" {}
    /// Reads the current plan.
    GetPlan = "get_plan" {}
    /// Reports the status of the session.
    GetStatus = "get_status" {}
    /// Reads the output of a task. Answer: `TaskOutputResponse`.
    GetTaskOutput = "get_task_output" {
        /// Task whose output is wanted, running or not.
        pub task_id: TaskId,
    }
    /// Undoes changes of files back to a prompt. Answer: `RewindResponse`.
    RewindFiles = "rewind_files" {
        /// Uuid that the host gave the prompt; files return to their state before it.
        pub user_message_id: MessageUuid,
        /// `true` to report the changes without making them.
        pub dry_run ? bool,
    }
    /// Takes back a queued prompt. Answer: `CancelAsyncMessageResponse`.
    CancelAsyncMessage = "cancel_async_message" {
        /// Uuid that the host gave the prompt.
        pub message_uuid: MessageUuid,
    }
    /// Stops a task.
    StopTask = "stop_task" {
        /// Task to stop; an unknown one counts as stopped.
        pub task_id: TaskId,
    }
    /// Moves running tools to the background.
    BackgroundTasks = "background_tasks" {
        /// Call to move; absent, all that run in the foreground are moved.
        pub tool_use_id ? ToolUseId,
    }
    /// Changes settings for this process.
    ApplyFlagSettings = "apply_flag_settings" {
        /// Settings to merge over those given with `--settings`.
        pub settings: Value,
    }
    /// Changes a settings file.
    UpdateSettings = "update_settings" {
        /// File to change: `localSettings` or `userSettings`.
        pub source: String,
        /// Settings to merge into the file.
        pub settings: Value,
    }
    /// Ends the process, with its input still open.
    EndSession = "end_session" {
        /// Reason for logs.
        pub reason ? String,
    }
    /// Asks the model beside the conversation. Answer: `SideQuestionResponse`.
    SideQuestion = "side_question" {
        /// Text for the model; it sees the conversation, which stays unchanged.
        pub question: String,
    }
    /// Gives the session a title.
    RenameSession = "rename_session" {
        /// New title.
        pub title: String,
        /// `host` if the user chose it in the host, `remote` otherwise; absent counts as `remote`.
        pub source ? String,
        /// Session the title is for; the request is refused if the engine has moved to another.
        pub session_id ? SessionId,
    }
    /// Lets the model choose a title.
    GenerateSessionTitle = "generate_session_title" {
        /// Text to make the title from; absent, the conversation is used.
        pub description ? String,
        /// `true` to keep the title as the session's.
        pub persist ? bool,
    }
    /// Reads the skills again. Answer: `ReloadSkillsResponse`.
    ReloadSkills = "reload_skills" {}
    /// Reads the plugins again. Answer: `ReloadPluginsResponse`.
    ReloadPlugins = "reload_plugins" {
        /// `true` to change nothing if the prompt cache would be lost; see
        /// [`ReloadPluginsResponse`](super::ReloadPluginsResponse).
        pub hold_on_cache_impact ? bool,
        /// Plugins to load in addition.
        pub add_plugins ? Vec<PluginConfig>,
        /// `true` to fail while a turn is running.
        pub refuse_if_busy ? bool,
    }
    /// Reads the output styles again. Answer: `ReloadOutputStylesResponse`.
    ReloadOutputStyles = "reload_output_styles" {}
    /// Suggests files for a text the user is typing.
    FileSuggestions = "file_suggestions" {
        /// Text after the `@`.
        pub query: String,
    }
    /// Reads a file. Answer: `ReadFileResponse`.
    ReadFile = "read_file" {
        /// Path of the file, relative to the working directory or absolute; read rules apply.
        pub path: String,
        /// Limit on the bytes returned; the answer says if more were there.
        pub max_bytes ? u64,
        /// `utf-8` or `base64`; absent counts as `utf-8`.
        pub encoding ? String,
    }
    /// Tells the engine that the model knows a file.
    SeedReadState = "seed_read_state" {
        /// File that the model has seen and may edit without reading it again.
        pub path: String,
        /// Modification time of the version it has seen, in milliseconds since 1970.
        pub mtime: Number,
    }
    /// Tells the engine that somebody watches, or nobody.
    SetHasSubscribers = "set_has_subscribers" {
        /// `false` if nobody watches; `None` counts as `true`.
        pub has_subscribers ? bool,
    }
    /// Adds the root of a repository.
    RegisterRepoRoot = "register_repo_root" {
        /// Absolute path of the repository.
        pub directory: String,
        /// `true` to read its instructions too.
        pub reload_claude_md ? bool,
        /// `true` to read its plugins too.
        pub reload_plugins ? bool,
        /// `true` to read its skills too.
        pub reload_skills ? bool,
    }
    /// Changes the working directory.
    SetCwd = "set_cwd" {
        /// New working directory.
        pub cwd ? String,
    }
    /// Gives the session a colour.
    SetColor = "set_color" {
        /// Name of a colour; the CLI answers that it does not support the request.
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
