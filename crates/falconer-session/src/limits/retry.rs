//! Whether a turn that failed is tried again, and when.

use std::time::Duration;

use falconer_event::{Action, ActionKind, ActionStatus, Body};

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
        if fits_total && fits_deadline {
            Verdict::Again(delay)
        } else {
            Verdict::Leave
        }
    }
}

/// How long the service wants us to wait, as an event tells it.
///
/// Results do not say so. Engines that try again themselves announce how long they wait, the
/// wish of the service included; a limit that is reached says when it is lifted. `now` is the
/// wall clock: if it is wrong the wait is, too, but never longer than all waits may be.
pub(crate) fn wanted_wait(body: &Body, now: Option<jiff::Timestamp>) -> Option<Duration> {
    match body {
        Body::Retry(retry) => Duration::try_from_secs_f64(retry.delay_ms / 1000.0).ok(),
        Body::Limit(limit) if limit.reached => {
            let now = now?.as_millisecond() as f64 / 1000.0;
            Duration::try_from_secs_f64((limit.resets_at? - now).max(0.0)).ok()
        }
        _ => None,
    }
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
    fn the_service_is_heard_where_it_speaks() {
        let mut retry = falconer_event::Retry::default();
        retry.delay_ms = 1223.0;
        let mut limit = falconer_event::Limit::default();
        limit.resets_at = Some(1_000_090.5);
        let mut reached = limit.clone();
        reached.reached = true;
        let now = jiff::Timestamp::from_second(1_000_000).ok();
        let late = jiff::Timestamp::from_second(2_000_000).ok();
        let table = [
            (Body::Retry(retry), now, Some(1223)),
            (Body::Limit(limit), now, None),
            (Body::Limit(reached.clone()), now, Some(90_500)),
            (Body::Limit(reached.clone()), late, Some(0)),
            (Body::Limit(reached), None, None),
            (Body::Warning(Default::default()), now, None),
        ];
        for (body, now, expected) in table {
            let expected = expected.map(Duration::from_millis);
            assert_eq!(wanted_wait(&body, now), expected, "{body:?}");
        }
    }

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
