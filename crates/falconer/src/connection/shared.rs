//! State that the tasks and callers of one connection share.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::watch;

use super::desk::{Desk, DeskLimits};
use super::ending::EndOfEngine;
use super::outbox::Outbox;
use super::requests::Requests;
use super::run_state::{RunState, Signal, Standing};
use crate::error::Error;
use crate::handlers::Handlers;
use crate::transport::LineSink;

/// The shared state of a connection. Locks are held for a few lines only.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) outbox: Arc<Outbox>,
    pub(super) requests: Requests,
    pub(crate) desk: Arc<Desk>,
    run: Mutex<RunState>,
    standing: watch::Sender<Standing>,
    notes: Mutex<Notes>,
    end: watch::Sender<Option<Arc<EndOfEngine>>>,
}

/// Things learnt on the way.
#[derive(Debug, Default)]
struct Notes {
    session: Option<String>,
    read_error: Option<io::Error>,
    /// The last result that was an error, as it came.
    failed_result: Option<Bytes>,
    closing: bool,
}

impl Shared {
    pub(super) fn new(sink: Box<dyn LineSink>, handlers: Handlers, limits: DeskLimits) -> Self {
        let outbox = Arc::new(Outbox::new(sink));
        Self {
            desk: Arc::new(Desk::new(handlers, limits, outbox.clone())),
            outbox,
            requests: Requests::default(),
            run: Mutex::default(),
            standing: watch::Sender::default(),
            notes: Mutex::default(),
            end: watch::Sender::new(None),
        }
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of something that tells whether the run goes on.
    pub(super) fn observe(&self, signal: &Signal<'_>) {
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        run.observe(signal);
        let standing = run.standing();
        self.standing
            .send_if_modified(|old| std::mem::replace(old, standing) != standing);
    }

    /// Returns the standing of the run, and its changes.
    pub(crate) fn standing(&self) -> watch::Receiver<Standing> {
        self.standing.subscribe()
    }

    /// Returns `true` if a prompt was sent that nothing has answered yet.
    pub(super) fn has_unanswered(&self) -> bool {
        self.run
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .has_unanswered()
    }

    /// Returns `true` if nothing was ever sent.
    pub(crate) fn is_untouched(&self) -> bool {
        self.run
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_untouched()
    }

    /// The background tasks that run now.
    pub(crate) fn tasks(&self) -> Vec<String> {
        let run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        run.tasks().map(str::to_owned).collect()
    }

    pub(super) fn entered_session(&self, session: &str) {
        self.notes().session = Some(session.to_owned());
    }

    /// The session of the last turn.
    pub(crate) fn session(&self) -> Option<String> {
        self.notes().session.clone()
    }

    pub(super) fn read_failed(&self, error: io::Error) {
        self.notes().read_error = Some(error);
    }

    pub(super) fn take_read_error(&self) -> Option<io::Error> {
        self.notes().read_error.take()
    }

    pub(super) fn failed_result(&self, line: &[u8]) {
        self.notes().failed_result = Some(Bytes::copy_from_slice(line));
    }

    pub(super) fn last_failed_result(&self) -> Option<Bytes> {
        self.notes().failed_result.clone()
    }

    /// The host wants to end; what the engine does from here on is no failure.
    pub(super) fn closing(&self) {
        self.notes().closing = true;
    }

    pub(super) fn is_closing(&self) -> bool {
        self.notes().closing
    }

    pub(super) fn ended(&self, end: EndOfEngine) {
        self.requests.end();
        self.end.send_replace(Some(Arc::new(end)));
    }

    /// Waits for the end of the engine.
    pub(crate) async fn end_of_engine(&self) -> Arc<EndOfEngine> {
        let mut end = self.end.subscribe();
        let known = end
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|end| end.clone());
        known.unwrap_or_default()
    }

    /// The error for a caller whose wait was ended by the end of the engine.
    pub(super) async fn ended_error(&self, during: &str) -> Error {
        self.end_of_engine().await.error(during)
    }

    /// Everyone lets go: handlers are cancelled, nobody is answered.
    pub(super) fn abandon(&self) {
        self.desk.abandon();
        self.outbox.abandon();
        self.requests.end();
    }
}
