//! Commands that change nothing, by name and by their options.

use regex::Regex;
use std::sync::LazyLock;

use super::option::{has_short_option, is_long_option};
use super::programs;
use super::word::Word;
use super::wrapper::stripped;
use super::{Direction, Part};

/// What a harmless command looks at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    pub files: Vec<Word>,
    /// Where it goes, if it is `cd`.
    pub moves_to: Option<Word>,
}

/// What a part reads, if it does nothing else.
pub fn reads_only(part: &Part) -> Option<Reading> {
    let part = stripped(part);
    if part.opaque.is_some() || !part.assignments.is_empty() {
        return None;
    }
    if part
        .redirects
        .iter()
        .any(|it| it.direction == Direction::Write && !is_sink(&it.file))
    {
        return None;
    }
    let inputs = part.redirects.iter();
    let inputs = inputs.filter(|it| it.direction == Direction::Read);
    let mut reading = Reading {
        files: inputs.map(|it| it.file.clone()).collect(),
        moves_to: None,
    };
    if let Some(name) = part.name() {
        program(name, part.arguments(), &mut reading)?;
    } else if !part.words.is_empty() || part.redirects.is_empty() {
        return None;
    }
    Some(reading)
}

/// Whether a command looks into files nobody named.
pub fn reads_trees(part: &Part) -> bool {
    let part = stripped(part);
    let is_recursive = |word: &Word| {
        has_short_option(word.unquoted(), "rR")
            || is_long_option(word.unquoted(), &["--recursive", "--dereference-recursive"])
    };
    match part.name() {
        Some("rg") => true,
        Some("grep" | "egrep" | "fgrep" | "diff") => part.arguments().iter().any(is_recursive),
        _ => false,
    }
}

/// Files that keep nothing.
pub fn is_sink(file: &Word) -> bool {
    matches!(
        file.literal.as_deref(),
        Some("/dev/null" | "/dev/stdout" | "/dev/stderr")
    )
}

fn program(name: &str, arguments: &[Word], reading: &mut Reading) -> Option<()> {
    match name {
        "echo" | "true" | "false" | ":" => {
            let globs = arguments.iter().filter(|word| word.glob.is_some());
            reading.files.extend(globs.cloned());
            Some(())
        }
        "cd" => change_directory(arguments, reading),
        "[" if arguments.is_empty() => Some(()),
        "git" => git(arguments, reading),
        "sed" => sed(arguments, reading),
        "find" => find(arguments, reading),
        _ => programs::check(name, arguments, reading),
    }
}

fn change_directory(arguments: &[Word], reading: &mut Reading) -> Option<()> {
    let [target] = arguments else {
        return None;
    };
    let literal = target.literal.as_deref()?;
    if literal.starts_with('-') || literal.is_empty() {
        return None;
    }
    reading.moves_to = Some(target.clone());
    Some(())
}

/// `-f/etc/passwd`
pub(super) fn glues_path(word: &str) -> bool {
    !word.starts_with("--") && (word.contains('/') || word.contains('~'))
}

/// `--file=/etc/passwd`: what follows the sign may be a path.
pub(super) fn option_value(word: &str) -> Option<Word> {
    let (_, value) = word.split_once('=')?;
    let looks_like_path = value.contains('/') || value.starts_with(['.', '~']);
    looks_like_path.then(|| Word {
        text: value.to_owned(),
        literal: Some(value.to_owned()),
        ..Word::default()
    })
}

fn find(arguments: &[Word], reading: &mut Reading) -> Option<()> {
    const REFUSED: &[&str] = &[
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-delete",
        "-fprint",
        "-fprint0",
        "-fprintf",
        "-fls",
        "-files0-from",
    ];
    let mut in_paths = true;
    for word in arguments {
        let text = match (&word.literal, &word.glob) {
            (Some(text), _) => text,
            (None, Some(glob)) if in_paths && !glob.starts_with('-') => glob,
            _ => return None,
        };
        if REFUSED.contains(&text.as_str()) || text.starts_with("-fprint") {
            return None;
        }
        let is_link_option = matches!(text.as_str(), "-H" | "-L" | "-P");
        in_paths &= is_link_option || !(text.starts_with(['-', '(', '!']));
        // `-newer FILE` and the like read files, too; a test on a name is checked for nothing.
        if in_paths && !is_link_option || text.starts_with(['/', '~']) || text.contains("..") {
            reading.files.push(word.clone());
        }
    }
    Some(())
}

