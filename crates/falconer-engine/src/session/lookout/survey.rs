//! Finds the files below watched paths, and the directories in which they come and go.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::MAX_FILES;

/// How many directories are looked into. A watched directory may be the root of a large tree.
const MAX_DIRECTORIES: usize = 200;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The path that hooks are told, and where the file is. It need not be there.
    pub(super) files: Vec<(PathBuf, PathBuf)>,
    pub(super) directories: BTreeSet<PathBuf>,
}

impl Survey {
    /// Adds a watched path: a file, or everything below a directory.
    pub(super) fn visit(&mut self, shown: PathBuf, place: PathBuf) {
        if place.is_dir() {
            self.walk(shown, place);
        } else {
            let above = place.ancestors().skip(1).find(|it| it.is_dir());
            self.directories.extend(above.map(Path::to_owned));
            self.files.push((shown, place));
        }
    }

    /// Symbolic links to directories are not followed: they may lead in a circle.
    fn walk(&mut self, shown: PathBuf, place: PathBuf) {
        let mut left = vec![(shown, place)];
        while let Some((shown, place)) = left.pop() {
            if self.directories.len() >= MAX_DIRECTORIES || self.files.len() >= MAX_FILES {
                return;
            }
            let entries = std::fs::read_dir(&place).into_iter().flatten().flatten();
            self.directories.insert(place);
            for entry in entries.take(MAX_FILES) {
                let shown = shown.join(entry.file_name());
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => left.push((shown, entry.path())),
                    Ok(_) => self.files.push((shown, entry.path())),
                    Err(_) => {}
                }
            }
        }
    }
}
