//! Questions of the engine, and the payloads of their answers.

use serde_json::Value;

use crate::hook::HookInput;
use crate::id::{AgentId, HookCallbackId, ToolUseId};
use crate::mcp::McpServerProvenance;
use crate::permission::{DecisionReasonType, PermissionUpdate};
use crate::wire::{Object, open_enum, tagged_enum, wire_struct};

tagged_enum! {
    /// A request that the engine makes of the host.
    pub enum EngineRequest by "subtype" {
        /// May this tool be used? Answer: `PermissionResult`.
        CanUseTool(Box<CanUseTool>) = "can_use_tool",
        /// A hook of the host is due. Answer: `HookOutput`.
        HookCallback(Box<HookCallback>) = "hook_callback",
        /// A message for an MCP server in the host. Answer: [`McpMessageReply`].
        McpMessage(McpMessage) = "mcp_message",
        /// An MCP server asks the user. Answer: [`ElicitationReply`].
        Elicitation(Box<Elicitation>) = "elicitation",
        /// A dialog of a kind that the host declared. Answer: [`UserDialogReply`].
        RequestUserDialog(RequestUserDialog) = "request_user_dialog",
        /// The login token has to be renewed.
        OauthTokenRefresh(OauthTokenRefresh) = "oauth_token_refresh",
        /// The host's own token has to be renewed.
        HostAuthTokenRefresh(HostAuthTokenRefresh) = "host_auth_token_refresh",
    }
}

wire_struct! {
    /// May this tool be used?
    pub struct CanUseTool ["subtype" = "can_use_tool"] {
        /// Tool that wants to run; MCP tools are called `mcp__SERVER__TOOL`.
        pub tool_name: String,
        /// Short name for people; an MCP server may have chosen it.
        pub display_name ? String,
        /// Arguments after hooks. `ExitPlanMode` comes without its plan.
        pub input: Value,
        /// Matches a tool call, except for the pseudo tool `SandboxNetworkAccess`.
        pub tool_use_id ? ToolUseId,
        /// Line for people: the model's description of a command, or the path of a file.
        pub description ? String,
        /// Heading for the prompt; absent in the recorded sessions.
        pub title ? String,
        /// Ready-made updates to choose from. Echoing all of them grants more than was asked.
        pub permission_suggestions ? Vec<PermissionUpdate>,
        /// Path that made the engine ask; absent if no path did.
        pub blocked_path ? String,
        /// Reason for asking, for people; absent if nothing more than the default applies.
        pub decision_reason ? String,
        /// Kind of that reason, for programs.
        pub decision_reason_type ? DecisionReasonType,
        /// Settings source of the rule that asks; absent if no rule does.
        pub decision_reason_rule_source ? String,
        /// Event of the hook that asks, with [`DecisionReasonType::Hook`].
        pub decision_reason_hook_event ? String,
        /// Origin of that hook; observed as `settings`, also for hooks of the host.
        pub decision_reason_hook_source ? String,
        /// Server of the tool; absent for built-in tools.
        pub mcp_server ? McpServerProvenance,
        /// Sub-agent that makes the call; absent in the main conversation.
        pub agent_id ? AgentId,
        /// `true` if a person must answer: a question or a plan.
        pub requires_user_interaction ? bool,
        /// `true` if only the default makes the engine ask; `false` if a rule does.
        pub server_policy_ask_only ? bool,
        /// Set for protected paths: `true` if a classifier may approve the call.
        pub classifier_approvable ? bool,
        /// `true` if a lasting permission must not be offered: it would allow more than this call.
        pub suppress_always_allow_rule ? bool,
        /// `true` if a prompt should start on its denial; not in the recorded sessions.
        pub default_to_no ? bool,
        /// Rule of the user's that forced the question beside another reason.
        pub matched_ask_rule ? MatchedAskRule,
    }
}

wire_struct! {
    /// The rule that made the engine ask.
    pub struct MatchedAskRule {
        /// Settings source of the rule, such as `userSettings`.
        pub source: String,
        /// Tool that the rule names.
        pub tool_name: String,
        /// Part in parentheses; absent if the rule covers the whole tool.
        pub rule_content ? String,
    }
}

wire_struct! {
    /// A hook of the host is due.
    pub struct HookCallback ["subtype" = "hook_callback"] {
        /// Id that the host chose in [`HookMatcher`](crate::hook::HookMatcher).
        pub callback_id: HookCallbackId,
        /// Event and its details.
        pub input: HookInput,
        /// Random for events without a tool: use the one in `input`.
        pub tool_use_id ? ToolUseId,
    }
}

wire_struct! {
    /// A JSON-RPC message between the engine and an MCP server in the host.
    pub struct McpMessage ["subtype" = "mcp_message"] {
        /// Server in the host, by its name in `initialize`.
        pub server_name: String,
        /// JSON-RPC request, response or notification.
        pub message: Value,
    }
}

wire_struct! {
    /// The answer of an MCP server in the host. Notifications need one too.
    pub struct McpMessageReply {
        /// JSON-RPC response. For a notification any response will do, but there has to be one.
        pub mcp_response: Value,
    }
}

wire_struct! {
    /// An MCP server asks the user.
    pub struct Elicitation ["subtype" = "elicitation"] {
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
        /// Keys of the schema in the server's order, which JSON objects may lose.
        pub property_order ? Vec<String>,
        /// Heading for the prompt, chosen by the server.
        pub title ? String,
        /// Short name for people, chosen by the server.
        pub display_name ? String,
        /// Further line for people, chosen by the server.
        pub description ? String,
    }
}

wire_struct! {
    /// The user's answer to an MCP server.
    pub struct ElicitationReply {
        /// Reaction of the user.
        pub action: ElicitationAction,
        /// Values that fit the schema; only with [`ElicitationAction::Accept`].
        pub content ? Object,
    }
}

open_enum! {
    /// The user's reaction to a form.
    pub enum ElicitationAction {
        /// The user refused.
        Decline = "decline",
        /// The user filled in the form.
        Accept = "accept",
        /// The user closed the form without an answer.
        Cancel = "cancel",
    }
}

wire_struct! {
    /// A dialog of a kind that the host declared.
    pub struct RequestUserDialog ["subtype" = "request_user_dialog"] {
        /// Kind of the dialog, out of those in `supportedDialogKinds`.
        pub dialog_kind: String,
        /// Data of the dialog, in a shape that depends on its kind.
        pub payload: Value,
        /// Tool call that opened it; absent if none did.
        pub tool_use_id ? ToolUseId,
    }
}

wire_struct! {
    /// The end of a dialog.
    pub struct UserDialogReply {
        /// `completed` or `cancelled`.
        pub behavior: String,
        /// Outcome in a shape that depends on the kind; absent if cancelled.
        pub result ? Value,
    }
}

wire_struct! {
    /// The login token has to be renewed.
    pub struct OauthTokenRefresh ["subtype" = "oauth_token_refresh"] {}
}

wire_struct! {
    /// The host's own token has to be renewed.
    pub struct HostAuthTokenRefresh ["subtype" = "host_auth_token_refresh"] {}
}
