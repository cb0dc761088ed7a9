//! The live connection to one engine: what is read is sorted, what is asked is answered.
//!
//! One task reads (`router`); it never waits for a caller. Messages go to the `backlog`,
//! replies to whoever waits in `requests`, requests of the engine to the `desk`, where each
//! is served by a task of its own. What goes out passes the `outbox`. When the engine closes
//! its output, or the host wants to end, the `keeper` sees the engine out.

mod backlog;
mod desk;
mod ending;
mod notice;
mod observe;
mod outbox;
mod plans;
mod reply;
mod requests;
mod router;
mod run_state;
mod shared;
mod spans;
mod stop_rounds;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use falconer_protocol::control::{HostControlRequest, HostRequest, InitializeRequest};
use falconer_protocol::{UserInput, to_line};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

use crate::error::Error;
use crate::handlers::Handlers;
use crate::mirror::{Materialized, MirrorHandle};
use crate::options::BacklogLimits;
use crate::transport::{Ending, Engine, Link};

pub(crate) use backlog::BacklogReader;
pub(crate) use desk::DeskLimits;
pub(crate) use ending::EndOfEngine;
pub(crate) use notice::{mirror_error, unreadable_line};
pub(crate) use run_state::RunPhase;
pub(crate) use shared::Shared;

use reply::line_of;
use requests::{Answer, Waiting};
use run_state::Signal;
use spans::Spans;

/// Limit on the output of an engine that has ended.
const AFTER_THE_END: Duration = Duration::from_secs(2);

/// The limits of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    pub(crate) backlog: BacklogLimits,
    pub(crate) desk: DeskLimits,
    /// For our requests, unless a caller says otherwise.
    pub(crate) request: Duration,
    /// For an engine whose input or output has ended.
    pub(crate) ending: Ending,
}

/// The parts of a connection.
pub(crate) struct Parts {
    pub(crate) link: Link,
    pub(crate) handlers: Handlers,
    pub(crate) mirror: Option<Arc<MirrorHandle>>,
    pub(crate) restored: Option<Materialized>,
    pub(crate) limits: ConnectionLimits,
    pub(crate) initialize: InitializeRequest,
}

/// An open connection. Dropping it ends the engine and everything it started.
pub(crate) struct Connection {
    pub(crate) shared: Arc<Shared>,
    engine: Arc<dyn Engine>,
    limits: ConnectionLimits,
    initialize: InitializeRequest,
    /// A session that was written to disk for the engine; removed with the connection.
    _restored: Option<Materialized>,
    router_and_keeper: AbortOnDropHandle<()>,
    _flusher: AbortOnDropHandle<()>,
}

impl Connection {
    /// Starts reading and writing.
    pub(crate) fn start(parts: Parts) -> (Self, BacklogReader) {
        let Parts {
            link,
            handlers,
            mirror,
            restored,
            limits,
            initialize,
        } = parts;
        let (writer, reader) = backlog::backlog(limits.backlog);
        let shared = Arc::new(Shared::new(link.sink, handlers, limits.desk));
        let engine: Arc<dyn Engine> = Arc::from(link.engine);
        let router = router::Router {
            shared: shared.clone(),
            backlog: writer,
            mirror,
            spans: Spans::new(engine.pid()),
        };
        let run = router.spans.run().clone();
        let flushed = shared.clone();
        let connection = Self {
            router_and_keeper: AbortOnDropHandle::new(tokio::spawn(
                ending::read_and_see_out(router, link.source, engine.clone(), limits.ending)
                    .instrument(run),
            )),
            _flusher: AbortOnDropHandle::new(tokio::spawn(async move {
                flushed.outbox.run_flusher().await;
            })),
            shared,
            engine,
            limits,
            initialize,
            _restored: restored,
        };
        (connection, reader)
    }

    /// Returns the request that the engine got at the start.
    pub(crate) fn initialize(&self) -> &InitializeRequest {
        &self.initialize
    }

