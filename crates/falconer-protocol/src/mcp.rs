//! MCP servers: configuration and state.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::number::Number;
use crate::wire::{Object, open_enum, tagged_enum, wire_struct};

tagged_enum! {
    /// The way to reach an MCP server.
    pub enum McpServerConfig by "type" untagged Stdio {
        /// A child process; also without a `type`.
        Stdio(McpStdioConfig) = "stdio",
        /// Server-sent events.
        Sse(McpSseConfig) = "sse",
        /// Streamable HTTP.
        Http(McpHttpConfig) = "http",
        /// In the host's own process, reached by `mcp_message`.
        Sdk(McpSdkConfig) = "sdk",
        /// A connector of the account; only seen in a status.
        ClaudeAiProxy(McpClaudeAiProxyConfig) = "claudeai-proxy",
    }
}

wire_struct! {
    /// A child process.
    pub struct McpStdioConfig {
        /// `stdio` or absent.
        pub kind ? String => "type",
        /// Program to start; looked up in `PATH`.
        pub command: String,
        /// Arguments, passed without a shell.
        pub args ? Vec<String>,
        /// Variables in addition to the engine's environment.
        pub env ? BTreeMap<String, String>,
        /// Limit on a tool call, in milliseconds.
        pub timeout ? Number,
        /// `true` to keep the tools in the prompt instead of behind a tool search.
        pub always_load ? bool => "alwaysLoad",
    }
}

impl McpStdioConfig {
    /// The process `command`.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            ..Self::default()
        }
    }
}

macro_rules! remote_servers {
    ($($(#[$meta:meta])* $name:ident = $tag:literal;)+) => {$(
        wire_struct! {
            $(#[$meta])*
            pub struct $name ["type" = $tag] {
                /// Address of the server.
                pub url: String,
                /// HTTP headers for every request; may contain secrets.
                pub headers ? BTreeMap<String, String>,
                /// Permissions of single tools.
                pub tools ? Vec<McpToolPolicy>,
                /// Limit on a tool call, in milliseconds.
                pub timeout ? Number,
                /// `true` to keep the tools in the prompt instead of behind a tool search.
                pub always_load ? bool => "alwaysLoad",
            }
        }

        impl $name {
            /// The server at `url`.
            pub fn new(url: impl Into<String>) -> Self {
                Self { url: url.into(), ..Self::default() }
            }
        }
    )+};
}

remote_servers! {
    /// Server-sent events.
    McpSseConfig = "sse";
    /// Streamable HTTP.
    McpHttpConfig = "http";
}

wire_struct! {
    /// A server in the host's own process.
    pub struct McpSdkConfig ["type" = "sdk"] {
        /// Name of the server in `mcp_message` requests.
        pub name: String,
        /// Limit on a tool call, in milliseconds.
        pub timeout ? Number,
        /// Permissions of single tools.
        pub tools ? Vec<McpToolPolicy>,
    }
}

impl McpSdkConfig {
    /// The server called `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

wire_struct! {
    /// A connector of the account.
    pub struct McpClaudeAiProxyConfig ["type" = "claudeai-proxy"] {
        /// Address of the connector.
        pub url: String,
        /// Id of the connector in the account.
        pub id: String,
        /// Limit on a tool call, in milliseconds.
        pub timeout ? Number,
    }
}

wire_struct! {
    /// Permissions of one tool of a server.
    pub struct McpToolPolicy {
        /// Name of the tool on its server, without the `mcp__` prefix.
        pub name: String,
        /// Permission it needs; absent, the usual rules decide.
        pub permission_policy ? McpPermissionPolicy,
        /// Ceiling set by the organisation: `allow`, `ask` or `blocked`.
        pub org_max_permission ? String,
    }
}

open_enum! {
    /// The permission that a tool needs.
    pub enum McpPermissionPolicy {
        /// Every call is asked about.
        AlwaysAsk = "always_ask",
        /// No call is asked about.
        AlwaysAllow = "always_allow",
        /// Every call is denied.
        AlwaysDeny = "always_deny",
    }
}

wire_struct! {
    /// The server of an MCP tool.
    pub struct McpServerProvenance {
        /// Name of the server.
        pub name: String,
        /// Origin of its configuration, such as `sdk` for a server in the host.
        pub source: String,
    }
}

wire_struct! {
    /// A server and its state.
    pub struct McpServerStatus {
        /// Name of the server.
        pub name: String,
        /// State of the connection.
        pub status: McpConnection,
        /// Description by the server; absent until it is connected.
        pub server_info ? McpServerInfo => "serverInfo",
        /// Reason, with [`McpConnection::Failed`].
        pub error ? String,
        /// Configuration without the values of `env`; absent for servers in the host.
        pub config ? McpServerConfig,
        /// Kind of connection; observed as `sdk` and `stdio`.
        pub transport ? String,
        /// Scope of the configuration; observed as `dynamic` and `user`.
        pub scope ? String,
        /// Origin of the configuration; observed as `sdk` and `dynamic`.
        pub source ? String,
        /// Tools; absent until the server is connected.
        pub tools ? Vec<McpToolStatus>,
    }
}

open_enum! {
    /// The state of a connection.
    pub enum McpConnection {
        /// The engine is connecting.
        Pending = "pending",
        /// The tools can be called.
        Connected = "connected",
        /// The connection could not be made; see the error.
        Failed = "failed",
        /// The user has to log in at the server first.
        NeedsAuth = "needs-auth",
        /// The server is switched off.
        Disabled = "disabled",
    }
}

wire_struct! {
    /// A server's description of itself.
    pub struct McpServerInfo {
        /// Name the server gives itself; need not be the configured one.
        pub name: String,
        /// Version the server gives itself.
        pub version ? String,
    }
}

wire_struct! {
    /// A tool of a server.
    pub struct McpToolStatus {
        /// Name of the tool on its server, without the `mcp__` prefix.
        pub name: String,
        /// Description that the model reads.
        pub description ? String,
        /// Hints of the server, such as `readOnly` and `destructive`; not to be relied on.
        pub annotations ? Value,
        /// Metadata of the server for hosts that show user interfaces.
        pub meta ? Object => "_meta",
    }
}
