//! What a pattern such as `git *` covers: commands that work on the repository at hand, without
//! options that run programs, write elsewhere or name another repository.

use super::option::{has_short_option, is_long_option};
use super::word::Word;

const COMMANDS: &[&str] = &[
    "add",
    "am",
    "apply",
    "blame",
    "branch",
    "cat-file",
    "check-ignore",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "fsck",
    "gc",
    "grep",
    "init",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "mv",
    "name-rev",
    "notes",
    "prune",
    "pull",
    "push",
    "range-diff",
    "rebase",
    "reflog",
    "remote",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "stash",
    "status",
    "switch",
    "symbolic-ref",
    "tag",
    "update-ref",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
];

const LONG: &[&str] = &[
    "--attach",
    "--config",
    "--config-env",
    "--directory",
    "--editor",
    "--exec",
    "--exec-path",
    "--ext-diff",
    "--extcmd",
    "--export-marks",
    "--git-dir",
    "--gpg-sign",
    "--ignore-revs-file",
    "--interactive",
    "--multiple",
    "--namespace",
    "--no-index",
    "--open-files-in-pager",
    "--output",
    "--output-directory",
    "--prefix",
    "--receive-pack",
    "--recurse-submodules",
    "--reference",
    "--separate-git-dir",
    "--server-option",
    "--show-signature",
    "--strategy",
    "--super-prefix",
    "--template",
    "--textconv",
    "--unsafe-paths",
    "--upload-pack",
    "--work-tree",
];

/// Letters that run programs or write elsewhere, by command.
const SHORT: &[(&str, &str)] = &[
    ("am", "i"),
    ("cherry-pick", "S"),
    ("clone", "cuo"),
    ("commit", "St"),
    ("fetch", "o"),
    ("grep", "O"),
    ("ls-remote", "ou"),
    ("merge", "sS"),
    ("pull", "so"),
    ("push", "o"),
    ("rebase", "xsSi"),
    ("revert", "sS"),
    ("tag", "su"),
];

/// Commands that a pattern does not cover, but that git has itself and that run no others.
const OTHERS: &[&str] = &[
    "--exec-path",
    "annotate",
    "archive",
    "bundle",
    "check-attr",
    "check-ref-format",
    "checkout-index",
    "commit-tree",
    "diagnose",
    "fast-export",
    "fetch-pack",
    "format-patch",
    "hash-object",
    "help",
    "index-pack",
    "lfs",
    "ls-files",
    "maintenance",
    "merge-file",
    "merge-tree",
    "mktag",
    "mktree",
    "pack-objects",
    "pack-refs",
    "patch-id",
    "read-tree",
    "repack",
    "replace",
    "rerere",
    "send-pack",
    "show-index",
    "sparse-checkout",
    "stripspace",
    "unpack-objects",
    "update-index",
    "var",
    "verify-commit",
    "verify-pack",
    "verify-tag",
];

/// Whether the command may be an alias, or make one.
pub(crate) fn asks_git_for_unknown(arguments: &[Word]) -> bool {
    let command = arguments
        .iter()
        .find(|word| !word.unquoted().starts_with('-'));
    command.is_some_and(|word| !word.literal.as_deref().is_some_and(is_known))
}

/// Whether git has a command itself, so that it is no alias.
pub(super) fn is_known(command: &str) -> bool {
    COMMANDS.contains(&command) || OTHERS.contains(&command)
}

/// The first word that is not covered.
pub(super) fn git(arguments: &[Word]) -> Option<&Word> {
    let is_global = |word: &&Word| {
        let text = word.literal.as_deref();
        matches!(
            text,
            Some("--no-pager" | "-P" | "--no-optional-locks" | "--version" | "--help")
        )
    };
    let globals = arguments.iter().take_while(is_global).count();
    let (command, rest) = arguments[globals..].split_first()?;
    let name = command
        .literal
        .as_deref()
        .filter(|name| COMMANDS.contains(name));
    let Some(name) = name else {
        return Some(command);
    };
    rest.iter()
        .find(|word| leaves(name, word))
        .or_else(|| elsewhere(name, rest))
        .or_else(|| repository(name, rest))
}

/// A path outside: to be written, or the value of an option that reads a file.
fn elsewhere<'w>(command: &str, words: &'w [Word]) -> Option<&'w Word> {
    const WRITERS: &[&str] = &["clone", "init", "worktree", "diff"];
    const READERS: &[&str] = &[
        "-F",
        "-f",
        "-S",
        "-O",
        "-X",
        "--contents",
        "--exclude-from",
        "--exclude-standard",
        "--file",
        "--pathspec-from-file",
    ];
    let is_outside =
        |text: &str| text.starts_with(['/', '~']) || text.split('/').any(|name| name == "..");
    let mut before = "";
    words.iter().find(|word| {
        let text = word.unquoted();
        let value = match text.strip_prefix('-') {
            Some(_) if text.starts_with("--") => text.split_once('=').map(|(_, value)| value),
            Some(_) => text.get(2..),
            None => Some(text).filter(|_| WRITERS.contains(&command) || READERS.contains(&before)),
        };
        before = text;
        value.is_some_and(is_outside)
    })
}

fn leaves(command: &str, word: &Word) -> bool {
    let Some(text) = word.literal.as_deref() else {
        // A pattern of files is fine if it cannot become an option.
        return word.glob.is_none();
    };
    let mut short = SHORT.iter();
    is_long_option(text, LONG)
        || short.any(|(name, letters)| *name == command && has_short_option(text, letters))
        || text.contains("::")
        || text.starts_with('-') && text.contains("pack=")
        // With two files outside of the repository, it shows them.
        || command == "diff" && text.starts_with(['/', '~'])
        || command == "remote" && matches!(text, "add" | "set-url")
}

/// A repository that is not one of the configured ones: its hooks would run.
fn repository<'w>(command: &str, words: &'w [Word]) -> Option<&'w Word> {
    if !matches!(command, "push" | "pull" | "fetch" | "clone" | "ls-remote") {
        return None;
    }
    let repository = words
        .iter()
        .find(|word| !word.unquoted().starts_with('-'))?;
    let text = repository.unquoted();
    let is_name = text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let is_remote = text.starts_with("https://") || text.starts_with("git@");
    let is_fine = match command {
        "clone" => is_remote,
        _ => is_name || is_remote,
    };
    Some(repository).filter(|_| !is_fine)
}
