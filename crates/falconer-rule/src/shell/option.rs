//! Options with which a known program runs other programs or writes where it should not.

use super::Part;
use super::word::Word;

/// Whether a word is an option, also when abbreviated as many programs allow.
pub(super) fn is_long_option(word: &str, options: &[&str]) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    name.len() > 2
        && name.starts_with("--")
        && options.iter().any(|option| option.starts_with(name))
}

/// Whether a cluster of short options contains one of these letters.
pub(super) fn has_short_option(word: &str, letters: &str) -> bool {
    word.strip_prefix('-').is_some_and(|cluster| {
        !cluster.starts_with('-') && cluster.chars().any(|letter| letters.contains(letter))
    })
}

/// A word with which a program leaves the frame that a pattern such as `git *` draws.
///
/// A rule that spells the word out permits it.
pub fn escape_hatch(part: &Part) -> Option<String> {
    match part.name()? {
        "git" => git(part.arguments()),
        "npm" | "pnpm" | "yarn" | "npx" => runner(part.arguments()),
        "find" | "fd" => {
            let runs = |word: &&Word| {
                let word = word.unquoted();
                word.starts_with("-exec")
                    || word.starts_with("-ok")
                    || word == "-delete"
                    || word.starts_with("-fprint")
                    || word == "-fls"
                    || word.starts_with("--exec")
            };
            part.arguments().iter().find(runs).map(spelled)
        }
        _ => None,
    }
}

fn spelled(word: &Word) -> String {
    let text = word.unquoted();
    text.split_once('=')
        .map_or(text, |(name, _)| name)
        .to_owned()
}

const GIT_LONG: &[&str] = &[
    "--attach",
    "--config",
    "--config-env",
    "--ext-diff",
    "--exec",
    "--exec-path",
    "--extcmd",
    "--git-dir",
    "--namespace",
    "--open-files-in-pager",
    "--output",
    "--output-directory",
    "--receive-pack",
    "--separate-git-dir",
    "--server-option",
    "--template",
    "--textconv",
    "--upload-pack",
    "--work-tree",
    "--super-prefix",
    "--no-index",
];

/// Commands of git that run what they are given, or change what git runs later.
const GIT_COMMANDS: &[&str] = &[
    "bisect",
    "config",
    "credential",
    "difftool",
    "filter-branch",
    "fast-import",
    "hook",
    "instaweb",
    "mergetool",
    "send-email",
    "submodule",
    "upload-pack",
    "receive-pack",
    "daemon",
    "shell",
    "remote-ext",
    "maintenance",
    "var",
    "archive",
    "p4",
    "svn",
    "cvsserver",
    "gui",
    "web--browse",
    "sh-setup",
];

fn git(arguments: &[Word]) -> Option<String> {
    let mut command = None;
    let mut follows_message = false;
    for word in arguments {
        let Some(text) = word.literal.as_deref() else {
            if follows_message && word.quoted {
                follows_message = false;
                continue;
            }
            return Some(word.text.clone());
        };
        follows_message = matches!(text, "-m" | "-am" | "--message");
        let is_global = command.is_none();
        if !text.starts_with('-') && command.is_none() {
            command = Some(text);
        }
        let leaves = if is_global && text.starts_with('-') {
            !matches!(
                text,
                "--no-pager" | "-P" | "--no-optional-locks" | "--version" | "--help"
            )
        } else {
            git_word_leaves(text, command)
        };
        if leaves {
            return Some(spelled(word));
        }
    }
    None
}

fn git_word_leaves(text: &str, command: Option<&str>) -> bool {
    let of = |names: &[&str]| command.is_some_and(|command| names.contains(&command));
    is_long_option(text, GIT_LONG)
        || Some(text) == command && GIT_COMMANDS.contains(&text)
        || text.contains("::")
        || has_short_option(text, "x") && of(&["rebase", "difftool"])
        || has_short_option(text, "u") && of(&["clone", "ls-remote", "fetch-pack"])
        || has_short_option(text, "c") && of(&["clone", "submodule"])
        || has_short_option(text, "O") && of(&["grep"])
        || has_short_option(text, "o") && of(&["format-patch", "archive"])
        || text.starts_with('-') && text.contains("pack=")
        // With two files outside of the repository, it shows them.
        || text.starts_with(['/', '~']) && of(&["diff"])
}

fn runner(arguments: &[Word]) -> Option<String> {
    const LONG: &[&str] = &[
        "--script-shell",
        "--shell",
        "--prefix",
        "--userconfig",
        "--globalconfig",
        "--node-options",
        "--cwd",
        "--dir",
        "--call",
        "--package",
        "--registry",
        "--init-module",
        "--git",
        "--editor",
        "--viewer",
        "--cache",
        "--use-yarnrc",
        "--modules-folder",
        "--require",
        "--workspace-root",
        "--global-dir",
    ];
    let mut own = true;
    for word in arguments {
        let Some(text) = word.literal.as_deref() else {
            return Some(word.text.clone());
        };
        // What follows belongs to the script.
        own &= text != "--";
        if own && (is_long_option(text, LONG) || has_short_option(text, "C")) {
            return Some(spelled(word));
        }
    }
    None
}
