//! Reading columns.

use std::str::FromStr;

use serde::de::DeserializeOwned;
use sqlx::Row as _;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use crate::error::{Entity, Error};
use crate::store::MAX_TEXT_BYTES;
use crate::time::Timestamp;

use super::fault::Fault;

/// A row, column by column. What cannot be read is a fault that names the column.
pub(super) trait Columns {
    /// Text.
    fn text(&self, column: &str) -> Result<String, Fault>;
    /// Text that may be missing.
    fn maybe_text(&self, column: &str) -> Result<Option<String>, Fault>;
    /// A number that is not negative.
    fn count(&self, column: &str) -> Result<u64, Fault>;
    /// Yes or no.
    fn flag(&self, column: &str) -> Result<bool, Fault>;
    /// A time.
    fn time(&self, column: &str) -> Result<Timestamp, Fault>;
    /// A time that may be missing.
    fn maybe_time(&self, column: &str) -> Result<Option<Timestamp>, Fault>;
    /// One of a few words.
    fn word<T: FromStr<Err = String>>(&self, column: &str) -> Result<T, Fault>;
    /// JSON.
    fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T, Fault>;
    /// JSON that may be missing.
    fn maybe_json<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>, Fault>;
}

impl Columns for SqliteRow {
    fn text(&self, column: &str) -> Result<String, Fault> {
        Ok(self.try_get(column)?)
    }

    fn maybe_text(&self, column: &str) -> Result<Option<String>, Fault> {
        Ok(self.try_get(column)?)
    }

    fn count(&self, column: &str) -> Result<u64, Fault> {
        let number: i64 = self.try_get(column)?;
        u64::try_from(number).map_err(|_| unreadable(column, &format!("{number} is negative")))
    }

    fn flag(&self, column: &str) -> Result<bool, Fault> {
        Ok(self.try_get(column)?)
    }

    fn time(&self, column: &str) -> Result<Timestamp, Fault> {
        self.maybe_time(column)?
            .ok_or_else(|| unreadable(column, "there is no time"))
    }

    fn maybe_time(&self, column: &str) -> Result<Option<Timestamp>, Fault> {
        let micros: Option<i64> = self.try_get(column)?;
        let Some(micros) = micros else {
            return Ok(None);
        };
        let time = Timestamp::from_micros(micros);
        let time = time.ok_or_else(|| unreadable(column, &format!("{micros} is no time")))?;
        Ok(Some(time))
    }

    fn word<T: FromStr<Err = String>>(&self, column: &str) -> Result<T, Fault> {
        let text = self.text(column)?;
        text.parse().map_err(|why: String| unreadable(column, &why))
    }

    fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T, Fault> {
        self.maybe_json(column)?
            .ok_or_else(|| unreadable(column, "there is no JSON"))
    }

    fn maybe_json<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>, Fault> {
        let Some(text) = self.maybe_text(column)? else {
            return Ok(None);
        };
        let read = serde_json::from_str(&text);
        read.map(Some)
            .map_err(|error| unreadable(column, &error.to_string()))
    }
}

fn unreadable(column: &str, why: &str) -> Fault {
    Fault::Unreadable(format!("column {column}: {why}"))
}

/// A number as SQLite has them.
pub(super) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// JSON as text. Our own types, and values that came from JSON, always have one.
pub(super) fn json(value: &impl serde::Serialize) -> Result<String, Fault> {
    let text = serde_json::to_string(value);
    text.map_err(|error| Error::Invalid(format!("the value has no JSON: {error}")).into())
}

/// Refuses texts that are too large together.
pub(super) fn check_texts<'a>(
    what: Entity,
    texts: impl IntoIterator<Item = &'a str>,
) -> Result<(), Error> {
    let size = texts.into_iter().map(str::len).sum();
    if size > MAX_TEXT_BYTES {
        return Err(Error::TooLarge {
            what,
            size,
            limit: MAX_TEXT_BYTES,
        });
    }
    Ok(())
}

/// Words as a JSON list, for `IN (SELECT value FROM json_each(?))`.
pub(super) fn list<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    serde_json::Value::from(words).to_string()
}

/// The revision of the database.
pub(super) async fn revision(connection: &mut SqliteConnection) -> Result<i64, Fault> {
    let revision = sqlx::query_scalar("SELECT rev FROM meta");
    Ok(revision.fetch_one(connection).await?)
}
