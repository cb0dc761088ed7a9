//! Programs that only start another one, and variables in front of a command.

use super::Part;
use super::word::Word;

/// Variables that change how much a program says, not what it does.
const HARMLESS: &[&str] = &[
    "CARGO_TERM_COLOR",
    "CI",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "FORCE_COLOR",
    "GIT_TERMINAL_PROMPT",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "LINES",
    "NO_COLOR",
    "NODE_ENV",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// Programs that start the program they are given.
const STARTERS: &[&str] = &[
    "builtin", "chroot", "command", "doas", "env", "eval", "exec", "flock", "ionice", "nice",
    "nohup", "parallel", "setsid", "stdbuf", "strace", "sudo", "time", "timeout", "unshare",
    "watch", "xargs",
];

/// The command that is really run, when that is certain.
pub fn stripped(part: &Part) -> Part {
    let mut part = part.clone();
    if part.words.is_empty() {
        return part;
    }
    if part.assignments.iter().all(|one| is_harmless(&one.name)) {
        part.assignments.clear();
    }
    while let Some(count) = wrapper_length(&part.words) {
        if count >= part.words.len() {
            break;
        }
        part.words.drain(..count);
    }
    if part.name().is_none_or(str::is_empty) && part.opaque.is_none() {
        part.opaque = Some("the program to run is only known when it runs");
    }
    let mut arguments = part.arguments().iter();
    if starts_others(&part) && arguments.any(|word| word.literal.is_none()) {
        part.opaque = Some("the program to run is only known when it runs");
    }
    part
}

fn starts_others(part: &Part) -> bool {
    base_name(part).is_some_and(|name| STARTERS.contains(&name))
}

/// The name of the program without its directory.
fn base_name(part: &Part) -> Option<&str> {
    let name = part.name()?;
    Some(name.rsplit('/').next().unwrap_or(name))
}

/// The text that a part hands to a shell: `sh -c TEXT`, `eval TEXT`.
pub fn script(part: &Part) -> Option<String> {
    let is_shell = |name: &str| matches!(name, "sh" | "bash" | "dash" | "zsh" | "ksh" | "busybox");
    let arguments = part.arguments().iter().map(Word::unquoted);
    match base_name(part)? {
        "eval" => Some(arguments.collect::<Vec<_>>().join(" ")),
        name if is_shell(name) => {
            let mut rest =
                arguments.skip_while(|word| !(word.starts_with('-') && word.contains('c')));
            rest.nth(1).map(str::to_owned)
        }
        _ => None,
    }
}

fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name)
}

/// How many words a wrapper in front takes, its own name included.
fn wrapper_length(words: &[Word]) -> Option<usize> {
    let literal = |index: usize| words.get(index)?.literal.as_deref();
    match literal(0)? {
        "nohup" => Some(1).filter(|_| is_program(literal(1))),
        "command" => Some(1).filter(|_| is_program(literal(1))),
        "time" => match literal(1)? {
            "-p" => Some(2).filter(|_| is_program(literal(2))),
            _ => Some(1).filter(|_| is_program(literal(1))),
        },
        "nice" => match literal(1)? {
            "-n" => Some(3).filter(|_| is_number(literal(2)) && is_program(literal(3))),
            adjustment if is_number(adjustment.strip_prefix('-')) => {
                Some(2).filter(|_| is_program(literal(2)))
            }
            _ => Some(1).filter(|_| is_program(literal(1))),
        },
        "timeout" => timeout_length(words),
        "env" => {
            let variables = words[1..]
                .iter()
                .take_while(|word| {
                    let assignment = word.literal.as_deref().and_then(|it| it.split_once('='));
                    assignment.is_some_and(|(name, _)| is_harmless(name))
                })
                .count();
            Some(variables + 1).filter(|next| is_program(literal(*next)))
        }
        _ => None,
    }
}

fn timeout_length(words: &[Word]) -> Option<usize> {
    let mut index = 1;
    loop {
        match words.get(index)?.literal.as_deref()? {
            "-k" | "-s" | "--kill-after" | "--signal" => index += 2,
            "--preserve-status" | "--foreground" | "-v" | "--verbose" => index += 1,
            option if option.starts_with("--kill-after=") || option.starts_with("--signal=") => {
                index += 1;
            }
            duration if duration.starts_with(|first: char| first.is_ascii_digit()) => {
                let next = words.get(index + 1)?.literal.as_deref();
                return Some(index + 1).filter(|_| is_program(next));
            }
            _ => return None,
        }
    }
}

fn is_program(word: Option<&str>) -> bool {
    word.is_some_and(|word| !word.is_empty() && !word.starts_with('-') && !word.contains('='))
}

fn is_number(word: Option<&str>) -> bool {
    word.map(|word| word.trim_start_matches('-'))
        .is_some_and(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Everything that may be the real command: what a rule forbids must not slip through behind a
/// program that starts others.
pub fn stripped_for_denial(part: &Part) -> Vec<Part> {
    let mut bare = part.clone();
    bare.assignments.clear();
    let mut found = vec![bare.clone()];
    if let Some(base) = bare.name().and_then(|name| name.rsplit_once('/')) {
        let mut named = bare.clone();
        named.words[0].literal = Some(base.1.to_owned());
        named.words[0].text = base.1.to_owned();
        found.push(named);
    }
    if starts_others(&bare) {
        for start in 1..bare.words.len() {
            let mut inner = bare.clone();
            inner.words.drain(..start);
            found.push(inner);
        }
    }
    found
}
