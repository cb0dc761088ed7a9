//! The events of an answer out of its bytes: framing, JSON, silence, the end.

use std::collections::VecDeque;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use falconer_protocol::stream::StreamEvent;
use futures_core::Stream;
use futures_util::StreamExt;
use futures_util::stream;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::sse::{Decoder, SseEvent};
use crate::{ApiEvent, ApiFailure, classify};

/// The largest event we take.
const EVENT_LIMIT: usize = 32 << 20;

/// How long the end of the bytes may take after the end of the message. A connection that ends
/// in order is used again; nobody should wait for one that does not.
const AFTERMATH: Duration = Duration::from_millis(200);

/// The bytes of an answer as they come.
pub(crate) type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, ApiFailure>> + Send>>;

/// How the events of an answer are packed into its bytes.
pub(crate) trait Framing: Send {
    /// Reads a chunk; the JSON texts of events that are complete go to `events`.
    fn push(&mut self, chunk: Bytes, events: &mut VecDeque<Bytes>) -> Result<(), ApiFailure>;

    /// Events that the end of the bytes completes.
    fn finish(&mut self, events: &mut VecDeque<Bytes>);
}

/// Server-sent events.
#[derive(Debug)]
pub(crate) struct Sse {
    decoder: Decoder,
    read: VecDeque<SseEvent>,
}

impl Sse {
    pub(crate) fn new() -> Self {
        Self {
            decoder: Decoder::new(EVENT_LIMIT),
            read: VecDeque::new(),
        }
    }
}

impl Framing for Sse {
    fn push(&mut self, chunk: Bytes, events: &mut VecDeque<Bytes>) -> Result<(), ApiFailure> {
        let pushed = self.decoder.push(chunk, &mut self.read);
        events.extend(self.read.drain(..).map(|event| event.data));
        pushed.map_err(|error| ApiFailure::malformed(error.to_string()))
    }

    fn finish(&mut self, events: &mut VecDeque<Bytes>) {
        events.extend(self.decoder.finish().map(|event| event.data));
    }
}

/// Reads the events of an answer until `message_stop` and the end, or the first failure.
///
/// `idle` is how long no byte may come.
pub(crate) fn read(
    chunks: Chunks,
    framing: impl Framing + 'static,
    idle: Duration,
    request_id: Option<String>,
) -> Pin<Box<dyn Stream<Item = Result<ApiEvent, ApiFailure>> + Send>> {
    let reading = Reading {
        chunks: Some(chunks),
        framing,
        idle,
        ready: VecDeque::new(),
        progress: Progress::Nothing,
        request_id,
    };
    let events = stream::unfold(reading, |mut reading| async move {
        let event = reading.next().await?;
        Some((event, reading))
    })
    .fuse();
    Box::pin(events)
}

struct Reading<F> {
    /// `None` once they are over.
    chunks: Option<Chunks>,
    framing: F,
    idle: Duration,
    ready: VecDeque<Bytes>,
    progress: Progress,
    request_id: Option<String>,
}

/// How far the answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Nothing,
    Some,
    /// `message_stop` was seen; only the end of the bytes is missing.
    Stopped,
    /// There is nothing more to read.
    Over,
}

impl<F: Framing> Reading<F> {
    async fn next(&mut self) -> Option<Result<ApiEvent, ApiFailure>> {
        let next = self.advance().await?;
        Some(next.map_err(|failure| {
            self.progress = Progress::Over;
            self.ready.clear();
            failure.of_request(self.request_id.as_deref())
        }))
    }

    async fn advance(&mut self) -> Option<Result<ApiEvent, ApiFailure>> {
        loop {
            if let Some(data) = self.ready.pop_front() {
                match self.event(&data) {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            if self.progress == Progress::Over {
                return None;
            }
            match self.chunk().await {
                Ok(Some(chunk)) => {
                    if let Err(failure) = self.framing.push(chunk, &mut self.ready) {
                        return Some(Err(failure));
                    }
                }
                Ok(None) => {
                    self.chunks = None;
                    self.framing.finish(&mut self.ready);
                    if self.ready.is_empty() {
                        return self.end().map(Err);
                    }
                }
                // A message that is complete does not fail because of how its connection ends.
                Err(_) if self.progress == Progress::Stopped => return None,
                Err(failure) => return Some(Err(failure)),
            }
        }
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, ApiFailure> {
        let limit = match self.progress {
            Progress::Stopped => AFTERMATH.min(self.idle),
            Progress::Nothing | Progress::Some | Progress::Over => self.idle,
        };
        let Some(chunks) = &mut self.chunks else {
            return Ok(None);
        };
        let chunk = tokio::time::timeout(limit, chunks.next()).await;
        let silence = || ApiFailure::timeout("the answer stalled: nothing came", limit);
        chunk.map_err(|_| silence())?.transpose()
    }

    /// The bytes are over: fine after `message_stop`, otherwise not.
    fn end(&mut self) -> Option<ApiFailure> {
        let progress = std::mem::replace(&mut self.progress, Progress::Over);
        match progress {
            Progress::Stopped | Progress::Over => None,
            Progress::Some => Some(ApiFailure::connection(
                "the connection was closed before the answer was complete",
            )),
            Progress::Nothing => Some(ApiFailure::malformed(
                "the answer holds no events of the Messages API",
            )),
        }
    }

    /// Reads one event; `None` for one that says nothing.
    fn event(&mut self, data: &Bytes) -> Option<Result<ApiEvent, ApiFailure>> {
        // Some compatible servers end their streams as OpenAI does.
        if data.is_empty() || data.as_ref() == b"[DONE]" {
            return None;
        }
        let event = match decode(data) {
            Ok(event) => event,
            Err(failure) => return Some(Err(failure)),
        };
        match &event.event {
            StreamEvent::Error(error) => return Some(Err(classify::from_event(&error.error))),
            StreamEvent::MessageStop(_) => self.progress = Progress::Stopped,
            _ if self.progress == Progress::Nothing => self.progress = Progress::Some,
            _ => {}
        }
        Some(Ok(event))
    }
}

/// Reads the JSON of one event.
pub(crate) fn decode(data: &[u8]) -> Result<ApiEvent, ApiFailure> {
    let text = String::from_utf8_lossy(data).into_owned();
    let raw = RawValue::from_string(text).map_err(|error| not_json(data, &error))?;
    let raw = one_line(raw).map_err(|error| not_json(data, &error))?;
    let event = match serde_json::from_str(raw.get()) {
        Ok(event) => event,
        Err(error) => lenient(&raw).ok_or_else(|| not_json(data, &error))?,
    };
    Ok(ApiEvent { raw, event })
}

/// JSON over several data lines would break the frames it goes into.
fn one_line(raw: Box<RawValue>) -> serde_json::Result<Box<RawValue>> {
    if memchr::memchr(b'\n', raw.get().as_bytes()).is_none() {
        return Ok(raw);
    }
    let value: Value = serde_json::from_str(raw.get())?;
    RawValue::from_string(value.to_string())
}

/// An event that does not fit our types is kept as an unknown one.
fn lenient(raw: &RawValue) -> Option<StreamEvent> {
    match serde_json::from_str(raw.get()).ok()? {
        Value::Object(object) => falconer_protocol::from_value(Value::Object(object)).ok(),
        _ => None,
    }
}

fn not_json(data: &[u8], error: &serde_json::Error) -> ApiFailure {
    let shown: String = String::from_utf8_lossy(data).chars().take(80).collect();
    ApiFailure::malformed(format!(
        "an event of the stream is not valid ({error}): {shown:?}"
    ))
}

#[cfg(test)]
mod tests;
