//! The port for engines: what a session asks of whatever runs an agent's loop.
//!
//! A session numbers events, keeps limits, asks people and decides when a run is over. It knows no
//! protocol. An [`Engine`] starts an agent and hands back a [`Running`] one, of two halves:
//!
//! - an [`EngineStream`] of what happens ([`Happening`]), in the order in which it happened:
//!   what was [said](Said), as drafts of events; [questions](Question) that want an answer;
//!   [checks](Check) before a tool runs;
//! - [`Controls`]: prompts, taking them back, interrupting, other models and modes, and the end.
//!
//! # What an engine promises
//!
//! - **Order.** A question or a check comes after everything the agent said before it asked. An
//!   engine whose protocol has two lanes puts them in order again before the session sees them.
//! - **Drafts.** `run.started` comes once, first. Every turn has a `turn.started` and, with the
//!   [`TurnEnd`], a `turn.completed`. What the engine leaves open at its end (actions, texts,
//!   tasks) the session closes, and only the session tells `run.completed`.
//! - **Questions.** Each is answered exactly once, or dropped when the session ends. A dropped
//!   question is a denial. [`Question::withdrawn`] fires when the engine no longer waits.
//! - **Checks.** An engine that can ask before every call does so, also for calls it would allow
//!   by itself; the policy of a session holds for the calls it is asked about.
//! - **Use.** Tokens, model turns and cost are totals of the run and never fall.
//! - **The end.** After [`Controls::close`] the stream ends. An end that nobody asked for is a
//!   [`Happening::Failed`] before the end of the stream.
//!
//! # What a session promises
//!
//! It reads the stream as long as its own reader keeps up ([`Room::Free`]). When that reader is slow
//! it polls with [`Room::Full`]: the engine then gives out only what comes before a question or a
//! check that waits, so that a slow reader holds up nobody.

mod ask;
mod error;
mod said;

use std::sync::Arc;
use std::task::{Context, Poll};

use falconer_event::{Delivery, Run};
use falconer_protocol::permission::PermissionMode;
use futures_util::future::BoxFuture;

use crate::info::EngineInfo;
use crate::message::Part;
use crate::spec::Resume;
use crate::transcript::Archive;

pub use ask::{Ask, Call, Check, Checked, Question, Reply};
pub use error::{EngineError, Stopped};
pub use said::{Fate, NativeSession, Said, TurnEnd, TurnFailure, Used};

/// An engine that can be started.
pub trait Engine: Send + 'static {
    /// Starts the engine and waits until it takes prompts.
    fn start(&mut self, opening: Opening) -> BoxFuture<'static, Result<Running, Stopped>>;

    /// Returns `true` if it can be started once more, for a conversation that is gone.
    fn can_start_again(&self) -> bool {
        false
    }
}

/// Everything an engine is told at its start.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Opening {
    /// What is known of the run; `run.started` says it.
    pub about: Run,
    /// The conversation to go on with.
    pub resume: Option<Resume>,
    /// The number of turns the run has had before.
    pub turns: u32,
    /// The most the run may cost, in US dollars. The session sees the cost of a turn when it is
    /// over; an engine that knows earlier stops earlier.
    pub budget_usd: Option<f64>,
    /// The session limits what the model writes, so the engine says how much that is as soon as
    /// it knows.
    pub meters_output: bool,
    /// The session keeps a transcript, so the engine hands its messages along, see [`Said::raw`].
    pub keeps_raw: bool,
    /// Where the engine's own transcript goes before it is compacted.
    pub archive: Option<Archive>,
}

/// An engine that has started.
pub struct Running {
    /// What happens.
    pub stream: Box<dyn EngineStream>,
    /// What it can be told.
    pub controls: Arc<dyn Controls>,
    /// What there is to choose from.
    pub info: EngineInfo,
}

/// What happens in an engine, in order.
pub trait EngineStream: Send {
    /// Gives the next thing; `None` after the last one. Without room it gives only what comes
    /// before a question or check that waits, and those.
    fn poll_next(&mut self, cx: &mut Context<'_>, room: Room) -> Poll<Option<Happening>>;
}

/// The room a session has for events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// There is room.
    Free,
    /// Its reader is slow.
    Full,
}

/// One thing that happens in an engine.
#[derive(Debug)]
#[non_exhaustive]
pub enum Happening {
    /// The agent, or the engine, said something.
    Said(Box<Said>),
    /// Somebody has to decide.
    Asked(Question),
    /// A tool is about to run.
    Checked(Check),
    /// The engine failed; the end of the stream follows.
    Failed(Stopped),
}

/// A prompt on its way to an engine.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// The name by which turns and controls speak of it: a UUID.
    pub id: String,
    /// The content.
    pub parts: Vec<Part>,
    /// What happens to it while the agent is at work.
    pub delivery: Delivery,
}

/// The answer of an engine to a command.
pub type Obeyed<T = ()> = BoxFuture<'static, Result<T, EngineError>>;

/// What an engine can be told. Commands may overlap; an engine obeys them in the order of the calls.
pub trait Controls: Send + Sync {
    /// Hands over a prompt; ready when the engine has it.
    fn send(&self, prompt: Prompt) -> Obeyed;

    /// Takes back a prompt that was not read yet; `false` if it was too late.
    fn take_back(&self, prompt: String) -> Obeyed<bool>;

    /// Interrupts the turn under way; prompts that wait in the engine run next.
    fn interrupt(&self) -> Obeyed;

    /// Interrupts the turn under way and drops the prompts that wait in the engine.
    fn stop(&self) -> Obeyed;

    /// Changes the model from the next turn on.
    fn set_model(&self, model: String) -> Obeyed;

    /// Changes the permission mode.
    fn set_mode(&self, mode: PermissionMode) -> Obeyed;

    /// Stops a background task.
    fn stop_task(&self, task: String) -> Obeyed;

    /// Waits until nothing is left to do: no prompt, no turn, no background task.
    fn idle(&self) -> BoxFuture<'static, ()>;

    /// Ends the engine and waits until nothing of it is left; returns the end of its stderr.
    /// What it still says comes through the stream meanwhile.
    fn close(&self) -> BoxFuture<'static, Vec<String>>;
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}
