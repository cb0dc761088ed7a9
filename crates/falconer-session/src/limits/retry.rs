//! Whether a turn that failed is tried again, and when.

use std::time::Duration;

use falconer_event::{Action, ActionKind, ActionStatus};
use falconer_protocol::message::ResultMessage;

/// When a turn that failed for a passing reason is tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retries {
    /// How often a prompt is sent at most; 1 means never again.
    pub attempts: u32,
    /// The first wait; it doubles with each attempt, and a random part of it is waited.
    pub base: Duration,
    /// The longest wait for one attempt.
    pub longest: Duration,
    /// All waits of a run together.
    pub total: Duration,
    /// What about turns that have changed something.
    pub side_effects: SideEffects,
}

/// What about turns that may have changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SideEffects {
    /// They are not tried again.
    #[default]
    Forbid,
    /// They are tried again; the caller knows that it does no harm.
    Allow,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            attempts: 3,
            base: Duration::from_millis(500),
            longest: Duration::from_secs(8),
            total: Duration::from_secs(30),
            side_effects: SideEffects::default(),
        }
    }
}

impl Retries {
    /// No retries.
    pub fn never() -> Self {
        Self {
            attempts: 1,
            ..Self::default()
        }
    }
}

/// What is known when a turn has failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt {
    /// How often the prompt was sent.
    pub(crate) made: u32,
    /// How long was waited in this run already.
    pub(crate) waited: Duration,
    /// What is left of the run.
    pub(crate) left: Option<Duration>,
    /// What the service asks for.
    pub(crate) retry_after: Option<Duration>,
    /// Whether something may have been changed.
    pub(crate) had_side_effect: bool,
    /// Between 0 and 1.
    pub(crate) chance: f64,
}

/// What to do about a turn that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Try again after this time.
    Again(Duration),
    /// Let it be.
    Leave,
}

impl Retries {
    /// Decides; `attempt` has failed for a passing reason.
    pub(crate) fn decide(&self, attempt: &Attempt) -> Verdict {
        let may_not = attempt.had_side_effect && self.side_effects == SideEffects::Forbid;
        if may_not || attempt.made >= self.attempts {
            return Verdict::Leave;
        }
        let doubled = self
            .base
            .saturating_mul(1 << attempt.made.saturating_sub(1).min(16));
        let jittered = doubled
            .min(self.longest)
            .mul_f64(attempt.chance.clamp(0.0, 1.0));
        // Sooner than the service says would only fail again, so it is never shortened.
        let delay = attempt.retry_after.unwrap_or_default().max(jittered);
        let fits_total = attempt.waited.saturating_add(delay) <= self.total;
        let fits_deadline = attempt.left.is_none_or(|left| delay < left);
        match fits_total && fits_deadline {
            true => Verdict::Again(delay),
            false => Verdict::Leave,
        }
    }
}

/// How long the service wants us to wait, if the result says so.
pub(crate) fn retry_after(result: &ResultMessage) -> Option<Duration> {
    let value = serde_json::to_value(result).ok()?;
    let seconds = ["retry_after", "retryAfter", "retry_after_seconds"];
    let seconds = seconds.iter().find_map(|name| value[*name].as_f64())?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Whether an action may have changed something outside the conversation.
pub(crate) fn is_side_effect(action: &Action) -> bool {
    let reads = matches!(
        action.tool.as_str(),
        "Read" | "Glob" | "Grep" | "LS" | "NotebookRead" | "ToolSearch" | "BashOutput"
    );
    let harmless = matches!(
        action.kind,
        ActionKind::WebSearch | ActionKind::Note | ActionKind::Question
    );
    action.status != ActionStatus::Denied && !reads && !harmless
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_keep_within_every_bound() {
        let millis = Duration::from_millis;
        let first = Attempt {
            made: 1,
            waited: Duration::ZERO,
            left: None,
            retry_after: None,
            had_side_effect: false,
            chance: 1.0,
        };
        let retries = Retries::default();
        let again = |ms| Verdict::Again(millis(ms));
        let table = [
            ("first", first, again(500)),
            ("second", Attempt { made: 2, ..first }, again(1000)),
            (
                "no more attempts",
                Attempt { made: 3, ..first },
                Verdict::Leave,
            ),
            (
                "jitter",
                Attempt {
                    chance: 0.5,
                    ..first
                },
                again(250),
            ),
            (
                "side effect",
                Attempt {
                    had_side_effect: true,
                    ..first
                },
                Verdict::Leave,
            ),
            (
                "service says",
                Attempt {
                    retry_after: Some(millis(9000)),
                    ..first
                },
                again(9000),
            ),
            (
                "service says too much",
                Attempt {
                    retry_after: Some(millis(31_000)),
                    ..first
                },
                Verdict::Leave,
            ),
            (
                "waited enough",
                Attempt {
                    waited: millis(29_800),
                    ..first
                },
                Verdict::Leave,
            ),
            (
                "too late",
                Attempt {
                    left: Some(millis(500)),
                    ..first
                },
                Verdict::Leave,
            ),
            (
                "just in time",
                Attempt {
                    left: Some(millis(501)),
                    ..first
                },
                again(500),
            ),
            (
                "nonsense chance",
                Attempt {
                    chance: 7.0,
                    ..first
                },
                again(500),
            ),
        ];
        for (name, attempt, expected) in table {
            assert_eq!(retries.decide(&attempt), expected, "{name}");
        }
        let allowed = Retries {
            side_effects: SideEffects::Allow,
            ..Retries::default()
        };
        let changed = Attempt {
            had_side_effect: true,
            ..first
        };
        assert_eq!(allowed.decide(&changed), again(500));
        assert_eq!(Retries::never().decide(&first), Verdict::Leave);
        let many = Retries {
            attempts: u32::MAX,
            total: Duration::MAX,
            ..Retries::default()
        };
        let late = Attempt {
            made: 1000,
            ..first
        };
        assert_eq!(many.decide(&late), again(8000));
    }
}
