//! Tool calls as people see them.

use falconer_protocol::Object;
use falconer_protocol::tool::{ASK_USER_QUESTION, EXIT_PLAN_MODE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::diff::Diff;
use crate::image::Image;
use crate::preview::Preview;

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Action {
    /// Kind of action.
    pub kind: ActionKind,
    /// One line that says what it does.
    pub title: String,
    /// The tool, by its name on the wire.
    pub tool: String,
    /// The input as the model gave it.
    pub input: Value,
    /// Progress.
    pub status: ActionStatus,
    /// The sub-agent that made it, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Output of the call; absent until it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Preview>,
    /// Images that came back, in their order; the preview has a note for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Change to a file: planned until the action is over, then as made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<Diff>,
}

/// Kinds of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ActionKind {
    /// A command of the shell.
    Command,
    /// A change of a file.
    FileChange,
    /// Anything without a kind of its own.
    Tool,
    /// The web is asked.
    WebSearch,
    /// A note of the agent to itself.
    Note,
    /// A question to the user.
    Question,
    /// Work given to a sub-agent.
    Subagent,
    /// A tool of an MCP server.
    Mcp,
}

/// The progress of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ActionStatus {
    /// Called, without a result yet.
    Running,
    /// It succeeded.
    Ok,
    /// It failed.
    Failed,
    /// It was not permitted and has not run.
    Denied,
    /// It was called off: by the end of its turn or run, or by somebody. It may have run in
    /// part.
    Aborted,
    /// Nobody was left to see how it ended; it may have run.
    Unknown,
}

impl Action {
    /// A call that begins.
    pub(crate) fn begun(tool: &str, input: &Value, agent: Option<String>) -> Self {
        let empty = Object::default();
        let fields = input.as_object().unwrap_or(&empty);
        let kind = ActionKind::of(tool);
        let title = title(tool, fields);
        let diff = (kind == ActionKind::FileChange).then(|| Diff::of_call(&title, fields));
        Self {
            kind,
            title,
            tool: tool.to_owned(),
            input: input.clone(),
            status: ActionStatus::Running,
            agent,
            result: None,
            images: Vec::new(),
            diff,
        }
    }

    /// A call nobody saw, known by its result only.
    pub(crate) fn unseen() -> Self {
        Self::begun("unknown", &Value::Null, None)
    }
}

impl ActionKind {
    /// The kind of a tool.
    pub fn of(tool: &str) -> Self {
        match tool {
            "Bash" | "KillShell" | "BashOutput" | "PowerShell" => Self::Command,
            "Edit" | "Write" | "NotebookEdit" | "MultiEdit" => Self::FileChange,
            "WebSearch" | "WebFetch" => Self::WebSearch,
            "TodoWrite" | "TodoRead" => Self::Note,
            ASK_USER_QUESTION | EXIT_PLAN_MODE => Self::Question,
            "Task" | "Agent" => Self::Subagent,
            mcp if mcp.starts_with("mcp__") => Self::Mcp,
            _ => Self::Tool,
        }
    }
}

/// One line that says what a call does.
fn title(tool: &str, input: &Object) -> String {
    let text = |name: &str| {
        let value = input.get(name).and_then(Value::as_str);
        value.filter(|value| !value.trim().is_empty())
    };
    let first = |names: &[&str]| names.iter().find_map(|name| text(name)).map(one_line);
    let said = match tool {
        "Bash" | "PowerShell" => first(&["command"]),
        "KillShell" | "BashOutput" => first(&["shell_id", "bash_id", "task_id"]),
        "Read" | "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => {
            first(&["file_path", "notebook_path", "path"])
        }
        "Glob" | "Grep" => first(&["pattern"]),
        "WebSearch" => first(&["query"]),
        "WebFetch" => first(&["url"]),
        "TodoWrite" | "TodoRead" => Some("update todos".to_owned()),
        ASK_USER_QUESTION => Some("ask user".to_owned()),
        EXIT_PLAN_MODE => Some("ask for approval of a plan".to_owned()),
        "Task" | "Agent" => first(&["description", "prompt"]),
        mcp if mcp.starts_with("mcp__") => Some(mcp_title(mcp)),
        _ => None,
    };
    said.unwrap_or_else(|| tool.to_owned())
}

/// `server: tool`.
fn mcp_title(name: &str) -> String {
    let rest = name.trim_start_matches("mcp__");
    match rest.split_once("__") {
        Some((server, tool)) => format!("{server}: {tool}"),
        None => rest.to_owned(),
    }
}

fn one_line(text: &str) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default().trim();
    match lines.next() {
        Some(_) => format!("{first} …"),
        None => first.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_have_kinds_and_titles() {
        use ActionKind::{Command, FileChange, Mcp, Note, Question, Subagent, Tool, WebSearch};
        let cases = [
            (
                "Bash",
                json!({"command": "cargo test"}),
                Command,
                "cargo test",
            ),
            (
                "Bash",
                json!({"command": "\ncat <<E\nx\nE"}),
                Command,
                "cat <<E …",
            ),
            ("Bash", json!({}), Command, "Bash"),
            ("KillShell", json!({"shell_id": "b1"}), Command, "b1"),
            (
                "Edit",
                json!({"file_path": "/p/a.rs"}),
                FileChange,
                "/p/a.rs",
            ),
            ("Write", json!({"path": "/p/a.rs"}), FileChange, "/p/a.rs"),
            (
                "NotebookEdit",
                json!({"notebook_path": "/p/a.ipynb"}),
                FileChange,
                "/p/a.ipynb",
            ),
            ("Read", json!({"file_path": "/p/a.rs"}), Tool, "/p/a.rs"),
            ("Glob", json!({"pattern": "**/*.rs"}), Tool, "**/*.rs"),
            ("Grep", json!({"pattern": "fn"}), Tool, "fn"),
            ("WebSearch", json!({"query": "rust"}), WebSearch, "rust"),
            (
                "WebFetch",
                json!({"url": "http://x/"}),
                WebSearch,
                "http://x/",
            ),
            ("TodoWrite", json!({"todos": []}), Note, "update todos"),
            (
                "AskUserQuestion",
                json!({"questions": []}),
                Question,
                "ask user",
            ),
            ("Task", json!({"description": "look"}), Subagent, "look"),
            ("Agent", json!({"prompt": "look"}), Subagent, "look"),
            ("mcp__calc__add", json!({"a": 1}), Mcp, "calc: add"),
            ("mcp__odd", json!({}), Mcp, "odd"),
            ("Strange", json!(7), Tool, "Strange"),
        ];
        for (tool, input, kind, title) in cases {
            let action = Action::begun(tool, &input, None);
            assert_eq!(
                (action.kind, action.title.as_str()),
                (kind, title),
                "{tool} {input}"
            );
        }
    }

    #[test]
    fn edits_show_what_they_change() {
        let input = json!({"file_path": "a", "old_string": "one\ntwo", "new_string": "1"});
        let diff = Action::begun("Edit", &input, None).diff.unwrap();
        assert_eq!(diff.hunks, "-one\n-two\n+1");
        let write = json!({"file_path": "a", "content": "x\n"});
        assert_eq!(
            Action::begun("Write", &write, None).diff.unwrap().hunks,
            "+x"
        );
        assert_eq!(Action::begun("Bash", &input, None).diff, None);
    }
}
