//! The strict reader against a real bash: the same words for the same command.

use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::super::{Part, read};

/// Prints the words of every simple command, each program being a function of bash.
const SHIM: &str = r#"
show() { { printf '%s\0' "$@"; printf '\1\0'; } >&9; }
a() { show a "$@"; }; b() { show b "$@"; }; ls() { show ls "$@"; }; git() { show git "$@"; }
exec 9>&1
cd "$1" && eval "$2"
"#;

/// The words of the commands that bash runs, or none if it could not run them.
fn by_bash(command: &str) -> Option<Vec<Vec<String>>> {
    let directory = tempfile::tempdir().unwrap();
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-c", SHIM, "bash"])
        .arg(directory.path())
        .arg(command)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/h")
        .stdin(Stdio::null());
    let output = bash.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("syntax"), "{command:?}: {errors}");
    // A file that is not there ends the command before its words are shown.
    if !errors.is_empty() {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut commands = vec![Vec::new()];
    for word in text.split_terminator('\0') {
        match word {
            "\u{1}" => commands.push(Vec::new()),
            word => commands.last_mut().unwrap().push(word.to_owned()),
        }
    }
    commands.pop();
    Some(commands)
}

/// The words by the strict reader, if the command is plain and has no words that expand.
fn by_us(command: &str) -> Option<Vec<Vec<String>>> {
    let script = read(command).ok()?;
    script.plain().ok()?;
    let words = |part: &Part| {
        let words = part.words.iter();
        let literal = words.map(|word| {
            let text = word.literal.clone()?;
            match word.text.strip_prefix('~') {
                Some(_) => Some(format!("/h{}", text.strip_prefix('~')?)),
                None => Some(text),
            }
        });
        literal.collect::<Option<Vec<String>>>()
    };
    let parts = script.parts().iter();
    parts
        .filter(|part| !part.words.is_empty())
        .map(words)
        .collect()
}

fn piece() -> impl Strategy<Value = String> {
    let fixed = [
        "a", "b", "ls", "git", "x", "-n", "'q w'", "\"d e\"", "\\ ", "\\;", "\\'", "\\\"",
        "\"\\\"\"", "\"\\x\"", "''", "\"\"", "~", "~/x", "#", "#c", "=", "a=b", "{}", "{a}", "@",
        "%", "^", "!", "\u{e4}", "\u{6f22}", "]", "[", "2", "HEAD~1", "x@{0}", "--", "'$x'",
        "\"$\"", "'`'", "\\$",
    ];
    prop::sample::select(fixed.to_vec()).prop_map(str::to_owned)
}

fn separator() -> impl Strategy<Value = String> {
    let fixed = [
        " ",
        " ",
        " ",
        " ",
        "  ",
        "\t",
        "",
        "; ",
        " && ",
        "\n",
        " \\\n ",
        " 2>/dev/null ",
        " >/dev/null; ",
        " 2>&1 ",
        " # c\n",
        ";",
        "&&",
        " <<'E'\nbody $x\nE\n",
        " <<E\nbody\nE\n",
        " <<< 'x' ",
        " &>/dev/null ",
        "||",
        " </dev/null ",
        "&",
        "|",
        "(",
        ")",
        "$",
        "`",
        "\\",
        "'",
        "\"",
        "{",
        "}",
        "<",
        ">",
        "\n\n",
    ];
    prop::sample::select(fixed.to_vec()).prop_map(str::to_owned)
}

fn random_command() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec!["a", "b", "ls", "git"]);
    let rest = prop::collection::vec((separator(), piece()), 0..7);
    (names, rest).prop_map(|(name, rest)| {
        let mut command = name.to_owned();
        for (separator, piece) in rest {
            command.push_str(&separator);
            command.push_str(&piece);
        }
        command
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plain_words_are_those_of_bash(command in random_command()) {
        // Pipes run in any order, and what follows `||` is not run.
        let is_in_order = !command.contains('|');
        if let Some(ours) = by_us(&command).filter(|_| is_in_order)
            && ours.iter().all(|words| ["a", "b", "ls", "git"].contains(&words[0].as_str()))
        {
            let bash = by_bash(&command).unwrap_or_else(|| ours.clone());
            prop_assert_eq!(ours, bash, "{:?}", command);
        }
    }
}
