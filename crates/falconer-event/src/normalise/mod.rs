//! Messages of an engine become events: a small state, and one method per kind of message.

mod calls;
mod conversation;
mod items;
mod open_turns;
mod recent;
mod reply;
mod stream;
mod system;
mod tasks;
mod texts;
mod turns;

use std::collections::BTreeMap;

use falconer_protocol::message::WarningMessage;
use falconer_protocol::{Message, ToolUseId};
use serde_json::Value;

use crate::body::{Body, Limit, LimitClass, Unknown, Warning};
use crate::envelope::{Draft, Source};
use crate::id::TurnNumber;
use crate::spending::Spending;

use calls::Calls;
use conversation::Conversation;
use open_turns::OpenTurns;
use tasks::Tasks;
use texts::Texts;

/// Facts about a run that are known before its engine says anything.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Run {
    /// `claude`, `native` or `script`.
    pub engine: String,
    /// Reason this engine was chosen.
    pub engine_reason: Option<String>,
    /// Origin of the credentials, if more is known than the engine tells.
    pub auth: Option<String>,
    /// `api` or `subscription`.
    pub billing: Option<String>,
    /// The sandbox in force.
    pub sandbox: Option<String>,
    /// `in force` if the kernel keeps commands that run unasked from writing, otherwise the reason
    /// it does not.
    pub confinement: Option<String>,
    /// The schemas of tools, by name, as far as the host knows them.
    pub tool_schemas: BTreeMap<String, Value>,
}

/// Turns the messages of one run into events.
///
/// Exactly one `run.started`, as soon as the session is known; a `turn.completed` for every
/// result. The end of the run, and of what its engine leaves open, is told by
/// [`Ledger`](crate::Ledger).
#[derive(Debug, Default)]
pub struct Normaliser {
    run: Run,
    conversation: Conversation,
    turns: OpenTurns,
    calls: Calls,
    texts: Texts,
    tasks: Tasks,
    spending: Spending,
}

impl Normaliser {
    /// For a run that begins.
    pub fn new(run: Run) -> Self {
        Self {
            run,
            ..Self::default()
        }
    }

    /// Continues for an engine that is started anew in a run that has had this many turns.
    #[must_use]
    pub fn after_turns(mut self, turns: u32) -> Self {
        self.turns = OpenTurns::after(turns);
        self
    }

    /// Returns what is left to say when no more messages come.
    pub fn finish(&mut self) -> Vec<Draft> {
        let mut out = Vec::new();
        if self.conversation.take_reset() {
            self.reset(None, &mut out);
        }
        out
    }

    /// Returns the facts that `run.started` will contain beside those of the engine.
    pub fn about(&mut self) -> &mut Run {
        &mut self.run
    }

    /// The session has a past that cost this much: the engine counts on from there, the run
    /// does not. To be said before the first message.
    pub fn resumes_after(&mut self, cost_usd: f64) {
        self.spending = Spending::resumed(cost_usd);
    }

    /// The engine's id of the session, once it is known.
    pub fn native_session(&self) -> Option<&str> {
        self.conversation.session()
    }

    /// The turn under way, if there is one.
    pub fn turn(&self) -> Option<TurnNumber> {
        self.turns.current()
    }

    /// Turns a message into events.
    pub fn message(&mut self, message: &Message) -> Vec<Draft> {
        let mut out = Vec::new();
        self.dispatch(message, &mut out);
        out
    }

    fn dispatch(&mut self, message: &Message, out: &mut Vec<Draft>) {
        match message {
            Message::StreamEvent(event) => self.stream_event(event, out),
            Message::Assistant(message) => self.assistant(message, out),
            Message::User(message) => self.user(message, out),
            Message::System(message) => self.system(message, out),
            Message::Result(result) => self.result(result, out),
            Message::ToolProgress(progress) => self.tool_progress(progress, out),
            Message::ToolUseSummary(summary) => self.summary(summary, out),
            Message::ConversationReset(_) => self.conversation.clear(),
            Message::RateLimitEvent(event) => self.rate_limit(&event.rate_limit_info, out),
            Message::Warning(warning) => self.line_trouble(warning, out),
            // Answered elsewhere, or of interest to the host only.
            Message::ControlRequest(_)
            | Message::ControlResponse(_)
            | Message::ControlCancelRequest(_)
            | Message::CommandLifecycle(_)
            | Message::TranscriptMirror(_)
            | Message::KeepAlive(_) => {}
            other => self.unknown(other, out),
        }
    }

    /// Something of the agent in the turn under way.
    fn push(&self, parent: Option<&ToolUseId>, body: Body, out: &mut Vec<Draft>) {
        out.push(Draft {
            turn: self.turn(),
            source: Source::Agent,
            parent: parent.cloned(),
            body,
        });
    }

    fn warn(&self, kind: &str, text: &str, out: &mut Vec<Draft>) {
        let warning = Warning {
            kind: kind.to_owned(),
            text: text.to_owned(),
        };
        let mut draft = Draft::new(Source::Falconer, Body::Warning(warning));
        draft.turn = self.turn();
        out.push(draft);
    }

    /// Trouble with a line; people see how it begins.
    fn line_trouble(&self, warning: &WarningMessage, out: &mut Vec<Draft>) {
        let text = match &warning.head {
            Some(head) => format!("{}: {head}", warning.text),
            None => warning.text.clone(),
        };
        self.warn(&warning.kind, &text, out);
    }

    fn unknown(&self, message: &Message, out: &mut Vec<Draft>) {
        let message = serde_json::to_value(message).unwrap_or(Value::Null);
        let word = |name: &str| message[name].as_str().map(str::to_owned);
        let kind = match (word("type"), word("subtype")) {
            (Some(kind), Some(subtype)) => format!("{kind}/{subtype}"),
            (Some(kind), None) => kind,
            (None, _) => "?".to_owned(),
        };
        self.push(None, Body::Unknown(Unknown { kind, message }), out);
    }

    fn rate_limit(&self, info: &falconer_protocol::message::RateLimitInfo, out: &mut Vec<Draft>) {
        let status = info.status.as_str();
        let kind = info.rate_limit_type.clone();
        // A limit with a window of its own is a quota; others pass by themselves.
        let class = match &kind {
            Some(_) => LimitClass::Quota,
            None => LimitClass::Short,
        };
        let limit = Limit {
            class: Some(class),
            kind: kind.unwrap_or_else(|| "rate_limit".to_owned()),
            reached: status == "rejected",
            resets_at: info.resets_at.as_ref().map(|time| time.as_f64()),
            text: format!("rate limit: {status}"),
        };
        self.push(None, Body::Limit(limit), out);
    }
}
