//! The trace of a connection: a span for the run, one for each turn in it, one for each tool call
//! in that.
//!
//! Permission, hook and MCP spans are opened where those are served, below the run. Without
//! a subscriber this costs a look at a flag for each message.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use falconer_protocol::content::ContentBlock;
use falconer_protocol::{Message, RawMessage};
use tracing::{Level, Span};

/// The open spans of one connection.
#[derive(Debug)]
pub(super) struct Spans {
    run: Span,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    turn: Option<Span>,
    /// By the id of the call.
    tools: HashMap<String, Span>,
}

impl Spans {
    pub(super) fn new(pid: Option<u32>) -> Self {
        let run = tracing::info_span!("run", pid, session = tracing::field::Empty);
        Self {
            run,
            open: Mutex::default(),
        }
    }

    /// The span everything belongs to.
    pub(super) fn run(&self) -> &Span {
        &self.run
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn begins in this session. The engine says so once for each turn.
    pub(super) fn turn_began(&self, session: &str) {
        self.run.record("session", session);
        self.open().turn = Some(tracing::info_span!(parent: &self.run, "turn"));
    }

    /// The turn has ended, and with it every call that has no result.
    pub(super) fn turn_ended(&self) {
        *self.open() = Open::default();
    }

    /// Opens a span for each tool call in an assistant message.
    pub(super) fn calls_in(&self, line: &[u8]) {
        if !tracing::enabled!(Level::INFO) {
            return;
        }
        let Some(Message::Assistant(message)) = read(line, b"\"tool_use\"") else {
            return;
        };
        let mut open = self.open();
        let calls = message.message.content.iter();
        for call in calls.filter_map(ContentBlock::as_tool_use) {
            let parent = open.turn.as_ref().unwrap_or(&self.run);
            let span = tracing::info_span!(parent: parent, "tool", name = call.name);
            open.tools.insert(call.id.as_str().to_owned(), span);
        }
    }

    /// Closes the span of each call that a user message has the result of.
    pub(super) fn results_in(&self, line: &[u8]) {
        if self.open().tools.is_empty() {
            return;
        }
        let Some(Message::User(message)) = read(line, b"\"tool_result\"") else {
            return;
        };
        let mut open = self.open();
        for result in message.tool_results() {
            open.tools.remove(result.tool_use_id.as_str());
        }
    }
}

/// Decodes a line if these bytes occur in it.
fn read(line: &[u8], needle: &[u8]) -> Option<Message> {
    memchr::memmem::find(line, needle)?;
    let raw = RawMessage::new(line.to_vec().into()).ok()?;
    raw.decode().ok()
}
