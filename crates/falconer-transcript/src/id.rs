//! Ids that become file names, checked so that they stay one.

use falconer_protocol::{MessageUuid, SessionId};
use uuid::Uuid;

use crate::error::SessionError;

/// Returns a new session id, a UUID as the CLI expects it.
///
/// ```
/// let id = falconer::sessions::new_session_id();
/// assert!(falconer::sessions::check_session_id(&id).is_ok());
/// ```
pub fn new_session_id() -> SessionId {
    SessionId::new(Uuid::new_v4().to_string())
}

/// Returns a new id for an entry.
pub(crate) fn new_uuid() -> MessageUuid {
    MessageUuid::new(Uuid::new_v4().to_string())
}

/// Refuses a session id that is not safe as one file name.
///
/// The CLI uses UUIDs. Other writers may use anything without a path separator. Everything here
/// that turns an id into a path checks it first.
///
/// # Errors
/// [`SessionError::InvalidId`] with the reason.
///
/// ```
/// use falconer::sessions::{SessionId, check_session_id};
///
/// assert!(check_session_id(&SessionId::new("0198b0f2-7d4e-7000-8000-000000000001")).is_ok());
/// assert!(check_session_id(&SessionId::new("../secrets")).is_err());
/// ```
pub fn check_session_id(id: &SessionId) -> Result<(), SessionError> {
    check_file_name("session id", id.as_str())
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

/// Returns whether a text has the form of the CLI's session ids.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_would_leave_their_directory_are_refused() {
        let check = |id: &str| check_session_id(&SessionId::new(id));
        for bad in ["", ".", "..", "a/b", "/etc", "a\\b", "../x", "a\0b", "a\nb"] {
            assert!(check(bad).is_err(), "{bad:?} was accepted");
        }
        assert!(check(&"x".repeat(241)).is_err());
        for good in ["abc", "0198b0f2-7d4e-7000-8000-000000000001", "..a", "ä"] {
            assert!(check(good).is_ok(), "{good:?} was refused");
        }
    }
}
