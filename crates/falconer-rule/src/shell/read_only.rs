//! Commands that change nothing, by name and by their options.

use regex::Regex;
use std::sync::LazyLock;

use super::option::{has_short_option, is_long_option};
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
        _ => {
            let known = PROGRAMS.iter().find(|known| known.name == name)?;
            known.check(arguments, reading)
        }
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

/// What the words of a program are that are no options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// No files.
    Texts,
    Files,
    /// At most one: the second would be written.
    OneFile,
    /// A pattern or program first, then files.
    PatternThenFiles,
    None,
}

struct Known {
    name: &'static str,
    operands: Operands,
    /// Letters that are refused.
    short: &'static str,
    /// Options that are refused.
    long: &'static [&'static str],
}

const fn known(
    name: &'static str,
    operands: Operands,
    short: &'static str,
    long: &'static [&'static str],
) -> Known {
    Known {
        name,
        operands,
        short,
        long,
    }
}

const PROGRAMS: &[Known] = &[
    known("arch", Operands::None, "", &[]),
    known("basename", Operands::Texts, "", &[]),
    known("cat", Operands::Files, "", &[]),
    known("cksum", Operands::Files, "c", &["--check", "--files0-from"]),
    known("cmp", Operands::Files, "", &[]),
    known("comm", Operands::Files, "", &[]),
    known("cut", Operands::Files, "", &[]),
    known(
        "date",
        Operands::Texts,
        "sfr",
        &["--set", "--file", "--reference"],
    ),
    known("df", Operands::Files, "", &[]),
    known(
        "diff",
        Operands::Files,
        "",
        &["--from-file", "--to-file", "--exclude-from"],
    ),
    known("dirname", Operands::Texts, "", &[]),
    known(
        "du",
        Operands::Files,
        "X",
        &["--files0-from", "--exclude-from"],
    ),
    known(
        "egrep",
        Operands::PatternThenFiles,
        "f",
        &["--file", "--exclude-from"],
    ),
    known("expr", Operands::Texts, "", &[]),
    known(
        "fgrep",
        Operands::PatternThenFiles,
        "f",
        &["--file", "--exclude-from"],
    ),
    known(
        "file",
        Operands::Files,
        "Cfmz",
        &["--compile", "--files-from", "--magic-file", "--uncompress"],
    ),
    known("fold", Operands::Files, "", &[]),
    known("free", Operands::None, "", &[]),
    known(
        "grep",
        Operands::PatternThenFiles,
        "f",
        &["--file", "--exclude-from"],
    ),
    known("head", Operands::Files, "", &[]),
    known("id", Operands::Texts, "", &[]),
    known("ls", Operands::Files, "", &[]),
    known("md5sum", Operands::Files, "c", &["--check"]),
    known("nl", Operands::Files, "", &[]),
    known("nproc", Operands::None, "", &[]),
    known("od", Operands::Files, "", &[]),
    known("paste", Operands::Files, "", &[]),
    known("printf", Operands::Texts, "v", &[]),
    known("pwd", Operands::None, "", &[]),
    known("readlink", Operands::Files, "", &[]),
    known("realpath", Operands::Files, "", &[]),
    known("rev", Operands::Files, "", &[]),
    known(
        "rg",
        Operands::PatternThenFiles,
        "fz",
        &[
            "--file",
            "--pre",
            "--pre-glob",
            "--hostname-bin",
            "--search-zip",
            "--ignore-file",
        ],
    ),
    known("seq", Operands::Texts, "", &[]),
    known("sha1sum", Operands::Files, "c", &["--check"]),
    known("sha256sum", Operands::Files, "c", &["--check"]),
    known("sha512sum", Operands::Files, "c", &["--check"]),
    known("sleep", Operands::Texts, "", &[]),
    known(
        "sort",
        Operands::Files,
        "oTS",
        &[
            "--output",
            "--compress-program",
            "--files0-from",
            "--temporary-directory",
            "--buffer-size",
            "--random-source",
        ],
    ),
    known("stat", Operands::Files, "", &[]),
    known("strings", Operands::Files, "T", &["--target"]),
    known("tac", Operands::Files, "", &[]),
    known("tail", Operands::Files, "", &[]),
    known("tr", Operands::Texts, "", &[]),
    known(
        "tree",
        Operands::Files,
        "oR",
        &["--fromfile", "--gitfile", "--infofile"],
    ),
    known("uname", Operands::None, "", &[]),
    known("uniq", Operands::OneFile, "", &[]),
    known("uptime", Operands::None, "", &[]),
    known("wc", Operands::Files, "", &["--files0-from"]),
    known("which", Operands::Texts, "", &[]),
    known("whoami", Operands::None, "", &[]),
];

impl Known {
    fn check(&self, arguments: &[Word], reading: &mut Reading) -> Option<()> {
        let mut operands = Vec::new();
        let mut options_end = false;
        let mut pattern_is_option = false;
        for word in arguments {
            let text = word.literal.as_deref().or(word.glob.as_deref())?;
            if options_end || text == "-" || !text.starts_with('-') {
                operands.push(word);
                continue;
            }
            options_end = text == "--";
            // An option that only a pattern would produce, or with a path glued to it.
            if word.glob.is_some() || has_short_option(text, self.short) || glues_path(text) {
                return None;
            }
            if is_long_option(text, self.long) {
                return None;
            }
            reading.files.extend(option_value(text));
            pattern_is_option |=
                has_short_option(text, "ef") || text.starts_with("--r") || text.starts_with("--f");
        }
        self.take_operands(&operands, pattern_is_option, reading)
    }

    fn take_operands(
        &self,
        operands: &[&Word],
        pattern_is_option: bool,
        reading: &mut Reading,
    ) -> Option<()> {
        let files = match self.operands {
            Operands::None if !operands.is_empty() => return None,
            Operands::OneFile if operands.len() > 1 => return None,
            Operands::Texts if operands.iter().all(|word| word.glob.is_none()) => &[],
            Operands::PatternThenFiles if !pattern_is_option => {
                operands.get(1..).unwrap_or_default()
            }
            _ => operands,
        };
        // Both `pattern` and `-` are not files.
        let files = files.iter().filter(|word| word.text != "-");
        reading.files.extend(files.map(|word| (*word).clone()));
        Some(())
    }
}

/// `-f/etc/passwd`
fn glues_path(word: &str) -> bool {
    !word.starts_with("--") && (word.contains('/') || word.contains('~'))
}

/// `--file=/etc/passwd`: what follows the sign may be a path.
fn option_value(word: &str) -> Option<Word> {
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
