//! The stream of messages from an engine.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use falconer_protocol::{Message, MessageKind, RawMessage};
use futures_core::Stream;
use futures_util::future::BoxFuture;
use memchr::memchr;

use crate::connection::{BacklogReader, Connection, EndOfEngine, mirror_error, unreadable_line};
use crate::error::Error;
use crate::mirror::MirrorHandle;
use crate::position::Position;

/// Everything the engine says, in its order.
///
/// [`Messages::next`] gives typed messages. [`Messages::next_raw`] leaves the bodies
/// undecoded until [`RawMessage::decode`] is called, for callers that pass most of them on.
/// Unknown kinds are messages too; nothing is dropped. Lines that are no message at all come
/// as [`Message::Warning`].
///
/// The last item is an error if the engine ended while a prompt was unanswered. After that,
/// and after a good end, the stream is over. Reading slowly neither costs memory nor holds
/// up permission requests.
#[derive(Debug)]
pub struct Messages {
    backlog: BacklogReader,
    /// Lines taken from the backlog but not yet given out.
    block: Bytes,
    /// Made here, given out before anything else.
    made: VecDeque<RawMessage>,
    connection: Arc<Connection>,
    step: Step,
    /// Everything before it was given out.
    position: Position,
    mirror: Option<Arc<MirrorHandle>>,
}

/// The messages up to the next result, which is the last one; see [`Messages::response`].
#[derive(Debug)]
#[must_use = "messages are read by asking for the next one"]
pub struct Response<'a> {
    messages: &'a mut Messages,
    is_over: bool,
}

/// The state of the stream.
enum Step {
    Reading,
    /// The session store takes what came before this result.
    Flushing(RawMessage, BoxFuture<'static, Vec<Bytes>>),
    /// The output has ended; the engine is being seen out.
    Ending(BoxFuture<'static, Arc<EndOfEngine>>),
    Over,
}

impl Messages {
    pub(crate) fn new(
        connection: Arc<Connection>,
        backlog: BacklogReader,
        mirror: Option<Arc<MirrorHandle>>,
    ) -> Self {
        let (block, made, step) = (Bytes::new(), VecDeque::new(), Step::Reading);
        Self {
            backlog,
            block,
            made,
            connection,
            step,
            position: Position::default(),
            mirror,
        }
    }

    /// The next message, decoded; `None` at the end.
    pub async fn next(&mut self) -> Option<Result<Message, Error>> {
        poll_fn(|cx| self.poll_message(cx)).await
    }

    /// The next message, its body undecoded; `None` at the end.
    pub async fn next_raw(&mut self) -> Option<Result<RawMessage, Error>> {
        poll_fn(|cx| self.poll_raw(cx)).await
    }

    /// Returns the position up to which the messages were given out. A request of the engine
    /// whose position has been reached comes after all of them.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The messages up to and including the next result; what comes later stays for the next
    /// call.
    ///
    /// For conversations: one call for each message that was sent. An agent with background tasks
    /// gives more than one result; [`Client::idle`](crate::Client::idle) says when nothing is left
    /// to do. An engine that ends before its result ends the stream with the error.
    ///
    /// ```no_run
    /// use falconer::{Client, Message, Options};
    ///
    /// # async fn example() -> Result<(), falconer::Error> {
    /// let (client, mut messages) = Client::connect(Options::new()).await?;
    /// for question in ["What is in this directory?", "And what is missing?"] {
    ///     client.send(question).await?;
    ///     let mut response = messages.response();
    ///     while let Some(message) = response.next().await {
    ///         if let Message::Result(result) = message? {
    ///             println!("{}", result.text());
    ///         }
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn response(&mut self) -> Response<'_> {
        Response {
            messages: self,
            is_over: false,
        }
    }

    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        self.poll_raw(cx)
            .map(|next| next.map(|raw| raw.map(|raw| decode(&raw))))
    }

