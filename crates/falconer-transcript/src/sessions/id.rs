//! The ids that become file names, checked so that they stay one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::error::SessionError;

/// The id of a session: opaque text that is safe as one file name.
///
/// The CLI uses UUIDs. Other writers may use anything without a path separator.
///
/// ```
/// use falconer::sessions::SessionId;
///
/// assert!("0198b0f2-7d4e-7000-8000-000000000001".parse::<SessionId>().is_ok());
/// assert!("../secrets".parse::<SessionId>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Takes any text that is safe as one file name.
    pub fn new(id: impl Into<String>) -> Result<Self, SessionError> {
        let id = id.into();
        check_file_name("session id", &id)?;
        Ok(Self(id))
    }

    /// A new random id, a UUID as the CLI expects it.
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is a UUID; only those are listed.
    pub(crate) fn is_uuid(text: &str) -> bool {
        text.len() == 36
            && text.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SessionId {
    type Err = SessionError;

    fn from_str(id: &str) -> Result<Self, SessionError> {
        Self::new(id)
    }
}

impl TryFrom<String> for SessionId {
    type Error = SessionError;

    fn try_from(id: String) -> Result<Self, SessionError> {
        Self::new(id)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

/// Refuses text that would leave its directory when used as a file name.
pub(crate) fn check_file_name(what: &'static str, id: &str) -> Result<(), SessionError> {
    let reason = match id {
        "" => "it is empty",
        "." | ".." => "it names a directory",
        id if id.len() > 240 => "it is longer than 240 bytes",
        id if id.contains(['/', '\\']) => "it contains a path separator",
        id if id.chars().any(char::is_control) => "it contains a control character",
        _ => return Ok(()),
    };
    Err(SessionError::InvalidId {
        what,
        id: id.to_owned(),
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_would_leave_their_directory_are_refused() {
        for bad in ["", ".", "..", "a/b", "/etc", "a\\b", "../x", "a\0b", "a\nb"] {
            assert!(SessionId::new(bad).is_err(), "{bad:?} was accepted");
        }
        assert!(SessionId::new("x".repeat(241)).is_err());
        for good in ["abc", "0198b0f2-7d4e-7000-8000-000000000001", "..a", "ä"] {
            assert!(SessionId::new(good).is_ok(), "{good:?} was refused");
        }
    }
}
