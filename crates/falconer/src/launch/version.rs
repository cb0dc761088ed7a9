//! The version of a `claude` executable: asking for it, reading it, remembering it.

use std::cmp::Ordering;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use crate::error::Error;

mod ask;
mod cache;
pub(crate) mod feature;

/// The version this crate is tested against.
pub const TESTED_CLI_VERSION: CliVersion = CliVersion::new(2, 1, 325);

/// The oldest version that speaks the control protocol this crate relies on.
pub const OLDEST_CLI_VERSION: CliVersion = CliVersion::new(2, 0, 0);

/// A version of the CLI, as in `2.1.325`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CliVersion {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number.
    pub patch: u32,
    /// Part after a `-`, as in `2.2.0-beta.1`; sorts before the same version without.
    pub pre_release: Option<String>,
}

impl CliVersion {
    /// A released version.
    #[must_use]
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
            pre_release: None,
        }
    }
}

impl FromStr for CliVersion {
    type Err = UnreadableVersion;

    /// Reads `2.1.325`, `v2.1.325` and the output of `claude --version`.
    fn from_str(text: &str) -> Result<Self, UnreadableVersion> {
        parse(text).ok_or_else(|| UnreadableVersion {
            text: text.chars().take(200).collect(),
        })
    }
}

fn parse(text: &str) -> Option<CliVersion> {
    let word = text.split_whitespace().next()?;
    let word = word.strip_prefix('v').unwrap_or(word);
    let (word, _build) = word.split_once('+').unwrap_or((word, ""));
    let (numbers, pre_release) = match word.split_once('-') {
        Some((numbers, pre)) if !pre.is_empty() => (numbers, Some(pre.to_owned())),
        Some(_) => return None,
        None => (word, None),
    };
    let mut parts = numbers.split('.').map(|part| part.parse::<u32>().ok());
    let version = CliVersion {
        major: parts.next()??,
        minor: parts.next()??,
        patch: parts.next()??,
        pre_release,
    };
    parts.next().is_none().then_some(version)
}

impl fmt::Display for CliVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        match &self.pre_release {
            Some(pre) => write!(f, "-{pre}"),
            None => Ok(()),
        }
    }
}

impl Ord for CliVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| {
            match (&self.pre_release, &other.pre_release) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(ours), Some(theirs)) => ours.cmp(theirs),
            }
        })
    }
}

impl PartialOrd for CliVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A text that is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a version such as 2.1.325")]
pub struct UnreadableVersion {
    /// The beginning of the text.
    pub text: String,
}

/// The reason the version of an executable could not be learned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VersionProblem {
    /// It could not be started or read.
    #[error("it could not be run: {0}")]
    Run(#[from] std::io::Error),
    /// It did not answer in time and was stopped.
    #[error("it did not answer within {0:?}")]
    TimedOut(Duration),
    /// It failed.
    #[error("it ended with {status}: {output}")]
    Failed {
        /// Its exit status.
        status: std::process::ExitStatus,
        /// The beginning of what it wrote.
        output: String,
    },
    /// It answered something else.
    #[error(transparent)]
    Unreadable(#[from] UnreadableVersion),
}

/// Limit on `--version`; it takes 20 ms on an idle machine.
pub(crate) const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

/// Asks an executable for its version, at most once per file and process.
///
/// # Errors
///
/// [`Error::CliVersion`] if it cannot be run, does not answer in time or answers
/// something else.
pub(crate) async fn version_of(path: &Path, timeout: Duration) -> Result<CliVersion, Error> {
    let path = path.to_owned();
    let asked = path.clone();
    let outcome = tokio::task::spawn_blocking(move || remembered(&asked, timeout)).await;
    let outcome = outcome.unwrap_or_else(|error| Err(std::io::Error::other(error).into()));
    outcome.map_err(|problem| Error::CliVersion { path, problem })
}

fn remembered(path: &Path, timeout: Duration) -> Result<CliVersion, VersionProblem> {
    let key = cache::Key::of(path)?;
    if let Some(version) = cache::get(&key) {
        return Ok(version);
    }
    let version = ask::ask(path, timeout)?;
    cache::put(key, version.clone());
    Ok(version)
}

#[cfg(test)]
mod tests;
