//! Skills that are mounted into a fresh home: read completely, checked, then written anew.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::IsolationError;
use crate::account::document;

const FILE_LIMIT: u64 = 1 << 20;
const TOTAL_LIMIT: u64 = 10 << 20;
const DEEPEST: usize = 16;
const MOST_FILES: usize = 4096;
const MAIN_FILE: &str = "SKILL.md";

/// A skill on the host: a directory with a `SKILL.md`, or such a file alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    path: PathBuf,
}

impl Skill {
    /// The skill at this path.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }
}

/// The reason a skill cannot be mounted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkillProblem {
    /// It cannot be read.
    #[error("failed to read {}: {reason}", path.display())]
    Unreadable {
        /// Path at fault.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// There is no `SKILL.md`.
    #[error("it has no SKILL.md")]
    NoMainFile,
    /// Something in it is neither a file nor a directory.
    #[error("{} is neither a file nor a directory (symbolic links are not followed)", path.display())]
    NotAFile {
        /// Path at fault.
        path: PathBuf,
    },
    /// A file is too large.
    #[error("{} is larger than {FILE_LIMIT} bytes", path.display())]
    FileTooLarge {
        /// Path at fault.
        path: PathBuf,
    },
    /// All skills together are too large.
    #[error("it is larger than {TOTAL_LIMIT} bytes or has more than {MOST_FILES} files")]
    TotalTooLarge,
    /// Directories are nested too deeply.
    #[error("it is nested more than {DEEPEST} directories deep")]
    TooDeep,
    /// `SKILL.md` does not begin with front matter.
    #[error("SKILL.md does not begin with front matter between two lines of ---")]
    NoFrontMatter,
    /// A field of the front matter is missing or does not fit.
    #[error("its {field} must be {must}")]
    Field {
        /// The field.
        field: &'static str,
        /// Requirement it does not meet.
        must: &'static str,
    },
    /// Another skill has the same name.
    #[error("another skill is called {name}")]
    Duplicate {
        /// The name.
        name: String,
    },
}

/// A skill that was read and found good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoadedSkill {
    pub(super) name: String,
    /// Relative paths without `..`, and contents.
    pub(super) files: Vec<(PathBuf, Vec<u8>)>,
}

/// Reads all skills or says what is wrong with the first bad one.
pub(super) fn load(skills: &[Skill]) -> Result<Vec<LoadedSkill>, IsolationError> {
    let mut budget = Budget::default();
    let mut names = BTreeSet::new();
    let mut loaded = Vec::new();
    for skill in skills {
        let failed = |problem| IsolationError::Skill {
            path: skill.path.clone(),
            problem,
        };
        let skill = load_one(&skill.path, &mut budget).map_err(failed)?;
        if !names.insert(skill.name.clone()) {
            let name = skill.name;
            return Err(failed(SkillProblem::Duplicate { name }));
        }
        loaded.push(skill);
    }
    Ok(loaded)
}

/// Every file below a directory, under the same limits.
pub(super) fn read_tree(directory: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, SkillProblem> {
    let mut files = Vec::new();
    read_directory(
        directory,
        Path::new(""),
        0,
        &mut Budget::default(),
        &mut files,
    )?;
    Ok(files)
}

/// The amount that may still be read.
#[derive(Default)]
struct Budget {
    bytes: u64,
    files: usize,
}

fn load_one(path: &Path, budget: &mut Budget) -> Result<LoadedSkill, SkillProblem> {
    let mut files = Vec::new();
    let metadata = metadata(path)?;
    if metadata.is_dir() {
        read_directory(path, Path::new(""), 0, budget, &mut files)?;
    } else {
        files.push((
            PathBuf::from(MAIN_FILE),
            read_file(path, &metadata, budget)?,
        ));
    }
    let main = files.iter().find(|(path, _)| path == Path::new(MAIN_FILE));
    let (_, main) = main.ok_or(SkillProblem::NoMainFile)?;
    let name = checked_name(main)?;
    Ok(LoadedSkill { name, files })
}

fn read_directory(
    directory: &Path,
    relative: &Path,
    depth: usize,
    budget: &mut Budget,
    files: &mut Vec<(PathBuf, Vec<u8>)>,
) -> Result<(), SkillProblem> {
    if depth >= DEEPEST {
        return Err(SkillProblem::TooDeep);
    }
    let failed = |error: io::Error| unreadable(directory, &error);
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let relative = relative.join(entry.file_name());
        let metadata = metadata(&path)?;
        if metadata.is_dir() {
            read_directory(&path, &relative, depth + 1, budget, files)?;
        } else {
            files.push((relative, read_file(&path, &metadata, budget)?));
        }
    }
    Ok(())
}

