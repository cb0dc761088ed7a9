//! MCP servers: how to reach them and how they are.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::number::Number;
use crate::wire::{Object, open_enum, tagged_enum, wire_struct};

tagged_enum! {
    /// How to reach an MCP server.
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
        pub kind ? String => "type",
        pub command: String,
        pub args ? Vec<String>,
        pub env ? BTreeMap<String, String>,
        /// Milliseconds.
        pub timeout ? Number,
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
                pub url: String,
                pub headers ? BTreeMap<String, String>,
                pub tools ? Vec<McpToolPolicy>,
                /// Milliseconds.
                pub timeout ? Number,
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
        pub name: String,
        /// Milliseconds.
        pub timeout ? Number,
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
        pub url: String,
        pub id: String,
        pub timeout ? Number,
    }
}

wire_struct! {
    /// What a server's tool may do without asking.
    pub struct McpToolPolicy {
        pub name: String,
        pub permission_policy ? McpPermissionPolicy,
        pub org_max_permission ? String,
    }
}

open_enum! {
    /// Whether a tool needs permission.
    pub enum McpPermissionPolicy {
        AlwaysAsk = "always_ask",
        AlwaysAllow = "always_allow",
        AlwaysDeny = "always_deny",
    }
}

wire_struct! {
    /// Where an MCP tool comes from.
    pub struct McpServerProvenance {
        pub name: String,
        pub source: String,
    }
}

wire_struct! {
    /// A server and how it is.
    pub struct McpServerStatus {
        pub name: String,
        pub status: McpConnection,
        pub server_info ? McpServerInfo => "serverInfo",
        pub error ? String,
        pub config ? McpServerConfig,
        pub transport ? String,
        pub scope ? String,
        pub source ? String,
        pub tools ? Vec<McpToolStatus>,
    }
}

open_enum! {
    /// Whether a server is connected.
    pub enum McpConnection {
        Pending = "pending",
        Connected = "connected",
        Failed = "failed",
        NeedsAuth = "needs-auth",
        Disabled = "disabled",
    }
}

wire_struct! {
    /// What a server says about itself.
    pub struct McpServerInfo {
        pub name: String,
        pub version ? String,
    }
}

wire_struct! {
    /// A tool of a server.
    pub struct McpToolStatus {
        pub name: String,
        pub description ? String,
        pub annotations ? Value,
        pub meta ? Object => "_meta",
    }
}
