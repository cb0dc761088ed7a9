//! What a command may reach that nobody can see in its words.

use crate::command_pattern::CommandPattern;
use crate::shell::{self, Inner, Meaning, Part, Word};

/// Whether a part may run what a pattern forbids, although its words do not say so.
pub(super) fn may_reach(pattern: &CommandPattern, meaning: &Meaning) -> bool {
    let part = &meaning.part;
    if part.words.is_empty() {
        return meaning.runs_unknown;
    }
    let mut forms = meaning.forms.iter().chain(&meaning.without_values);
    let mut open = meaning.open.iter();
    let mut texts = meaning.texts.iter().chain(&meaning.more_texts);
    let inner = || meaning.scripts.iter().flat_map(Inner::parts);
    meaning.runs_unknown
        || meaning.runs_code
        || meaning.goes_deeper
        || meaning.scripts.iter().any(Inner::is_unparsable)
        || part.name() == Some("alias") && !part.arguments().is_empty()
        || open.any(|start| start.is_empty() || pattern.may_continue(start))
        || texts.any(|text| pattern.matches_named(text))
        || meaning.takes_more && forms.any(|form| starts(pattern, form))
        || may_be_alias(pattern, meaning)
        || names_in_code(pattern, part)
        || inner().any(|inner| inner.part.opaque.is_some() || may_reach(pattern, inner))
}

/// Whether a form that gets more words is the program that is meant, a shell, or a program that
/// starts what it is given.
fn starts(pattern: &CommandPattern, form: &Part) -> bool {
    let name = form.name().and_then(|name| name.rsplit('/').next());
    name.is_none_or(|name| {
        let gives_on = shell::starts_others(form) && !shell::takes_more(form);
        // `{}` stands for what it gets.
        let is_filled_in = !name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte));
        pattern.program() == Some(name) || shell::runs_code(name) || gives_on || is_filled_in
    })
}

/// A command that git does not have itself may stand for a forbidden one.
fn may_be_alias(pattern: &CommandPattern, meaning: &Meaning) -> bool {
    pattern.program() == Some("git")
        && !meaning.only_reads
        && (meaning.forms)
            .iter()
            .any(|form| form.name() == Some("git") && shell::asks_git_for_unknown(form.arguments()))
}

/// Code for an interpreter, or configuration for git, that names the program.
fn names_in_code(pattern: &CommandPattern, part: &Part) -> bool {
    let Some(program) = pattern.program() else {
        return true;
    };
    let name = part.name().and_then(|name| name.rsplit('/').next());
    let mut words = part.arguments().iter().map(Word::unquoted);
    match name {
        Some("git") if program == "git" => {
            words.any(|word| word.starts_with("-c") || word.starts_with("--config-env"))
        }
        Some(name) if shell::runs_code(name) => words.any(|word| word.contains(program)),
        _ => false,
    }
}
