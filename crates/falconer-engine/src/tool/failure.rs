//! Calls that came to nothing.

use super::Outcome;

/// Why a call came to nothing; the text goes to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The call makes no sense as it stands, so that nothing was tried.
    Refused(String),
    /// It was tried and did not work.
    Failed(String),
}

impl Failure {
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }

    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self::Failed(text.into())
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(text) => Self::refused(text),
            Failure::Failed(text) => Self::error(text),
        }
    }
}
