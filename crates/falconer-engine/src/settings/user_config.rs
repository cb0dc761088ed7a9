//! MCP servers and accepted folders of `~/.claude.json`.

use std::path::{Path, PathBuf};

use falconer_protocol::Object;
use serde_json::{Map, Value};

use super::{Folder, ProjectServers, Sources};
use crate::json_file::{ReadError, read_object};

/// The file of the user is there and cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the configuration file {} cannot be used: {error}; repair or remove it", path.display())]
pub(crate) struct ConfigInvalid {
    pub(crate) path: PathBuf,
    pub(crate) error: ReadError,
}

/// Where an MCP server was declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum McpScope {
    /// `.mcp.json`, shared with everybody who works on the project.
    Project,
    /// `~/.claude.json`, for this project.
    Local,
    /// `~/.claude.json`, for all projects.
    User,
}

impl McpScope {
    /// Its name on the wire.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Local => "local",
            Self::User => "user",
        }
    }
}

/// A declared server, not checked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct McpServer {
    pub(crate) name: String,
    pub(crate) scope: McpScope,
    pub(crate) config: Value,
}

/// What the engine reads of `~/.claude.json`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct UserConfig {
    value: Object,
}

impl UserConfig {
    pub(crate) fn read(sources: &Sources) -> Result<Self, ConfigInvalid> {
        let Some(path) = &sources.user_config else {
            return Ok(Self::default());
        };
        match read_object(path) {
            Ok(Some(Value::Object(value))) => Ok(Self { value }),
            Ok(_) => Ok(Self::default()),
            Err(error) => Err(ConfigInvalid {
                path: path.clone(),
                error,
            }),
        }
    }

    fn project(&self, project: &Path) -> Option<&Value> {
        self.value.get("projects")?.get(project.to_str()?)
    }

    /// Whether the user has accepted the project in the official CLI, or a directory above it.
    pub(crate) fn folder(&self, project: &Path) -> Folder {
        let is_accepted = |directory: &Path| {
            let accepted = self
                .project(directory)
                .and_then(|entry| entry.get("hasTrustDialogAccepted"));
            accepted.and_then(Value::as_bool) == Some(true)
        };
        if project.ancestors().any(is_accepted) {
            Folder::Accepted
        } else {
            Folder::Unknown
        }
    }

    /// The declared servers. A name that is declared twice is taken from the narrower place.
    pub(crate) fn mcp_servers(
        &self,
        sources: &Sources,
        project: &ProjectServers,
    ) -> Vec<McpServer> {
        let mut servers = Vec::new();
        if sources.enabled.local {
            let local = self.project(&sources.project);
            let local = local.and_then(|entry| entry.get("mcpServers"));
            push(
                &mut servers,
                McpScope::Local,
                local.and_then(Value::as_object),
            );
        }
        push(&mut servers, McpScope::Project, Some(&project.declared));
        if sources.enabled.user {
            let declared = self.value.get("mcpServers");
            push(
                &mut servers,
                McpScope::User,
                declared.and_then(Value::as_object),
            );
        }
        servers
    }
}

fn push(servers: &mut Vec<McpServer>, scope: McpScope, declared: Option<&Map<String, Value>>) {
    for (name, config) in declared.into_iter().flatten() {
        if servers.iter().all(|server| server.name != *name) {
            servers.push(McpServer {
                name: name.clone(),
                scope,
                config: config.clone(),
            });
        }
    }
}
