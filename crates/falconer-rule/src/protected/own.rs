//! Commands that have Falconer itself write down a decision: it answers requests, trusts projects
//! and makes tokens, and an agent must not do that for a person.

use crate::shell::{self, Part, Word};

/// Where Falconer keeps what people have decided.
pub(super) const STATE: &str = "~/.local/state/falconer";

/// Orders that change nothing of its own.
const HARMLESS: &[&str] = &[
    "--help",
    "--version",
    "-V",
    "-h",
    "completions",
    "demo",
    "doctor",
    "explain",
    "help",
    "replay",
];

/// Orders that speak for a person, where they stand among the words of another program.
const DECIDING: &[&str] = &[
    "approve", "attach", "config", "init", "login", "serve", "trust",
];

/// Whether a part may have Falconer decide something.
pub(super) fn decides(part: &Part) -> bool {
    let forms = shell::stripped_for_denial(part);
    let mut assigned = part.assignments.iter().map(|it| it.text.as_str());
    forms.iter().any(is_order) || names_order(part) || assigned.any(mentions)
}

/// Whether the program is ours, and its order not known to be harmless.
fn is_order(part: &Part) -> bool {
    let first = part.arguments().first().map(Word::unquoted);
    part.name().is_some_and(is_ours) && !first.is_some_and(|first| HARMLESS.contains(&first))
}

/// Whether another program may be told to run it.
fn names_order(part: &Part) -> bool {
    let may_be_ours = |word: &Word| match &word.literal {
        Some(text) => is_ours(text),
        None => word.text.contains("falconer"),
    };
    let may_decide = |word: &Word| match &word.literal {
        Some(text) => DECIDING.contains(&text.as_str()),
        None => true,
    };
    let at = part.words.iter().position(may_be_ours);
    let goes_on = at.is_some_and(|at| {
        shell::takes_more(part) || part.words.iter().skip(at + 1).any(may_decide)
    });
    goes_on || part.words.iter().any(|word| mentions(word.unquoted()))
}

/// Whether a text, such as a script, names one of these orders.
pub(super) fn mentions(text: &str) -> bool {
    let mut words = text.split(|c: char| c.is_whitespace() || "'\"`();&|=".contains(c));
    words.any(is_ours) && words.any(|word| DECIDING.contains(&word))
}

fn is_ours(program: &str) -> bool {
    let name = program.rsplit('/').next();
    matches!(name, Some("falconer" | "falconer-claude"))
}
