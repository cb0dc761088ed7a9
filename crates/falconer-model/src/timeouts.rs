//! How long a provider waits.

use std::time::Duration;

use falconer_secret::Environment;

/// How long a provider waits for an answer to begin, and to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timeouts {
    /// Until the answer begins; for an answer in one piece, until its end.
    pub(crate) first_byte: Duration,
    /// Between two pieces of an answer. The API sends a ping every few seconds.
    pub(crate) idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(600),
            idle: Duration::from_secs(300),
        }
    }
}

impl Timeouts {
    /// `API_TIMEOUT_MS` and `CLAUDE_STREAM_IDLE_TIMEOUT_MS`; what is no number is left alone.
    pub(crate) fn from_environment(environment: &Environment) -> Self {
        let default = Self::default();
        let first_byte = millis(environment, "API_TIMEOUT_MS").unwrap_or(default.first_byte);
        let idle = millis(environment, "CLAUDE_STREAM_IDLE_TIMEOUT_MS");
        Self {
            first_byte,
            idle: idle.unwrap_or(default.idle.min(first_byte)),
        }
    }
}

/// A variable that holds a number of milliseconds above zero.
pub(crate) fn millis(environment: &Environment, name: &str) -> Option<Duration> {
    let number = environment.text(name)?.trim().parse().ok()?;
    (number > 0).then(|| Duration::from_millis(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_set_the_limits_and_nonsense_does_not() {
        let table = [
            (&[][..], 600_000, 300_000),
            (&[("API_TIMEOUT_MS", "5000")], 5000, 5000),
            (&[("API_TIMEOUT_MS", "x")], 600_000, 300_000),
            (&[("API_TIMEOUT_MS", "0")], 600_000, 300_000),
            (&[("API_TIMEOUT_MS", "-1")], 600_000, 300_000),
            (&[("CLAUDE_STREAM_IDLE_TIMEOUT_MS", "70")], 600_000, 70),
        ];
        for (variables, first_byte, idle) in table {
            let variables = variables.iter().map(|(n, v)| ((*n).into(), (*v).into()));
            let expected = Timeouts {
                first_byte: Duration::from_millis(first_byte),
                idle: Duration::from_millis(idle),
            };
            assert_eq!(
                Timeouts::from_environment(&Environment::new(variables)),
                expected
            );
        }
    }
}
