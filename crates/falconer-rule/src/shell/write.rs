//! Commands that create, move or copy files, and which.

use super::Part;
use super::option::{has_short_option, is_long_option};
use super::word::Word;
use super::wrapper::stripped;

/// The files a simple file command touches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileWork {
    pub reads: Vec<Word>,
    pub writes: Vec<Word>,
    /// Harmless enough to be done without a question when edits are accepted.
    pub is_plain: bool,
}

/// What a part does to files, if it is a file command.
pub fn file_work(part: &Part) -> Option<FileWork> {
    let part = stripped(part);
    let name = part.name()?;
    let flags = match name {
        "touch" => "acm",
        "mkdir" => "pv",
        "mv" => "finuv",
        "cp" => "finpuv",
        // Known, so that their paths are looked at, but never done without a question.
        "rm" | "rmdir" | "ln" | "tee" | "truncate" | "chmod" | "chown" | "install" | "shred"
        | "unlink" | "dd" => "",
        _ => return None,
    };
    let mut work = FileWork {
        is_plain: !flags.is_empty() && part.opaque.is_none() && part.assignments.is_empty(),
        ..FileWork::default()
    };
    let mut operands = Vec::new();
    let mut options_end = false;
    for word in part.arguments() {
        let text = word.unquoted();
        work.is_plain &= word.literal.is_some();
        if options_end || !text.starts_with('-') || text == "-" {
            operands.push(word.clone());
            continue;
        }
        options_end = text == "--";
        let is_known = text
            .strip_prefix('-')
            .is_some_and(|cluster| cluster.chars().all(|letter| flags.contains(letter)))
            || is_harmless_long(text);
        work.is_plain &= is_known || options_end;
        operands.extend(glued_path(text));
    }
    assign(name, operands, &mut work);
    Some(work)
}

fn is_harmless_long(word: &str) -> bool {
    matches!(word, "--parents" | "--verbose" | "--force" | "--no-clobber")
}

fn glued_path(word: &str) -> Option<Word> {
    let value = word
        .split_once('=')
        .map(|(_, value)| value)
        .filter(|_| is_long_option(word, &["--target-directory", "--reference"]))?;
    Some(Word {
        text: value.to_owned(),
        literal: Some(value.to_owned()),
        ..Word::default()
    })
}

fn assign(name: &str, mut operands: Vec<Word>, work: &mut FileWork) {
    work.is_plain &= !operands.is_empty();
    if !matches!(name, "cp" | "mv") {
        if name == "dd" {
            operands.retain_mut(dd_output);
        }
        work.writes = operands;
        return;
    }
    work.is_plain &= operands.len() >= 2;
    let Some(target) = operands.pop() else {
        return;
    };
    for source in &operands {
        work.writes.push(into_directory(&target, source));
    }
    work.writes.push(target);
    if name == "mv" {
        work.writes.append(&mut operands);
    } else {
        work.reads = operands;
    }
}

/// The file that comes to be when the target is a directory.
fn into_directory(target: &Word, source: &Word) -> Word {
    let joined = |target: &str, source: &str| {
        let name = source.trim_end_matches('/').rsplit('/').next();
        format!("{target}/{}", name.unwrap_or_default())
    };
    Word {
        literal: target
            .literal
            .as_deref()
            .zip(source.literal.as_deref())
            .map(|(target, source)| joined(target, source)),
        text: joined(&target.text, &source.text),
        ..Word::default()
    }
}

fn dd_output(word: &mut Word) -> bool {
    let Some(file) = word.unquoted().strip_prefix("of=") else {
        return false;
    };
    word.literal = Some(file.to_owned());
    true
}

/// Whether a part gives whole directories other names, so that rules on paths miss what is in them.
pub(crate) fn renames_trees(part: &Part) -> bool {
    matches!(stripped(part).name(), Some("mv" | "ln" | "mount"))
}

/// Whether a part changes all there is in the directories it is given.
pub(crate) fn changes_trees(part: &Part) -> bool {
    let part = stripped(part);
    let arguments = part.arguments();
    let has = |texts: &[&str]| {
        arguments
            .iter()
            .any(|word| texts.contains(&word.unquoted()))
    };
    let is_recursive = || {
        let mut words = arguments.iter().map(Word::unquoted);
        words.any(|text| {
            has_short_option(text, "rRa") || is_long_option(text, &["--recursive", "--archive"])
        })
    };
    match part
        .name()
        .map(|name| name.rsplit('/').next().unwrap_or(name))
    {
        Some("mv" | "rsync" | "shred") => true,
        Some("rm" | "cp" | "chmod" | "chown" | "chgrp" | "setfacl") => is_recursive(),
        Some("find") => has(&["-delete", "-exec", "-execdir", "-ok", "-okdir"]),
        Some("git") => has(&["checkout", "restore", "rm", "mv", "clean"]),
        _ => false,
    }
}

/// Whether a part writes files of the current directory that it does not name: those of an archive,
/// of a patch or of a commit.
pub(crate) fn unpacks(part: &Part) -> bool {
    const GIT: &[&str] = &[
        "am",
        "apply",
        "cherry-pick",
        "merge",
        "pull",
        "read-tree",
        "rebase",
        "revert",
        "stash",
        "switch",
    ];
    let part = stripped(part);
    let mut words = part.arguments().iter().map(Word::unquoted);
    let name = part.name().map(|it| it.rsplit('/').next().unwrap_or(it));
    match name {
        Some("patch" | "unzip" | "cpio" | "pax" | "7z" | "7za" | "7zz") => true,
        Some("tar" | "bsdtar") => words.any(|word| match word.strip_prefix("--") {
            Some(long) => "extract".starts_with(long) || long == "get",
            None => word.trim_start_matches('-').contains('x'),
        }),
        Some("git") => {
            let words: Vec<&str> = words.collect();
            let command = words.iter().find(|word| !word.starts_with('-'));
            let is_hard = words
                .iter()
                .any(|it| matches!(*it, "--hard" | "--merge" | "--keep"));
            command.is_some_and(|it| GIT.contains(it) || *it == "reset" && is_hard)
        }
        _ => false,
    }
}
