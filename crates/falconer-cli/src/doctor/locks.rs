//! The locks of sessions: whether they work, who holds them, which were left behind.

use std::collections::BTreeSet;
use std::path::Path;

use falconer_session::SessionLocks;

use super::check::{Check, counted};
use crate::places;
use crate::render::clean;

pub(super) fn locks() -> Check {
    let directory = match places::locks_directory() {
        Ok(directory) => directory,
        Err(fault) => return Check::failed("locks", fault.text, fault.hint),
    };
    let locks = SessionLocks::new(&directory);
    let probe = format!("doctor-{}", std::process::id());
    match locks.try_lock(&probe) {
        Ok(lock) => {
            drop(lock);
            let (held, killed) = look(&locks, &directory);
            let sessions = counted(held.len() as u64, "session");
            let text = format!("working; {sessions} in use{}", left(killed));
            Check::ok("locks", text).details(&held)
        }
        Err(error) => Check::failed(
            "locks",
            error,
            "use a writable directory on a file system that supports locks",
        ),
    }
}

/// What a holder writes into its lock. It is only a note: who holds it is asked of the lock.
struct Note {
    name: String,
    process: Option<u64>,
}

/// The sessions somebody works on, and who; and how many processes left a lock behind. A lock
/// nobody holds goes when it is tried.
fn look(locks: &SessionLocks, directory: &Path) -> (Vec<String>, usize) {
    let files = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let notes = files.take(1_000).filter_map(|file| {
        let text = std::fs::read_to_string(file.path()).ok()?;
        let note: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(Note {
            name: note["session"].as_str()?.to_owned(),
            process: note["pid"].as_u64(),
        })
    });
    let (held, stale): (Vec<_>, Vec<_>) =
        notes.partition(|note| locks.try_lock(&note.name).is_err());
    let shown = held.into_iter().map(|note| match note.process {
        Some(process) => format!("{} by process {process}", clean(&note.name)),
        None => clean(&note.name),
    });
    let killed: BTreeSet<_> = stale.iter().map(|note| note.process).collect();
    (shown.take(20).collect(), killed.len())
}

fn left(killed: usize) -> String {
    match killed {
        0 => String::new(),
        1 => "; removed what a killed run left behind".to_owned(),
        many => format!("; removed what {many} killed runs left behind"),
    }
}
