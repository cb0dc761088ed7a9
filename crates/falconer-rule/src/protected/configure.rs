//! Programs that write a protected place without naming it.

use crate::shell::Part;

/// A program, the first words with which it writes, and what. No words: whatever it is given.
type Writer = (&'static str, &'static [&'static str], &'static str);

const WRITERS: &[Writer] = &[
    ("at", &[], "jobs of at"),
    ("aws", &["configure"], ".aws"),
    ("batch", &[], "jobs of at"),
    ("cargo", &["login", "logout"], ".cargo/credentials.toml"),
    ("chsh", &[], "/etc/passwd"),
    (
        "claude",
        &["config", "mcp", "plugin", "setup-token"],
        ".claude",
    ),
    ("crontab", &[], "crontab"),
    (
        "direnv",
        &["allow", "permit", "edit", "grant"],
        ".config/direnv",
    ),
    ("docker", &["login", "logout"], ".docker"),
    ("gcloud", &["auth", "config"], ".config/gcloud"),
    (
        "gh",
        &["auth", "config", "alias", "extension"],
        ".config/gh",
    ),
    (
        "git",
        &["config", "credential", "credential-store"],
        ".git/config",
    ),
    ("kubectl", &["config"], ".kube"),
    ("launchctl", &[], "Library/LaunchAgents"),
    (
        "npm",
        &["config", "set", "login", "adduser", "logout"],
        ".npmrc",
    ),
    ("passwd", &[], "/etc/passwd"),
    ("pip", &["config"], ".config/pip"),
    ("pip3", &["config"], ".config/pip"),
    ("pnpm", &["config", "set", "login"], ".npmrc"),
    ("ssh-copy-id", &[], ".ssh"),
    (
        "systemctl",
        &["enable", "disable", "link", "edit", "mask", "set-default"],
        "services",
    ),
    ("useradd", &[], "/etc/passwd"),
    ("usermod", &[], "/etc/passwd"),
    ("visudo", &[], "/etc/sudoers"),
    ("yarn", &["config", "set"], ".yarnrc.yml"),
];

/// Words with which these programs only show something.
const SHOWS: &[&str] = &[
    "--get",
    "--get-all",
    "--get-regexp",
    "--help",
    "--list",
    "-l",
    "current-context",
    "get",
    "get-contexts",
    "list",
    "status",
    "view",
];

/// Orders of Falconer that change nothing of its own.
const HARMLESS: &[&str] = &[
    "--help",
    "--version",
    "-V",
    "-h",
    "doctor",
    "explain",
    "help",
];

/// What a part writes, if it is such a program.
pub(super) fn written_by(part: &Part) -> Option<&'static str> {
    let name = part.name()?;
    let name = name.rsplit('/').next().unwrap_or(name);
    let words: Vec<&str> = part
        .arguments()
        .iter()
        .map(|word| word.unquoted())
        .collect();
    if matches!(name, "falconer" | "falconer-claude") {
        // It answers requests, trusts projects and makes tokens.
        let first = words.first().is_some_and(|first| HARMLESS.contains(first));
        return (!first).then_some(".config/falconer");
    }
    let (_, orders, file) = WRITERS.iter().find(|(known, ..)| *known == name)?;
    let mut own = words.iter().filter(|word| !word.starts_with('-'));
    let is_order = orders.is_empty() || own.next().is_some_and(|word| orders.contains(word));
    let shows = words.iter().any(|word| SHOWS.contains(word));
    (is_order && !shows).then_some(file)
}
