//! Ready-made answers that the host may send back with a yes.

use std::path::Path;

use falconer_protocol::permission::{
    AddDirectories, AddRules, PermissionBehavior, PermissionDestination, PermissionMode,
    PermissionUpdate, SetMode,
};
use falconer_rule::shell::{self, Part};
use falconer_rule::{Place, RuleText};

use super::question::Question;
use super::wire::to_wire;
use crate::tool::Target;

/// A longer command is not worth a rule.
const MAX_RULE_TEXT: usize = 1_000;

/// For a file outside the working directories that is to be read.
pub(super) fn for_read(place: &Place) -> Vec<PermissionUpdate> {
    let directory = if place.is_dir {
        Some(place.spelled.as_path())
    } else {
        place.spelled.parent()
    };
    let Some(directory) = directory.and_then(Path::to_str) else {
        return Vec::new();
    };
    let directory = directory.trim_end_matches('/');
    if directory.is_empty() || is_special(directory) {
        return Vec::new();
    }
    let rule = RuleText::new("Read", Some(&format!("/{directory}/**")));
    vec![add_rule(&rule, PermissionDestination::Session)]
}

/// Letters that mean something in a pattern.
fn is_special(path: &str) -> bool {
    path.contains(['*', '?', '[', ']', '\\', '!', '#', '(', ')', '{', '}'])
}

/// For a file that is to be written by a file tool.
pub(super) fn for_write(
    place: &Place,
    is_inside: bool,
    mode: &PermissionMode,
) -> Vec<PermissionUpdate> {
    let mut suggestions = Vec::new();
    if !is_inside {
        suggestions.extend(add_parent(&place.spelled));
    }
    if *mode != PermissionMode::AcceptEdits {
        suggestions.push(accept_edits());
    }
    suggestions
}

/// For a shell command.
pub(super) fn for_command(
    command: &str,
    parts: &[Part],
    writes: Option<&Path>,
) -> Vec<PermissionUpdate> {
    let mut suggestions = Vec::new();
    let is_opaque = parts.iter().any(|part| part.opaque.is_some());
    if !is_opaque && command.len() <= MAX_RULE_TEXT {
        let content = beginning(parts).unwrap_or_else(|| shell::one_line(command).to_owned());
        let rule = RuleText::new("Bash", Some(&content));
        suggestions.push(add_rule(&rule, PermissionDestination::LocalSettings));
    }
    if let Some(path) = writes {
        suggestions.extend(add_parent(path));
        suggestions.push(accept_edits());
    }
    suggestions
}

/// `git commit *` for `git commit -m x`: a program and its subcommand.
fn beginning(parts: &[Part]) -> Option<String> {
    let [part] = parts else {
        return None;
    };
    let part = shell::stripped(part);
    let [name, command, ..] = part.words.as_slice() else {
        return None;
    };
    let (name, command) = (name.literal.as_deref()?, command.literal.as_deref()?);
    let is_word = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_lowercase())
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let is_safe = part.assignments.is_empty() && shell::escape_hatch(&part).is_none();
    (is_safe && is_word(name) && is_word(command)).then(|| format!("{name} {command} *"))
}

/// For a web page or a tool of a server.
pub(super) fn for_other(question: &Question<'_>) -> Vec<PermissionUpdate> {
    let rule = match question.target {
        Target::Domain(host) => RuleText::new(question.tool, Some(&format!("domain:{host}"))),
        _ => RuleText::new(question.tool, None),
    };
    vec![add_rule(&rule, PermissionDestination::LocalSettings)]
}

fn add_rule(rule: &RuleText, destination: PermissionDestination) -> PermissionUpdate {
    PermissionUpdate::AddRules(AddRules {
        rules: vec![to_wire(rule)],
        behavior: PermissionBehavior::Allow,
        destination,
        ..AddRules::default()
    })
}

fn add_parent(path: &Path) -> Option<PermissionUpdate> {
    let parent = path.parent()?.to_str()?.to_owned();
    Some(PermissionUpdate::AddDirectories(AddDirectories {
        directories: vec![parent],
        destination: PermissionDestination::Session,
        ..AddDirectories::default()
    }))
}

fn accept_edits() -> PermissionUpdate {
    PermissionUpdate::SetMode(SetMode {
        mode: PermissionMode::AcceptEdits,
        destination: PermissionDestination::Session,
        ..SetMode::default()
    })
}
