//! Going through directories, on all cores.

use std::path::Path;

use ignore::WalkBuilder;

use crate::permission::Hidden;

/// Where version control keeps its own files.
const VERSION_CONTROL: &[&str] = &[".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

/// More threads than this wait for the disk and for each other.
const THREADS: usize = 12;

/// A walk below `root` that shows files with a dot, but not those of version control and not
/// those that rules hide.
pub(super) fn below(root: &Path, hidden: Hidden) -> WalkBuilder {
    let mut walk = WalkBuilder::new(root);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    walk.hidden(false)
        .follow_links(false)
        .threads(threads.min(THREADS));
    walk.filter_entry(move |entry| {
        let name = entry.file_name().to_str();
        let is_ours = entry.depth() > 0 && name.is_some_and(|name| VERSION_CONTROL.contains(&name));
        !is_ours && !hidden.hides(entry.path())
    });
    walk
}
