//! What `--help` and `--version` say.

use std::fmt::Write;

use super::flags::help_lines;
use crate::session::version::PROTOCOL;

/// Hosts read the number in front; the rest says who really answers.
pub(crate) fn version() -> String {
    let own = env!("CARGO_PKG_VERSION");
    format!("{PROTOCOL} (Claude Code compatible; falconer-claude {own})\n")
}

pub(crate) fn help() -> String {
    let mut text = String::from(
        "Runs a coding agent, as the official CLI does without a terminal.\n\
         \n\
         Usage: falconer-claude [flags] [prompt]\n\
         \n\
         Examples:\n\
         \x20 falconer-claude -p 'What does this project do?'\n\
         \x20 git diff | falconer-claude -p 'Review this' --allowed-tools Read,Grep\n\
         \x20 falconer-claude -p --output-format json 'How many tests are there?'\n\
         \n\
         Point an official SDK at this program to run it without Node. Credentials come from\n\
         ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN. Use '--' before a prompt that follows a\n\
         list.\n\
         \n\
         Flags:\n",
    );
    for (usage, help) in help_lines() {
        let _ = match usage.len() {
            0..32 => writeln!(text, "  {usage:<32}{help}"),
            _ => writeln!(text, "  {usage}\n{:34}{help}", ""),
        };
    }
    text
}
