//! What a command may reach that nobody can see in its words.

use std::path::PathBuf;

use crate::command_pattern::CommandPattern;
use crate::location::{Location, Where};
use crate::path_pattern::PathPattern;
use crate::place::{Found, Place};
use crate::shell::{self, Inner, Meaning, Part, Word};

/// Files and directories that are looked at below the roots of a search.
const MOST: usize = 4_096;

/// Whether a part may run what a pattern forbids, although its words do not say so.
pub(super) fn may_reach(pattern: &CommandPattern, meaning: &Meaning) -> bool {
    let part = &meaning.part;
    if part.words.is_empty() {
        return meaning.runs_unknown;
    }
    let more = without_values(part);
    let mut forms = meaning.forms.iter().chain(&more);
    let is_meant = |form: &Part| {
        pattern.matches_named(&form.text()) || pattern.matches_named(&form.unquoted_text())
    };
    meaning.runs_unknown
        || meaning.runs_code
        || meaning.scripts.iter().any(Inner::is_unparsable)
        || part.name() == Some("alias") && !part.arguments().is_empty()
        || forms
            .clone()
            .any(|form| goes_on(pattern, form) || is_meant(form))
        || meaning.takes_more && forms.any(|form| starts(pattern, form))
        || may_be_alias(pattern, meaning)
        || names_in_code(pattern, part)
        || meaning.goes_deeper
        || meaning
            .scripts
            .iter()
            .flat_map(Inner::parts)
            .any(|inner| inner.part.opaque.is_some() || may_reach(pattern, inner))
}

/// Whether the words up to the first that is not known may be the beginning of what is meant.
fn goes_on(pattern: &CommandPattern, form: &Part) -> bool {
    let known: Vec<&str> = form
        .words
        .iter()
        .map_while(|word| word.literal.as_deref())
        .collect();
    if known.len() == form.words.len() {
        return false;
    }
    let known = known.join(" ");
    known.is_empty() || pattern.may_continue(&format!("{known} "))
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
        && shell::reads_only(&meaning.part).is_none()
        && (meaning.forms)
            .iter()
            .any(|form| form.name() == Some("git") && shell::asks_git_for_unknown(form.arguments()))
}

/// The command without the options in front of its first argument, and without the words after
/// them, which may be their values.
fn without_values(part: &Part) -> Vec<Part> {
    let mut found = Vec::new();
    let arguments = part.arguments();
    let is_option = |index: usize| {
        let word = arguments.get(index).map(Word::unquoted);
        word.is_some_and(|word| word.starts_with(['-', '+']))
    };
    for start in 1..arguments.len().min(16) {
        let is_skipped = |index: usize| is_option(index) || index > 0 && is_option(index - 1);
        // A name such as `stash` in front of another one is a command.
        if !(0..start).all(is_skipped) {
            break;
        }
        let mut form = part.clone();
        form.words.drain(1..=start);
        found.push(form);
    }
    found
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

/// Whether a program that reads whole directories may come across a file that is meant.
pub(super) fn may_come_across(
    pattern: &PathPattern,
    meaning: &Meaning,
    location: &Location,
) -> bool {
    let is_tree = |form: &Part| shell::reads_trees(form) || shell::renames_trees(form);
    let reads = |form: &Part| is_tree(form) && meets(pattern, form, location);
    let mut inner = meaning.scripts.iter().flat_map(Inner::parts);
    meaning.forms.iter().any(reads) || inner.any(|part| may_come_across(pattern, part, location))
}

pub(super) fn meets(pattern: &PathPattern, part: &Part, location: &Location) -> bool {
    let mut roots = Vec::new();
    // The command of git may be called like a directory.
    let command = usize::from(part.name() == Some("git"));
    for word in part.arguments().iter().skip(command) {
        match location.places(word) {
            Where::At(places) => roots.extend(places.into_iter().filter(|place| place.is_dir)),
            Where::Unknown => return true,
        }
    }
    if roots.is_empty() {
        match location.places(&Word::plain(".")) {
            Where::At(places) => roots = places,
            Where::Unknown => return true,
        }
    }
    let mut budget = MOST;
    roots.iter().any(|root| walk(pattern, root, &mut budget))
}

/// Looks for the file below a directory; what is too large to be looked at may hold it.
fn walk(pattern: &PathPattern, root: &Place, budget: &mut usize) -> bool {
    let mut todo = vec![PathBuf::new()];
    while let Some(below) = todo.pop() {
        let Ok(entries) = std::fs::read_dir(root.real.join(&below)) else {
            continue;
        };
        for entry in entries.filter_map(Result::ok) {
            let Some(rest) = budget.checked_sub(1) else {
                return true;
            };
            *budget = rest;
            let path = below.join(entry.file_name());
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let kind = if is_dir {
                Found::Directory
            } else {
                Found::File
            };
            if pattern.touches(&root.found(&path, kind)) {
                return true;
            }
            if is_dir {
                todo.push(path);
            }
        }
    }
    false
}
