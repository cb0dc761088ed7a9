//! Conditions of a search, and a page of its results.

use std::fmt;
use std::str::FromStr;

use crate::id::SessionId;
use crate::record::{AuditRecord, EventRow, InputState, RequestState, SessionRecord, SessionState};
use crate::time::Timestamp;

/// The choice of archived sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Archived {
    /// Only those that are not in it.
    #[default]
    Hide,
    /// Only those that are.
    Only,
    /// All.
    Any,
}

/// A search for sessions that meet every condition, the one that changed last first.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionQuery {
    /// In one of these states; empty means any.
    pub states: Vec<SessionState>,
    /// Title or directory contain this; upper and lower case of ASCII letters are the same.
    pub text: Option<String>,
    /// With this id in the engine's own files.
    pub native_session: Option<String>,
    /// Copies of this session.
    pub parent: Option<SessionId>,
    /// In the archive or not.
    pub archived: Archived,
    /// Number of sessions at most; never more than [`MAX_PAGE`](crate::MAX_PAGE).
    pub limit: usize,
    /// After this one: [`SessionPage::next`] of the page before.
    pub cursor: Option<Cursor>,
}

impl Default for SessionQuery {
    fn default() -> Self {
        Self {
            states: Vec::new(),
            text: None,
            native_session: None,
            parent: None,
            archived: Archived::Hide,
            limit: 100,
            cursor: None,
        }
    }
}

/// Some sessions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<SessionRecord>,
    /// Start of the next page; `None` if this was the last.
    pub next: Option<Cursor>,
}

/// A place in the list of sessions. Its text is for handing back, not for reading.
///
/// A session that changes while pages are read moves to the front: it may be seen twice, and is
/// never missed by a reader that also watches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub(crate) updated_at: Timestamp,
    pub(crate) id: SessionId,
}

impl Cursor {
    /// The place of this session.
    pub fn at(session: &SessionRecord) -> Self {
        Self {
            updated_at: session.updated_at,
            id: session.id.clone(),
        }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.updated_at.as_micros(), self.id)
    }
}

impl FromStr for Cursor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no place in a list of sessions");
        let (micros, id) = text.split_once('.').ok_or_else(wrong)?;
        let micros = micros.parse().map_err(|_| wrong())?;
        Ok(Self {
            updated_at: Timestamp::from_micros(micros).ok_or_else(wrong)?,
            id: id.into(),
        })
    }
}

/// A search for events of a session, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventQuery {
    /// Those with a higher number.
    pub after: u64,
    /// Number of events at most; never more than [`MAX_PAGE`](crate::MAX_PAGE).
    pub limit: usize,
    /// Of these types; empty means any.
    pub kinds: Vec<String>,
}

impl EventQuery {
    /// Events after this number.
    pub fn after(seq: u64) -> Self {
        Self {
            after: seq,
            limit: 500,
            kinds: Vec::new(),
        }
    }

    /// Sets the number of events at most.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Of these types.
    #[must_use]
    pub fn kinds(mut self, kinds: Vec<String>) -> Self {
        self.kinds = kinds;
        self
    }
}

/// Some events of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventPage {
    /// In order.
    pub events: Vec<EventRow>,
    /// The number of the last event of the session when the page was read. Read in the same
    /// snapshot: without a filter on types and without `more`, the last event here has it.
    pub head: u64,
    /// `true` if there are more that match; ask again after the last one here.
    pub more: bool,
}

/// A search for messages of a session, in the order they were stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct InputQuery {
    /// In one of these states; empty means any.
    pub states: Vec<InputState>,
}

impl InputQuery {
    /// Those in one of these states.
    pub fn states(states: impl Into<Vec<InputState>>) -> Self {
        Self {
            states: states.into(),
        }
    }
}

/// A search for requests, in the order they were stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RequestQuery {
    /// Of this session; `None` means all sessions.
    pub session: Option<SessionId>,
    /// In one of these states; empty means any.
    pub states: Vec<RequestState>,
}

impl RequestQuery {
    /// Requests nobody answered, in all sessions.
    pub fn pending() -> Self {
        Self {
            session: None,
            states: vec![RequestState::Pending],
        }
    }

    /// Of this session.
    #[must_use]
    pub fn session(mut self, session: SessionId) -> Self {
        self.session = Some(session);
        self
    }

    /// In one of these states.
    #[must_use]
    pub fn states(mut self, states: impl Into<Vec<RequestState>>) -> Self {
        self.states = states.into();
        self
    }
}

/// A search for rules, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RuleQuery {
    /// All.
    #[default]
    All,
    /// Those that hold in a session.
    Covering {
        /// The session.
        session: SessionId,
        /// The directory it works in.
        cwd: String,
    },
}

/// Some audit records.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AuditPage {
    /// Oldest first.
    pub records: Vec<AuditRecord>,
    /// `true` if there are more; ask again after the last one here.
    pub more: bool,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Cursor;
    use crate::time::Timestamp;

    proptest! {
        #[test]
        fn a_cursor_survives_its_text(micros in -1_000_000_000_000_000_i64.., id in ".*") {
            if let Some(updated_at) = Timestamp::from_micros(micros) {
                let cursor = Cursor { updated_at, id: id.into() };
                prop_assert_eq!(cursor.to_string().parse::<Cursor>(), Ok(cursor));
            }
        }

        #[test]
        fn what_is_no_cursor_is_refused(text in "[^.]*|[a-z.]*|[1-9][0-9]{19,}[.].*") {
            prop_assert!(text.parse::<Cursor>().is_err());
        }
    }
}
