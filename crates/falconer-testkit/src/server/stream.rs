//! Carries out the steps of an answer over HTTP.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::response::Builder;
use axum::response::Response;
use futures_util::stream::{self, Stream};
use serde_json::Value;

use super::connection::Breaker;
use super::routes::{built, failure};
use crate::scenario::{Answer, Gates, Step, Steps};

/// Does what comes before the first byte, then answers.
pub(super) async fn respond(answer: Answer, gates: Gates, breaker: Breaker) -> Response {
    let mut steps = answer.steps;
    while let Some(step) = steps.next() {
        match step {
            Step::Wait(time) => tokio::time::sleep(time).await,
            Step::Hold(gate) => gates.pass(&gate).await,
            Step::Error(error) => return failure(&error),
            Step::Message(message) => return whole(&answer.headers, &message),
            Step::Reset | Step::Cut => break,
            step @ (Step::Event(_) | Step::Garbage(_)) => {
                steps.put_back(step);
                let playing = Playing::new(steps, gates, answer.chunk_bytes);
                let body = Body::from_stream(playing.stream());
                return built(head(&answer.headers, "text/event-stream").body(body));
            }
        }
    }
    breaker.reset();
    Response::default()
}

fn whole(headers: &[(String, String)], message: &Value) -> Response {
    let body = Body::from(message.to_string());
    built(head(headers, "application/json").body(body))
}

fn head(headers: &[(String, String)], content_type: &str) -> Builder {
    let head = Response::builder()
        .header("content-type", content_type)
        .header("request-id", "req_scripted");
    headers
        .iter()
        .fold(head, |head, (name, value)| head.header(name, value))
}

/// One event of a stream as bytes.
fn event_bytes(event: &Value) -> Bytes {
    let name = event["type"].as_str().unwrap_or("message");
    Bytes::from(format!("event: {name}\ndata: {event}\n\n"))
}

/// The body of an answer while it is written.
struct Playing {
    steps: Steps,
    gates: Gates,
    chunk_bytes: Option<usize>,
    /// Bytes of the current event that are not written yet.
    rest: Bytes,
}

impl Playing {
    fn new(steps: Steps, gates: Gates, chunk_bytes: Option<usize>) -> Self {
        Self {
            steps,
            gates,
            chunk_bytes: chunk_bytes.filter(|bytes| *bytes > 0),
            rest: Bytes::new(),
        }
    }

    fn stream(self) -> impl Stream<Item = io::Result<Bytes>> {
        stream::unfold(self, |mut playing| async move {
            let bytes = playing.next().await?;
            Some((bytes, playing))
        })
    }

    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        // Lets the connection write what it has, so that pieces arrive as pieces and a cut
        // comes after what precedes it.
        tokio::task::yield_now().await;
        while self.rest.is_empty() {
            match self.steps.next()? {
                Step::Wait(time) => tokio::time::sleep(time).await,
                Step::Hold(gate) => self.gates.pass(&gate).await,
                Step::Event(event) => self.rest = event_bytes(&event),
                Step::Message(message) => self.rest = Bytes::from(message.to_string()),
                Step::Error(error) => self.rest = event_bytes(&error.body()),
                Step::Garbage(text) => self.rest = Bytes::from(text),
                Step::Cut | Step::Reset => return Some(Err(io::ErrorKind::ConnectionReset.into())),
            }
        }
        let size = self.chunk_bytes.unwrap_or(usize::MAX).min(self.rest.len());
        Some(Ok(self.rest.split_to(size)))
    }
}
