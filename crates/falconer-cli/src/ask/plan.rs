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
