//! A call of a tool, as rules look at it.

use std::path::Path;

use serde_json::Value;

/// A call that wants to be made.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The name of the tool: `Bash`, `mcp__server__tool`.
    pub tool: &'a str,
    /// What it is given.
    pub input: &'a Value,
    /// Where it would run; relative paths start here.
    pub cwd: &'a Path,
    /// What `~` means. Without it, nothing below `~` is allowed.
    pub home: Option<&'a Path>,
    /// The MCP server that has the tool, if that is known apart from the tool's name. Without it,
    /// a name that could belong to several servers is not allowed by rules for a server.
    pub server: Option<&'a str>,
}

impl<'a> Call<'a> {
    /// A call in a directory.
    pub fn new(tool: &'a str, input: &'a Value, cwd: &'a Path) -> Self {
        Self {
            tool,
            input,
            cwd,
            home: None,
            server: None,
        }
    }

    /// Says what `~` means.
    #[must_use]
    pub fn home(mut self, home: &'a Path) -> Self {
        self.home = Some(home);
        self
    }

    /// Says which MCP server has the tool.
    #[must_use]
    pub fn server(mut self, server: &'a str) -> Self {
        self.server = Some(server);
        self
    }

    /// A text of the input.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.input.get(name)?.as_str()
    }
}
