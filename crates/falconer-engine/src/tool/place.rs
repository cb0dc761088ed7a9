//! Paths as the model writes them, and opening what is there without waiting on it.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use falconer_process::no_links;

use crate::workbench::Workbench;

/// How many names are looked at for one that is alike.
const NAMES: usize = 5_000;

/// The absolute path for what the model wrote: relative to the working directory, `~` is home.
///
/// Symbolic links and `..` stay: what they lead to is for the permission rules to find out.
pub(crate) fn absolute(written: &str, workbench: &Workbench) -> PathBuf {
    let home = || workbench.shop.environment.home();
    if written == "~"
        && let Some(home) = home()
    {
        return home;
    }
    if let Some(rest) = written.strip_prefix("~/")
        && let Some(home) = home()
    {
        return home.join(rest);
    }
    workbench.cwd().join(written)
}

/// What [`absolute`] gives, as it is told to people: without `.` and `..`.
pub(crate) fn whole(written: &str, workbench: &Workbench) -> PathBuf {
    tidy(&absolute(written, workbench))
}

/// A path without `.` and `..`, by its letters alone.
pub(crate) fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // Above the root there is the root.
            Component::ParentDir => drop(tidy.pop()),
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => tidy.push(part),
        }
    }
    tidy
}

/// A path as results show it: short below the working directory.
pub(crate) fn shown(path: &Path, cwd: &Path) -> String {
    let short = path.strip_prefix(cwd).unwrap_or(path);
    let short = if short.as_os_str().is_empty() {
        path
    } else {
        short
    };
    short.to_string_lossy().into_owned()
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenFailure {
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    #[error("{} is a directory, not a file", .0.display())]
    Directory(PathBuf),
    #[error("{} is a device, a pipe or a socket; only regular files are read", .0.display())]
    Special(PathBuf),
    #[error("failed to open {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Opens the regular file at `real`, a path without links, that people know as `path`. Never waits
/// for the other end of a pipe.
pub(crate) fn open_regular(path: &Path, real: &Path) -> Result<(File, Metadata), OpenFailure> {
    let fail = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            OpenFailure::Missing(path.to_owned())
        }
        _ => OpenFailure::Io {
            path: path.to_owned(),
            source,
        },
    };
    // Looked at before it is opened, because opening some devices has an effect; and again
    // afterwards, because it may have been exchanged in between.
    only_regular(path, &no_links::look(real).map_err(fail)?)?;
    let file = no_links::open(real).map_err(fail)?;
    let metadata = file.metadata().map_err(fail)?;
    only_regular(path, &metadata)?;
    Ok((file, metadata))
}

fn only_regular(path: &Path, metadata: &Metadata) -> Result<(), OpenFailure> {
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(OpenFailure::Directory(path.to_owned()))
    } else {
        Err(OpenFailure::Special(path.to_owned()))
    }
}

/// What the model is told when there is no such file.
pub(crate) fn missing(path: &Path, cwd: &Path) -> String {
    let mut text = format!(
        "File does not exist: {}. The current working directory is {}.",
        path.display(),
        cwd.display()
    );
    if let Some(name) = alike(path) {
        text.push_str(&format!(" Did you mean {name}?"));
    }
    text
}

/// A name in the same directory that may have been meant.
fn alike(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_string_lossy().to_lowercase();
    let stem = path.file_stem()?.to_string_lossy().to_lowercase();
    let names: Vec<String> = std::fs::read_dir(path.parent()?)
        .ok()?
        .take(NAMES)
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let same_stem = names.iter().find(|name| {
        let name = name.to_lowercase();
        name == wanted || Path::new(&name).file_stem().is_some_and(|it| it == &*stem)
    });
    if let Some(name) = same_stem {
        return Some(name.clone());
    }
    let words: Vec<&str> = names.iter().map(String::as_str).collect();
    let close = similar::get_close_matches(wanted.as_str(), &words, 1, 0.75);
    close.first().map(|name| (*name).to_owned())
}
