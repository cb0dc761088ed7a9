//! Commands that have Falconer itself write down a decision: it answers requests, trusts projects
//! and makes tokens, and an agent must not do that for a person.

use crate::shell::{Meaning, Part, Word};

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
pub(super) fn decides(meaning: &Meaning) -> bool {
    let assignments = meaning.part.assignments.iter();
    let mut assigned = assignments.map(|it| it.text.as_str());
    meaning.forms.iter().any(is_order) || names_order(meaning) || assigned.any(mentions)
}

/// Whether the program is ours, and its order not known to be harmless.
fn is_order(part: &Part) -> bool {
    let first = part.arguments().first().map(Word::unquoted);
    part.name().is_some_and(is_ours) && !first.is_some_and(|first| HARMLESS.contains(&first))
}

/// Whether another program may be told to run it.
fn names_order(meaning: &Meaning) -> bool {
    let words = &meaning.part.words;
    let may_be_ours = |word: &Word| match &word.literal {
        Some(text) => is_ours(text),
        None => word.text.contains("falconer"),
    };
    let may_decide = |word: &Word| match &word.literal {
        Some(text) => DECIDING.contains(&text.as_str()),
        None => true,
    };
    let at = words.iter().position(may_be_ours);
    let goes_on =
        at.is_some_and(|at| meaning.takes_more || words.iter().skip(at + 1).any(may_decide));
    goes_on || words.iter().any(|word| mentions(word.unquoted()))
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
