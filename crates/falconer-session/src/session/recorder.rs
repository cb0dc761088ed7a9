//! From messages and decisions to numbered events: redacted, written down, then sent on.

use std::sync::Arc;

use falconer_event::{Body, Draft, End, Event, Ledger, RunId, Sequence, Source, Warning};
use falconer_secret::Redactor;
use serde_json::Value;

use super::journal;
use crate::clock::Clock;
use crate::redact::{self, Pieces};
use crate::stream::Outlet;
use crate::transcript::Transcript;

/// Numbers what happens, in the order in which it is told, and sends it on.
pub(super) struct Recorder {
    ledger: Ledger,
    sequence: Sequence,
    run: RunId,
    clock: Arc<dyn Clock>,
    /// Texts that are being streamed.
    pieces: Pieces,
    out: Out,
}

/// The way out of a session.
pub(super) struct Out {
    pub(super) redactor: Redactor,
    pub(super) transcript: Option<Transcript>,
    pub(super) outlet: Outlet,
}

impl Recorder {
    pub(super) fn new(run: RunId, sequence: Sequence, clock: Arc<dyn Clock>, out: Out) -> Self {
        Self {
            ledger: Ledger::default(),
            sequence,
            run,
            clock,
            pieces: Pieces::default(),
            out,
        }
    }

    pub(super) fn outlet(&self) -> &Outlet {
        &self.out.outlet
    }

    /// What time it is, in RFC 3339.
    pub(super) fn now(&self) -> String {
        self.clock.now()
    }

    /// Returns the number of turns that have begun.
    pub(super) fn turns(&self) -> u32 {
        self.ledger.turns()
    }

    /// Returns `true` if the messages of the engine are kept beside the events.
    pub(super) fn keeps_raw(&self) -> bool {
        self.out.transcript.is_some()
    }

    /// Takes note of events that are about to be recorded.
    pub(super) fn observe(&mut self, drafts: &[Draft]) {
        drafts.iter().for_each(|draft| self.ledger.observe(draft));
    }

    /// Records what a message means; the transcript has the message itself with the first.
    pub(super) fn record_all(&mut self, drafts: Vec<Draft>, mut raw: Option<Value>) {
        for draft in drafts {
            self.record(draft, raw.take());
        }
    }

    /// Something that Falconer, or a person, did in the turn under way.
    pub(super) fn note(&mut self, source: Source, body: Body) {
        let mut draft = Draft::new(source, body);
        draft.turn = self.ledger.turn();
        self.record(draft, None);
    }

    pub(super) fn warn(&mut self, kind: &str, text: &str) {
        let mut warning = Warning::default();
        warning.kind = kind.to_owned();
        warning.text = text.to_owned();
        self.note(Source::Falconer, Body::Warning(warning));
    }

    pub(super) fn end(&mut self, end: End) {
        for draft in self.ledger.end(end) {
            self.record(draft, None);
        }
    }

    /// What is streamed may come later than it was said, so that no piece shows a secret.
    fn record(&mut self, mut draft: Draft, raw: Option<Value>) {
        match &mut draft.body {
            Body::ItemDelta { id, offset, text } => {
                let Some(piece) = self.pieces.push(&self.out.redactor, id, text) else {
                    return;
                };
                (*offset, *text) = (piece.offset, piece.text);
            }
            Body::ItemCompleted(item) => {
                if let Some(piece) = self.pieces.end(&self.out.redactor, &item.id) {
                    let (id, offset, text) = (item.id.clone(), piece.offset, piece.text);
                    let mut last = draft.clone();
                    last.source = Source::Agent;
                    last.body = Body::ItemDelta { id, offset, text };
                    self.publish(last, None);
                }
            }
            _ => {}
        }
        self.publish(draft, raw);
    }

    fn publish(&mut self, draft: Draft, raw: Option<Value>) {
        let event = self.sequence.stamp(&self.run, self.clock.now(), draft);
        let event = redact::event(&self.out.redactor, event).unwrap_or_else(|mut event| {
            // Its number is taken, so something has to be there.
            let mut warning = Warning::default();
            warning.kind = "redacted".to_owned();
            warning.text = "an event held a secret where it cannot be taken out".to_owned();
            event.body = Body::Warning(warning);
            (event.parent, event.raw) = (None, None);
            *event
        });
        journal::log(&event);
        self.send(&event, raw);
    }

    fn send(&mut self, event: &Event, mut raw: Option<Value>) {
        if let Some(transcript) = &mut self.out.transcript {
            if let Some(raw) = &mut raw {
                self.out.redactor.value(raw);
            }
            if let Err(error) = transcript.append(event, raw) {
                // A full disk ends the transcript, not the run.
                self.out.transcript = None;
                self.out.outlet.put(event.clone());
                match event.body {
                    // Nothing comes after the end.
                    Body::RunCompleted(_) => tracing::warn!(%error, "failed to end a transcript"),
                    _ => self.broken_transcript(&error),
                }
                return;
            }
        }
        self.out.outlet.put(event.clone());
    }

    fn broken_transcript(&mut self, error: &std::io::Error) {
        let text = format!("failed to write the transcript, which ends here: {error}");
        self.warn("transcript", &text);
    }
}