    /// The engine's process, if it has one.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.engine.pid()
    }

    /// The end of the engine's stderr.
    pub(crate) fn stderr_tail(&self) -> Vec<String> {
        self.engine.stderr_tail()
    }

    /// Sends a prompt; `verbatim` unless it says otherwise itself.
    pub(crate) async fn send_prompt(&self, input: &UserInput, verbatim: bool) -> Result<(), Error> {
        let line = if verbatim && input.client_composed.is_none() {
            to_line(&UserInput {
                client_composed: Some(true),
                ..input.clone()
            })
        } else {
            to_line(input)
        };
        if let Some(uuid) = &input.uuid {
            // Before the engine can possibly answer it.
            self.shared.observe(&Signal::Sent(uuid.as_str()));
        }
        self.send_line(line_of(line), "a message").await
    }

    /// Writes a line; an engine that takes nothing for too long is an error.
    async fn send_line(&self, line: Bytes, what: &str) -> Result<(), Error> {
        let limit = self.limits.request;
        match tokio::time::timeout(limit, self.shared.outbox.send(line)).await {
            Ok(Err(source)) => Err(self.write_failed(source).await),
            Ok(Ok(())) => Ok(()),
            Err(_) => Err(Error::Timeout {
                request: what.to_owned(),
                after: limit,
                stderr: self.stderr_tail(),
            }),
        }
    }

    /// Asks the engine for something and reads its answer.
    pub(crate) async fn request<T: DeserializeOwned>(
        &self,
        request: &HostRequest,
    ) -> Result<T, Error> {
        let value = self.request_value(request, self.limits.request).await?;
        serde_json::from_value(value).map_err(|source| Error::UnexpectedAnswer {
            request: request.tag().unwrap_or_default().to_owned(),
            source,
        })
    }

    /// Asks the engine for something that has no result.
    pub(crate) async fn command(&self, request: &HostRequest) -> Result<(), Error> {
        self.request_value(request, self.limits.request)
            .await
            .map(drop)
    }

    /// Asks the engine for something, within a limit.
    pub(crate) async fn request_value(
        &self,
        request: &HostRequest,
        limit: Duration,
    ) -> Result<Value, Error> {
        self.ask(request).await?.answer_within(limit).await
    }

    /// Asks the engine for something; the answer can be waited for later.
    pub(crate) async fn ask(&self, request: &HostRequest) -> Result<Asked<'_>, Error> {
        let waiting = self.shared.requests.register();
        let line = line_of(to_line(&HostControlRequest::new(
            waiting.id(),
            request.clone(),
        )));
        let name = request.tag().unwrap_or("a request").to_owned();
        self.send_line(line, &name).await?;
        Ok(Asked {
            connection: self,
            waiting,
            name,
        })
    }

    /// Ends the engine's input; what is running is finished by the engine.
    pub(crate) fn end_input(&self) {
        self.shared.outbox.close();
    }

    /// Ends the connection: open requests are denied, input ends, then the ladder.
    pub(crate) async fn close(&self) -> Arc<EndOfEngine> {
        self.shared.closing();
        self.shared.desk.end("the session is being closed").await;
        self.shared.outbox.close();
        let exit = self.engine.end(self.limits.ending).await;
        match tokio::time::timeout(AFTER_THE_END, self.shared.end_of_engine()).await {
            Ok(end) => end,
            // Nothing of the engine is left, yet its output has no end: nobody reads on.
            Err(_) => {
                self.router_and_keeper.abort();
                self.shared
                    .ended(EndOfEngine::closed(exit, self.stderr_tail()));
                self.shared.end_of_engine().await
            }
        }
    }

    /// The reason why a line was not taken. An engine that has ended is known to have done so a
    /// moment after its pipe broke, and says why.
    async fn write_failed(&self, source: std::io::Error) -> Error {
        match tokio::time::timeout(AFTER_THE_END, self.shared.end_of_engine()).await {
            Ok(end) => end.error("taking a message"),
            Err(_) => Error::Transport {
                doing: "write to",
                source,
            },
        }
    }
}

/// A request that was sent.
pub(crate) struct Asked<'a> {
    connection: &'a Connection,
    waiting: Waiting<'a>,
    name: String,
}

impl Asked<'_> {
    /// Waits for the answer.
    pub(crate) async fn answer_within(mut self, limit: Duration) -> Result<Value, Error> {
        let answer = tokio::time::timeout(limit, self.waiting.answer()).await;
        let request = self.name;
        match answer {
            Ok(Some(Answer::Done(value))) => Ok(value),
            Ok(Some(Answer::Refused { message, code })) => Err(Error::Refused {
                request,
                message,
                code,
            }),
            Ok(None) => {
                let during = format!("answering {request}");
                Err(self.connection.shared.ended_error(&during).await)
            }
            Err(_) => {
                let stderr = self.connection.stderr_tail();
                Err(Error::Timeout {
                    request,
                    after: limit,
                    stderr,
                })
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.abandon();
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("pid", &self.pid())
            .field("shared", &self.shared)
            .finish_non_exhaustive()
    }
}
