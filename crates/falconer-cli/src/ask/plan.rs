//! A plan to approve, with what it wants to be allowed.

use std::io::{self, Write};

use falconer::PermissionMode;
use falconer_session::Verdict;
use owo_colors::OwoColorize;
use serde_json::{Map, Value};

use super::Taken;
use crate::render::{Screen, Sheet};

/// A plan that waits for approval.
#[derive(Debug)]
pub(super) struct Plan {
    text: String,
    /// Prompts that the plan wants to be allowed.
    allowed: Vec<Value>,
    /// Everything else the request says.
    rest: Map<String, Value>,
}

impl Plan {
    pub(super) fn of(form: &Value) -> Self {
        let mut rest = form.as_object().cloned().unwrap_or_default();
        let text = match rest.get("plan") {
            Some(Value::String(text)) => text.clone(),
            _ => String::new(),
        };
        if !text.is_empty() {
            rest.remove("plan");
        }
        let allowed = match rest.remove("allowedPrompts") {
            Some(Value::Array(prompts)) => prompts,
            Some(Value::Null) | None => Vec::new(),
            Some(other) => vec![other],
        };
        Self {
            text,
            allowed,
            rest,
        }
    }

    /// A plan that is not shown cannot be approved.
    pub(super) fn can_be_approved(&self) -> bool {
        !self.text.trim().is_empty()
    }

    pub(super) fn sheet(&self) -> Sheet {
        let mut sheet = if self.can_be_approved() {
            Sheet::default().note("the plan").text(&self.text)
        } else {
            Sheet::default().note("the request contains no plan, so it can only be denied")
        };
        if !self.allowed.is_empty() {
            sheet = sheet.note("it also asks to do these without further approval");
        }
        for prompt in &self.allowed {
            let is_usual = prompt.as_object().is_some_and(|fields| fields.len() == 2);
            sheet = match (prompt["tool"].as_str(), prompt["prompt"].as_str()) {
                (Some(tool), Some(text)) if is_usual => sheet.line(&format!("{tool}: {text}")),
                _ => sheet.json(prompt),
            };
        }
        if self.rest.is_empty() {
            sheet
        } else {
            sheet.note("with").json(&Value::Object(self.rest.clone()))
        }
    }

    pub(super) fn prompt<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        let text = if self.can_be_approved() {
            "proceed with this plan? [y]es, yes and [a]ccept edits, [n]o (what to change): "
        } else {
            "send it back? [n]o (what to change): "
        };
        screen.prompt(format!("  {} {text}", "?".yellow().bold()))
    }

    pub(super) fn letters(&self) -> Vec<char> {
        if self.can_be_approved() {
            vec!['y', 'a', 'n']
        } else {
            vec!['n']
        }
    }

    pub(super) fn take(&mut self, line: &str) -> Taken {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        // What approves stands alone: "yes, but …" and "a few remarks" do not approve.
        let mode = match (word.to_ascii_lowercase().as_str(), rest.trim()) {
            ("y" | "yes", "") => PermissionMode::Default,
            ("a" | "accept", "") => PermissionMode::AcceptEdits,
            ("n" | "no", _) => {
                let reason = match rest.trim() {
                    "" => "the user did not approve the plan".to_owned(),
                    reason => format!("the user did not approve the plan: {reason}"),
                };
                return Taken::Verdict(Verdict::Deny(reason));
            }
            _ => return Taken::Unclear,
        };
        if self.can_be_approved() {
            Taken::Verdict(Verdict::ApprovePlan(Some(mode)))
        } else {
            Taken::Unclear
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan() -> Plan {
        Plan::of(
            &json!({"plan": "# The plan\n\n1. make one\n\u{1b}[31m", "x": 1,
            "allowedPrompts": [{"tool": "Bash", "prompt": "run tests\nBash: x"}, {"odd": true},
                {"tool": "Bash", "prompt": "build", "as": "root"}]}),
        )
    }

    #[test]
    fn the_plan_and_what_it_wants_to_be_allowed_are_shown() {
        let rows = plan().sheet().rows(80);
        let shown = anstream::adapter::strip_str(&rows.join("\n")).to_string();
        let expected = [
            "  the plan",
            "  │ # The plan",
            "  │ ",
            "  │ 1. make one",
            "  │ ⟨ESC⟩[31m",
            "  it also asks to do these without further approval",
            "  │ Bash: run tests⟨LF⟩Bash: x",
            "  │ {",
            "  │   \"odd\": true",
            "  │ }",
            "  │ {",
            "  │   \"tool\": \"Bash\",",
            "  │   \"prompt\": \"build\",",
            "  │   \"as\": \"root\"",
            "  │ }",
            "  with",
            "  │ {",
            "  │   \"x\": 1",
            "  │ }",
        ];
        assert_eq!(shown.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn answers_are_a_mode_or_a_reason() {
        let denied = "the user did not approve the plan: in smaller steps";
        let table = [
            (
                "y",
                Some(Verdict::ApprovePlan(Some(PermissionMode::Default))),
            ),
            (
                "A",
                Some(Verdict::ApprovePlan(Some(PermissionMode::AcceptEdits))),
            ),
            ("n in smaller steps", Some(Verdict::Deny(denied.to_owned()))),
            ("perhaps", None),
            ("yes but skip step 2", None),
            ("a few remarks", None),
        ];
        for (line, expected) in table {
            let verdict = match plan().take(line) {
                Taken::Verdict(verdict) => Some(verdict),
                Taken::More | Taken::Unclear | Taken::Edited(_) => None,
            };
            assert_eq!(verdict, expected, "{line}");
        }
    }

    #[test]
    fn what_shows_no_plan_cannot_be_approved() {
        for form in [
            json!({}),
            json!({"plan": " \n"}),
            json!({"plan": 7}),
            json!("x"),
        ] {
            for line in ["y", "a"] {
                let taken = Plan::of(&form).take(line);
                assert!(matches!(taken, Taken::Unclear), "{form} {line}");
            }
        }
    }
}
