//! Variables in front of a command, and variables whose value may be shown.

use super::{Assignment, Word};

/// Variables that change how much a program says, not what it does.
const HARMLESS: &[&str] = &[
    "CARGO_TERM_COLOR",
    "CI",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "FORCE_COLOR",
    "GIT_TERMINAL_PROMPT",
    "LANG",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// Variables that hold no secrets.
const SHOWN: &[&str] = &[
    "EDITOR", "EUID", "HOME", "HOSTNAME", "LANG", "LOGNAME", "OLDPWD", "OSTYPE", "PATH", "PPID",
    "PWD", "SHELL", "TERM", "TMPDIR", "UID", "USER",
];

/// Whether a variable may be set to any plain value for one command.
pub(super) fn is_harmless(name: &str, value: &str) -> bool {
    let is_plain = value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_.,:=@+-".contains(&byte));
    HARMLESS.contains(&name)
        && match name {
            // The installer loads the front end by its name.
            "DEBIAN_FRONTEND" => value == "noninteractive",
            "TZ" => is_time_zone(value),
            _ => is_plain,
        }
}

fn is_time_zone(value: &str) -> bool {
    let is_plain = value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_/+-".contains(&byte));
    is_plain && !value.starts_with('/')
}

/// The assignment a word makes in front of a command, if it is harmless.
pub(super) fn harmless(word: &Word) -> Option<Assignment> {
    let (name, value) = word.literal.as_deref()?.split_once('=')?;
    // As written, so that no quote is part of the name.
    let is_bare = word.text.starts_with(&format!("{name}="));
    (is_bare && is_harmless(name, value)).then(|| Assignment {
        name: name.to_owned(),
        text: word.text.clone(),
    })
}

pub(super) fn is_shown(name: &str) -> bool {
    SHOWN.contains(&name)
}

/// Whether a text could be the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
