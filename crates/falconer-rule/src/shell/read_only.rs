//! Commands that change nothing, by name and by their options.

use super::option::{has_short_option, is_long_option};
use super::word::Word;
use super::wrapper::stripped;
use super::{Direction, Part, builtin, git, programs, search, sed};

/// What a harmless command looks at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    pub files: Vec<Word>,
    /// Where it goes, if it is `cd`.
    pub moves_to: Option<Word>,
    /// Links below a directory among the files are followed: only files may be read unasked.
    pub follows_links: bool,
    /// How much confinement it needs.
    pub grade: Grade,
}

/// How much confinement a command needs that only reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Grade {
    /// Harmless even without confinement.
    #[default]
    Smallest,
    /// Run it confined, so that a mistake here does no harm.
    Confined,
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
        ..Reading::default()
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
    let arguments = part.arguments();
    let is_recursive = |word: &Word| {
        has_short_option(word.unquoted(), "rRad")
            || is_long_option(
                word.unquoted(),
                &[
                    "--recursive",
                    "--dereference-recursive",
                    "--archive",
                    "--directories",
                ],
            )
    };
    let has = |text: &str| arguments.iter().any(|word| word.unquoted() == text);
    let name = part
        .name()
        .map(|name| name.rsplit('/').next().unwrap_or(name));
    match name {
        Some(
            "rg" | "ag" | "ack" | "rgrep" | "ug" | "ugrep" | "tar" | "bsdtar" | "zip" | "7z"
            | "7za" | "7zr" | "7zz" | "cpio" | "pax" | "jar" | "shar" | "rclone" | "diff",
        ) => true,
        Some("aws" | "gsutil") => ["cp", "mv", "rsync", "sync"].iter().any(|it| has(it)),
        Some("fd" | "fdfind") => {
            let mut words = arguments.iter().map(Word::unquoted);
            words.any(|it| has_short_option(it, "xX") || is_long_option(it, &["--exec-batch"]))
        }
        Some(name) if name.starts_with("python") => {
            let modules = ["http.server", "tarfile", "zipfile", "shutil"];
            modules.iter().any(|it| has(it))
        }
        Some("grep" | "egrep" | "fgrep" | "zgrep") => {
            // `-d recurse`
            let chooses = |word: &Word| {
                has_short_option(word.unquoted(), "d")
                    || is_long_option(word.unquoted(), &["--directories"])
            };
            let mut arguments = arguments.iter();
            arguments.any(|word| is_recursive(word) || chooses(word))
        }
        Some("cp" | "scp" | "rsync") => arguments.iter().any(is_recursive),
        Some("git") => ["grep", "archive", "--no-index"].iter().any(|it| has(it)),
        Some("find") => ["-exec", "-execdir", "-ok", "-okdir"]
            .iter()
            .any(|it| has(it)),
        _ => false,
    }
}

/// Whether a part takes the names of the files it reads from its input or from a file.
pub(crate) fn takes_names(part: &Part) -> bool {
    let part = stripped(part);
    let name = part.name().map(|it| it.rsplit('/').next().unwrap_or(it));
    let mut words = part.arguments().iter().map(Word::unquoted);
    let is_tar = matches!(name, Some("tar" | "bsdtar"));
    matches!(name, Some("cpio" | "pax"))
        || words.any(|word| {
            ["files-from", "files0-from", "-from-file"]
                .iter()
                .any(|it| word.contains(it))
                || is_tar && has_short_option(word, "T")
        })
}

/// Files that keep nothing.
pub fn is_sink(file: &Word) -> bool {
    matches!(
        file.literal.as_deref(),
        Some("/dev/null" | "/dev/stdout" | "/dev/stderr")
    )
}

fn program(name: &str, arguments: &[Word], reading: &mut Reading) -> Option<()> {
    if builtin::tells_version(name, arguments, reading).is_some() {
        return Some(());
    }
    match name {
        "echo" | "true" | "false" | ":" => builtin::echo(arguments, reading),
        "printf" => builtin::printf(arguments),
        "test" => builtin::test(arguments, reading),
        "[" => match arguments.split_last() {
            Some((end, arguments)) if end.text == "]" => builtin::test(arguments, reading),
            _ => None,
        },
        "expr" => arguments
            .iter()
            .all(|word| word.literal.is_some())
            .then_some(()),
        "sleep" => builtin::sleep(arguments),
        "seq" => builtin::seq(arguments),
        "date" => builtin::date(arguments),
        "command" => command(arguments),
        "cd" => change_directory(arguments, reading),
        "ps" => confined(reading, |_| builtin::ps(arguments)),
        "jq" => confined(reading, |reading| builtin::jq(arguments, reading)),
        "git" => git::git(arguments, reading),
        "sed" => sed::sed(arguments, reading),
        "find" => search::find(arguments, reading),
        _ => programs::check(name, arguments, reading),
    }
}

fn confined(reading: &mut Reading, check: impl FnOnce(&mut Reading) -> Option<()>) -> Option<()> {
    reading.grade = Grade::Confined;
    check(reading)
}

/// `command -v NAME`
fn command(arguments: &[Word]) -> Option<()> {
    let (option, names) = arguments.split_first()?;
    let are_known = names.iter().all(|word| word.literal.is_some());
    (matches!(option.text.as_str(), "-v" | "-V") && are_known).then_some(())
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
