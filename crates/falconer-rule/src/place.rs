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
    /// Whether the last name is there, as far as is known.
    exists: bool,
}

impl Walk {
    fn new(real: PathBuf, path: &Path) -> Self {
        Self {
            real,
            todo: reversed(path),
            links: 0,
            exists: true,
        }
    }

    fn place(mut self, spelled: PathBuf, is_clear: bool) -> Place {
        let is_clear = self.run() && is_clear;
        Place {
            spelled,
            is_dir: self.exists && self.real.is_dir(),
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
                    self.exists = true;
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
        match std::fs::read_link(&next) {
            Ok(target) => {
                self.links += 1;
                // An absolute target starts anew: joining replaces what is there.
                self.todo.extend(reversed(&target));
            }
            Err(error) => {
                self.exists = error.kind() != ErrorKind::NotFound;
                self.real = next;
            }
        }
    }
}
