//! One thing of a project that needs trust.

use serde::Serialize;
use serde_json::{Value, json};

use super::content::ProjectFile;
use super::script::Script;

/// What an item does, once it is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ItemKind {
    /// Runs a command or calls a URL at an event.
    Hook,
    /// Names a program that is run, or a plugin.
    Helper,
    /// Sets a variable for everything in the session.
    Variable,
    /// Declares or enables an MCP server.
    Server,
    /// Allows calls without asking.
    Rule,
    /// Opens another directory.
    Directory,
    /// Chooses a wider permission mode.
    Mode,
    /// Switches a protection off or makes it weaker.
    Guard,
    /// Changes anything else.
    Setting,
    /// Defines an agent, a skill, a command or an output style. Only the official CLI reads them.
    Definition,
}

impl ItemKind {
    /// What the project wants, for people.
    #[must_use]
    pub fn wish(self) -> &'static str {
        match self {
            Self::Hook => "run a hook",
            Self::Helper => "run a program",
            Self::Variable => "set a variable",
            Self::Server => "start an MCP server",
            Self::Rule => "allow calls without asking",
            Self::Directory => "open a directory",
            Self::Mode => "choose a permission mode",
            Self::Guard => "change a protection",
            Self::Setting => "change a setting",
            Self::Definition => "define an agent, skill or command",
        }
    }

    /// Whether a host that names the project's settings has decided about it.
    pub(crate) fn is_decided_by_the_host(self) -> bool {
        match self {
            Self::Hook | Self::Helper | Self::Variable | Self::Server | Self::Setting => true,
            Self::Rule | Self::Directory | Self::Mode | Self::Guard | Self::Definition => false,
        }
    }
}

/// A step on the way to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// A value of a project's file that needs trust.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(super) kind: ItemKind,
    pub(super) file: ProjectFile,
    /// Where it is, without numbers: `permissions.allow`.
    pub(super) key: String,
    pub(super) at: Vec<Step>,
    pub(super) value: Value,
    /// Files of the project that it names.
    pub(super) scripts: Vec<Script>,
}

impl Item {
    pub(super) fn digest(&self) -> String {
        let scripts: Vec<_> = self
            .scripts
            .iter()
            .map(|it| (&it.path, &it.digest))
            .collect();
        if scripts.is_empty() {
            item_digest(self.file, &self.key, &self.value)
        } else {
            hash(&json!([
                item_digest(self.file, &self.key, &self.value),
                scripts
            ]))
        }
    }
}

/// The digest of an item that names no files.
pub(crate) fn item_digest(file: ProjectFile, key: &str, value: &Value) -> String {
    hash(&json!([file.name(), key, value]))
}

/// The digest of all items; the order does not matter.
pub(super) fn digest_of(mut items: Vec<String>) -> String {
    items.sort();
    hash(&json!(["falconer project trust 1", items]))
}

fn hash(value: &Value) -> String {
    blake3::hash(value.to_string().as_bytes()).to_string()
}
