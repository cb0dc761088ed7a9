//! A tool call in one line, and what is worth showing of it.

use std::path::Path;

use falconer::protocol::tool::{ASK_USER_QUESTION, EXIT_PLAN_MODE};
use falconer_event::Preview;
use owo_colors::OwoColorize;
use serde_json::Value;

use super::plain::{clean, first_line};
use super::{diff, outcome};

/// A call as people see it.
#[derive(Debug)]
pub(super) struct Action {
    tool: String,
    about: String,
    details: Vec<String>,
}

impl Action {
    pub(super) fn of(tool: &str, input: &Value, cwd: &Path) -> Self {
        let text = |key: &str| input.get(key).and_then(Value::as_str);
        let about = match tool {
            "Bash" => text("command").map(first_line),
            "Read" | "Write" | "Edit" => text("file_path").map(|path| below(path, cwd)),
            "NotebookEdit" => text("notebook_path").map(|path| below(path, cwd)),
            "Glob" | "Grep" => text("pattern").map(first_line),
            "WebFetch" => text("url").map(first_line),
            "Task" | "Agent" => text("description").map(first_line),
            "TodoWrite" => Some(String::new()),
            ASK_USER_QUESTION | EXIT_PLAN_MODE | "EnterPlanMode" => Some(String::new()),
            _ => None,
        };
        let about = about.unwrap_or_else(|| first_line(&input.to_string()));
        let details = match tool {
            "Edit" => diff::replacement(
                text("old_string").unwrap_or_default(),
                text("new_string").unwrap_or_default(),
            ),
            "Write" => diff::replacement("", text("content").unwrap_or_default()),
            "TodoWrite" => todos(input),
            _ => Vec::new(),
        };
        Self {
            tool: clean(tool),
            about: clean(&about),
            details,
        }
    }

    pub(super) fn title(&self) -> String {
        format!("{}  {}", self.tool.bold(), self.about)
    }

    pub(super) fn details(&self) -> &[String] {
        &self.details
    }

    /// Whether the output itself is of interest.
    pub(super) fn shows_output(&self) -> bool {
        self.tool == "Bash"
    }

    /// What came of it, in a few words.
    pub(super) fn outcome(&self, preview: &Preview) -> Option<String> {
        outcome::of(&self.tool, preview)
    }
}

fn below(path: &str, cwd: &Path) -> String {
    let relative = Path::new(path).strip_prefix(cwd);
    relative.map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

fn todos(input: &Value) -> Vec<String> {
    let todos = input.get("todos").and_then(Value::as_array);
    let line = |todo: &Value| {
        let mark = match todo.get("status").and_then(Value::as_str) {
            Some("completed") => "[x]",
            Some("in_progress") => "[>]",
            _ => "[ ]",
        };
        let content = todo.get("content").and_then(Value::as_str);
        format!("{mark} {}", clean(&first_line(content.unwrap_or_default())))
    };
    todos.into_iter().flatten().map(line).collect()
}
