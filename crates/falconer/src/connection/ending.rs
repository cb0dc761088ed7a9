//! The end of an engine: seen out after its output has ended, and remembered for everyone
//! who still wants something of it.

use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::router::Router;
use super::run_state::RunPhase;
use crate::error::Error;
use crate::failure::Failure;
use crate::transport::{Ending, Engine, EngineExit, LineSource};

/// The end of an engine.
#[derive(Debug)]
pub(crate) struct EndOfEngine {
    pub(crate) exit: EngineExit,
    pub(crate) stderr: Vec<String>,
    /// Reading failed before the end.
    pub(crate) read_error: Option<(io::ErrorKind, String)>,
    /// The last result that was an error.
    failed_result: Option<Bytes>,
    /// A prompt was still unanswered, and the host had not asked for the end.
    pub(crate) was_expected: Expectation,
}

/// The host's expectation of the engine's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Expectation {
    /// The host asked for it, or everything was answered.
    #[default]
    Expected,
    /// Something was still to come.
    Unexpected,
}

impl Default for EndOfEngine {
    fn default() -> Self {
        Self {
            exit: EngineExit::Closed,
            stderr: Vec::new(),
            read_error: None,
            failed_result: None,
            was_expected: Expectation::Expected,
        }
    }
}

impl EndOfEngine {
    /// The end the host asked for.
    pub(super) fn closed(exit: EngineExit, stderr: Vec<String>) -> Self {
        Self {
            exit,
            stderr,
            ..Self::default()
        }
    }

    /// The error for a caller who wanted something `during` the end.
    ///
    /// An engine that refuses to start says why in a result; that is the better error.
    pub(crate) fn error(&self, during: &str) -> Error {
        if let Some(failure) = self.failed_result.as_deref().and_then(Failure::of_line) {
            return Error::Failed(failure);
        }
        if let Some((kind, text)) = &self.read_error {
            let source = io::Error::new(*kind, text.clone());
            return Error::Transport {
                doing: "read from",
                source,
            };
        }
        Error::EngineEnded {
            during: during.to_owned(),
            exit: self.exit.clone(),
            stderr: self.stderr.clone(),
        }
    }

    /// The error that ends the message stream, if the end was no good one.
    pub(crate) fn stream_error(&self) -> Option<Error> {
        match self.was_expected {
            Expectation::Unexpected => Some(self.error("working on a prompt")),
            Expectation::Expected if self.read_error.is_some() => Some(self.error("being read")),
            Expectation::Expected => None,
        }
    }
}

/// Reads to the end of output, then makes sure that the engine ends as well.
pub(super) async fn read_and_see_out(
    router: Router,
    source: Box<dyn LineSource>,
    engine: Arc<dyn Engine>,
    ending: Ending,
) {
    let shared = router.shared.clone();
    router.run(source).await;
    let phase = shared.standing().borrow().phase;
    let unanswered = phase == RunPhase::Running && shared.has_unanswered();
    shared.desk.end("the engine has closed its output").await;
    shared.outbox.close();
    let exit = engine.end(ending).await;
    let was_expected = if unanswered && !shared.is_closing() {
        Expectation::Unexpected
    } else {
        Expectation::Expected
    };
    shared.ended(EndOfEngine {
        exit,
        stderr: engine.stderr_tail(),
        read_error: shared
            .take_read_error()
            .map(|error| (error.kind(), error.to_string())),
        failed_result: shared.last_failed_result(),
        was_expected,
    });
}
