//! From messages and decisions to numbered events: redacted, written down, then sent on.

use std::sync::Arc;

use falconer_event::{Body, Draft, End, Event, Normaliser, Run, RunId, Sequence, Source, Warning};
use falconer_protocol::Message;
use falconer_secret::Redactor;
use serde_json::Value;

use super::journal;
use crate::clock::Clock;
use crate::redact::{self, Pieces};
use crate::stream::Outlet;
use crate::transcript::Transcript;

/// Numbers what happens, in the order in which it is told, and sends it on.
pub(super) struct Recorder {
    normaliser: Normaliser,
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
    pub(super) fn new(
        about: Run,
        run: RunId,
        sequence: Sequence,
        clock: Arc<dyn Clock>,
        out: Out,
    ) -> Self {
        Self {
            normaliser: Normaliser::new(about),
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

    /// What `run.started` will say beside what the engine says.
    pub(super) fn about(&mut self) -> &mut Run {
        self.normaliser.about()
    }

    /// The session had cost this much before the run.
    pub(super) fn resumes_after(&mut self, cost_usd: f64) {
        self.normaliser.resumes_after(cost_usd);
    }

    /// What a message of the engine means; to be recorded after it was looked at.
    pub(super) fn drafts(&mut self, message: &Message) -> Vec<Draft> {
        self.normaliser.message(message)
    }

    /// Records what a message means; the transcript has the message itself with the first.
    pub(super) fn record_message(&mut self, drafts: Vec<Draft>, message: &Message) {
        let mut raw = match &self.out.transcript {
            Some(_) if !drafts.is_empty() => serde_json::to_value(message).ok(),
            _ => None,
        };
        for draft in drafts {
            self.record(draft, raw.take());
        }
    }

    /// Something that Falconer, or a person, did in the turn under way.
    pub(super) fn note(&mut self, source: Source, body: Body) {
        let mut draft = Draft::new(source, body);
        draft.turn = self.normaliser.turn();
        self.record(draft, None);
    }

    pub(super) fn end(&mut self, end: End) {
        for draft in self.normaliser.end(end) {
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
        let mut warning = Warning::default();
        warning.kind = "transcript".to_owned();
        warning.text = format!("failed to write the transcript, which ends here: {error}");
        self.note(Source::Falconer, Body::Warning(warning));
    }
}
