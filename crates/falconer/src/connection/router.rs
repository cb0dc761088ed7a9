//! The one reader of a connection. It never waits for a caller or a handler.

use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use falconer_protocol::control::ControlRequest;
use falconer_protocol::{MessageKind, peek_kind};
use memchr::memchr;
use serde::de::IgnoredAny;

use super::Shared;
use super::backlog::BacklogWriter;
use super::notice;
use super::observe::{CancelView, LifecycleView, ResponseView, ResultView, SystemView};
use super::requests::Answer;
use super::run_state::Signal;
use super::spans::Spans;
use crate::mirror::MirrorHandle;
use crate::transport::{Inbound, LineSource};

/// Sorts what the engine writes.
pub(super) struct Router {
    pub(super) shared: Arc<Shared>,
    pub(super) backlog: BacklogWriter,
    pub(super) mirror: Option<Arc<MirrorHandle>>,
    pub(super) spans: Spans,
}

/// The fate of a line.
enum Fate {
    /// It stays in the message stream.
    Keep,
    /// It is not for the caller.
    Take(Duty),
    /// It is replaced by a notice.
    Replace(Bytes),
}

/// The kind of a line that is not for the caller.
enum Duty {
    Nothing,
    Request,
    Response,
    Cancel,
    Mirror,
}

impl Router {
    /// Reads until the engine closes its output. An error is kept for the caller.
    pub(super) async fn run(self, mut source: Box<dyn LineSource>) {
        loop {
            match poll_fn(|cx| source.poll_lines(cx)).await {
                Some(Ok(Inbound::Lines(block))) => self.sort(block).await,
                Some(Ok(Inbound::Skipped(line))) => {
                    self.backlog.push(notice::line_too_long(&line)).await;
                }
                Some(Err(error)) => return self.shared.read_failed(error),
                None => return,
            }
        }
    }

    /// Passes on what is for the caller in as few pieces as possible.
    async fn sort(&self, block: Bytes) {
        let (mut kept_from, mut at) = (0, 0);
        while at < block.len() {
            let end = memchr(b'\n', &block[at..]).map_or(block.len(), |length| at + length + 1);
            let fate = self.judge(&block[at..end]);
            if !matches!(fate, Fate::Keep) {
                self.backlog.push(block.slice(kept_from..at)).await;
                kept_from = end;
                match fate {
                    Fate::Keep => {}
                    Fate::Replace(notice) => self.backlog.push(notice).await,
                    Fate::Take(duty) => self.perform(&duty, block.slice(at..end)).await,
                }
            }
            at = end;
        }
        self.backlog.push(block.slice(kept_from..)).await;
    }

    fn judge(&self, line: &[u8]) -> Fate {
        let Some(kind) = peek_kind(line) else {
            return judge_untyped(line);
        };
        match kind {
            MessageKind::ControlRequest => Fate::Take(Duty::Request),
            MessageKind::ControlResponse => Fate::Take(Duty::Response),
            MessageKind::ControlCancelRequest => Fate::Take(Duty::Cancel),
            MessageKind::KeepAlive => Fate::Take(Duty::Nothing),
            MessageKind::TranscriptMirror => Fate::Take(Duty::Mirror),
            MessageKind::System => self.look_at_system(line),
            MessageKind::Result => self.look_at_result(line),
            MessageKind::CommandLifecycle => self.look_at_lifecycle(line),
            MessageKind::Assistant => self.look_at_assistant(line),
            MessageKind::User => self.look_at_user(line),
            _ => Fate::Keep,
        }
    }

    fn look_at_system(&self, line: &[u8]) -> Fate {
        // A message that does not fit is still the caller's; only its signal is lost.
        let Ok(view) = serde_json::from_slice::<SystemView<'_>>(line) else {
            return Fate::Keep;
        };
        if let Some(session) = view.session_of_init() {
            self.shared.entered_session(session);
            self.spans.turn_began(session);
        }
        if let Some(signal) = view.signal() {
            self.shared.observe(&signal);
        }
        Fate::Keep
    }

    fn look_at_result(&self, line: &[u8]) -> Fate {
        if let Ok(view) = serde_json::from_slice::<ResultView>(line) {
            if view.is_error {
                self.shared.failed_result(line);
            }
            self.spans.turn_ended();
            let prompts = view.prompts();
            self.shared.observe(&Signal::Result(&prompts));
        }
        Fate::Keep
    }

    fn look_at_lifecycle(&self, line: &[u8]) -> Fate {
        if let Ok(view) = serde_json::from_slice::<LifecycleView<'_>>(line)
            && let Some(signal) = view.signal()
        {
            self.shared.observe(&signal);
        }
        Fate::Keep
    }

    fn look_at_assistant(&self, line: &[u8]) -> Fate {
        if let Some(plans) = self.shared.desk.plans() {
            plans.look(line);
        }
        self.spans.calls_in(line);
        Fate::Keep
    }

    fn look_at_user(&self, line: &[u8]) -> Fate {
        self.spans.results_in(line);
        Fate::Keep
    }

    async fn perform(&self, duty: &Duty, line: Bytes) {
        match duty {
            Duty::Nothing => {}
            Duty::Request => self.serve(&line).await,
            Duty::Response => self.deliver(&line).await,
            Duty::Cancel => {
                if let Ok(cancel) = serde_json::from_slice::<CancelView<'_>>(&line) {
                    self.shared.desk.withdraw(&cancel.request_id);
                }
            }
            Duty::Mirror => {
                if let Some(mirror) = &self.mirror {
                    mirror.push(line);
                }
            }
        }
    }

    async fn serve(&self, line: &[u8]) {
        match ControlRequest::decode(line) {
            Ok(request) => {
                // What the engine wrote before it is in the backlog by now.
                let position = self.backlog.position();
                self.shared.desk.accept(
                    request.request_id.into_string(),
                    request.request,
                    position,
                );
            }
            Err(error) => {
                let text = format!("a request of the engine could not be read: {error}");
                self.backlog.push(notice::protocol(&text)).await;
            }
        }
    }

    async fn deliver(&self, line: &[u8]) {
        let response = match serde_json::from_slice::<ResponseView>(line) {
            Ok(view) => view.response,
            Err(error) => {
                let text = format!("an answer of the engine could not be read: {error}");
                return self.backlog.push(notice::protocol(&text)).await;
            }
        };
        for pending in response
            .pending_permission_requests
            .iter()
            .chain(&response.pending_user_dialog_requests)
        {
            // Requests that were open before a repeated initialize; served once.
            self.serve(pending.to_string().as_bytes()).await;
        }
        let answer = match response.error {
            None if response.subtype != "error" => Answer::Done(response.response),
            message => Answer::Refused {
                message: message.unwrap_or_else(|| "no reason given".to_owned()),
                code: response.error_code,
            },
        };
        if !self.shared.requests.answer(&response.request_id, answer) {
            tracing::debug!(id = response.request_id, "an answer nobody waits for");
        }
    }
}

/// A line without a type: an object is kept as unknown, blank lines vanish, the rest is
/// reported.
fn judge_untyped(line: &[u8]) -> Fate {
    let text = line.trim_ascii();
    if text.is_empty() {
        return Fate::Take(Duty::Nothing);
    }
    if text.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(text).is_ok() {
        return Fate::Keep;
    }
    Fate::Replace(notice::malformed_line(text))
}
