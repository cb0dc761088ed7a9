//! What an engine says, in terms of any engine.

use falconer_event::{Draft, Tokens};
use serde_json::Value;

/// One thing that was said, with what it means for the session.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Said {
    /// The events it makes; may be none.
    pub drafts: Vec<Draft>,
    /// The message itself, for the transcript of the run.
    pub raw: Option<Value>,
    /// The conversation, when the engine names it: at the start, and when it goes on in another.
    /// The session takes its lock before it tells anything of this message.
    pub session: Option<NativeSession>,
    /// What the run has used so far, if that has changed.
    pub used: Option<Used>,
    /// Prompts the engine has got further with.
    pub prompts: Vec<(String, Fate)>,
    /// A turn is over.
    pub turn: Option<TurnEnd>,
}

/// The engine's conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct NativeSession {
    /// The engine's id of it.
    pub id: String,
    /// Where the agent works.
    pub cwd: Option<String>,
}

/// Totals of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Used {
    /// Tokens.
    pub tokens: Tokens,
    /// How often the model was asked.
    pub model_turns: u64,
    /// US dollars.
    pub cost_usd: f64,
    /// The engine stopped because its budget is spent.
    pub is_spent: bool,
}

/// What became of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// The engine has it.
    Taken,
    /// The engine is done with it; no turn need answer it.
    Done,
    /// It was taken back.
    Cancelled,
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct TurnEnd {
    /// The prompts it answers, by name.
    pub prompts: Vec<String>,
    /// Something else than a prompt caused it, such as the end of a background task.
    pub is_unprompted: bool,
    /// Why it failed.
    pub failure: Option<TurnFailure>,
}

/// Why a turn failed, as far as the session acts on it; people read the draft.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TurnFailure {
    /// A few words.
    pub text: String,
    /// The HTTP status of the model's service.
    pub status: Option<u16>,
    /// The same may well succeed later.
    pub is_retryable: bool,
    /// The conversation to go on with does not exist.
    pub is_missing: bool,
}
