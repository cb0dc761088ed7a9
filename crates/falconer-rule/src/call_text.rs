//! A call written as a rule would be: `Bash(git push)`, `Read(src/main.rs)`.

use std::path::Path;

use serde_json::{Value, json};

use crate::call::Call;
use crate::rule::{RuleError, failed};
use crate::text::RuleText;

/// A call that a person wrote down, to ask what would become of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallText {
    /// The tool.
    pub tool: String,
    /// What it would be given.
    pub input: Value,
}

impl CallText {
    /// Reads `Tool` or `Tool(what)`, where *what* is what the tool is about: the command of
    /// `Bash`, the path of a file tool, the address or `domain:host` of `WebFetch`, the name of
    /// an agent or skill. A JSON object is the whole input.
    ///
    /// # Errors
    /// If it names no tool or is not closed.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let written = RuleText::parse(text).map_err(|problem| failed(text, problem))?;
        let what = written.content.unwrap_or_default();
        let input = match serde_json::from_str(&what) {
            Ok(input @ Value::Object(_)) => input,
            _ => input(&written.tool, &what),
        };
        Ok(Self {
            tool: written.tool,
            input,
        })
    }

    /// The call in a directory.
    pub fn in_directory<'a>(&'a self, cwd: &'a Path) -> Call<'a> {
        Call::new(&self.tool, &self.input, cwd)
    }
}

fn input(tool: &str, what: &str) -> Value {
    if what.is_empty() {
        return json!({});
    }
    match tool {
        "Bash" | "PowerShell" | "Monitor" => json!({ "command": what }),
        "NotebookEdit" => json!({ "notebook_path": what }),
        "Glob" => json!({ "pattern": what }),
        "Grep" | "LS" => json!({ "pattern": "", "path": what }),
        "WebFetch" => {
            let url = match what.strip_prefix("domain:") {
                Some(host) => format!("https://{host}/"),
                None => what.to_owned(),
            };
            json!({ "url": url })
        }
        "Agent" | "Task" => json!({ "subagent_type": what }),
        "Skill" => json!({ "skill": what }),
        _ => json!({ "file_path": what }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::CallText;

    #[test]
    fn what_is_in_the_parentheses_is_what_the_tool_is_about() {
        let table = [
            ("Bash(git push)", "Bash", json!({"command": "git push"})),
            ("Bash(echo $(a))", "Bash", json!({"command": "echo $(a)"})),
            ("Bash", "Bash", json!({})),
            ("Edit(src/a.rs)", "Edit", json!({"file_path": "src/a.rs"})),
            (
                "WebFetch(domain:docs.rs)",
                "WebFetch",
                json!({"url": "https://docs.rs/"}),
            ),
            (
                "WebFetch(http://a/b)",
                "WebFetch",
                json!({"url": "http://a/b"}),
            ),
            ("mcp__a__b", "mcp__a__b", json!({})),
            ("mcp__a__b({\"x\": 1})", "mcp__a__b", json!({"x": 1})),
            (
                "Agent(Explore)",
                "Agent",
                json!({"subagent_type": "Explore"}),
            ),
        ];
        for (text, tool, input) in table {
            let call = CallText::parse(text).unwrap();
            assert_eq!((call.tool.as_str(), call.input), (tool, input), "{text}");
        }
        let error = CallText::parse("Bash(git push").unwrap_err();
        assert_eq!(error.nearest, "Bash(git push)");
    }
}
