//! The tools that come with the engine. They are made once and shared by all sessions.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::Tool;

/// Names of older versions, which some models still use.
const LEGACY: &[(&str, &str)] = &[("KillShell", "TaskStop"), ("KillBash", "TaskStop")];

static BUILTIN: LazyLock<Vec<Arc<dyn Tool>>> = LazyLock::new(|| {
    let mut tools: Vec<Arc<dyn Tool>> = super::all();
    tools.sort_by(|a, b| a.name().cmp(b.name()));
    tools
});

/// What requests say of them; schemas are not small, so they exist once.
static DEFINITIONS: LazyLock<HashMap<String, Value>> = LazyLock::new(|| {
    let define = |tool: &Arc<dyn Tool>| (tool.name().to_owned(), define(tool.as_ref()));
    BUILTIN.iter().map(define).collect()
});

/// Which built-in tools there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum ToolChoice {
    /// The default set.
    #[default]
    Default,
    /// `--tools A,B`: exactly these of the built-in ones; empty for none.
    Only(Vec<String>),
}

/// What decides which tools a session has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Toolbox<'a> {
    pub(crate) choice: &'a ToolChoice,
    /// Whether there is somebody to ask.
    pub(crate) can_ask: bool,
}

/// The built-in tools of a session, sorted by name.
pub(crate) fn builtin(toolbox: &Toolbox<'_>) -> Vec<Arc<dyn Tool>> {
    let wanted = |tool: &&Arc<dyn Tool>| {
        let name = tool.name();
        let chosen = match toolbox.choice {
            ToolChoice::Default => true,
            ToolChoice::Only(names) => names.iter().any(|it| it == name),
        };
        chosen && (toolbox.can_ask || !tool.needs_person())
    };
    BUILTIN.iter().filter(wanted).cloned().collect()
}

/// Whether the engine has such a tool, in this session or not.
pub(crate) fn is_known(name: &str) -> bool {
    BUILTIN.iter().any(|tool| tool.name() == name)
}

/// The name of today for a name of old.
pub(crate) fn legacy_name(name: &str) -> Option<&'static str> {
    let found = LEGACY.iter().find(|(old, _)| *old == name);
    found.map(|(_, new)| *new)
}

/// What a request says of a tool.
pub(crate) fn definition(tool: &Arc<dyn Tool>) -> Value {
    match DEFINITIONS.get(tool.name()) {
        Some(known) => known.clone(),
        None => define(tool.as_ref()),
    }
}

fn define(tool: &dyn Tool) -> Value {
    json!({
        "name": tool.name(),
        "description": tool.description(),
        "input_schema": tool.input_schema(),
    })
}
