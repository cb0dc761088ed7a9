//! Questions of the engine, and the payloads of their answers.

use serde_json::Value;

use crate::hook::HookInput;
use crate::id::{AgentId, HookCallbackId, ToolUseId};
use crate::mcp::McpServerProvenance;
use crate::permission::{DecisionReasonType, PermissionUpdate};
use crate::wire::{Object, open_enum, tagged_enum, wire_struct};

tagged_enum! {
    /// What the engine asks the host.
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
        pub tool_name: String,
        pub display_name ? String,
        pub input: Value,
        /// Matches a tool call, except for the pseudo tool `SandboxNetworkAccess`.
        pub tool_use_id ? ToolUseId,
        pub description ? String,
        pub title ? String,
        /// Ready-made changes to choose from. All of them together are more than was asked.
        pub permission_suggestions ? Vec<PermissionUpdate>,
        pub blocked_path ? String,
        pub decision_reason ? String,
        pub decision_reason_type ? DecisionReasonType,
        /// Where the rule is written that asks.
        pub decision_reason_rule_source ? String,
        pub decision_reason_hook_event ? String,
        pub decision_reason_hook_source ? String,
        pub mcp_server ? McpServerProvenance,
        pub agent_id ? AgentId,
        /// A person must answer: a question or a plan.
        pub requires_user_interaction ? bool,
        pub server_policy_ask_only ? bool,
        pub classifier_approvable ? bool,
        pub suppress_always_allow_rule ? bool,
        pub default_to_no ? bool,
        pub matched_ask_rule ? MatchedAskRule,
    }
}

wire_struct! {
    /// The rule that made the engine ask.
    pub struct MatchedAskRule {
        pub source: String,
        pub tool_name: String,
        pub rule_content ? String,
    }
}

wire_struct! {
    /// A hook of the host is due.
    pub struct HookCallback ["subtype" = "hook_callback"] {
        pub callback_id: HookCallbackId,
        pub input: HookInput,
        /// Random for events without a tool: use the one in `input`.
        pub tool_use_id ? ToolUseId,
    }
}

wire_struct! {
    /// A JSON-RPC message between the engine and an MCP server in the host.
    pub struct McpMessage ["subtype" = "mcp_message"] {
        pub server_name: String,
        pub message: Value,
    }
}

wire_struct! {
    /// The answer of an MCP server in the host. Notifications need one too.
    pub struct McpMessageReply {
        pub mcp_response: Value,
    }
}

wire_struct! {
    /// An MCP server asks the user.
    pub struct Elicitation ["subtype" = "elicitation"] {
        pub mcp_server_name: String,
        pub message: String,
        /// `form` or `url`.
        pub mode ? String,
        pub url ? String,
        pub elicitation_id ? String,
        pub requested_schema ? Object,
        pub property_order ? Vec<String>,
        pub title ? String,
        pub display_name ? String,
        pub description ? String,
    }
}

wire_struct! {
    /// What the user said to an MCP server.
    pub struct ElicitationReply {
        pub action: ElicitationAction,
        pub content ? Object,
    }
}

open_enum! {
    /// What the user did.
    pub enum ElicitationAction {
        Decline = "decline",
        Accept = "accept",
        Cancel = "cancel",
    }
}

wire_struct! {
    /// A dialog of a kind that the host declared.
    pub struct RequestUserDialog ["subtype" = "request_user_dialog"] {
        pub dialog_kind: String,
        pub payload: Value,
        pub tool_use_id ? ToolUseId,
    }
}

wire_struct! {
    /// How a dialog ended.
    pub struct UserDialogReply {
        /// `completed` or `cancelled`.
        pub behavior: String,
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
