//! What goes wrong with an engine.

use std::error::Error;

use falconer_event::Failure;

/// The engine refused a command, failed or did not answer.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct EngineError {
    text: String,
    is_retryable: bool,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl EngineError {
    /// An error with these words.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_retryable: false,
            source: None,
        }
    }

    /// An error that is told as `error` tells it.
    pub fn of(error: impl Error + Send + Sync + 'static) -> Self {
        Self {
            text: error.to_string(),
            is_retryable: false,
            source: Some(Box::new(error)),
        }
    }

    /// Says whether the same command may well succeed later.
    #[must_use]
    pub fn retryable(mut self, is_retryable: bool) -> Self {
        self.is_retryable = is_retryable;
        self
    }

    /// Returns `true` if the same command may well succeed later.
    pub fn is_retryable(&self) -> bool {
        self.is_retryable
    }

    /// Returns the error of the engine's own kind.
    pub fn into_source<E: Error + 'static>(self) -> Result<E, Self> {
        let text = self.text;
        let is_retryable = self.is_retryable;
        let back = |source| Self {
            text,
            is_retryable,
            source,
        };
        match self.source.map(|source| source.downcast::<E>()) {
            Some(Ok(error)) => Ok(*error),
            Some(Err(source)) => Err(back(Some(source))),
            None => Err(back(None)),
        }
    }
}

/// An engine that did not start, or ended by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopped {
    /// Why; see [`RunFailure`](crate::RunFailure) for the classes.
    pub failure: Failure,
    /// The end of what it wrote to stderr.
    pub stderr: Vec<String>,
}

impl Stopped {
    /// An end for this reason.
    pub fn new(failure: Failure) -> Self {
        Self {
            failure,
            stderr: Vec::new(),
        }
    }

    /// Adds the end of stderr.
    #[must_use]
    pub fn stderr(mut self, lines: Vec<String>) -> Self {
        self.stderr = lines;
        self
    }
}
