//! Putting files back, one by one, each whole or not at all.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use falconer_process::no_links::{Over, Parent};
use falconer_protocol::control::RewindResponse;
use rustix::fs::Mode;
use similar::{ChangeTag, TextDiff};

use super::copies::{Copies, Found, hash_while, open_regular};
use super::journal::{FileState, Kept};

/// Files above this are not compared line by line.
const COMPARED: u64 = 4 << 20;

/// What has to be done to a file.
#[derive(Debug)]
enum Step {
    /// It is as it was.
    Nothing,
    Remove,
    Write {
        copy: String,
        mode: u32,
    },
    /// A link is involved: hands off.
    Skip,
}

/// Says what putting back would change.
pub(super) fn preview(copies: &Copies, targets: &[Kept]) -> RewindResponse {
    let (mut files_changed, mut insertions, mut deletions) = (Vec::new(), 0, 0);
    for target in targets {
        let copy = match step(target) {
            Ok(Step::Nothing | Step::Skip) => continue,
            Ok(Step::Remove) | Err(_) => None,
            Ok(Step::Write { copy, .. }) => copies.open(&copy).ok(),
        };
        files_changed.push(target.path.to_string_lossy().into_owned());
        let now = open_regular(&spot(target))
            .ok()
            .and_then(|found| match found {
                Found::File(file) => Some(file),
                Found::Nothing | Found::Other => None,
            });
        let (added, removed) = changed_lines(now, copy);
        insertions += added;
        deletions += removed;
    }
    RewindResponse {
        can_rewind: true,
        files_changed: Some(files_changed),
        insertions: Some(insertions),
        deletions: Some(deletions),
        ..RewindResponse::default()
    }
}

/// Puts the files back. Fails as a whole only if not a single one could be put back.
pub(super) fn restore(copies: &Copies, targets: &[Kept]) -> RewindResponse {
    let (mut restored, mut skipped, mut failures) = (0_u64, 0_u64, Vec::new());
    for target in targets {
        let done = step(target).and_then(|step| match step {
            Step::Nothing => Ok(()),
            Step::Skip => {
                skipped += 1;
                Ok(())
            }
            Step::Remove => Parent::open(&spot(target))
                .and_then(|parent| parent.remove())
                .map(|()| restored += 1),
            Step::Write { copy, mode } => {
                put_back(copies, target, &copy, mode).map(|()| restored += 1)
            }
        });
        if let Err(error) = done {
            failures.push(format!("{}: {error}", target.path.display()));
        }
    }
    let failed = (restored == 0 && !failures.is_empty())
        .then(|| format!("failed to restore {}", failures.join("; ")));
    if failed.is_none() && !failures.is_empty() {
        tracing::warn!(?failures, "some files could not be restored");
    }
    RewindResponse {
        can_rewind: failed.is_none(),
        error: failed,
        skipped_links: Some(skipped),
        ..RewindResponse::default()
    }
}

/// Where a file was when it was kept, without links.
fn spot(target: &Kept) -> PathBuf {
    let parent = target.real_parent.clone();
    let parent = parent.or_else(|| parent_now(&target.path));
    match parent.zip(target.path.file_name()) {
        Some((parent, name)) => parent.join(name),
        None => target.path.clone(),
    }
}

/// Compares a file with how it was.
fn step(target: &Kept) -> io::Result<Step> {
    let found = open_regular(&spot(target))?;
    let moved = || parent_now(&target.path) != target.real_parent;
    match (&target.state, found) {
        (FileState::Untouchable, _) | (_, Found::Other) => Ok(Step::Skip),
        (FileState::Absent, Found::Nothing) => Ok(Step::Nothing),
        (FileState::Absent, Found::File(_)) => Ok(if target.real_parent.is_some() && moved() {
            Step::Skip
        } else {
            Step::Remove
        }),
        (FileState::File { copy, mode }, Found::Nothing) => {
            let write = Step::Write {
                copy: copy.clone(),
                mode: *mode,
            };
            Ok(if moved() { Step::Skip } else { write })
        }
        (FileState::File { copy, mode }, Found::File(mut file)) => {
            let same_mode = file.metadata()?.permissions().mode() & 0o7777 == *mode;
            if same_mode && hash_while(&mut file, |_| Ok(()))? == *copy {
                return Ok(Step::Nothing);
            }
            let write = Step::Write {
                copy: copy.clone(),
                mode: *mode,
            };
            Ok(if moved() { Step::Skip } else { write })
        }
    }
}

/// Where the directory of a path really is, or would be if it was made again.
fn parent_now(path: &Path) -> Option<PathBuf> {
    let parent = path.parent()?;
    let existing = parent
        .ancestors()
        .find(|above| fs::symlink_metadata(above).is_ok())?;
    let missing = parent.strip_prefix(existing).ok()?;
    let real = fs::canonicalize(existing).ok()?;
    Some(if missing.as_os_str().is_empty() {
        real
    } else {
        real.join(missing)
    })
}

/// Writes beside the file and swaps: a reader sees the old file or the new one.
fn put_back(copies: &Copies, target: &Kept, copy: &str, mode: u32) -> io::Result<()> {
    let mut copy = copies.open(copy)?;
    let parent = Parent::make(&spot(target))?;
    let mut draft = parent.draft(Mode::from_raw_mode(0o600))?;
    io::copy(&mut copy, draft.file())?;
    let mode = fs::Permissions::from_mode(mode);
    draft.file().set_permissions(mode)?;
    draft.place(Over::File)
}

/// How many lines would come and go.
fn changed_lines(now: Option<File>, then: Option<File>) -> (u64, u64) {
    let (Some(now), Some(then)) = (read_text(now), read_text(then)) else {
        return (0, 0);
    };
    let (mut insertions, mut deletions) = (0, 0);
    for change in TextDiff::from_lines(&now, &then).iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => insertions += 1,
            ChangeTag::Delete => deletions += 1,
            ChangeTag::Equal => {}
        }
    }
    (insertions, deletions)
}

/// The text of a file; that of no file is empty. None if it is too large or no text.
fn read_text(file: Option<File>) -> Option<String> {
    let Some(mut file) = file else {
        return Some(String::new());
    };
    if file.metadata().ok()?.len() > COMPARED {
        return None;
    }
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    Some(text)
}
