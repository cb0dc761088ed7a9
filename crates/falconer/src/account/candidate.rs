//! One place where a credential could be, and what became of it.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::document::FileProblem;

/// A place that was looked at. It never holds the value found there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// Place where it was found.
    pub source: Source,
    /// Fate of the candidate.
    pub verdict: Verdict,
}

/// A place where a credential can be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum Source {
    /// Given by the caller.
    Explicit,
    /// A variable of the environment.
    Variable {
        /// Its name.
        name: &'static str,
    },
    /// A variable in the `env` section of the user's settings.
    HostSettings {
        /// The file.
        file: PathBuf,
        /// The variable.
        name: &'static str,
    },
    /// A field of a file; no field if the file is of no use at all.
    File {
        /// The file.
        file: PathBuf,
        /// The field.
        field: Option<&'static str>,
    },
    /// A login that the official CLI stored in a file.
    Login {
        /// The file.
        file: PathBuf,
    },
    /// Whatever the official CLI can make of its own login, for example by renewing it.
    CliLogin,
}

/// The fate of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
#[non_exhaustive]
pub enum Verdict {
    /// This one is used.
    Chosen,
    /// It could be used, but an earlier one was chosen.
    Usable,
    /// It cannot be used.
    Rejected {
        /// Reason.
        reason: Rejection,
    },
}

/// The reason a candidate cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "reason")]
#[non_exhaustive]
pub enum Rejection {
    /// Nothing is there.
    #[error("not set")]
    NotSet,
    /// The file cannot be used.
    #[error("{problem}")]
    File {
        /// Reason.
        problem: FileProblem,
    },
    /// The file has none of the fields that hold keys.
    #[error("contains no key")]
    NoKey,
    /// It is no key of the Anthropic API.
    #[error("does not begin with sk-ant-")]
    WrongPrefix,
    /// It begins like a key, but contains blanks or unprintable characters, or is too long.
    #[error("not a valid key")]
    Malformed,
    /// The token has run out.
    #[error("expired at {at}")]
    Expired {
        /// Time of expiry, in UTC.
        at: String,
    },
    /// It does not say when the token runs out.
    #[error("has an unreadable expiry time")]
    UnknownExpiry,
}

impl Rejection {
    pub(super) fn verdict(self) -> Verdict {
        Verdict::Rejected { reason: self }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Explicit => f.write_str("the key given"),
            Self::Variable { name } => write!(f, "variable {name}"),
            Self::HostSettings { file, name } => {
                write!(f, "{name} in the env section of {}", file.display())
            }
            Self::File { file, field: None } => write!(f, "{}", file.display()),
            Self::File {
                file,
                field: Some(field),
            } => write!(f, "{field} in {}", file.display()),
            Self::Login { file } => write!(f, "the login in {}", file.display()),
            Self::CliLogin => f.write_str("the login of the CLI"),
        }
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.source)?;
        match &self.verdict {
            Verdict::Chosen => f.write_str("used"),
            Verdict::Usable => f.write_str("usable, but an earlier one is used"),
            Verdict::Rejected { reason } => write!(f, "{reason}"),
        }
    }
}
