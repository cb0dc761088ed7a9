//! Whether and when to try a failed request again: pure.

use std::time::Duration;

use falconer_secret::Environment;

use crate::{ApiFailure, FailureKind};

/// How often, and how long apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    pub max_retries: u32,
    /// Before the first retry; doubled each time.
    pub base: Duration,
    /// The longest wait of our own accord.
    pub cap: Duration,
    /// A server that asks for more than this is not waited for.
    pub patience: Duration,
    /// How often a request that got no answer at all is repeated: each try takes minutes.
    pub timeout_retries: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 10,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(32),
            patience: Duration::from_secs(3600),
            timeout_retries: 1,
        }
    }
}

/// The failures of one request so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attempt {
    failures: u32,
    timeouts: u32,
}

impl Attempt {
    /// No failure yet.
    pub fn first() -> Self {
        Self::default()
    }

    /// Counts a failure.
    #[must_use]
    pub fn failed(self, failure: &ApiFailure) -> Self {
        let timed_out = failure.kind == FailureKind::Timeout;
        Self {
            failures: self.failures.saturating_add(1),
            timeouts: self.timeouts.saturating_add(timed_out.into()),
        }
    }

    /// How often it failed; the number of the retry that would come next.
    pub fn number(self) -> u32 {
        self.failures
    }
}

/// What to do after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    Retry { delay: Duration },
    GiveUp,
}

impl RetryPolicy {
    /// `CLAUDE_CODE_MAX_RETRIES` changes how often.
    pub fn from_environment(environment: &Environment) -> Self {
        let max_retries = environment.text("CLAUDE_CODE_MAX_RETRIES");
        let max_retries = max_retries.and_then(|value| value.trim().parse().ok());
        let default = Self::default();
        Self {
            max_retries: max_retries.unwrap_or(default.max_retries),
            ..default
        }
    }

    /// Decides after `failure`, which is counted in `attempt`; `random` is between 0 and 1.
    pub fn decide(&self, failure: &ApiFailure, attempt: Attempt, random: f64) -> RetryDecision {
        let used_up = attempt.failures > self.max_retries
            || (attempt.timeouts > self.timeout_retries && failure.kind == FailureKind::Timeout);
        let asked = failure.retry_after.unwrap_or_default();
        if used_up || !is_retryable(failure) || asked > self.patience {
            return RetryDecision::GiveUp;
        }
        RetryDecision::Retry {
            delay: self.backoff(attempt.failures, random).max(asked),
        }
    }

    /// Doubles with each failure; up to a quarter more, so that many clients spread.
    fn backoff(&self, failures: u32, random: f64) -> Duration {
        let factor = 2_u32.saturating_pow(failures.saturating_sub(1));
        let delay = self.base.saturating_mul(factor).min(self.cap);
        delay.mul_f64(1.0 + random.clamp(0.0, 1.0) / 4.0)
    }
}

/// Whether the same request might succeed later.
pub fn is_retryable(failure: &ApiFailure) -> bool {
    match failure.kind {
        // A refused key stays refused, whatever the server says about trying again.
        FailureKind::Authentication => false,
        FailureKind::Billing
        | FailureKind::ModelNotFound
        | FailureKind::PromptTooLong
        | FailureKind::InvalidRequest => failure.should_retry.unwrap_or(false),
        FailureKind::RateLimited
        | FailureKind::Overloaded
        | FailureKind::Server
        | FailureKind::Connection
        | FailureKind::Timeout
        | FailureKind::Malformed => failure.should_retry.unwrap_or(true),
    }
}

/// A number between 0 and 1 for [`RetryPolicy::decide`].
pub fn jitter() -> f64 {
    let bits = uuid::Uuid::new_v4().as_u128() & u128::from(u32::MAX);
    u32::try_from(bits).map_or(0.5, |bits| f64::from(bits) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests;
