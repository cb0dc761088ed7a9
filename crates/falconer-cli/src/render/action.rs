//! A tool call in one line, and what is worth showing of it.

use std::path::Path;

use owo_colors::OwoColorize;
use serde_json::Value;

use super::diff;
use super::plain::{clean, first_line};

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
            "AskUserQuestion" | "ExitPlanMode" | "EnterPlanMode" => Some(String::new()),
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
    pub(super) fn outcome(&self, output: &str) -> Option<String> {
        let lines = output.lines().filter(|line| !line.is_empty()).count();
        match self.tool.as_str() {
            // The note of an image; text that is read begins with the number of its line.
            "Read" if output.starts_with("[image") => Some(first_line(output)),
            "Read" => Some(counted(lines, "line")),
            "Glob" | "Grep" => Some(counted(lines, "match")),
            "Edit" | "Write" | "NotebookEdit" | "TodoWrite" => None,
            _ => Some(first_line(output)).filter(|line| !line.is_empty()),
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what}"),
        (_, "match") => format!("{count} matches"),
        _ => format!("{count} {what}s"),
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_read_is_counted_and_an_image_is_named() {
        let read = Action::of("Read", &json!({"file_path": "/p/a"}), Path::new("/p"));
        let cases = [
            ("1\tone\n2\ttwo\n", "2 lines"),
            ("1\t[image, 12 KB]\n", "1 line"),
            ("[image, 12 KB]", "[image, 12 KB]"),
            ("[image, 12 KB]\n[smaller]", "[image, 12 KB]"),
        ];
        for (output, expected) in cases {
            assert_eq!(read.outcome(output).as_deref(), Some(expected), "{output}");
        }
    }
}
