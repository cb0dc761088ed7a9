//! Is this plan all right?

use std::io::{self, Write};

use falconer::PermissionMode;
use falconer_session::Verdict;
use owo_colors::OwoColorize;
use serde_json::Value;

use super::Taken;
use crate::render::Screen;

/// A plan that waits for approval.
#[derive(Debug)]
pub(super) struct Plan {
    text: String,
}

impl Plan {
    pub(super) fn of(form: &Value) -> Self {
        Self {
            text: form["plan"].as_str().unwrap_or_default().to_owned(),
        }
    }

    pub(super) fn begin<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        if !self.text.trim().is_empty() {
            screen.markdown_block(&self.text)?;
        }
        self.prompt(screen)
    }

    pub(super) fn prompt<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        let text = "go on with this plan? [y]es, yes and [a]ccept edits, [n]o (what to change): ";
        screen.prompt(format!("  {} {text}", "?".yellow().bold()))
    }

    pub(super) fn take(&mut self, line: &str) -> Taken<Verdict> {
        let line = line.trim();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mode = match word.to_ascii_lowercase().as_str() {
            "y" | "yes" => PermissionMode::Default,
            "a" | "accept" => PermissionMode::AcceptEdits,
            "n" | "no" => {
                let reason = match rest.trim() {
                    "" => "the user does not approve the plan".to_owned(),
                    reason => format!("the user does not approve the plan: {reason}"),
                };
                return Taken::Verdict(Verdict::Deny(reason));
            }
            _ => return Taken::Unclear,
        };
        Taken::Verdict(Verdict::ApprovePlan(Some(mode)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_plan_is_shown_before_it_is_asked_about() {
        let plan = Plan::of(&json!({"plan": "# The plan\n\n1. make one\n\u{1b}[31m"}));
        let mut bytes = Vec::new();
        plan.begin(&mut Screen::new(&mut bytes, "")).unwrap();
        let shown = String::from_utf8(bytes).unwrap();
        let shown = anstream::adapter::strip_str(&shown).to_string();
        let place = |words: &str| shown.find(words).expect(&shown);
        assert!(place("The plan") < place("make one"));
        assert!(place("make one") < place("go on with this plan? "));
    }

    #[test]
    fn answers_are_a_mode_or_a_reason() {
        let table = [
            (
                "y",
                Some(Verdict::ApprovePlan(Some(PermissionMode::Default))),
            ),
            (
                "A",
                Some(Verdict::ApprovePlan(Some(PermissionMode::AcceptEdits))),
            ),
            (
                "n in smaller steps",
                Some(Verdict::Deny(
                    "the user does not approve the plan: in smaller steps".to_owned(),
                )),
            ),
            ("perhaps", None),
        ];
        for (line, expected) in table {
            let verdict = match Plan::of(&json!({})).take(line) {
                Taken::Verdict(verdict) => Some(verdict),
                Taken::More | Taken::Unclear => None,
            };
            assert_eq!(verdict, expected, "{line}");
        }
    }
}
