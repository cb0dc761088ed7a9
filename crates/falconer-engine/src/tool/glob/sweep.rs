//! Goes through directories on all cores and keeps the newest files that fit.
//!
//! Made for large trees, where looking at a file costs more than finding it: each directory is
//! opened once, its files are looked at from there, and a path is kept only for a file that may
//! be shown.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags};

/// What a sweep looks for.
pub(super) trait Search: Sync {
    /// Whether to look into a directory.
    fn enters(&self, directory: &Path, name: &OsStr) -> bool;

    /// Whether a file is wanted.
    fn wants(&self, file: &Path) -> bool;

    /// Whether to leave off.
    fn is_over(&self) -> bool;
}

/// When a file was last changed: seconds and nanoseconds.
type Changed = (i64, u64);

/// A file that was found; the newest is the greatest, of equals the first by name.
type Found = (Changed, Reverse<PathBuf>);

/// The newest files so far.
#[derive(Debug)]
pub(super) struct Newest {
    files: BinaryHeap<Reverse<Found>>,
    most: usize,
    pub(super) total: usize,
}

impl Newest {
    fn new(most: usize) -> Self {
        Self {
            files: BinaryHeap::new(),
            most,
            total: 0,
        }
    }

    fn add(&mut self, changed: Changed, path: &Path) {
        self.total += 1;
        let oldest = self.files.peek().map(|Reverse((changed, _))| *changed);
        let is_full = self.files.len() >= self.most;
        if is_full && oldest.is_some_and(|oldest| changed < oldest) {
            return;
        }
        self.put((changed, Reverse(path.to_owned())));
    }

    fn put(&mut self, file: Found) {
        self.files.push(Reverse(file));
        if self.files.len() > self.most {
            self.files.pop();
        }
    }

    fn join(&mut self, other: Self) {
        self.total += other.total;
        for Reverse(file) in other.files {
            self.put(file);
        }
    }

    /// The files, newest first.
    pub(super) fn into_paths(self) -> Vec<PathBuf> {
        // Ascending order of the reversed.
        let files = self.files.into_sorted_vec().into_iter();
        files.map(|Reverse((_, Reverse(path)))| path).collect()
    }
}

/// The `most` newest files below `root`. Links are not followed.
pub(super) fn newest(root: &Path, search: &impl Search, threads: usize, most: usize) -> Newest {
    let queue = Queue::new(root.to_owned());
    let work = || {
        let mut newest = Newest::new(most);
        while let Some(directory) = queue.next() {
            let is_over = search.is_over();
            let inner = if is_over {
                Vec::new()
            } else {
                look_into(&directory, search, &mut newest)
            };
            queue.done(inner, is_over);
        }
        newest
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut newest = work();
        for other in others {
            if let Ok(other) = other.join() {
                newest.join(other);
            }
        }
        newest
    })
}

/// A directory to look into.
#[derive(Debug)]
struct Directory {
    path: PathBuf,
    /// The first one may be a link; those below are not, or are no longer what they were.
    links: OFlags,
}

/// Adds the files of a directory, and gives the directories in it. Directories that vanish or
/// cannot be read hold nothing for us.
fn look_into(directory: &Directory, search: &impl Search, newest: &mut Newest) -> Vec<PathBuf> {
    let mut inner = Vec::new();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | directory.links;
    let opened = rustix::fs::openat(CWD, &directory.path, flags, Mode::empty());
    let Some(mut dir) = opened.ok().and_then(|fd| Dir::new(fd).ok()) else {
        return inner;
    };
    let mut path = Joined::new(&directory.path);
    while let Some(Ok(entry)) = dir.read() {
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let full = path.with(name);
        match kind(&dir, &entry) {
            FileType::Directory if search.enters(full, OsStr::from_bytes(name.to_bytes())) => {
                inner.push(full.to_owned());
            }
            FileType::RegularFile if search.wants(full) => {
                newest.add(changed(&dir, name), full);
            }
            _ => {}
        }
    }
    inner
}

/// What an entry is; some file systems say so only when asked.
fn kind(dir: &Dir, entry: &DirEntry) -> FileType {
    match entry.file_type() {
        FileType::Unknown => {
            let stat = dir.fd().and_then(|fd| {
                rustix::fs::statat(fd, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
            });
            stat.map_or(FileType::Unknown, |stat| {
                FileType::from_raw_mode(stat.st_mode)
            })
        }
        kind => kind,
    }
}

fn changed(dir: &Dir, name: &CStr) -> Changed {
    let stat = dir
        .fd()
        .and_then(|fd| rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW));
    stat.map_or((0, 0), |stat| (stat.st_mtime, stat.st_mtime_nsec))
}

/// Paths in one directory, put together in place.
struct Joined {
    bytes: Vec<u8>,
    stem: usize,
}

impl Joined {
    fn new(directory: &Path) -> Self {
        let mut bytes = directory.as_os_str().as_bytes().to_vec();
        if bytes.last() != Some(&b'/') {
            bytes.push(b'/');
        }
        let stem = bytes.len();
        Self { bytes, stem }
    }

    fn with(&mut self, name: &CStr) -> &Path {
        self.bytes.truncate(self.stem);
        self.bytes.extend_from_slice(name.to_bytes());
        Path::new(OsStr::from_bytes(&self.bytes))
    }
}

/// Directories that nobody has looked into yet.
#[derive(Debug)]
struct Queue {
    state: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug)]
struct Waiting {
    directories: Vec<Directory>,
    /// How many are being looked into, and may have more in them.
    busy: usize,
    is_over: bool,
}

impl Queue {
    fn new(root: PathBuf) -> Self {
        let root = Directory {
            path: root,
            links: OFlags::empty(),
        };
        Self {
            state: Mutex::new(Waiting {
                directories: vec![root],
                busy: 0,
                is_over: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn next(&self) -> Option<Directory> {
        let mut waiting = self.waiting();
        loop {
            if waiting.is_over {
                return None;
            }
            if let Some(directory) = waiting.directories.pop() {
                waiting.busy += 1;
                return Some(directory);
            }
            let woken = self.changed.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A directory was looked into.
    fn done(&self, inner: Vec<PathBuf>, is_over: bool) {
        let mut waiting = self.waiting();
        waiting.busy -= 1;
        waiting
            .directories
            .extend(inner.into_iter().map(|path| Directory {
                path,
                links: OFlags::NOFOLLOW,
            }));
        waiting.is_over |= is_over || (waiting.busy == 0 && waiting.directories.is_empty());
        drop(waiting);
        self.changed.notify_all();
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
