//! One question, one run.

use std::sync::{Arc, Weak};
use std::time::Duration;

use falconer_protocol::message::ResultMessage;
use falconer_protocol::{Message, Number, RawMessage};
use futures_core::Stream;
use tokio_util::task::AbortOnDropHandle;

use crate::client::Client;
use crate::connection::{Connection, RunPhase, Shared};
use crate::error::Error;
use crate::failure::Failure;
use crate::messages::Messages;
use crate::options::Options;
use crate::prompt::{Prompt, Ticket};
use crate::start;
use crate::transport::Transport;

/// Runs the agent on one prompt and streams what it says.
///
/// The run is over when the agent has nothing left to do, not at the first result: turns
/// that background tasks start belong to it. Dropping the [`Run`] ends the engine and
/// everything it started.
///
/// ```no_run
/// # async fn example() -> Result<(), falconer::Error> {
/// let run = falconer::query("What is 2 + 2?", falconer::Options::new()).await?;
/// println!("{}", run.outcome().await?.text());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`Client::connect`].
pub async fn query(prompt: impl Into<Prompt>, options: Options) -> Result<Run, Error> {
    let ceiling = options.limits.idle_after_result;
    let (input, ticket) = prompt.into().into_input();
    let started = Box::pin(start::cli(options, Some(&input))).await?;
    Ok(Run::new(started, ticket, ceiling))
}

/// As [`query`], through a transport of the caller's.
///
/// # Errors
/// As [`Client::connect`].
pub async fn query_through(
    transport: impl Transport,
    prompt: impl Into<Prompt>,
    options: Options,
) -> Result<Run, Error> {
    let ceiling = options.limits.idle_after_result;
    let (input, ticket) = prompt.into().into_input();
    let started = start::through(Box::new(transport), options, Some(&input));
    Ok(Run::new(Box::pin(started).await?, ticket, ceiling))
}

/// A run of the agent: a stream of messages that ends by itself.
#[derive(Debug)]
#[must_use = "a run that is dropped is ended"]
pub struct Run {
    client: Client,
    messages: Messages,
    ticket: Ticket,
    _closer: AbortOnDropHandle<()>,
}

impl Run {
    fn new((client, messages): (Client, Messages), ticket: Ticket, ceiling: Duration) -> Self {
        let shared = client.connection.shared.clone();
        let connection = Arc::downgrade(&client.connection);
        let closer = tokio::spawn(end_when_over(shared, connection, ceiling));
        Self {
            client,
            messages,
            ticket,
            _closer: AbortOnDropHandle::new(closer),
        }
    }

    /// The next message, decoded; `None` when the run is over.
    pub async fn next(&mut self) -> Option<Result<Message, Error>> {
        self.messages.next().await
    }

    /// The next message, its body undecoded; `None` when the run is over.
    pub async fn next_raw(&mut self) -> Option<Result<RawMessage, Error>> {
        self.messages.next_raw().await
    }

    /// The handle on the engine: interrupt, change the model, send more.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Names the prompt, for [`Ticket::is_answered_by`].
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Reads to the end and returns all results.
    ///
    /// # Errors
    /// [`Error::Failed`] if the last result is an error (whatever its subtype says), or what
    /// ended the stream.
    pub async fn outcome(mut self) -> Result<Outcome, Error> {
        let mut results = Vec::new();
        while let Some(message) = self.next().await {
            if let Message::Result(result) = message? {
                results.push(*result);
            }
        }
        match results.last().map(Failure::of) {
            Some(Some(failure)) => Err(Error::Failed(failure)),
            Some(None) => Ok(Outcome { results }),
            None => Err(Error::NoResult {
                stderr: self.client.stderr_tail(),
            }),
        }
    }
}

impl Stream for Run {
    type Item = Result<Message, Error>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::pin::Pin::new(&mut self.messages).poll_next(cx)
    }
}

/// The results of a run, in order. There is at least one, and the last is not an error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// One result per turn.
    pub results: Vec<ResultMessage>,
}

impl Outcome {
    /// The last result.
    pub fn last(&self) -> Option<&ResultMessage> {
        self.results.last()
    }

    /// The text of the last result that has one.
    pub fn text(&self) -> &str {
        let texts = self
            .results
            .iter()
            .rev()
            .filter_map(|result| result.result.as_deref());
        texts
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or_default()
    }

    /// Returns the cost of the run so far, in US dollars. The engine counts on, so the last result
    /// has the sum.
    pub fn cost_usd(&self) -> f64 {
        self.last()
            .and_then(|last| last.total_cost_usd.as_ref())
            .map_or(0.0, Number::as_f64)
    }
}

/// Ends the input when the run is over, and the engine when it takes too long after its last
/// result to become idle. The end of the input would not do then: the engine would go on
/// waiting for what runs in the background.
async fn end_when_over(shared: Arc<Shared>, connection: Weak<Connection>, ceiling: Duration) {
    let mut standing = shared.standing();
    loop {
        let phase = standing.borrow_and_update().phase;
        let changed = match phase {
            RunPhase::Over => break,
            RunPhase::Running => standing.changed().await,
            RunPhase::Settling => match tokio::time::timeout(ceiling, standing.changed()).await {
                Ok(changed) => changed,
                Err(_) => {
                    tracing::warn!(?ceiling, "the engine did not become idle after its result");
                    if let Some(connection) = connection.upgrade() {
                        connection.close().await;
                    }
                    return;
                }
            },
        };
        if changed.is_err() {
            break;
        }
    }
    shared.outbox.close();
}
