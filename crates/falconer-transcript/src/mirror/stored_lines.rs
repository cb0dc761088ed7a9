//! The lines of a transcript that a store returned.

use super::entry::SessionStoreEntry;
use crate::error::SessionError;
use crate::lines::{Lines, Span};

/// The entries of one transcript.
#[derive(Debug)]
pub(super) struct StoredLines(pub(super) Vec<SessionStoreEntry>);

impl Lines for StoredLines {
    fn scan(&mut self, each: &mut dyn FnMut(Span, &[u8])) -> Result<u64, SessionError> {
        for (start, entry) in (0..).zip(&self.0) {
            let line = entry.as_json().as_bytes();
            let length = line.len();
            each(Span { start, length }, line);
        }
        Ok(0)
    }

    fn read(&mut self, span: Span, into: &mut Vec<u8>) -> Result<(), SessionError> {
        into.clear();
        let entry = usize::try_from(span.start)
            .ok()
            .and_then(|at| self.0.get(at));
        into.extend_from_slice(entry.map_or("", SessionStoreEntry::as_json).as_bytes());
        Ok(())
    }
}
