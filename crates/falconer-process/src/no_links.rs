//! Files reached by paths in which no link is followed.
//!
//! A path is judged first and used later; in between somebody may put a link where a directory
//! was. So the judged path has its links resolved (`falconer-rule` does that), and here each of its
//! names has to be what it says. Everything else is done relative to the directory that was opened.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;

const NEW_DIRECTORY: Mode = Mode::from_raw_mode(0o777);

/// Opens a file for reading. Never waits for the other end of a pipe.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(open_at_root(path, flags)?.into())
}

/// Looks at what is at a path without opening it for reading.
pub fn look(path: &Path) -> io::Result<Metadata> {
    File::from(open_at_root(path, OFlags::PATH)?).metadata()
}

/// The directory of a file, open, and the name of the file in it.
#[derive(Debug)]
pub struct Parent {
    directory: OwnedFd,
    name: OsString,
}

/// A choice of what a draft may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// Fail if something has the name.
    Nothing,
    /// Replace the file that has the name.
    File,
}

impl Parent {
    /// Opens the directory of a path.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (directory, name) = split(path)?;
        Ok(Self {
            directory: open_at_root(directory, OFlags::PATH | OFlags::DIRECTORY)?,
            name: name.to_owned(),
        })
    }

    /// Opens the directory of a path, and makes it if it is missing.
    pub fn make(path: &Path) -> io::Result<Self> {
        match Self::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        let (directory, name) = split(path)?;
        Ok(Self {
            directory: walk(directory, |above, name| {
                match rustix::fs::mkdirat(above, name, NEW_DIRECTORY) {
                    Ok(()) | Err(Errno::EXIST) => Ok(()),
                    Err(error) => Err(error),
                }
            })?,
            name: name.to_owned(),
        })
    }

    /// Returns what has the name now; a link counts as itself.
    pub fn look(&self) -> io::Result<Option<Metadata>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty()) {
            Ok(found) => File::from(found).metadata().map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes a new file beside the name, with what the process allows of `mode`.
    pub fn draft(&self, mode: Mode) -> io::Result<Draft<'_>> {
        let name = format!(".falconer-{}", uuid::Uuid::new_v4().simple());
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.directory, &name, flags, mode)?;
        Ok(Draft {
            parent: self,
            file: file.into(),
            name: Some(name.into()),
        })
    }

    /// Removes the file.
    pub fn remove(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(
            &self.directory,
            &self.name,
            AtFlags::empty(),
        )?)
    }
}

/// A file that has not got its name yet; removed unless it gets it.
#[derive(Debug)]
pub struct Draft<'a> {
    parent: &'a Parent,
    file: File,
    name: Option<OsString>,
}

impl Draft<'_> {
    /// Returns the file to write to.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives it its name, in one step.
    pub fn place(mut self, over: Over) -> io::Result<()> {
        let directory = &self.parent.directory;
        let target = &self.parent.name;
        let Some(name) = &self.name else {
            return Ok(());
        };
        match over {
            Over::File => rustix::fs::renameat(directory, name, directory, target)?,
            Over::Nothing => {
                let flags = RenameFlags::NOREPLACE;
                match rustix::fs::renameat_with(directory, name, directory, target, flags) {
                    // The file system does not know the flag; a second name does the same.
                    Err(Errno::INVAL | Errno::NOSYS) => {
                        let none = AtFlags::empty();
                        rustix::fs::linkat(directory, name, directory, target, none)?;
                        return Ok(());
                    }
                    other => other?,
                }
            }
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = rustix::fs::unlinkat(&self.parent.directory, name, AtFlags::empty());
        }
    }
}

fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    let parts = path.parent().zip(path.file_name());
    parts.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn open_at_root(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(rustix::fs::CWD, path, flags, Mode::empty(), resolve) {
        // Kernels before 5.6, and filters that do not know the call.
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(path, flags),
        other => Ok(other?),
    }
}

fn step_by_step(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    if path == Path::new("/") {
        return walk(path, |_, _| Ok(()));
    }
    let (directory, name) = split(path)?;
    let directory = walk(directory, |_, _| Ok(()))?;
    let found = rustix::fs::openat(&directory, name, flags, Mode::empty())?;
    // With these flags a link would be opened itself.
    if File::from(found.try_clone()?).metadata()?.is_symlink() {
        return Err(Errno::LOOP.into());
    }
    Ok(found)
}

/// Goes down to a directory; `before` is called for each name before it is entered.
fn walk(
    path: &Path,
    before: impl Fn(&OwnedFd, &OsStr) -> rustix::io::Result<()>,
) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut directory = rustix::fs::open("/", flags, Mode::empty())?;
    for component in path.components() {
        match component {
            Component::RootDir => {}
            Component::Normal(name) => {
                before(&directory, name)?;
                directory = rustix::fs::openat(&directory, name, flags, Mode::empty())?;
            }
            Component::Prefix(_) | Component::CurDir | Component::ParentDir => {
                return Err(io::ErrorKind::InvalidInput.into());
            }
        }
    }
    Ok(directory)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    fn real(directory: &tempfile::TempDir) -> PathBuf {
        directory.path().canonicalize().unwrap()
    }

    #[test]
    fn links_are_refused_wherever_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let root = real(&directory);
        std::fs::create_dir(root.join("dir")).unwrap();
        std::fs::write(root.join("dir/file"), "x").unwrap();
        symlink("dir", root.join("link")).unwrap();
        symlink("dir/file", root.join("file")).unwrap();
        for path in ["link/file", "file"] {
            for open in [open_at_root, step_by_step] {
                let path = root.join(path);
                let error = open(&path, OFlags::RDONLY | OFlags::NOFOLLOW).unwrap_err();
                assert!(
                    matches!(
                        Errno::from_io_error(&error),
                        Some(Errno::LOOP | Errno::NOTDIR)
                    ),
                    "{path:?}: {error}"
                );
            }
        }
        let mut text = String::new();
        let mut file = super::open(&root.join("dir/file")).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "x");
        assert!(Parent::make(&root.join("link/new/file")).is_err());
        assert!(!root.join("dir/new").exists());
    }

    #[test]
    fn directories_are_made_and_drafts_replace_or_vanish() {
        let directory = tempfile::tempdir().unwrap();
        let path = real(&directory).join("a/b/file");
        let parent = Parent::make(&path).unwrap();
        for (over, text) in [(Over::Nothing, "one"), (Over::File, "two")] {
            let mut draft = parent.draft(Mode::from_raw_mode(0o600)).unwrap();
            draft.file().write_all(text.as_bytes()).unwrap();
            draft.place(over).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        let draft = parent.draft(Mode::from_raw_mode(0o600)).unwrap();
        let error = draft.place(Over::Nothing).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        let names = std::fs::read_dir(path.parent().unwrap()).unwrap();
        assert_eq!(names.count(), 1, "no draft is left");
    }
}
