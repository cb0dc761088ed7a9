//! Turns a real run into a scenario that plays it again.
//!
//! Each answer becomes a rule for the request it was given to, known by its last words or its
//! tool result. The pace of the run is not kept. The file is written anew after each answer, so
//! that a run that is killed leaves what it had.

mod overheard;
mod rule;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use falconer_scenario::{ModelRequest, Reply, RequestKind, Rule, Scenario};
use falconer_secret::Redactor;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt, stream};
use serde_json::Value;

use crate::assemble::Assembler;
use crate::request;
use crate::{ApiEvent, ApiFailure, ApiRequest, Capabilities, Provider, RequestBody, Streaming};

pub use overheard::{ModelTape, Overheard};

/// A provider that writes down what another one answers.
#[derive(Debug)]
pub(crate) struct Recording {
    inner: Arc<dyn Provider>,
    tape: Arc<Tape>,
}

/// What has been recorded.
#[derive(Debug)]
struct Tape {
    path: PathBuf,
    redactor: Redactor,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    scenario: Scenario,
    /// The conversation whose stream broke last.
    broken: Option<Value>,
}

impl Recording {
    pub(crate) fn new(inner: Arc<dyn Provider>, path: PathBuf, redactor: Redactor) -> Self {
        Self {
            inner,
            tape: Arc::new(Tape::new(path, redactor)),
        }
    }

    async fn streamed(&self, request: ApiRequest) -> Result<Streaming, ApiFailure> {
        let request = request.streamed();
        let asked = request::read(&request.body)?;
        let streaming = self.inner.stream(request).await;
        let streaming = streaming.inspect_err(|failure| {
            self.tape.add(&asked, asked.kind(), rule::failed(failure));
        })?;
        let take = Take {
            tape: Arc::clone(&self.tape),
            asked,
            assembler: Assembler::new(),
            blocks: Vec::new(),
            state: TakeState::Running,
        };
        let events = streaming.events;
        let events = stream::unfold((events, take), |(mut events, mut take)| async move {
            let event = events.next().await;
            take.note(event.as_ref());
            Some((event?, (events, take)))
        });
        Ok(Streaming {
            events: Box::pin(events.fuse()),
            ..streaming
        })
    }

    async fn in_one_piece(&self, request: ApiRequest) -> Result<Value, ApiFailure> {
        let request = request.not_streamed();
        let asked = request::read(&request.body)?;
        let answer = self.inner.whole(request).await;
        let kind = self.tape.kind_in_one_piece(&asked);
        let reply = match &answer {
            Ok(message) => rule::whole(message),
            Err(failure) => rule::failed(failure),
        };
        self.tape.add(&asked, kind, reply);
        answer
    }
}

impl Provider for Recording {
    fn stream(&self, request: ApiRequest) -> BoxFuture<'_, Result<Streaming, ApiFailure>> {
        Box::pin(self.streamed(request))
    }

    fn whole(&self, request: ApiRequest) -> BoxFuture<'_, Result<Value, ApiFailure>> {
        Box::pin(self.in_one_piece(request))
    }

    fn count_tokens(&self, body: RequestBody) -> BoxFuture<'_, Result<u64, ApiFailure>> {
        self.inner.count_tokens(body)
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn key_source(&self) -> &'static str {
        self.inner.key_source()
    }
}

/// One streamed answer while it is recorded.
struct Take {
    tape: Arc<Tape>,
    asked: ModelRequest,
    assembler: Assembler,
    blocks: Vec<Value>,
    state: TakeState,
}

#[derive(Debug, PartialEq, Eq)]
enum TakeState {
    Running,
    Recorded,
}

impl Take {
    fn note(&mut self, event: Option<&Result<ApiEvent, ApiFailure>>) {
        match event {
            Some(Ok(event)) => {
                let finished = self.assembler.push(event).ok().flatten();
                self.blocks.extend(finished.map(|finished| finished.block));
                if self.assembler.is_complete() {
                    self.record(rule::Ending::Complete);
                }
            }
            Some(Err(failure)) => {
                self.tape.broke(&self.asked);
                self.record(rule::Ending::Failed(failure));
            }
            None => self.record(rule::Ending::Interrupted),
        }
    }

    fn record(&mut self, ending: rule::Ending<'_>) {
        if std::mem::replace(&mut self.state, TakeState::Recorded) == TakeState::Running {
            let blocks = std::mem::take(&mut self.blocks);
            let reply = rule::streamed(self.assembler.message(), blocks, ending);
            self.tape.add(&self.asked, self.asked.kind(), reply);
        }
    }
}

impl Drop for Take {
    fn drop(&mut self) {
        self.record(rule::Ending::Interrupted);
    }
}

impl Tape {
    fn new(path: PathBuf, redactor: Redactor) -> Self {
        let state = Mutex::default();
        Self {
            path,
            redactor,
            state,
        }
    }

    fn add(&self, asked: &ModelRequest, kind: RequestKind, reply: Reply) {
        let rule = Rule::new(rule::matcher(asked, kind), reply);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.scenario.rules.push(rule);
        "recorded from a real run".clone_into(&mut state.scenario.about);
        if let Err(error) = write(&self.path, &state.scenario, &self.redactor) {
            let path = self.path.display();
            tracing::warn!(%error, %path, "failed to write the recorded scenario");
        }
    }

    fn broke(&self, asked: &ModelRequest) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.broken = Some(asked.body["messages"].clone());
    }

    fn kind_in_one_piece(&self, asked: &ModelRequest) -> RequestKind {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.broken.as_ref() == Some(&asked.body["messages"]) {
            RequestKind::Retry
        } else {
            asked.kind()
        }
    }
}

/// Replaces the file in one step.
fn write(path: &Path, scenario: &Scenario, redactor: &Redactor) -> std::io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let mut scenario = serde_json::to_value(scenario)?;
    redactor.value(&mut scenario);
    let json = serde_json::to_vec_pretty(&scenario)?;
    file.write_all(&json)?;
    file.write_all(b"\n")?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests;
