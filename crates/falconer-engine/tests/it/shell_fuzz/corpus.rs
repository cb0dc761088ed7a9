//! The seeds: commands that were once judged wrongly, and commands of every day.

use std::path::Path;

/// A command that must not run unasked, with the kind of hole it went through.
#[derive(Debug, Clone)]
pub(super) struct Seed {
    pub(super) class: String,
    pub(super) command: String,
}

fn fixture(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/shell");
    std::fs::read_to_string(root.join(name)).unwrap()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
}

/// Hostile commands. In the file each is a class, a tab and the command, with `⏎` for newlines.
pub(super) fn hostile() -> Vec<Seed> {
    let text = fixture("hostile.txt");
    let seed = |line: &str| {
        let (class, command) = line.split_once('\t').unwrap();
        Seed {
            class: class.to_owned(),
            command: command.replace('⏎', "\n").replace('␍', "\r"),
        }
    };
    lines(&text).map(seed).collect()
}

/// Commands that people expect to run unasked.
pub(super) fn everyday() -> Vec<String> {
    lines(&fixture("everyday.txt")).map(str::to_owned).collect()
}
