//! The stream of an engine that speaks the Claude protocol.
//!
//! Messages and requests come in two lanes. Each request carries the position at which the engine
//! made it, so it is given out when every message before that position was.

use std::pin::Pin;
use std::task::{Context, Poll};

use falconer::{CliVersion, Failure, FailureClass, LaunchWarning, Messages};
use falconer_event::{Body, Draft, Normaliser, Source, Warning};
use falconer_protocol::Message;
use falconer_protocol::message::{CommandState, ResultMessage};
use falconer_protocol::system::SystemMessage;
use futures_core::Stream as _;
use tokio::sync::mpsc;

use super::ASKS;
use super::failure;
use super::handlers::{Asked, Placed};
use super::meter::Meter;
use crate::engine::{
    EngineStream, Fate, Happening, NativeSession, Room, Said, TurnEnd, TurnFailure,
};

/// Messages and requests, in order.
pub(super) struct ClaudeStream {
    pub(super) messages: Messages,
    pub(super) asked: mpsc::Receiver<Placed>,
    /// Requests whose position was not reached yet, the first ones first.
    pub(super) waiting: Vec<Placed>,
    pub(super) normaliser: Normaliser,
    pub(super) meter: Meter,
    pub(super) streamed: Streamed,
    pub(super) keeps_raw: bool,
    /// Whether the version of the official CLI is still to be compared with the tested one.
    pub(super) is_version_unseen: bool,
    /// Whether the engine has named its session.
    pub(super) is_named: bool,
    pub(super) is_over: bool,
}

/// What becomes of texts while they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Streamed {
    /// They are told piece by piece.
    Shown,
    /// Only the complete ones are told.
    Hidden,
}

impl EngineStream for ClaudeStream {
    fn poll_next(&mut self, cx: &mut Context<'_>, room: Room) -> Poll<Option<Happening>> {
        self.take_requests(cx);
        if let Some(asked) = self.due() {
            return Poll::Ready(Some(self.happening(asked)));
        }
        if self.is_over {
            return Poll::Ready(None);
        }
        // A request that comes wakes the session through the channel.
        if room == Room::Full && self.waiting.is_empty() {
            return Poll::Pending;
        }
        Pin::new(&mut self.messages)
            .poll_next(cx)
            .map(|message| match message {
                Some(Ok(message)) => Some(said(self.message(&message))),
                Some(Err(error)) => Some(Happening::Failed(failure::end(&error))),
                None => self.end(),
            })
    }
}

impl ClaudeStream {
    fn take_requests(&mut self, cx: &mut Context<'_>) {
        while self.waiting.len() < ASKS
            && let Poll::Ready(Some((position, asked))) = self.asked.poll_recv(cx)
        {
            let later = |(other, _): &Placed| *other <= position;
            let place = self.waiting.partition_point(later);
            self.waiting.insert(place, (position, asked));
        }
    }

    /// The first request, if everything before it was given out.
    fn due(&mut self) -> Option<Asked> {
        let reached = self.messages.position();
        let (position, _) = self.waiting.first()?;
        (*position <= reached || self.is_over).then(|| self.waiting.remove(0).1)
    }

    fn happening(&self, asked: Asked) -> Happening {
        match asked {
            Asked::Question(question) => Happening::Asked(question),
            Asked::Check(check) => Happening::Checked(check),
            Asked::Warning(kind, text) => said(Said {
                drafts: vec![self.warning(kind, text)],
                ..Said::default()
            }),
        }
    }

    fn warning(&self, kind: &str, text: String) -> Draft {
        let mut warning = Warning::default();
        warning.kind = kind.to_owned();
        warning.text = text;
        let mut draft = Draft::new(Source::Falconer, Body::Warning(warning));
        draft.turn = self.normaliser.turn();
        draft
    }

    fn end(&mut self) -> Option<Happening> {
        self.is_over = true;
        let drafts = self.normaliser.finish();
        (!drafts.is_empty()).then(|| {
            said(Said {
                drafts,
                ..Said::default()
            })
        })
    }

    fn message(&mut self, message: &Message) -> Said {
        let mut said = Said {
            session: self.named_by(message),
            used: self.meter.observe(message),
            ..Said::default()
        };
        if self.streamed == Streamed::Hidden && matches!(message, Message::StreamEvent(_)) {
            return said;
        }
        said.drafts = self.normaliser.message(message);
        if self.keeps_raw && !said.drafts.is_empty() {
            said.raw = serde_json::to_value(message).ok();
        }
        match message {
            Message::Result(result) => said.turn = Some(turn_end(result)),
            Message::CommandLifecycle(step) => {
                let fate = match step.state {
                    CommandState::Completed => Fate::Done,
                    CommandState::Cancelled => Fate::Cancelled,
                    _ => Fate::Taken,
                };
                let prompt = step.command_uuid.as_str().to_owned();
                said.prompts.push((prompt, fate));
            }
            Message::System(SystemMessage::Init(init)) => {
                let warning = self.compare_version(init.claude_code_version.as_deref());
                said.drafts.extend(warning);
            }
            _ => {}
        }
        said
    }

    /// The session a message begins. Without an `init` an answer names it.
    fn named_by(&mut self, message: &Message) -> Option<NativeSession> {
        let (id, cwd) = match message {
            Message::System(SystemMessage::Init(init)) => (
                init.session_id.as_ref()?,
                Some(init.cwd.clone()).filter(|cwd| !cwd.is_empty()),
            ),
            Message::Result(result) if !self.is_named && !result.is_error => {
                (result.session_id.as_ref()?, None)
            }
            _ => return None,
        };
        self.is_named = true;
        Some(NativeSession {
            id: id.as_str().to_owned(),
            cwd,
        })
    }

    /// Warns once if the official CLI is not of the version that is tested.
    fn compare_version(&mut self, named: Option<&str>) -> Option<Draft> {
        let version = named?.parse::<CliVersion>().ok()?;
        if !std::mem::take(&mut self.is_version_unseen) {
            return None;
        }
        let warning = LaunchWarning::of_version(&version)?;
        tracing::warn!("{warning}");
        Some(self.warning("cli_version", warning.to_string()))
    }
}

fn said(said: Said) -> Happening {
    Happening::Said(Box::new(said))
}

fn turn_end(result: &ResultMessage) -> TurnEnd {
    let several = result.user_message_uuids.iter().flatten();
    let prompts = several.chain(&result.user_message_uuid);
    let failure = Failure::of(result).map(|failure| TurnFailure {
        text: failure.class.to_string(),
        status: failure.status,
        is_retryable: failure.is_retryable(),
        is_missing: failure.class == FailureClass::SessionNotFound,
    });
    TurnEnd {
        prompts: prompts.map(|id| id.as_str().to_owned()).collect(),
        is_unprompted: result.origin.is_some(),
        failure,
    }
}
