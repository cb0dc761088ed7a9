//! MCP servers outside this process.

use std::fmt;
use std::path::PathBuf;

use falconer_protocol::mcp::McpServerConfig;

use crate::launch::redact::masked_json;

use super::Options;

/// Recorded settings of this file.
#[derive(Clone, Default)]
pub(crate) struct McpOptions {
    pub(crate) servers: Vec<(String, McpServerConfig)>,
    pub(crate) config_files: Vec<PathBuf>,
    pub(crate) strict: bool,
}

impl fmt::Debug for McpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers = self.servers.iter().map(|(name, server)| {
            let json = serde_json::to_value(server).unwrap_or_default();
            (name, masked_json(&json).to_string())
        });
        let servers: Vec<_> = servers.collect();
        f.debug_struct("McpOptions")
            .field("servers", &servers)
            .field("config_files", &self.config_files)
            .field("strict", &self.strict)
            .finish()
    }
}

/// The name under which the model and permission rules know a tool of an MCP server.
///
/// ```
/// assert_eq!(falconer::mcp_tool_name("my server", "add"), "mcp__my_server__add");
/// ```
#[must_use]
pub fn mcp_tool_name(server: &str, tool: &str) -> String {
    format!("mcp__{}__{}", sanitised(server), sanitised(tool))
}

/// The name with everything but letters, digits, `_` and `-` replaced by `_`.
pub(crate) fn sanitised(name: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars()
        .map(|c| if kept(c) { c } else { '_' })
        .collect()
}

impl Options {
    /// Adds an MCP server that the engine starts or connects to.
    ///
    /// Its tools are asked for as usual; see [`Options::allow_mcp_server`]. Carried by
    /// `--mcp-config`. Default: none.
    #[must_use]
    pub fn mcp_server(mut self, name: impl Into<String>, server: McpServerConfig) -> Self {
        self.launch.mcp.servers.push((name.into(), server));
        self
    }

    /// Adds the MCP servers of a configuration file, read by the engine.
    ///
    /// Carried by `--mcp-config`. Default: none.
    #[must_use]
    pub fn mcp_config_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.launch.mcp.config_files.push(path.into());
        self
    }

    /// Uses only the MCP servers named here, none of the machine, project or plugins.
    ///
    /// Carried by `--strict-mcp-config`. Default: off.
    #[must_use]
    pub fn strict_mcp_config(mut self) -> Self {
        self.launch.mcp.strict = true;
        self
    }

    /// Lets every tool of an MCP server run without asking.
    ///
    /// Adds `mcp__<name>` to [`Options::allow_tools`], the name sanitised as the engine
    /// does.
    #[must_use]
    pub fn allow_mcp_server(self, name: &str) -> Self {
        self.allow_tools([format!("mcp__{}", sanitised(name))])
    }

    /// Lets one tool of an MCP server run without asking; see [`mcp_tool_name`].
    #[must_use]
    pub fn allow_mcp_tool(self, server: &str, tool: &str) -> Self {
        self.allow_tools([mcp_tool_name(server, tool)])
    }
}
