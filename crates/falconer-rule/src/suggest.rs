//! Rules that would allow a call, from narrow to wide, for a person who says "always".

use std::rc::Rc;

use crate::call::Call;
use crate::effect::Effect;
use crate::judge::{Outcome, judge};
use crate::place::Place;
use crate::rule::Rule;
use crate::shell::{self, Part, Script};
use crate::subject::{Access, Subject};
use crate::text::RuleText;

/// A longer command is not worth a rule.
const MAX_RULE_TEXT: usize = 1_000;

/// Rules that would have allowed a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suggestion {
    /// How much more than the call they allow.
    pub width: Width,
    /// The rules; a compound command may need one for each part.
    pub rules: Vec<String>,
}

/// How much a rule allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Width {
    /// This command, this file, this host, this tool of a server.
    Exact,
    /// Commands that begin alike, files of the same directory, all tools of a server.
    Prefix,
    /// Every call of the tool.
    Tool,
}

/// Rules that would allow the call, from narrow to wide. Each of them was tried on it.
pub fn suggest(call: &Call<'_>) -> Vec<Suggestion> {
    let mut found: Vec<Suggestion> = Vec::new();
    for (width, rules) in candidates(call) {
        let suggestion = Suggestion { width, rules };
        if allows(&suggestion.rules, call) && !found.iter().any(|it| it.rules == suggestion.rules) {
            found.push(suggestion);
        }
    }
    found
}

fn allows(rules: &[String], call: &Call<'_>) -> bool {
    let rules: Option<Vec<(Effect, Rule)>> = rules
        .iter()
        .map(|rule| Some((Effect::Allow, Rule::parse(rule).ok()?)))
        .collect();
    rules.is_some_and(|rules| !rules.is_empty() && judge(&rules, call).effect == Outcome::Allow)
}

fn candidates(call: &Call<'_>) -> Vec<(Width, Vec<String>)> {
    let mut found = match call.subject() {
        Subject::Command { text, script } => {
            commands(text, script.as_ref().map(Script::parts).unwrap_or_default())
        }
        Subject::Files { access, places } => files(*access, places),
        Subject::Host(host) => vec![(Width::Exact, rule("WebFetch", &format!("domain:{host}")))],
        Subject::Tool { .. } => servers(call.tool),
    };
    let is_of_server = call.tool.starts_with("mcp__");
    if !is_of_server {
        found.push((Width::Tool, vec![call.tool.to_owned()]));
    }
    found
}

fn rule(tool: &str, content: &str) -> Vec<String> {
    vec![RuleText::new(tool, Some(content)).to_string()]
}

/// Programs with commands of their own, so that their beginnings mean something.
const WITH_COMMANDS: &[&str] = &[
    "apt",
    "brew",
    "bundle",
    "cargo",
    "composer",
    "conda",
    "dnf",
    "docker",
    "dotnet",
    "gem",
    "gh",
    "git",
    "glab",
    "go",
    "gradle",
    "helm",
    "just",
    "kubectl",
    "make",
    "mix",
    "mvn",
    "npm",
    "pip",
    "pip3",
    "pnpm",
    "podman",
    "poetry",
    "rustup",
    "swift",
    "systemctl",
    "terraform",
    "uv",
    "yarn",
];

