//! A scripted model in process: the scenarios of the test kit's server, without the server.
//!
//! The answers are written as bytes and read by the same code as real ones, so that what a
//! scenario does over HTTP it does here.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use falconer_scenario::{Answer, ApiError, Gates, Scenario, Script, Step, Steps};
use futures_util::future::BoxFuture;
use futures_util::stream;
use serde_json::Value;

use crate::events::{self, Chunks, Sse};
use crate::request;
use crate::timeouts::Timeouts;
use crate::{ApiFailure, ApiRequest, Capabilities, Provider, RequestBody, Streaming, classify};

/// A provider that plays a scenario. Clones of its gates let tests hold and release it.
#[derive(Debug)]
pub struct Scripted {
    script: Mutex<Script>,
    gates: Gates,
    timeouts: Timeouts,
}

impl Scripted {
    pub fn new(scenario: Scenario) -> Self {
        Self {
            script: Mutex::new(Script::new(scenario)),
            gates: Gates::new(),
            timeouts: Timeouts::default(),
        }
    }

    /// Reads the scenario from a file.
    pub fn load(path: &Path) -> Result<Self, falconer_scenario::Error> {
        Scenario::load(path).map(Self::new)
    }

    #[must_use]
    pub(crate) fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Returns the gates at which replies wait.
    pub fn gates(&self) -> &Gates {
        &self.gates
    }

    #[cfg(test)]
    /// The rules that were not used as often as they should have been, by position.
    pub(crate) fn unused(&self) -> Vec<usize> {
        self.script
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .unused()
    }

    fn answer(&self, request: &ApiRequest) -> Result<Answer, ApiFailure> {
        let mut asked = request::read(&request.body)?;
        if !request.betas.is_empty() {
            asked = asked.with_header("anthropic-beta", request.betas.join(","));
        }
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(script.answer(&asked))
    }

    /// Does what comes before the first byte, and says what comes then.
    async fn begin(&self, steps: &mut Steps) -> Result<Option<Step>, ApiFailure> {
        let waited = tokio::time::timeout(self.timeouts.first_byte, self.wait(steps)).await;
        let silence = || {
            let limit = self.timeouts.first_byte;
            ApiFailure::timeout("the scripted model did not answer", limit)
        };
        waited.map_err(|_| silence())
    }

    async fn wait(&self, steps: &mut Steps) -> Option<Step> {
        loop {
            match steps.next()? {
                Step::Wait(time) => tokio::time::sleep(time).await,
                Step::Hold(gate) => self.gates.pass(&gate).await,
                step @ (Step::Event(_)
                | Step::Message(_)
                | Step::Error(_)
                | Step::Garbage(_)
                | Step::Cut
                | Step::Reset) => return Some(step),
            }
        }
    }

    async fn streamed(&self, request: ApiRequest) -> Result<Streaming, ApiFailure> {
        let answer = self.answer(&request.streamed())?;
        let mut steps = answer.steps;
        match self.begin(&mut steps).await? {
            Some(Step::Error(error)) => Err(failure(&error)),
            None | Some(Step::Reset | Step::Cut) => Err(reset()),
            Some(first) => {
                steps.put_back(first);
                let writing = Writing::new(steps, self.gates.clone(), answer.chunk_bytes);
                let idle = self.timeouts.idle;
                Ok(Streaming {
                    request_id: Some(REQUEST_ID.to_owned()),
                    headers: answer.headers,
                    events: events::read(writing.chunks(), Sse::new(), idle, None),
                })
            }
        }
    }

    async fn in_one_piece(&self, request: ApiRequest) -> Result<Value, ApiFailure> {
        let answer = self.answer(&request.not_streamed())?;
        let mut steps = answer.steps;
        match self.begin(&mut steps).await? {
            Some(Step::Message(message)) => Ok(message),
            Some(Step::Error(error)) => Err(failure(&error)),
            Some(Step::Event(_) | Step::Garbage(_)) => Err(ApiFailure::malformed(
                "the scripted answer is not a message",
            )),
            Some(Step::Reset | Step::Cut | Step::Wait(_) | Step::Hold(_)) | None => Err(reset()),
        }
    }
}

const REQUEST_ID: &str = "req_scripted";

impl Provider for Scripted {
    fn stream(&self, request: ApiRequest) -> BoxFuture<'_, Result<Streaming, ApiFailure>> {
        Box::pin(self.streamed(request))
    }

    fn whole(&self, request: ApiRequest) -> BoxFuture<'_, Result<Value, ApiFailure>> {
        Box::pin(self.in_one_piece(request))
    }

    fn count_tokens(&self, body: RequestBody) -> BoxFuture<'_, Result<u64, ApiFailure>> {
        let script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        let tokens = request::read(&body).map(|asked| script.count_tokens(&asked));
        Box::pin(std::future::ready(tokens))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::FULL
    }

    fn key_source(&self) -> &'static str {
        "none"
    }
}

fn failure(error: &ApiError) -> ApiFailure {
    let header = |name: &str| match (name, error.retry_after) {
        ("retry-after", Some(seconds)) => Some(seconds.to_string()),
        _ => error.headers.get(name).cloned(),
    };
    classify::from_status(error.status, header, error.body().to_string().as_bytes())
}

fn reset() -> ApiFailure {
    ApiFailure::connection("the connection was reset, as the scenario says")
}

/// An answer while it is written.
struct Writing {
    steps: Steps,
    gates: Gates,
    chunk_bytes: Option<usize>,
    /// Bytes of the current event that are not written yet.
    rest: Bytes,
}

impl Writing {
    fn new(steps: Steps, gates: Gates, chunk_bytes: Option<usize>) -> Self {
        Self {
            steps,
            gates,
            chunk_bytes: chunk_bytes.filter(|bytes| *bytes > 0),
            rest: Bytes::new(),
        }
    }

    fn chunks(self) -> Chunks {
        Box::pin(stream::unfold(self, |mut writing| async move {
            let chunk = writing.next().await?;
            Some((chunk, writing))
        }))
    }

    async fn next(&mut self) -> Option<Result<Bytes, ApiFailure>> {
        while self.rest.is_empty() {
            self.rest = match self.steps.next()? {
                Step::Wait(time) => {
                    tokio::time::sleep(time).await;
                    continue;
                }
                Step::Hold(gate) => {
                    self.gates.pass(&gate).await;
                    continue;
                }
                Step::Event(event) => event_bytes(&event),
                Step::Error(error) => event_bytes(&error.body()),
                Step::Message(message) => Bytes::from(message.to_string()),
                Step::Garbage(text) => Bytes::from(text),
                Step::Cut | Step::Reset => {
                    self.steps = Steps::default();
                    return Some(Err(reset()));
                }
            };
        }
        let size = self.chunk_bytes.unwrap_or(usize::MAX).min(self.rest.len());
        Some(Ok(self.rest.split_to(size)))
    }
}

fn event_bytes(event: &Value) -> Bytes {
    Bytes::from(format!("data: {event}\n\n"))
}

#[cfg(test)]
mod tests;
