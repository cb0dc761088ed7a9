//! A call of a tool, as rules look at it.

use std::cell::OnceCell;
use std::path::Path;

use serde_json::Value;

use crate::location::Location;
use crate::subject::Subject;

/// A call that wants to be made.
///
/// It is read, and files are looked up, once for everybody who judges it: keep one for as long as a
/// question takes, and no longer.
#[derive(Debug, Clone)]
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
    subject: OnceCell<Subject>,
    start: OnceCell<Location>,
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
            subject: OnceCell::new(),
            start: OnceCell::new(),
        }
    }

    /// Says what `~` means.
    #[must_use]
    pub fn home(self, home: &'a Path) -> Self {
        Self {
            home: Some(home),
            subject: OnceCell::new(),
            start: OnceCell::new(),
            ..self
        }
    }

    /// Says which MCP server has the tool.
    #[must_use]
    pub fn server(mut self, server: &'a str) -> Self {
        self.server = Some(server);
        self
    }

    /// Returns what the call is about.
    pub fn subject(&self) -> &Subject {
        self.subject.get_or_init(|| Subject::of(self))
    }

    /// Returns where a command starts; what is looked up from there is kept.
    pub fn start(&self) -> Location {
        let start = self
            .start
            .get_or_init(|| Location::new(self.cwd, self.home));
        start.clone()
    }

    /// A text of the input.
    pub(crate) fn text(&self, name: &str) -> Option<&'a str> {
        self.input.get(name)?.as_str()
    }
}
