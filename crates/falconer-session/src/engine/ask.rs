//! Questions of an engine.

use std::path::PathBuf;

use falconer_event::QuestionKind;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::answer::Verdict;

/// A question that wants an answer, once.
#[derive(Debug)]
#[non_exhaustive]
pub struct Question {
    /// What is asked.
    pub ask: Ask,
    /// Fires when the engine no longer waits.
    pub withdrawn: CancellationToken,
    reply: oneshot::Sender<Reply>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Ask {
    /// What kind of question it is; `None` asks for permission to run a tool.
    pub kind: Option<QuestionKind>,
    /// The tool, or what else asks.
    pub tool: String,
    /// The input of the tool, or the form.
    pub input: Value,
    /// The call it is about.
    pub call: Option<String>,
    /// The sub-agent that asks.
    pub agent: Option<String>,
    /// Why it is asked.
    pub reason: Option<String>,
    /// A line for people.
    pub title: Option<String>,
    /// More for people.
    pub description: Option<String>,
    /// The path that made the engine ask.
    pub blocked_path: Option<String>,
    /// Rules for "always", as the engine wants them back.
    pub suggestions: Vec<Value>,
    /// No rule may allow it.
    pub needs_person: bool,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// A person or a rule decided.
    Decided(Verdict),
    /// Nobody decided, so the answer is no, for this reason.
    Undecided(String),
}

impl Question {
    /// Asks something; the answer comes through the receiver. An error there means that the
    /// session is over, which is a denial.
    pub fn new(ask: Ask, withdrawn: CancellationToken) -> (Self, oneshot::Receiver<Reply>) {
        let (reply, answer) = oneshot::channel();
        let question = Self {
            ask,
            withdrawn,
            reply,
        };
        (question, answer)
    }

    /// Answers it; `false` if nobody waits any more.
    pub(crate) fn answer(self, reply: Reply) -> bool {
        self.reply.send(reply).is_ok()
    }
}

/// A tool that is about to run.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Call {
    /// The call.
    pub id: Option<String>,
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// Where it would start.
    pub cwd: Option<PathBuf>,
}

/// A check before a tool runs, answered once.
#[derive(Debug)]
#[non_exhaustive]
pub struct Check {
    /// The call.
    pub call: Call,
    reply: oneshot::Sender<Checked>,
}

/// The answer to a check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Checked {
    /// The engine decides, as it would without a session.
    Pass,
    /// A person has to be asked, for this reason.
    Ask(String),
    /// The call must not run, for this reason.
    Deny(String),
}

impl Check {
    /// Asks about a call; an error of the receiver is a denial.
    pub fn new(call: Call) -> (Self, oneshot::Receiver<Checked>) {
        let (reply, answer) = oneshot::channel();
        (Self { call, reply }, answer)
    }

    /// Answers it. An engine that has left needs no answer.
    pub(crate) fn answer(self, checked: Checked) {
        let _ = self.reply.send(checked);
    }
}
