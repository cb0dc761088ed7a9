//! Ready-made answers that the host may send back with a yes.

use std::path::Path;

use falconer_protocol::permission::{
    AddDirectories, AddRules, PermissionBehavior, PermissionDestination, PermissionMode,
    PermissionUpdate, SetMode,
};
use falconer_rule::{Call, Place, RuleText, Width, suggest};
use serde_json::json;

use super::Target;
use super::question::Question;
use super::wire::to_wire;

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
    cwd: &Path,
    writes: Option<&Path>,
) -> Vec<PermissionUpdate> {
    let rule = rule_for(command, cwd);
    let rule = rule.map(|rule| add_rule(&rule, PermissionDestination::LocalSettings));
    let mut suggestions: Vec<PermissionUpdate> = rule.into_iter().collect();
    if let Some(path) = writes {
        suggestions.extend(add_parent(path));
        suggestions.push(accept_edits());
    }
    suggestions
}

/// The subcommand if it is a program with known ones, else what was seen.
fn rule_for(command: &str, cwd: &Path) -> Option<RuleText> {
    let input = json!({ "command": command });
    let suggested = suggest(&Call::new("Bash", &input, cwd));
    let with = |width| {
        let all = suggested.iter();
        let mut all = all.filter(move |it| it.width == width && it.rules.len() == 1);
        all.next()
    };
    // The program alone is more than was seen.
    let is_program = |rule: &str| !rule.trim_end_matches(" *)").contains(' ');
    let prefix = with(Width::Prefix).filter(|it| !it.rules.iter().any(|rule| is_program(rule)));
    let suggestion = prefix.or_else(|| with(Width::Exact))?;
    RuleText::parse(suggestion.rules.first()?).ok()
}

/// For a web page or a tool of a server.
pub(super) fn for_other(question: &Question<'_>) -> Vec<PermissionUpdate> {
    let rule = match question.target {
        Target::Domain(host) if host.is_empty() => return Vec::new(),
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
    let directory = if path.is_dir() { path } else { path.parent()? };
    // The root is more than anybody wants to open.
    directory.parent()?;
    let parent = directory.to_str()?.to_owned();
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
