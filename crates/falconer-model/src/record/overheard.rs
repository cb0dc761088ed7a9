//! Answers to requests of others, overheard by a relay between them and the model.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use falconer_protocol::stream::StreamEvent;
use falconer_scenario::ModelRequest;
use falconer_secret::Redactor;
use serde_json::Value;

use super::super::ApiFailure;
use super::super::assemble::Assembler;
use super::super::classify;
use super::super::events::{Framing, Sse, decode};
use super::{Take, TakeState, Tape, rule};

/// Writes what a model answers to another engine down, as a scenario that plays it again.
#[derive(Debug, Clone)]
pub struct ModelTape(Arc<Tape>);

impl ModelTape {
    /// A tape in this file, which is written anew after each answer, without secrets.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, redactor: Redactor) -> Self {
        Self(Arc::new(Tape::new(path.into(), redactor)))
    }

    /// A request has been made; its answer is given to what this returns. `None` if the request
    /// is none of the Messages API.
    #[must_use]
    pub fn asked(&self, body: &[u8]) -> Option<Overheard> {
        let body: Value = serde_json::from_slice(body).ok()?;
        let is_streamed = body["stream"].as_bool().unwrap_or(false);
        body["messages"].as_array()?;
        Some(Overheard {
            is_streamed,
            take: Take {
                tape: Arc::clone(&self.0),
                asked: ModelRequest::new(body),
                assembler: Assembler::new(),
                blocks: Vec::new(),
                state: TakeState::Running,
            },
            framing: Sse::new(),
            body: Vec::new(),
        })
    }
}

/// One answer while it is overheard. Dropped before its end it counts as cut off.
#[allow(missing_debug_implementations, reason = "it holds half an answer")]
pub struct Overheard {
    is_streamed: bool,
    take: Take,
    framing: Sse,
    body: Vec<u8>,
}

/// The largest answer in one piece that is kept.
const WHOLE_LIMIT: usize = 32 << 20;

impl Overheard {
    /// Some bytes of the body of a good answer.
    pub fn bytes(&mut self, bytes: Bytes) {
        if !self.is_streamed {
            let room = WHOLE_LIMIT.saturating_sub(self.body.len());
            self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            return;
        }
        let mut events = VecDeque::new();
        let pushed = self.framing.push(bytes, &mut events);
        for data in events {
            self.event(&data);
        }
        if let Err(failure) = pushed {
            self.take.note(Some(&Err(failure)));
        }
    }

    fn event(&mut self, data: &Bytes) {
        // Some compatible servers end their streams as OpenAI does.
        if data.is_empty() || data.as_ref() == b"[DONE]" {
            return;
        }
        let event = decode(data).and_then(|event| match &event.event {
            StreamEvent::Error(error) => Err(classify::from_event(&error.error)),
            _ => Ok(event),
        });
        self.take.note(Some(&event));
    }

    /// The body is over.
    pub fn end(mut self) {
        if self.is_streamed {
            let cut = ApiFailure::connection("the connection was closed too early");
            self.take.note(Some(&Err(cut)));
            return;
        }
        let Ok(message) = serde_json::from_slice::<Value>(&self.body) else {
            return;
        };
        let kind = self.take.tape.kind_in_one_piece(&self.take.asked);
        self.take.state = TakeState::Recorded;
        let reply = rule::whole(&message);
        self.take.tape.add(&self.take.asked, kind, reply);
    }

    /// The API refused: a status that is no success, and what it said.
    pub fn refused(mut self, status: u16, body: &[u8]) {
        let failure = classify::from_status(status, |_| None, body);
        self.take.state = TakeState::Recorded;
        let kind = self.take.asked.kind();
        self.take
            .tape
            .add(&self.take.asked, kind, rule::failed(&failure));
    }
}

#[cfg(test)]
mod tests {
    use falconer_scenario::Scenario;

    use super::*;

    fn scenario(hear: impl FnOnce(&ModelTape)) -> Scenario {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tape.json");
        hear(&ModelTape::new(&path, Redactor::default()));
        Scenario::from_json(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    const STREAM: &str = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",",
        "\"type\":\"message\",\"role\":\"assistant\",\"model\":\"x\",\"content\":[],",
        "\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":",
        "{\"type\":\"text\",\"text\":\"\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":",
        "{\"type\":\"text_delta\",\"text\":\"Overheard.\"}}\n\n",
        "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},",
        "\"usage\":{\"output_tokens\":2}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
    );

    const ASKED: &[u8] =
        br#"{"model":"x","stream":true,"messages":[{"role":"user","content":"say it"}]}"#;

    #[test]
    fn an_answer_is_written_down_however_its_bytes_are_cut() {
        for size in [1, 7, 50, STREAM.len()] {
            let scenario = scenario(|tape| {
                let mut overheard = tape.asked(ASKED).unwrap();
                for piece in STREAM.as_bytes().chunks(size) {
                    overheard.bytes(Bytes::copy_from_slice(piece));
                }
                overheard.end();
            });
            let text = serde_json::to_string(&scenario).unwrap();
            assert_eq!(scenario.rules.len(), 1, "{text}");
            assert!(
                text.contains("Overheard.") && text.contains("say it"),
                "{text}"
            );
            assert!(!text.contains("cut"), "{text}");
        }
    }

    #[test]
    fn refusals_and_broken_answers_are_written_down_as_such() {
        let refused = scenario(|tape| tape.asked(ASKED).unwrap().refused(529, b"{}"));
        assert!(serde_json::to_string(&refused).unwrap().contains("529"));
        let broken = scenario(|tape| {
            let mut overheard = tape.asked(ASKED).unwrap();
            overheard.bytes(Bytes::copy_from_slice(&STREAM.as_bytes()[..400]));
            overheard.end();
        });
        assert!(serde_json::to_string(&broken).unwrap().contains("cut"));
    }

    #[test]
    fn what_is_no_request_of_the_api_is_not_taped() {
        let tape = ModelTape::new("nowhere/at/all", Redactor::default());
        for body in [&b"not json"[..], b"{}", b"{\"messages\": 7}"] {
            assert!(tape.asked(body).is_none());
        }
    }
}
