//! Writing a file so that nobody ever sees half of it: a new file beside it, then a rename.

use std::fs::Metadata;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

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

/// Puts `bytes` at `path`, with the mode and owner of the file that was there.
pub(crate) fn replace(path: &Path, before: Before, bytes: &[u8]) -> Result<Stamp, ReplaceFailure> {
    replace_with(path, before, |file| file.write_all(bytes))
}

fn replace_with(
    path: &Path,
    before: Before,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Stamp, ReplaceFailure> {
    let fail = |source| ReplaceFailure::Io {
        path: path.to_owned(),
        source,
    };
    let existing = existing(path, before)?;
    let directory = path.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(directory).map_err(fail)?;
    // The mode of a new file is what the process allows, as for any program.
    let mut draft = tempfile::Builder::new()
        .prefix(".falconer-")
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(directory)
        .map_err(fail)?;
    if let Some(existing) = &existing {
        keep_attributes(draft.as_file(), existing).map_err(fail)?;
    }
    fill(draft.as_file_mut()).map_err(fail)?;
    let stamp = Stamp::of(&draft.as_file().metadata().map_err(fail)?);

    self::existing(path, before)?;
    let persisted = match before {
        Before::Absent => draft.persist_noclobber(path),
        Before::File(_) => draft.persist(path),
    };
    match persisted {
        Ok(_) => Ok(stamp),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(ReplaceFailure::Changed(path.to_owned()))
        }
        Err(error) => Err(fail(error.error)),
    }
}

/// What is there, if it is what should be there.
fn existing(path: &Path, before: Before) -> Result<Option<Metadata>, ReplaceFailure> {
    let found = match std::fs::symlink_metadata(path) {
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(source) => {
            return Err(ReplaceFailure::Io {
                path: path.to_owned(),
                source,
            });
        }
    };
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
    use super::*;

    fn stamp(path: &Path) -> Before {
        Before::File(Stamp::of(&std::fs::metadata(path).unwrap()))
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
        let failure = replace_with(&path, stamp(&path), |file| {
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
        let failure = replace_with(&path, stamp(&path), |file| {
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
        let failure = replace_with(&path, Before::Absent, |file| {
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
        replace(&path, stamp(&path), b"new").unwrap();
        let mode = std::fs::metadata(&path).unwrap().mode();
        assert_eq!(mode & 0o7777, 0o750);

        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let failure = replace(&link, stamp(&link), b"newer").unwrap_err();
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
            replace(&path, before, b"new"),
            Err(ReplaceFailure::Changed(_))
        ));
        replace(&path, Before::Absent, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }
}
