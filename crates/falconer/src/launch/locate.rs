//! Finding the `claude` executable: explicit path, environment, `PATH`, known directories.
//!
//! The search is a pure function over a [`HostView`], so tests never touch the process
//! environment. It only looks; it starts nothing.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The environment variable that names the executable to use.
pub(crate) const PATH_VARIABLE: &str = "FALCONER_CLAUDE_PATH";

const EXECUTABLE: &str = if cfg!(windows) {
    "claude.exe"
} else {
    "claude"
};

/// Places where installers put the executable, relative to the home directory.
const HOME_PLACES: &[&str] = &[
    ".claude/local",
    ".claude/local/node_modules/.bin",
    ".local/bin",
    ".npm-global/bin",
    "node_modules/.bin",
    ".yarn/bin",
    ".bun/bin",
    ".volta/bin",
];

/// Places where installers put the executable for everybody.
const SYSTEM_PLACES: &[&str] = &["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"];

/// The kind of file at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Missing,
    Directory,
    NotExecutable,
    Executable,
}

/// The view of the machine that the search needs.
pub(crate) trait HostView {
    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<OsString>;
    /// Returns the kind of file at this path, links followed.
    fn kind(&self, path: &Path) -> FileKind;
}

/// The machine as it is.
#[derive(Debug)]
pub(crate) struct ThisMachine;

impl HostView for ThisMachine {
    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn kind(&self, path: &Path) -> FileKind {
        match std::fs::metadata(path) {
            Err(_) => FileKind::Missing,
            Ok(metadata) if metadata.is_dir() => FileKind::Directory,
            Ok(_) if is_executable(path) => FileKind::Executable,
            Ok(_) => FileKind::NotExecutable,
        }
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    true
}

/// A given environment on the disks of this machine.
#[derive(Debug)]
struct GivenEnvironment<'a>(&'a [(OsString, OsString)]);

impl HostView for GivenEnvironment<'_> {
    fn variable(&self, name: &str) -> Option<OsString> {
        let mut latest = self.0.iter().rev();
        let found = latest.find(|(other, _)| other == name);
        found.map(|(_, value)| value.clone())
    }

    fn kind(&self, path: &Path) -> FileKind {
        ThisMachine.kind(path)
    }
}

/// Finds the official CLI as a query would, in an environment that is given. It only looks.
///
/// # Errors
///
/// [`Error::CliNotFound`] with every place that was looked at, or [`Error::CliUnusable`] if a path
/// was named, by `explicit` or `FALCONER_CLAUDE_PATH`, that is of no use.
pub fn find_cli(
    explicit: Option<&Path>,
    environment: &[(OsString, OsString)],
) -> Result<PathBuf, Error> {
    locate(explicit, &GivenEnvironment(environment))
}

/// The reason a path that was named cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutableProblem {
    /// Nothing is there.
    #[error("no such file")]
    Missing,
    /// A directory is there.
    #[error("it is a directory; name the executable inside it")]
    Directory,
    /// The file may not be executed.
    #[error("it is not executable; try `chmod +x` on it")]
    NotExecutable,
}

/// The origin of the path of an executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NamedBy {
    /// `Options::executable`.
    Option,
    /// The variable `FALCONER_CLAUDE_PATH`.
    Variable,
}

impl std::fmt::Display for NamedBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NamedBy::Option => "the option `executable`",
            NamedBy::Variable => PATH_VARIABLE,
        })
    }
}

/// Finds the executable.
///
/// A path that was named, by option or variable, is used or refused; the search never goes
/// on past it. Relative entries of `PATH` are skipped: what runs must not depend on the
/// directory one happens to stand in.
pub(crate) fn locate(explicit: Option<&Path>, host: &dyn HostView) -> Result<PathBuf, Error> {
    if let Some(path) = explicit {
        return named(path, NamedBy::Option, host);
    }
    if let Some(path) = host.variable(PATH_VARIABLE).filter(|path| !path.is_empty()) {
        return named(Path::new(&path), NamedBy::Variable, host);
    }
    let searched = candidates(host);
    let found = searched
        .iter()
        .find(|path| host.kind(path) == FileKind::Executable)
        .cloned();
    found.ok_or(Error::CliNotFound { searched })
}

fn named(path: &Path, by: NamedBy, host: &dyn HostView) -> Result<PathBuf, Error> {
    let problem = match host.kind(path) {
        FileKind::Executable => return Ok(path.to_owned()),
        FileKind::Missing => ExecutableProblem::Missing,
        FileKind::Directory => ExecutableProblem::Directory,
        FileKind::NotExecutable => ExecutableProblem::NotExecutable,
    };
    Err(Error::CliUnusable {
        path: path.to_owned(),
        named_by: by,
        problem,
    })
}

/// Every place to look at, in order, each once.
fn candidates(host: &dyn HostView) -> Vec<PathBuf> {
    let mut places = search_path(host.variable("PATH").as_deref());
    if let Some(home) = host.variable("HOME").filter(|home| !home.is_empty()) {
        places.extend(HOME_PLACES.iter().map(|place| Path::new(&home).join(place)));
    }
    places.extend(SYSTEM_PLACES.iter().map(PathBuf::from));
    let mut unique: Vec<PathBuf> = Vec::with_capacity(places.len());
    for place in places {
        let candidate = place.join(EXECUTABLE);
        if !unique.contains(&candidate) {
            unique.push(candidate);
        }
    }
    unique
}

fn search_path(path: Option<&OsStr>) -> Vec<PathBuf> {
    let Some(path) = path else { return Vec::new() };
    std::env::split_paths(path)
        .filter(|place| place.is_absolute())
        .collect()
}

#[cfg(test)]
mod tests;
