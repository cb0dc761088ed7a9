//! A rough look at a command, for texts only: what its exit code means, whether silence is
//! normal. Never for permissions, which need a real parser.

/// How a simple command is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    First,
    /// `;`, `&`, a newline: it runs in any case.
    Next,
    Pipe,
    /// `&&`, `||`: it runs or not.
    Maybe,
}

/// Splits at operators outside quotes and parentheses.
fn split(command: &str) -> Vec<(Joint, &str)> {
    let mut parts = Vec::new();
    let (mut joint, mut start, mut depth, mut quote) = (Joint::First, 0, 0usize, None);
    let mut chars = command.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => {
                chars.next();
            }
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, ';' | '&' | '|' | '\n') if depth == 0 => {
                // `2>&1` and `&>file` are no operators.
                let is_redirection = c == '&'
                    && (command[..at].ends_with(['>', '<'])
                        || matches!(chars.peek(), Some((_, '>'))));
                if is_redirection {
                    continue;
                }
                parts.push((joint, command[start..at].trim()));
                let doubled = c != '\n' && chars.next_if(|(_, next)| *next == c).is_some();
                joint = match c {
                    '|' if !doubled => Joint::Pipe,
                    '|' | '&' if doubled => Joint::Maybe,
                    _ => Joint::Next,
                };
                start = at + c.len_utf8() * if doubled { 2 } else { 1 };
            }
            (None, _) => {}
        }
    }
    parts.push((joint, command[start..].trim()));
    parts.retain(|(_, part)| !part.is_empty() && !part.starts_with('#'));
    parts
}

/// The name of the program, without variables before it and directories in front of it.
fn program(part: &str) -> &str {
    let is_assignment = |word: &&str| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    let word = part.split_whitespace().find(|word| !is_assignment(word));
    let word = word.unwrap_or_default();
    word.rsplit('/').next().unwrap_or(word)
}

/// What an exit code says that is not a failure.
pub(super) fn interpret(command: &str, code: i32) -> Option<&'static str> {
    let parts = split(command);
    let (joint, last) = parts.last()?;
    // After `&&` the code may be that of the command before.
    if code != 1 || *joint == Joint::Maybe {
        return None;
    }
    match program(last) {
        "grep" | "egrep" | "fgrep" | "rg" | "zgrep" => Some("No matches"),
        "diff" | "cmp" => Some("Files differ"),
        "test" | "[" => Some("Condition is false"),
        "find" => Some("Some directories could not be read"),
        _ => None,
    }
}

const SILENT: &[&str] = &[
    "cd", "chgrp", "chmod", "chown", "cp", "export", "ln", "mkdir", "mv", "rm", "rmdir", "touch",
    "unset", "wait",
];

/// Whether the command normally writes nothing when it succeeds.
pub(super) fn is_silent(command: &str) -> bool {
    let parts = split(command);
    !parts.is_empty()
        && parts
            .iter()
            .all(|(_, part)| SILENT.contains(&program(part)))
}

/// Whether the command may leave the shell in another directory.
pub(super) fn changes_directory(command: &str) -> bool {
    let changes = |part: &str| matches!(program(part), "cd" | "pushd" | "popd" | "chdir");
    split(command).iter().any(|(_, part)| changes(part))
}

pub(super) fn begins_with_sleep(command: &str) -> bool {
    split(command)
        .first()
        .is_some_and(|(_, part)| program(part) == "sleep")
}

/// A command that begins with a sleep of more than twenty seconds, and that sleep.
pub(super) fn long_sleep(command: &str) -> Option<String> {
    const LONGEST: u64 = 20;
    let parts = split(command);
    let (_, first) = parts.first()?;
    let mut words = first.split_whitespace();
    let (name, seconds, rest) = (words.next()?, words.next()?, words.next());
    let seconds: u64 = seconds.parse().ok()?;
    (name == "sleep" && rest.is_none() && seconds > LONGEST).then(|| format!("sleep {seconds}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn exit_codes_are_interpreted_for_the_program_they_come_from() {
        for (command, code, expected) in [
            ("grep x f", 1, Some("No matches")),
            ("grep x f", 2, None),
            ("grep x f", 0, None),
            ("A=1 /usr/bin/grep 'a;b' f 2>&1", 1, Some("No matches")),
            ("cat f | grep x", 1, Some("No matches")),
            ("make; grep x f", 1, Some("No matches")),
            ("make && grep x f", 1, None),
            ("grep x f || exit 1", 1, None),
            ("grep x f | sort", 1, None),
            ("diff a b", 1, Some("Files differ")),
            ("[ -f x ]", 1, Some("Condition is false")),
            ("echo \"; grep x\"", 1, None),
            ("(cd x; grep y z)", 1, None),
            ("false", 1, None),
            ("", 1, None),
        ] {
            assert_eq!(interpret(command, code), expected, "{command}");
        }
    }

    #[test]
    fn silence_is_normal_for_some_commands() {
        for (command, expected) in [
            ("mkdir -p a && cd a", true),
            ("touch x && rm x", true),
            ("true", false),
            ("mkdir a; ls", false),
            ("", false),
        ] {
            assert_eq!(is_silent(command), expected, "{command}");
        }
    }

    #[test]
    fn only_a_long_sleep_in_front_is_refused() {
        for (command, expected) in [
            ("sleep 30", Some("sleep 30")),
            ("sleep 100 & echo x", Some("sleep 100")),
            ("sleep 40 | cat", Some("sleep 40")),
            ("sleep 20; ls", None),
            ("echo a; sleep 30", None),
            ("sleep 0.6m", None),
            ("sleep $N", None),
        ] {
            assert_eq!(long_sleep(command).as_deref(), expected, "{command}");
        }
        assert!(begins_with_sleep("sleep 5 && ls") && !begins_with_sleep("ls; sleep 5"));
        assert!(changes_directory("ls && cd x") && !changes_directory("echo cd"));
    }

    proptest! {
        #[test]
        fn nothing_panics(command in "[ a-z;&|'\"\\\\()\n$<>=ä]{0,40}") {
            let _ = (interpret(&command, 1), is_silent(&command), long_sleep(&command));
        }
    }
}
