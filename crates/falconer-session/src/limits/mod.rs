//! How much a run may take: time, silence, turns, money, tokens.
//!
//! The decisions are pure; the session tells them what time it is.

mod retry;
mod watch;

use std::time::Duration;

use crate::engine::Used;

pub(crate) use retry::{Attempt, Verdict, is_side_effect, wanted_wait};
pub use retry::{Retries, SideEffects};
pub(crate) use watch::Watch;

/// What a run may take. Nothing is limited unless it is said, except the grace.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// From the start of the session to its end.
    pub deadline: Option<Duration>,
    /// Without a message of the engine while it is at work. A tool that declares a longer
    /// timeout gets it; the time in which a person is asked does not count.
    pub silence: Option<Duration>,
    /// From the last result until the engine is idle.
    pub grace: Option<Duration>,
    /// How often the model is asked.
    pub turns: Option<u64>,
    /// US dollars.
    pub usd: Option<f64>,
    /// Tokens read by the model, those of the cache included.
    pub input_tokens: Option<u64>,
    /// Tokens written by the model.
    pub output_tokens: Option<u64>,
    /// All tokens.
    pub total_tokens: Option<u64>,
    /// How long an engine gets to end its turn after a limit was reached.
    pub wind_down: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: None,
            silence: None,
            grace: Some(Duration::from_secs(600)),
            turns: None,
            usd: None,
            input_tokens: None,
            output_tokens: None,
            total_tokens: None,
            wind_down: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// Whether what the agent writes is limited; engines say how much that is when a message is
    /// complete, and only in what they stream.
    pub(crate) fn meter_output(&self) -> bool {
        self.output_tokens.is_some() || self.total_tokens.is_some()
    }

    /// Returns the limit that a run has used up, if there is one.
    pub(crate) fn used_up(&self, used: &Used) -> Option<LimitKind> {
        let tokens = used.tokens;
        let input = tokens.input + tokens.cache_read + tokens.cache_write;
        let at = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used >= limit);
        let money = |limit: f64| used.cost_usd >= limit || used.is_spent;
        let turns = |limit: u64| used.model_turns > limit;
        let table = [
            (LimitKind::Usd, self.usd.is_some_and(money)),
            (LimitKind::InputTokens, at(self.input_tokens, input)),
            (
                LimitKind::OutputTokens,
                at(self.output_tokens, tokens.output),
            ),
            (
                LimitKind::TotalTokens,
                at(self.total_tokens, tokens.total()),
            ),
            (LimitKind::Turns, self.turns.is_some_and(turns)),
        ];
        let reached = table.into_iter().find(|(_, is_reached)| *is_reached);
        reached.map(|(kind, _)| kind)
    }
}

/// Which limit was reached; its text is the class of the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitKind {
    /// The total time.
    Deadline,
    /// The time without a message.
    Silence,
    /// The time after the result.
    Grace,
    /// How often the model was asked.
    Turns,
    /// Money.
    Usd,
    /// Tokens read.
    InputTokens,
    /// Tokens written.
    OutputTokens,
    /// All tokens.
    TotalTokens,
}

impl LimitKind {
    /// The class of the failure.
    pub fn class(self) -> &'static str {
        match self {
            Self::Deadline => "limit:deadline",
            Self::Silence => "limit:silence",
            Self::Grace => "limit:grace",
            Self::Turns => "limit:turns",
            Self::Usd => "limit:usd",
            Self::InputTokens => "limit:input_tokens",
            Self::OutputTokens => "limit:output_tokens",
            Self::TotalTokens => "limit:total_tokens",
        }
    }

    /// Returns what a person can do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Deadline => {
                "raise the deadline (`--deadline`, `run.deadline_seconds`), or resume the session to \
                 continue"
            }
            Self::Silence => "check the network, then resume the session to continue",
            Self::Grace => "stop background tasks, or wait longer for them",
            Self::Turns => "raise the turn limit, or resume the session to continue",
            Self::Usd => "raise the budget, or resume the session to continue",
            Self::InputTokens | Self::OutputTokens | Self::TotalTokens => {
                "raise the token limit, or resume the session to continue"
            }
        }
    }

    /// The limit a failure tells of, if it tells of one.
    pub fn of(failure: &falconer_event::Failure) -> Option<Self> {
        let all = [
            Self::Deadline,
            Self::Silence,
            Self::Grace,
            Self::Turns,
            Self::Usd,
            Self::InputTokens,
            Self::OutputTokens,
            Self::TotalTokens,
        ];
        all.into_iter().find(|kind| kind.class() == failure.class)
    }

    /// For people.
    pub(crate) fn text(self, limits: &Limits) -> String {
        let time = |time: Option<Duration>| time.unwrap_or_default();
        match self {
            Self::Deadline => format!("the run took longer than {:?}", time(limits.deadline)),
            Self::Silence => {
                format!(
                    "the engine said nothing for longer than {:?}",
                    time(limits.silence)
                )
            }
            Self::Grace => format!(
                "the engine was not idle within {:?} of its result",
                time(limits.grace)
            ),
            Self::Turns => {
                format!(
                    "the model was asked {} times",
                    limits.turns.unwrap_or_default()
                )
            }
            Self::Usd => format!("the run cost ${}", limits.usd.unwrap_or_default()),
            Self::InputTokens => {
                format!(
                    "the model read {} tokens",
                    limits.input_tokens.unwrap_or_default()
                )
            }
            Self::OutputTokens => {
                format!(
                    "the model wrote {} tokens",
                    limits.output_tokens.unwrap_or_default()
                )
            }
            Self::TotalTokens => {
                format!(
                    "the run used {} tokens",
                    limits.total_tokens.unwrap_or_default()
                )
            }
        }
    }
}
