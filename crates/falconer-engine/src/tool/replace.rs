//! Writing a file so that nobody ever sees half of it: a new file beside it, then a rename.

use std::fs::Metadata;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use falconer_process::no_links::{Over, Parent};
use rustix::fs::Mode;

use super::file_memory::Stamp;

/// What must be there for the write to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nothing.
    Absent,
    /// The file as it was looked at.
    File(Stamp),
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplaceFailure {
    #[error(
        "{} is a symbolic link; write to what it points to instead: {}",
        path.display(), target.display()
    )]
    Link { path: PathBuf, target: PathBuf },
    #[error("{} was changed by somebody else in the meantime; nothing was written", .0.display())]
    Changed(PathBuf),
    #[error("failed to write {}: {source}; the file is as it was", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Where a file is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot<'a> {
    /// As people know it.
    pub(crate) path: &'a Path,
    /// Without links in its directories: the place that was judged.
    pub(crate) real: &'a Path,
}

/// Puts `bytes` at a place, with the mode and owner of the file that was there.
pub(crate) fn replace(
    spot: Spot<'_>,
    before: Before,
    bytes: &[u8],
) -> Result<Stamp, ReplaceFailure> {
    replace_with(spot, before, |file| file.write_all(bytes))
}

fn replace_with(
    spot: Spot<'_>,
    before: Before,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Stamp, ReplaceFailure> {
    let path = spot.path;
    let fail = |source| ReplaceFailure::Io {
        path: path.to_owned(),
        source,
    };
    let parent = match before {
        Before::Absent => Parent::make(spot.real).map_err(fail)?,
        Before::File(_) => Parent::open(spot.real).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ReplaceFailure::Changed(path.to_owned()),
            _ => fail(source),
        })?,
    };
    let existing = existing(path, &parent, before)?;
    // The mode of a new file is what the process allows, as for any program.
    let mut draft = parent.draft(Mode::from_raw_mode(0o666)).map_err(fail)?;
    if let Some(existing) = &existing {
        keep_attributes(draft.file(), existing).map_err(fail)?;
    }
    fill(draft.file()).map_err(fail)?;
    let stamp = Stamp::of(&draft.file().metadata().map_err(fail)?);

    self::existing(path, &parent, before)?;
    let placed = draft.place(match before {
        Before::Absent => Over::Nothing,
        Before::File(_) => Over::File,
    });
    match placed {
        Ok(()) => Ok(stamp),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(ReplaceFailure::Changed(path.to_owned()))
        }
        Err(error) => Err(fail(error)),
    }
}

/// What is there, if it is what should be there.
fn existing(
    path: &Path,
    parent: &Parent,
    before: Before,
) -> Result<Option<Metadata>, ReplaceFailure> {
    let found = parent.look().map_err(|source| ReplaceFailure::Io {
        path: path.to_owned(),
        source,
    })?;
    if found.as_ref().is_some_and(Metadata::is_symlink) {
        return Err(ReplaceFailure::Link {
            path: path.to_owned(),
            target: target_of(path),
        });
    }
    let expected = match (&found, before) {
        (None, Before::Absent) => true,
        (Some(found), Before::File(stamp)) => Stamp::of(found) == stamp,
        (None, Before::File(_)) | (Some(_), Before::Absent) => false,
    };
    if expected {
        Ok(found)
    } else {
        Err(ReplaceFailure::Changed(path.to_owned()))
    }
}

/// Refuses a link before anybody is asked or anything is saved.
pub(crate) fn refuse_link(path: &Path) -> Result<(), ReplaceFailure> {
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Err(ReplaceFailure::Link {
            path: path.to_owned(),
            target: target_of(path),
        });
    }
    Ok(())
}

fn target_of(path: &Path) -> PathBuf {
    std::fs::canonicalize(path)
        .or_else(|_| std::fs::read_link(path))
        .unwrap_or_default()
}

fn keep_attributes(draft: &std::fs::File, existing: &Metadata) -> io::Result<()> {
    let ours = draft.metadata()?;
    if (ours.uid(), ours.gid()) != (existing.uid(), existing.gid()) {
        // Only root may give files away; for others the file becomes theirs, as with any editor.
        let _ = fchown(draft, Some(existing.uid()), Some(existing.gid()));
    }
    draft.set_permissions(existing.permissions())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn stamp(path: &Path) -> Before {
        Before::File(Stamp::of(&std::fs::metadata(path).unwrap()))
    }

    fn spot(path: &Path) -> Spot<'_> {
        Spot { path, real: path }
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn full_disk_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        std::fs::write(&path, "old").unwrap();
        let failure = replace_with(spot(&path), stamp(&path), |file| {
            file.write_all(b"half of the ne")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let text = failure.unwrap_err().to_string();
        assert!(
            text.contains("a.txt") && text.contains("as it was"),
            "{text}"
        );
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(names(directory.path()), ["a.txt"]);
    }

    #[test]
    fn file_replaced_while_we_write_is_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        std::fs::write(&path, "old").unwrap();
        let failure = replace_with(spot(&path), stamp(&path), |file| {
            std::fs::remove_file(&path)?;
            std::fs::write(&path, "theirs")?;
            file.write_all(b"ours")
        });
        assert!(matches!(failure, Err(ReplaceFailure::Changed(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
        assert_eq!(names(directory.path()), ["a.txt"]);
    }

    #[test]
    fn file_that_appears_while_we_create_it_is_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        let failure = replace_with(spot(&path), Before::Absent, |file| {
            std::fs::write(&path, "theirs")?;
            file.write_all(b"ours")
        });
        assert!(matches!(failure, Err(ReplaceFailure::Changed(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
    }

    #[test]
    fn mode_stays_and_links_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.sh");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
        replace(spot(&path), stamp(&path), b"new").unwrap();
        let mode = std::fs::metadata(&path).unwrap().mode();
        assert_eq!(mode & 0o7777, 0o750);

        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let failure = replace(spot(&link), stamp(&link), b"newer").unwrap_err();
        assert!(matches!(failure, ReplaceFailure::Link { .. }), "{failure}");
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn directory_that_vanished_is_an_error_or_made_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("gone/a.txt");
        std::fs::create_dir(directory.path().join("gone")).unwrap();
        std::fs::write(&path, "old").unwrap();
        let before = stamp(&path);
        std::fs::remove_dir_all(directory.path().join("gone")).unwrap();
        assert!(matches!(
            replace(spot(&path), before, b"new"),
            Err(ReplaceFailure::Changed(_))
        ));
        replace(spot(&path), Before::Absent, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }
}
