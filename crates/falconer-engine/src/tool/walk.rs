//! Going through directories, on all cores.

use std::ffi::OsStr;
use std::path::Path;

use falconer_rule::Found;
use ignore::WalkBuilder;

use crate::permission::Hidden;

/// Where version control keeps its own files.
const VERSION_CONTROL: &[&str] = &[".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

/// More threads than this wait for the disk and for each other.
const THREADS: usize = 12;

/// How many threads look through directories.
pub(super) fn threads() -> usize {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    threads.min(THREADS)
}

/// Whether a directory of this name belongs to version control.
pub(super) fn is_version_control(name: &OsStr) -> bool {
    let name = name.to_str();
    name.is_some_and(|name| VERSION_CONTROL.contains(&name))
}

/// A walk below `root` that shows files with a dot, but not those of version control and not
/// those that rules hide.
pub(super) fn below(root: &Path, hidden: Hidden) -> WalkBuilder {
    let mut walk = WalkBuilder::new(root);
    walk.hidden(false).follow_links(false).threads(threads());
    walk.filter_entry(move |entry| {
        let is_ours = entry.depth() > 0 && is_version_control(entry.file_name());
        let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
        let kind = if is_directory {
            Found::Directory
        } else {
            Found::File
        };
        !is_ours && !hidden.hides(entry.path(), kind)
    });
    walk
}
