//! The system says when something moves in a directory.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;

use super::Attention;

/// Listens as long as it lives.
#[derive(Debug)]
pub(super) struct Wake {
    watcher: RecommendedWatcher,
    at: BTreeSet<PathBuf>,
    /// Something was removed or moved away. If it was a directory, nobody listens at the one that
    /// has its name now.
    is_stale: Arc<AtomicBool>,
}

impl Wake {
    /// Fails where the system has no more of them to give.
    pub(super) fn new(moved: &Arc<Notify>) -> notify::Result<Self> {
        let is_stale = Arc::<AtomicBool>::default();
        let (moved, stale) = (Arc::clone(moved), Arc::clone(&is_stale));
        let tell = move |event: notify::Result<Event>| {
            let kind = event.map_or(EventKind::Any, |event| event.kind);
            if let EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)) = kind {
                stale.store(true, Ordering::Relaxed);
            }
            if is_of_interest(kind) {
                moved.notify_one();
            }
        };
        Ok(Self {
            watcher: notify::recommended_watcher(tell)?,
            at: BTreeSet::new(),
            is_stale,
        })
    }

    /// Listens at these directories and no others.
    pub(super) fn listen_at(
        &mut self,
        directories: BTreeSet<PathBuf>,
    ) -> notify::Result<Attention> {
        let is_stale = self.is_stale.swap(false, Ordering::Relaxed);
        let left = |it: &&PathBuf| is_stale || !directories.contains(*it);
        let left: Vec<PathBuf> = self.at.iter().filter(left).cloned().collect();
        for directory in left {
            // One that is gone is not listened at any more.
            let _ = self.watcher.unwatch(&directory);
            self.at.remove(&directory);
        }
        let mut attention = Attention::Steady;
        for directory in directories {
            if self.at.contains(&directory) {
                continue;
            }
            attention = Attention::Fresh;
            match self.watcher.watch(&directory, RecursiveMode::NonRecursive) {
                Ok(()) => drop(self.at.insert(directory)),
                // Removed since it was found: the next look finds what is there instead.
                Err(_) if !directory.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(attention)
    }
}

/// That somebody reads changes nothing, and our own looks are such.
fn is_of_interest(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}
