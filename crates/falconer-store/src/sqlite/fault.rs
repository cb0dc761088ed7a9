//! From what SQLite says to what a caller can act on.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::error::Error;

/// Facts for errors: the database, and the time that was waited for it.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) path: Arc<Path>,
    pub(super) patience: Duration,
}

impl Place {
    /// The database is damaged, or not ours.
    pub(super) fn corrupt(&self, detail: impl Into<String>) -> Error {
        Error::Corrupt {
            path: self.path(),
            detail: detail.into(),
        }
    }

    pub(super) fn busy(&self) -> Error {
        Error::Busy {
            waited: self.patience,
        }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.path.to_path_buf()
    }
}

/// The reason a change or a read did not work, inside.
#[derive(Debug)]
pub(super) enum Fault {
    /// It was refused before anything was changed; others in the same batch are not concerned.
    Refused(Error),
    /// A row that no version of ours wrote.
    Unreadable(String),
    /// The database failed.
    Sql(sqlx::Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

// Codes of SQLite, <https://www.sqlite.org/rescode.html>.
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const READ_ONLY: i32 = 8;
const IO: i32 = 10;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANNOT_OPEN: i32 = 14;
const NOT_A_DATABASE: i32 = 26;
/// The index of the log could not grow: the disk is full.
const SHARED_MEMORY_SIZE: i32 = IO | (19 << 8);

impl Fault {
    /// The error for the caller; `during` is a verb that the path follows.
    pub(super) fn into_error(self, place: &Place, during: &str) -> Error {
        match self {
            Self::Refused(error) => error,
            Self::Unreadable(detail) => place.corrupt(detail),
            Self::Sql(error) => from_sql(error, place, during),
        }
    }

    /// Returns `true` if somebody else holds the database.
    pub(super) fn is_busy(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        code(error).is_some_and(|code| code & 0xff == BUSY)
    }

    /// Returns `true` if the database as a whole is in trouble, so that to try each change of a
    /// failed batch alone would only fail again.
    pub(super) fn concerns_everybody(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Unreadable(_) => false,
            Self::Sql(error) => match code(error) {
                Some(code) => matches!(
                    code & 0xff,
                    BUSY | LOCKED | READ_ONLY | IO | CORRUPT | FULL | CANNOT_OPEN | NOT_A_DATABASE
                ),
                None => true,
            },
        }
    }
}

fn code(error: &sqlx::Error) -> Option<i32> {
    error.as_database_error()?.code()?.parse().ok()
}

fn from_sql(error: sqlx::Error, place: &Place, during: &str) -> Error {
    let path = place.path();
    let detail = match error.as_database_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    };
    match (&error, code(&error)) {
        (_, Some(SHARED_MEMORY_SIZE)) => Error::Full { path },
        (_, Some(code)) => match code & 0xff {
            BUSY | LOCKED => place.busy(),
            FULL => Error::Full { path },
            READ_ONLY | CANNOT_OPEN => Error::ReadOnly { path, detail },
            CORRUPT | NOT_A_DATABASE => place.corrupt(detail),
            _ => io(error, place, during),
        },
        (sqlx::Error::PoolTimedOut, None) => place.busy(),
        (sqlx::Error::PoolClosed, None) => Error::Closed,
        (
            sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::ColumnNotFound(_)
            | sqlx::Error::Decode(_),
            None,
        ) => place.corrupt(detail),
        (_, None) => io(error, place, during),
    }
}

fn io(error: sqlx::Error, place: &Place, during: &str) -> Error {
    Error::Io {
        during: format!("{during} {}", place.path.display()),
        source: Arc::new(error),
    }
}
