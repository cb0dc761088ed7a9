//! The store of the server: whether it can be read, and whether a server died over it.

use falconer_store::{Error, SqliteStore, Store, Timestamp};

use super::check::{Check, counted};
use crate::places;

const NAME: &str = "store";

const MEBIBYTE: u64 = 1 << 20;

pub(super) async fn check() -> Check {
    let path = match places::store_file() {
        Ok(path) => path,
        Err(fault) => return Check::failed(NAME, fault.text, fault.hint),
    };
    // To look must not make one.
    if !path.exists() {
        return Check::ok(NAME, "none yet; created when needed".to_owned());
    }
    let store = match SqliteStore::open(&path).await {
        Ok(store) => store,
        Err(error) => return unusable(&error),
    };
    let check = match look(&store).await {
        Ok(check) => check,
        Err(error) => unusable(&error),
    };
    // What was read is read.
    let _ = store.close().await;
    check
}

async fn look(store: &SqliteStore) -> Result<Check, Error> {
    store.ping().await?;
    let counts = store.counts().await?;
    let sessions: u64 = counts.sessions.iter().map(|(_, count)| count).sum();
    let text = format!(
        "{} with {} ({} MiB), {} waiting",
        store.path().display(),
        counted(sessions, "session"),
        counts.bytes / MEBIBYTE,
        counted(counts.pending, "request")
    );
    let now = Timestamp::now();
    let owners = store.owners().await?;
    let (gone, alive): (Vec<_>, Vec<_>) = owners.iter().partition(|owner| owner.until < now);
    let alive: Vec<String> = alive
        .iter()
        .map(|owner| format!("{} runs {}", owner.node, counted(owner.sessions, "session")))
        .collect();
    Ok(match gone.as_slice() {
        [] => Check::ok(NAME, text).details(&alive),
        gone => {
            let left: u64 = gone.iter().map(|owner| owner.sessions).sum();
            let text = format!("{text}; a server died and left {left} open");
            let fix = "start `falconer serve` once to close them";
            Check::warning(NAME, text, fix)
        }
    })
}

fn unusable(error: &Error) -> Check {
    let fix = match error {
        Error::Corrupt { .. } => {
            "restore a backup, or move the file away: `falconer serve` creates a new one"
        }
        Error::TooNew { .. } => "update falconer",
        Error::ReadOnly { .. } => "make the file and its directory writable by you",
        Error::Full { .. } => "free disk space",
        Error::Busy { .. } => "find the process that keeps it busy, then try again",
        _ => "check the disk",
    };
    // Runs need no server.
    Check::warning(NAME, error, fix)
}
