//! Where a path really leads, before anything is done there.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Links in one path that are followed.
const MAX_LINKS: usize = 40;

/// A path under both its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Without `.` and `..`, links left alone.
    pub spelled: PathBuf,
    /// With links resolved, as far as the path exists.
    pub real: PathBuf,
    /// Whether there is a directory.
    pub is_dir: bool,
    /// Whether both names are certain.
    pub is_clear: bool,
}

/// What a walk comes across.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Something to read.
    File,
    /// Something to go into.
    Directory,
}

impl Place {
    /// Follows the links of a path; a relative one is never clear.
    pub fn of(path: &Path) -> Self {
        let is_clear = path.is_absolute();
        Walk::new(PathBuf::new(), path).place(spelled(path), is_clear)
    }

    /// Returns the path of a file that is to be written: its directory without links, its own name
    /// as it is.
    pub fn destination(path: &Path) -> PathBuf {
        // `..` after a link means another directory than the spelling says.
        let has_dots = path.components().any(|it| it == Component::ParentDir);
        let place = Self::of(path);
        match (place.spelled.parent(), place.spelled.file_name()) {
            (Some(_), Some(name)) if !has_dots => {
                let parent = path.parent().unwrap_or(Path::new("/"));
                Self::of(parent).real.join(name)
            }
            _ => place.real,
        }
    }

    /// The place that a relative path means here.
    pub(crate) fn below(&self, path: &Path) -> Self {
        let spelled = spelled(&self.spelled.join(path));
        Walk::new(self.real.clone(), path).place(spelled, self.is_clear)
    }

    /// A file or directory that a walk found below this place without following links.
    pub fn found(&self, below: &Path, kind: Found) -> Self {
        Self {
            spelled: self.spelled.join(below),
            real: self.real.join(below),
            is_dir: kind == Found::Directory,
            is_clear: self.is_clear,
        }
    }

    /// Both names, the spelled one first.
    pub fn names(&self) -> impl Iterator<Item = &Path> {
        [self.spelled.as_path(), self.real.as_path()].into_iter()
    }

    /// Both names, once if they are the same.
    pub(crate) fn different_names(&self) -> impl Iterator<Item = &Path> {
        let is_other = self.real.as_os_str() != self.spelled.as_os_str();
        let real = is_other.then_some(self.real.as_path());
        [self.spelled.as_path()].into_iter().chain(real)
    }
}

fn spelled(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            Component::RootDir | Component::Prefix(_) | Component::Normal(_) => {
                result.push(component);
            }
        }
    }
    result
}

fn reversed(path: &Path) -> Vec<OsString> {
    let names = path.components().rev();
    names.map(|name| name.as_os_str().to_owned()).collect()
}

struct Walk {
    real: PathBuf,
    /// What is left of the path; the next name is the last.
    todo: Vec<OsString>,
    links: usize,
    /// Names at the end that are not there; below them there is nothing to look up.
    missing: usize,
}

impl Walk {
    fn new(real: PathBuf, path: &Path) -> Self {
        Self {
            real,
            todo: reversed(path),
            links: 0,
            missing: 0,
        }
    }

    fn place(mut self, spelled: PathBuf, is_clear: bool) -> Place {
        let is_clear = self.run() && is_clear;
        Place {
            spelled,
            is_dir: self.missing == 0 && self.real.is_dir(),
            real: self.real,
            is_clear,
        }
    }

    /// Goes to the end of the path; false if there are too many links.
    fn run(&mut self) -> bool {
        while let Some(name) = self.todo.pop() {
            match name.to_str() {
                Some(".") => {}
                Some("..") => {
                    self.real.pop();
                    self.missing = self.missing.saturating_sub(1);
                }
                _ => self.enter(&name),
            }
            if self.links > MAX_LINKS {
                return false;
            }
        }
        true
    }

    fn enter(&mut self, name: &OsString) {
        let next = self.real.join(name);
        if self.missing > 0 {
            self.missing += 1;
            self.real = next;
            return;
        }
        match std::fs::read_link(&next) {
            Ok(target) => {
                self.links += 1;
                // An absolute target starts anew: joining replaces what is there.
                self.todo.extend(reversed(&target));
            }
            Err(error) => {
                self.missing = usize::from(error.kind() == ErrorKind::NotFound);
                self.real = next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn paths_lose_their_links_and_files_keep_their_names() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("dir/sub")).unwrap();
        symlink("dir/sub", root.join("link")).unwrap();
        symlink("/etc/passwd", root.join("dir/file")).unwrap();
        let check = |written: &str, expected: &str| {
            assert_eq!(Place::destination(&root.join(written)), root.join(expected));
        };
        check("link/new", "dir/sub/new");
        check("dir/file", "dir/file");
        check("dir/./new", "dir/new");
        check("link/../new", "dir/new");
        check("not/there/yet", "not/there/yet");
        assert_eq!(
            Place::of(&root.join("dir/file")).real,
            Path::new("/etc/passwd")
        );
    }
}