/// Of the thing itself, not of what a link points to.
fn metadata(path: &Path) -> Result<Metadata, SkillProblem> {
    fs::symlink_metadata(path).map_err(|error| unreadable(path, &error))
}

fn read_file(
    path: &Path,
    metadata: &Metadata,
    budget: &mut Budget,
) -> Result<Vec<u8>, SkillProblem> {
    let owned = || path.to_owned();
    if !metadata.is_file() {
        return Err(SkillProblem::NotAFile { path: owned() });
    }
    let content = document::bytes(path, FILE_LIMIT).map_err(|problem| match problem {
        document::FileProblem::TooLarge { .. } => SkillProblem::FileTooLarge { path: owned() },
        document::FileProblem::NotAFile => SkillProblem::NotAFile { path: owned() },
        problem => SkillProblem::Unreadable {
            path: owned(),
            reason: problem.to_string(),
        },
    })?;
    budget.bytes += content.len() as u64;
    budget.files += 1;
    if budget.bytes > TOTAL_LIMIT || budget.files > MOST_FILES {
        return Err(SkillProblem::TotalTooLarge);
    }
    Ok(content)
}

fn unreadable(path: &Path, error: &io::Error) -> SkillProblem {
    SkillProblem::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

/// The name in the front matter, if name and description fit.
fn checked_name(main: &[u8]) -> Result<String, SkillProblem> {
    let text = std::str::from_utf8(main).map_err(|_| SkillProblem::NoFrontMatter)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return Err(SkillProblem::NoFrontMatter);
    }
    let header: Vec<&str> = lines
        .by_ref()
        .take_while(|line| line.trim_end() != "---")
        .collect();
    let closed = text.lines().skip(1).any(|line| line.trim_end() == "---");
    if !closed {
        return Err(SkillProblem::NoFrontMatter);
    }
    let name = field(&header, "name").unwrap_or_default();
    if !is_name(&name) {
        return Err(SkillProblem::Field {
            field: "name",
            must: "1 to 64 lower case letters, digits and single hyphens between them",
        });
    }
    let description = field(&header, "description").unwrap_or_default();
    if !(1..=1024).contains(&description.chars().count()) {
        return Err(SkillProblem::Field {
            field: "description",
            must: "1 to 1024 characters",
        });
    }
    if field(&header, "compatibility").is_some_and(|text| text.chars().count() > 500) {
        return Err(SkillProblem::Field {
            field: "compatibility",
            must: "at most 500 characters",
        });
    }
    Ok(name)
}

/// The text of a top-level field: on its line, quoted or not, or in indented lines below it.
fn field(header: &[&str], name: &str) -> Option<String> {
    let position = header.iter().position(|line| {
        line.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(':'))
    })?;
    let first = header[position][name.len() + 1..].trim();
    let indented = header[position + 1..]
        .iter()
        .take_while(|line| line.starts_with([' ', '\t']) || line.trim().is_empty());
    let below: Vec<&str> = indented.map(|line| line.trim()).collect();
    let first = if first.starts_with(['|', '>']) {
        ""
    } else {
        first
    };
    let text = format!("{first} {}", below.join(" "));
    let text = text.trim();
    let quoted = |quote: char| {
        let inner = text.strip_prefix(quote)?;
        inner.strip_suffix(quote)
    };
    Some(
        quoted('"')
            .or_else(|| quoted('\''))
            .unwrap_or(text)
            .trim()
            .to_owned(),
    )
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&name.len())
        && name.bytes().all(plain)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

#[cfg(test)]
mod tests;
