//! The error of session stores.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

/// Why a session store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionStoreError {
    /// The store does not have this optional method.
    #[error("the session store cannot {method}")]
    Unsupported {
        /// The method.
        method: &'static str,
    },
    /// There is no space left; trying again at once does not help.
    #[error("the session store is full: {source}")]
    Full {
        /// What the storage said.
        source: io::Error,
    },
    /// The store did not answer in time.
    #[error("the session store did not {doing} within {after:?}")]
    Timeout {
        /// What was asked.
        doing: &'static str,
        /// How long was waited.
        after: Duration,
    },
    /// A text that should be an entry is no JSON object.
    #[error("not a transcript entry: {reason}")]
    InvalidEntry {
        /// What is wrong with it.
        reason: String,
    },
    /// Anything else that went wrong in the store.
    #[error("the session store failed: {source}")]
    Failed {
        /// What the store said.
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl SessionStoreError {
    /// Any failure of a store; one that means a full disk becomes [`SessionStoreError::Full`].
    ///
    /// ```
    /// use falconer::mirror::SessionStoreError;
    ///
    /// let error = SessionStoreError::failed("connection reset");
    /// assert!(error.is_retryable());
    /// ```
    pub fn failed(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let source = source.into();
        match source.downcast::<io::Error>() {
            Ok(error) => Self::from(*error),
            Err(source) => Self::Failed { source },
        }
    }

    /// Whether trying the same again soon may work.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Failed { .. } => true,
            // The first attempt may still land, and a second would run beside it.
            Self::Timeout { .. } => false,
            Self::Unsupported { .. } | Self::Full { .. } | Self::InvalidEntry { .. } => false,
        }
    }
}

impl From<io::Error> for SessionStoreError {
    fn from(source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { source },
            _ => Self::Failed {
                source: Box::new(source),
            },
        }
    }
}
