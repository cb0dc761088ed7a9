//! The options that programs really have, read from their own help.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

/// Programs that commands are made of. Those that are not installed have no options.
const PROGRAMS: &[&str] = &[
    "awk",
    "base64",
    "basename",
    "cat",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "env",
    "expand",
    "expr",
    "file",
    "find",
    "fold",
    "grep",
    "head",
    "hexdump",
    "hostname",
    "id",
    "join",
    "jq",
    "less",
    "ls",
    "md5sum",
    "nl",
    "node",
    "npm",
    "od",
    "paste",
    "pip",
    "pr",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "python3",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "sed",
    "seq",
    "sha256sum",
    "shuf",
    "sleep",
    "sort",
    "split",
    "stat",
    "strings",
    "tac",
    "tail",
    "tar",
    "test",
    "tr",
    "tree",
    "tsort",
    "uname",
    "uniq",
    "wc",
    "which",
    "whoami",
    "xargs",
    "xxd",
    "cargo",
    "man",
    "locale",
    "getent",
    "lsof",
    "free",
];

/// A program, or a subcommand of one, with its options.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) words: String,
    pub(super) options: Vec<String>,
}

/// Asks every program for its options.
pub(super) fn programs() -> Vec<Program> {
    let known = PROGRAMS.iter().map(|name| program(name, &[name, "--help"]));
    let git = output(&["git", "--list-cmds=main"]);
    let git = git.lines().map(|name| {
        let words = format!("git {name}");
        let help = output(&["git", name, "-h"]);
        let mut options = named(&help);
        options.extend(FOR_GIT.iter().map(|&option| option.to_owned()));
        Program { words, options }
    });
    let mut all: Vec<Program> = known.chain(git).collect();
    all.sort_by(|one, other| one.words.cmp(&other.words));
    all
}

/// Options that git's short help leaves out.
const FOR_GIT: &[&str] = &[
    "--output=PWNED",
    "--ext-diff",
    "--textconv",
    "--no-index",
    "--stat",
    "-p",
    "--oneline",
    "--all",
    "--show-signature",
    "--format=%h",
    "--contents=link",
    "-O",
    "--open-files-in-pager",
    "--paginate",
    "--git-dir=sub",
    "-C",
    "-c",
    "--exec-path=0",
    "--filters",
];

fn program(name: &str, help: &[&str]) -> Program {
    Program {
        words: name.to_owned(),
        options: named(&output(help)),
    }
}

/// What a program writes about itself; nothing if it is not there.
fn output(command: &[&str]) -> String {
    let output = Command::new(command[0])
        .args(&command[1..])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .current_dir("/")
        .stdin(Stdio::null())
        .output();
    output.map_or_else(
        |_| String::new(),
        |it| String::from_utf8_lossy(&[it.stdout, it.stderr].concat()).into_owned(),
    )
}

/// Everything in a text that looks like an option.
fn named(text: &str) -> Vec<String> {
    let stops = |c: char| c.is_whitespace() || ",[](){}|<>'\"`".contains(c);
    let found: BTreeSet<String> = text
        .split(stops)
        .filter(|word| word.starts_with('-') && word.len() > 1 && word.len() < 40)
        .map(|word| word.trim_end_matches(['.', ':', ';']))
        // Without its value, too: what comes next may then be one, or not.
        .flat_map(|word| [word, word.trim_end_matches('=')])
        .map(str::to_owned)
        .collect();
    found.into_iter().collect()
}
