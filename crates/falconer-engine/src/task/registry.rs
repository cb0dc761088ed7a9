//! Which shells there are, and the queue of events about them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::event::TaskEvent;
use super::shell::Shell;
use super::{TaskInfo, TaskLimits};

/// Events that may wait for the session.
const QUEUE: usize = 256;

/// How long a driver waits for a session that does not take its events.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Registry {
    pub(super) limits: TaskLimits,
    /// One permit for each shell that may run.
    pub(super) slots: Arc<Semaphore>,
    /// Cancelled when the session ends.
    pub(super) closing: CancellationToken,
    /// The drivers, waited for by [`close`](Self::close).
    pub(super) drivers: TaskTracker,
    /// Held while events of one happening are sent, so that lists of tasks come in order.
    pub(super) telling: tokio::sync::Mutex<()>,
    shells: Mutex<Vec<Arc<Shell>>>,
    events: Mutex<Option<mpsc::Sender<TaskEvent>>>,
}

impl Registry {
    pub(super) fn new(limits: TaskLimits) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(limits.running)),
            limits,
            closing: CancellationToken::new(),
            drivers: TaskTracker::new(),
            telling: tokio::sync::Mutex::default(),
            shells: Mutex::default(),
            events: Mutex::default(),
        }
    }

    pub(super) fn subscribe(&self) -> mpsc::Receiver<TaskEvent> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        *lock(&self.events) = Some(sender);
        receiver
    }

    pub(super) fn add(&self, shell: Arc<Shell>) {
        lock(&self.shells).push(shell);
    }

    /// Forgets a shell that ended in front, or the oldest that ended in the background.
    pub(super) fn tidy(&self) {
        let mut shells = lock(&self.shells);
        shells.retain(|shell| !shell.has_ended() || shell.is_background());
        let ended = shells.iter().filter(|shell| shell.has_ended()).count();
        let mut excess = ended.saturating_sub(self.limits.remembered);
        shells.retain(|shell| {
            let goes = excess > 0 && shell.has_ended();
            excess -= usize::from(goes);
            !goes
        });
    }

    pub(super) fn find(&self, wanted: impl Fn(&Shell) -> bool) -> Option<Arc<Shell>> {
        lock(&self.shells)
            .iter()
            .find(|shell| wanted(shell))
            .cloned()
    }

    pub(super) fn running(&self) -> Vec<Arc<Shell>> {
        let shells = lock(&self.shells);
        shells
            .iter()
            .filter(|shell| !shell.has_ended())
            .cloned()
            .collect()
    }

    pub(super) fn background(&self) -> Vec<TaskInfo> {
        let running = self.running();
        let in_background = running.iter().filter(|shell| shell.is_background());
        in_background.map(|shell| shell.info()).collect()
    }

    pub(super) async fn tell(&self, event: TaskEvent) {
        let Some(sender) = lock(&self.events).clone() else {
            return;
        };
        let is_lost = if self.closing.is_cancelled() {
            sender.try_send(event).is_err()
        } else {
            tokio::time::timeout(PATIENCE, sender.send(event))
                .await
                .is_err()
        };
        if is_lost {
            tracing::warn!("an event about a task was lost, the session does not take them");
        }
    }

    pub(super) async fn close(&self) {
        self.closing.cancel();
        self.drivers.close();
        self.drivers.wait().await;
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