/// Commands of these programs that run whatever they are given.
const RUNNING: &[(&str, &[&str])] = &[
    ("bundle", &["exec"]),
    ("composer", &["exec"]),
    ("conda", &["run"]),
    ("docker", &["compose", "exec", "run"]),
    ("dotnet", &["exec", "tool"]),
    ("gem", &["exec"]),
    ("gh", &["alias", "api", "extension"]),
    ("go", &["generate", "run", "tool"]),
    ("kubectl", &["debug", "exec", "run"]),
    ("mix", &["cmd", "run"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["dlx", "exec", "x"]),
    ("podman", &["compose", "exec", "run"]),
    ("poetry", &["run"]),
    ("rustup", &["run"]),
    ("uv", &["run", "tool", "x"]),
    ("yarn", &["dlx", "exec", "node"]),
];

/// Whether a beginning of a command says nothing about what it runs.
fn runs_anything(program: &str, command: Option<&str>) -> bool {
    let known = RUNNING.iter().find(|(known, _)| *known == program);
    match command {
        Some(command) => known.is_some_and(|(_, commands)| commands.contains(&command)),
        None => known.is_some(),
    }
}

/// Whether the first argument of a program is a command of its own.
pub(crate) fn has_commands(program: &str) -> bool {
    WITH_COMMANDS.contains(&program)
}

fn commands(command: &str, parts: &[Part]) -> Vec<(Width, Vec<String>)> {
    let mut found = Vec::new();
    if let Some(exact) = exact_command(command, parts) {
        found.push((Width::Exact, vec![exact]));
    }
    for words in [2, 1] {
        let beginnings: Option<Vec<String>> = parts
            .iter()
            .filter(|part| !part.words.is_empty())
            .map(|part| beginning(part, words))
            .collect();
        if let Some(mut rules) = beginnings.filter(|rules| !rules.is_empty()) {
            rules.dedup();
            found.push((Width::Prefix, rules));
        }
    }
    found
}

/// The rule that allows exactly this command, with its stars escaped; none if it would mean
/// something else each time.
pub fn exact_command(command: &str, parts: &[Part]) -> Option<String> {
    let line = shell::one_line(command);
    let mut bare = parts.iter().map(shell::stripped);
    let is_worth_it = line.len() <= MAX_RULE_TEXT && !bare.any(|part| part.opaque.is_some());
    // A backslash in front of a star would be taken for its escape.
    let is_clear = !line.contains("\\*") && !line.ends_with(":*");
    (is_worth_it && is_clear && !line.is_empty())
        .then(|| RuleText::new("Bash", Some(&line.replace('*', "\\*"))).to_string())
}

/// `Bash(git commit *)` for `git commit -m x`: a program with commands of its own, and the
/// command if two words are wanted.
pub fn beginning(part: &Part, words: usize) -> Option<String> {
    let part = shell::stripped(part);
    let name = part.name().filter(|name| WITH_COMMANDS.contains(name))?;
    let second = part.arguments().first();
    let second = second.and_then(|word| word.literal.as_deref());
    let content = match (words, second.filter(|word| is_word(word))) {
        (1, _) if runs_anything(name, None) => return None,
        (1, _) => format!("{name} *"),
        (_, Some(second)) if runs_anything(name, Some(second)) => return None,
        (_, Some(second)) => format!("{name} {second} *"),
        (_, None) => return None,
    };
    part.assignments
        .is_empty()
        .then(|| RuleText::new("Bash", Some(&content)).to_string())
}

fn is_word(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn files(access: Access, places: &[Rc<Place>]) -> Vec<(Width, Vec<String>)> {
    let tool = match access {
        Access::Read => "Read",
        Access::Write => "Edit",
    };
    let [place] = places else {
        return Vec::new();
    };
    let directory = if place.is_dir {
        Some(place.spelled.as_path())
    } else {
        place.spelled.parent()
    };
    let (Some(path), Some(directory)) = (
        place.spelled.to_str(),
        directory.and_then(|directory| directory.to_str()),
    ) else {
        return Vec::new();
    };
    if path.contains(['*', '?', '[', ']', '\\', '!', '#', '(', ')', '{', '}']) {
        return Vec::new();
    }
    let mut found = vec![(Width::Exact, rule(tool, &format!("/{path}")))];
    let directory = directory.trim_end_matches('/');
    if !directory.is_empty() {
        found.push((Width::Prefix, rule(tool, &format!("/{directory}/**"))));
    }
    found
}

/// The tool, and all of its server; a name that may be read in several ways has only the first.
fn servers(tool: &str) -> Vec<(Width, Vec<String>)> {
    let Some((server, _)) = tool
        .strip_prefix("mcp__")
        .and_then(|rest| rest.split_once("__"))
    else {
        return Vec::new();
    };
    vec![
        (Width::Exact, vec![tool.to_owned()]),
        (Width::Prefix, vec![format!("mcp__{server}")]),
    ]
}
