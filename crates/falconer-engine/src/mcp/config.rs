//! Which servers there are, and how much of that is told.

use super::manifest::Manifest;
use falconer_protocol::mcp::{
    McpHttpConfig, McpPermissionPolicy, McpServerConfig, McpSseConfig, McpStdioConfig,
    McpToolPolicy,
};

/// A server somebody wants.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) config: McpServerConfig,
    pub(crate) origin: Origin,
    /// What it has answered before the first connection; only for servers in the host.
    pub(crate) manifest: Option<Manifest>,
}

/// Who wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// `--mcp-config`.
    Flag,
    /// A settings file or `.mcp.json`: `project`, `local` or `user`.
    File(String),
    /// `sdkMcpServers` of an `initialize`.
    Initialize,
    /// `mcp_set_servers`, which replaces all of these.
    Session,
}

impl Origin {
    pub(super) fn scope(&self) -> &str {
        match self {
            Self::File(scope) => scope,
            Self::Flag | Self::Initialize | Self::Session => "dynamic",
        }
    }
}

/// `stdio`, `http`, `sse` or `sdk`.
pub(super) fn transport(config: &McpServerConfig) -> &'static str {
    match config {
        McpServerConfig::Stdio(_) => "stdio",
        McpServerConfig::Sse(_) => "sse",
        McpServerConfig::Http(_) => "http",
        McpServerConfig::Sdk(_) => "sdk",
        _ => "unknown",
    }
}

/// How long a call may take, if the configuration says.
pub(super) fn call_millis(config: &McpServerConfig) -> Option<u64> {
    let timeout = match config {
        McpServerConfig::Stdio(config) => config.timeout.as_ref(),
        McpServerConfig::Sse(config) => config.timeout.as_ref(),
        McpServerConfig::Http(config) => config.timeout.as_ref(),
        McpServerConfig::Sdk(config) => config.timeout.as_ref(),
        _ => None,
    };
    timeout?.as_u64().filter(|millis| *millis > 0)
}

/// What a status shows: without variables and headers, which may be secrets.
pub(super) fn public(config: &McpServerConfig) -> Option<McpServerConfig> {
    match config {
        McpServerConfig::Stdio(config) => Some(McpServerConfig::Stdio(McpStdioConfig {
            kind: Some("stdio".to_owned()),
            args: Some(config.args.clone().unwrap_or_default()),
            ..McpStdioConfig::new(&config.command)
        })),
        McpServerConfig::Sse(config) => Some(McpServerConfig::Sse(McpSseConfig::new(
            without_secrets(&config.url),
        ))),
        McpServerConfig::Http(config) => Some(McpServerConfig::Http(McpHttpConfig::new(
            without_secrets(&config.url),
        ))),
        _ => None,
    }
}

/// A URL without user, password and query.
fn without_secrets(url: &str) -> String {
    let Ok(mut parsed) = reqwest::Url::parse(url) else {
        return "(not a URL)".to_owned();
    };
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    parsed.set_query(None);
    parsed.into()
}

/// Whether a server can be tried at all.
pub(super) fn check(name: &str, config: &McpServerConfig) -> Result<(), String> {
    if name.trim().is_empty() {
        return Err("a server needs a name".to_owned());
    }
    check_policies(config)?;
    match config {
        McpServerConfig::Stdio(stdio) if stdio.command.trim().is_empty() => {
            Err("its `command` is empty".to_owned())
        }
        McpServerConfig::Stdio(_)
        | McpServerConfig::Sse(_)
        | McpServerConfig::Http(_)
        | McpServerConfig::Sdk(_) => Ok(()),
        _ => Err("its `type` is none of stdio, http, sse, sdk, or a field is missing".to_owned()),
    }
}

/// Refuses policies that would ask about a tool or deny it whatever the rules say: there are none.
pub(super) fn check_policies(config: &McpServerConfig) -> Result<(), String> {
    let policies = match config {
        McpServerConfig::Sse(config) => config.tools.as_ref(),
        McpServerConfig::Http(config) => config.tools.as_ref(),
        McpServerConfig::Sdk(config) => config.tools.as_ref(),
        _ => None,
    };
    let mut policies = policies.into_iter().flatten();
    let restricts = |policy: &&McpToolPolicy| {
        let allows = policy.permission_policy == Some(McpPermissionPolicy::AlwaysAllow);
        policy.org_max_permission.is_some() || (policy.permission_policy.is_some() && !allows)
    };
    match policies.find(restricts) {
        None => Ok(()),
        Some(policy) => Err(format!(
            "its policy for `{}` restricts it, and policies for single tools are not supported; \
             use a rule that denies the tool instead",
            policy.name
        )),
    }
}
