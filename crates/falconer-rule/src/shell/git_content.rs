//! What git shows of the content of files, out of a repository that may hold other files than
//! the disk does.

use super::git::{GREP, LOG};
use super::git_hatch::is_known;
use super::grammar::{Parsed, parse};
use super::word::Word;

/// What a command of git shows.
#[derive(Debug)]
pub(crate) enum Content {
    /// Names, messages and numbers.
    Nothing,
    /// Whatever the repository holds.
    Anything,
    /// What the operands leave of it.
    Of(Operands),
    /// Lines of files of the work tree, or of a revision among the operands.
    Lines(Operands),
}

/// The operands of a command.
#[derive(Debug, Default)]
pub(crate) struct Operands {
    /// Revisions, objects and files: git finds out which.
    pub(crate) any: Vec<Word>,
    /// Files, because they follow `--` or an option says so.
    pub(crate) files: Vec<Word>,
}

/// Options with which `log` and its like show lines of files.
const PATCH: &[&str] = &[
    "L",
    "U",
    "W",
    "binary",
    "c",
    "cc",
    "check",
    "color-words",
    "combined-all-paths",
    "diff-merges",
    "function-context",
    "inter-hunk-context",
    "p",
    "patch",
    "patch-with-stat",
    "remerge-diff",
    "u",
    "unified",
    "word-diff",
    "word-diff-regex",
];

/// Options with which `show` and `diff` show something else.
const SUMMARY: &[&str] = &[
    "compact-summary",
    "dirstat",
    "name-only",
    "name-status",
    "no-patch",
    "numstat",
    "quiet",
    "raw",
    "s",
    "shortstat",
    "stat",
    "summary",
];

/// Commands that show or copy content, whatever their words are.
const ALWAYS: &[&str] = &[
    "archive",
    "bundle",
    "checkout-index",
    "daemon",
    "diff-pairs",
    "difftool",
    "fast-export",
    "filter-branch",
    "format-patch",
    "imap-send",
    "instaweb",
    "merge-file",
    "merge-tree",
    "mergetool",
    "pack-objects",
    "range-diff",
    "request-pull",
    "rerere",
    "send-email",
    "subtree",
    "unpack-file",
    "upload-archive",
    "upload-pack",
];

/// What `git` shows with these words, the first of which is its command.
pub(crate) fn content(arguments: &[Word]) -> Content {
    let Some((command, rest)) = arguments.split_first() else {
        return Content::Nothing;
    };
    let Some(command) = command.literal.as_deref() else {
        return Content::Anything;
    };
    let shows = |letters: &str, long: &[&str]| has_option(rest, letters, long);
    let is_shown = match command {
        "log" | "reflog" | "whatchanged" | "show" | "diff" | "diff-tree" | "diff-index"
        | "diff-files" => return differences(command, rest),
        "stash" if is_one_of(rest.first(), &["show", "list"]) => {
            return differences(command, &rest[1..]);
        }
        "grep" => return lines(rest),
        "cat-file" => return object(rest),
        "status" => shows("v", &["--verbose"]),
        "commit" => shows("vp", &["--verbose", "--patch", "--interactive"]),
        "add" | "checkout" | "reset" | "restore" | "stash" | "stage" => {
            shows("pie", &["--patch", "--interactive", "--edit"])
        }
        "am" | "rebase" => shows("", &["--show-current-patch"]),
        "branch" | "tag" | "for-each-ref" => rest.iter().any(|it| it.unquoted().contains("raw")),
        "bisect" | "config" => false,
        "submodule" => is_one_of(rest.first(), &["foreach"]),
        "worktree" => is_one_of(rest.first(), &["add"]),
        "clone" => !rest.iter().any(|word| {
            let text = word.unquoted();
            text.contains("://") && !text.starts_with("file:") || text.starts_with("git@")
        }),
        _ => ALWAYS.contains(&command) || !is_known(command),
    };
    if is_shown {
        Content::Anything
    } else {
        Content::Nothing
    }
}

fn is_one_of(word: Option<&Word>, texts: &[&str]) -> bool {
    word.and_then(|word| word.literal.as_deref())
        .is_some_and(|text| texts.contains(&text))
}

/// Whether an option is among the words; letters behind one that takes a value do not count.
fn has_option(words: &[Word], letters: &str, long: &[&str]) -> bool {
    words.iter().any(|word| {
        let text = word.unquoted();
        let is_long = text.len() > 3 && long.iter().any(|option| option.starts_with(text));
        let cluster = text.strip_prefix('-').filter(|it| !it.starts_with('-'));
        let mut cluster = cluster.unwrap_or_default().chars();
        let is_short = cluster
            .by_ref()
            .take_while(|letter| !"mFCctuSbB".contains(*letter))
            .any(|letter| letters.contains(letter));
        is_long || is_short
    })
}

fn differences(command: &str, words: &[Word]) -> Content {
    let Some(parsed) = parse(&LOG, words) else {
        return Content::Anything;
    };
    let is_default = matches!(command, "show" | "diff") && !parsed.has(SUMMARY);
    let operands = operands(&parsed);
    if !is_default && !parsed.has(PATCH) {
        // An object that is no commit is shown whatever the options say.
        let mut objects = operands.any.iter().map(Word::unquoted);
        return if command == "show" && objects.any(may_be_object) {
            Content::Of(operands)
        } else {
            Content::Nothing
        };
    }
    if parsed.has(&["follow"]) {
        Content::Anything
    } else {
        Content::Of(operands)
    }
}

/// `HEAD:file`, or a hash.
fn may_be_object(text: &str) -> bool {
    text.contains([':', '@', '{']) || text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn operands(parsed: &Parsed<'_>) -> Operands {
    let mut operands = Operands::default();
    for operand in &parsed.operands {
        if operand.is_after_dashes {
            operands.files.push(operand.word.clone());
        } else {
            operands.any.push(operand.word.clone());
        }
    }
    // `-L1,5:file`
    let ranges = parsed.values(&["L"]).filter_map(|it| it.rsplit_once(':'));
    operands
        .files
        .extend(ranges.map(|(_, file)| Word::plain(file)));
    operands
}

fn lines(words: &[Word]) -> Content {
    let Some(parsed) = parse(&GREP, words).filter(|parsed| !parsed.has(&["cached"])) else {
        return Content::Anything;
    };
    let mut operands = operands(&parsed);
    if !parsed.has(&["e"]) && !operands.any.is_empty() {
        operands.any.remove(0);
    }
    Content::Lines(operands)
}

fn object(words: &[Word]) -> Content {
    let is_question = |word: &Word| matches!(word.unquoted(), "-t" | "-s" | "-e");
    match words {
        [first, ..] if is_question(first) => Content::Nothing,
        [first, rest @ ..] if is_one_of(Some(first), &["-p", "blob", "commit", "tag", "tree"]) => {
            Content::Of(Operands {
                any: rest.to_vec(),
                ..Operands::default()
            })
        }
        _ => Content::Anything,
    }
}
