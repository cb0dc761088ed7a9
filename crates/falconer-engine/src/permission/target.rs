//! The part of a call that rules are about.

use std::path::{Path, PathBuf};

/// What a call touches, for the permission rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A shell command.
    Command { command: String, unsandboxed: bool },
    /// A file or directory that is read. Absolute, not resolved.
    Read(PathBuf),
    /// A file that is written. Absolute, not resolved.
    Write(PathBuf),
    /// A host on the network.
    Domain(String),
    /// A tool of an MCP server.
    Mcp { server: String },
    /// The user has to answer, whatever the rules say: questions, plans.
    User,
    /// Nothing worth a question.
    Nothing,
}

impl Target {
    /// The file, if it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::Read(path) | Self::Write(path) => Some(path),
            Self::Command { .. }
            | Self::Domain(_)
            | Self::Mcp { .. }
            | Self::User
            | Self::Nothing => None,
        }
    }
}