    fn poll_raw(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<RawMessage, Error>>> {
        loop {
            if let Some(made) = self.made.pop_front() {
                if self.made.is_empty() {
                    self.position = self.reached();
                }
                return Poll::Ready(Some(Ok(made)));
            }
            match &mut self.step {
                Step::Reading => {
                    let Some(raw) = ready!(self.poll_line(cx)) else {
                        continue;
                    };
                    match self.flush_before(&raw) {
                        Some(flush) => self.step = Step::Flushing(raw, flush),
                        None => {
                            self.position = self.reached();
                            return Poll::Ready(Some(Ok(raw)));
                        }
                    }
                }
                Step::Flushing(_, flush) => {
                    let problems = ready!(flush.as_mut().poll(cx));
                    self.flushed(problems);
                }
                Step::Ending(end) => {
                    let end = ready!(end.as_mut().poll(cx));
                    self.step = Step::Over;
                    return Poll::Ready(end.stream_error().map(Err));
                }
                Step::Over => return Poll::Ready(None),
            }
        }
    }

    /// Returns the position after the lines that were taken from the backlog.
    fn reached(&self) -> Position {
        self.backlog.position(self.block.len())
    }

    /// The next line as a message; `None` when the backlog has ended and the step changed.
    fn poll_line(&mut self, cx: &mut Context<'_>) -> Poll<Option<RawMessage>> {
        loop {
            while !self.block.is_empty() {
                let end = memchr(b'\n', &self.block).map_or(self.block.len(), |end| end + 1);
                let line = self.block.split_to(end);
                if let Some(raw) = read_line(line) {
                    return Poll::Ready(Some(raw));
                }
            }
            match ready!(self.backlog.poll_pop(cx)) {
                Some(block) => self.block = block,
                None => {
                    let shared = self.connection.shared.clone();
                    self.step = Step::Ending(Box::pin(async move { shared.end_of_engine().await }));
                    return Poll::Ready(None);
                }
            }
        }
    }

    /// A result is given out only after the session store has what led to it.
    fn flush_before(&self, raw: &RawMessage) -> Option<BoxFuture<'static, Vec<Bytes>>> {
        if raw.kind() != MessageKind::Result {
            return None;
        }
        let mirror = self.mirror.clone()?;
        Some(Box::pin(async move {
            let errors = mirror.flush().await;
            errors
                .iter()
                .map(|error| mirror_error(&error.to_string()))
                .collect()
        }))
    }

    fn flushed(&mut self, problems: Vec<Bytes>) {
        self.made.extend(problems.into_iter().filter_map(read_line));
        if let Step::Flushing(result, _) = std::mem::replace(&mut self.step, Step::Reading) {
            self.made.push_back(result);
        }
    }
}

/// A line as a message; blank lines are none.
fn read_line(line: Bytes) -> Option<RawMessage> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    let length = line.len();
    let raw = RawMessage::new(line);
    raw.or_else(|error| RawMessage::new(unreadable_line(length, &error)))
        .ok()
}

/// Decodes; what turns out to be no JSON becomes a warning in its place.
fn decode(raw: &RawMessage) -> Message {
    raw.decode().unwrap_or_else(|error| {
        let warning = unreadable_line(raw.as_bytes().len(), &error);
        let warning = RawMessage::new(warning).and_then(|raw| raw.decode());
        warning.unwrap_or_default()
    })
}

impl Response<'_> {
    /// The next message, decoded; `None` after the result.
    pub async fn next(&mut self) -> Option<Result<Message, Error>> {
        poll_fn(|cx| self.poll_message(cx)).await
    }

    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let next = ready!(self.messages.poll_message(cx));
        self.is_over = matches!(&next, None | Some(Err(_) | Ok(Message::Result(_))));
        Poll::Ready(next)
    }
}

impl Stream for Response<'_> {
    type Item = Result<Message, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_message(cx)
    }
}

impl Stream for Messages {
    type Item = Result<Message, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_message(cx)
    }
}

impl std::fmt::Debug for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Reading => "Reading",
            Self::Flushing(..) => "Flushing",
            Self::Ending(_) => "Ending",
            Self::Over => "Over",
        })
    }
}