#[expect(
    clippy::expect_used,
    reason = "a constant pattern, compiled in every test run"
)]
static SED_SCRIPT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(\d+|\$)?(,(\d+|\$))?p$|^s/([^/\\\n]|\\[^\n])*/([^/\\\n]|\\[^\n])*/[gpI0-9]*$")
        .expect("a valid pattern")
});

fn sed(arguments: &[Word], reading: &mut Reading) -> Option<()> {
    let mut operands = Vec::new();
    for word in arguments {
        let text = word.literal.as_deref().or(word.glob.as_deref())?;
        match text {
            "-n" | "-E" | "-r" | "-nE" | "-En" | "-nr" | "--quiet" | "--silent" => {}
            _ if text.starts_with('-') => return None,
            _ => operands.push(word),
        }
    }
    let (script, files) = operands.split_first()?;
    if !SED_SCRIPT.is_match(script.literal.as_deref()?) {
        return None;
    }
    reading
        .files
        .extend(files.iter().map(|word| (*word).clone()));
    Some(())
}

fn git(arguments: &[Word], reading: &mut Reading) -> Option<()> {
    let texts: Option<Vec<&str>> = arguments
        .iter()
        .map(|word| word.literal.as_deref())
        .collect();
    let texts = texts?;
    let globals = texts
        .iter()
        .take_while(|text| matches!(**text, "--no-pager" | "-P" | "--no-optional-locks"))
        .count();
    let (command, rest) = texts[globals..].split_first()?;
    let only = |allowed: &[&str]| rest.iter().all(|text| allowed.contains(text));
    let is_harmless = match *command {
        "status" | "log" | "diff" | "show" | "shortlog" | "rev-parse" | "rev-list" | "ls-files"
        | "ls-tree" | "blame" | "describe" | "merge-base" | "name-rev" | "for-each-ref"
        | "count-objects" | "diff-tree" | "cat-file" | "show-ref" | "whatchanged" => true,
        "branch" => only(&[
            "-a",
            "-r",
            "-v",
            "-vv",
            "--list",
            "-l",
            "--show-current",
            "--all",
            "--remotes",
        ]),
        "tag" => only(&["-l", "--list", "-n"]),
        "remote" => only(&["-v", "--verbose"]),
        "stash" => matches!(rest, ["list", ..]),
        "worktree" => matches!(rest, ["list", ..]),
        "reflog" => rest.is_empty(),
        "config" => matches!(rest, ["--list" | "-l"] | ["--get", _]),
        "--version" | "version" => rest.is_empty(),
        _ => false,
    };
    if !is_harmless || rest.iter().any(|text| is_git_trick(text)) {
        return None;
    }
    let files = arguments[globals + 1..]
        .iter()
        .filter(|word| !word.text.starts_with('-'));
    reading.files.extend(files.cloned());
    reading
        .files
        .extend(rest.iter().filter_map(|text| option_value(text)));
    Some(())
}

fn is_git_trick(word: &str) -> bool {
    const REFUSED: &[&str] = &[
        "--output",
        "--output-directory",
        "--ext-diff",
        "--textconv",
        "--filters",
        "--no-index",
        "--open-files-in-pager",
        "--contents",
        "--exclude-from",
        "--exclude-per-directory",
        "--git-dir",
        "--work-tree",
        "--exec-path",
        "--config-env",
        "--upload-pack",
        "--parseopt",
        "--sq-quote",
        "--stdin",
        "--batch-command",
        "--ignore-revs-file",
        "--use-mailmap",
        "--show-signature",
    ];
    is_long_option(word, REFUSED)
        || has_short_option(word, "O")
        || word.starts_with("-c") && !word.starts_with("--")
        || word.starts_with("-o")
        || word.contains("%G")
        || glues_path(word) && word.starts_with('-')
}
