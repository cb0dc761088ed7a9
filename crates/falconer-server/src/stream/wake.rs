//! Wakes the streams of a session when something was written for it.
//!
//! One task listens to the store and tells those it concerns: a thousand streams are not all
//! woken by each event of each session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use falconer_store::{Change, SessionId};
use tokio::sync::watch;

use crate::app::App;

/// Who sleeps on which session.
#[derive(Debug, Default)]
pub(crate) struct Wakeups {
    sleepers: Mutex<HashMap<SessionId, watch::Sender<()>>>,
}

impl Wakeups {
    /// Is woken after every change of this session, from now on.
    pub(crate) fn of(&self, session: &SessionId) -> watch::Receiver<()> {
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        sleepers
            .entry(session.clone())
            .or_insert_with(|| watch::Sender::new(()))
            .subscribe()
    }

    fn wake(&self, change: &Change) {
        let mut sleepers = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
        match change {
            Change::Session(session) => {
                let Some(sender) = sleepers.get(session) else {
                    return;
                };
                if sender.send(()).is_err() {
                    sleepers.remove(session);
                }
            }
            Change::Rules => {}
            _ => sleepers.retain(|_, sender| sender.send(()).is_ok()),
        }
    }
}

/// Passes the hints of the store on until it is closed or the server ends.
pub(crate) async fn run(app: Arc<App>) {
    let mut watcher = app.store.watch();
    // Whatever was written before the watcher was made.
    app.wakeups.wake(&Change::Everything);
    loop {
        tokio::select! {
            () = app.end.cancelled() => return,
            change = watcher.changed() => match change {
                Some(change) => app.wakeups.wake(&change),
                None => return,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_it_concerns_are_woken_and_nobody_is_kept() {
        let wakeups = Wakeups::default();
        let (one, two) = (SessionId::from("1"), SessionId::from("2"));
        let mut first = wakeups.of(&one);
        let mut second = wakeups.of(&two);
        wakeups.wake(&Change::Session(one.clone()));
        assert!(first.has_changed().unwrap());
        assert!(!second.has_changed().unwrap());
        first.mark_unchanged();
        wakeups.wake(&Change::Everything);
        assert!(first.has_changed().unwrap() && second.has_changed().unwrap());
        drop(first);
        second.mark_unchanged();
        wakeups.wake(&Change::Session(one));
        assert_eq!(wakeups.sleepers.lock().unwrap().len(), 1);
    }
}
