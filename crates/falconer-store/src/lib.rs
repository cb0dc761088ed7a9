//! Sessions, events, approvals and rules on disk, behind one trait.
//!
//! [`Store`] says what is promised, in types of our own; [`SqliteStore`] keeps it in one file.
//! Two promises carry everything that is built on top: what a method returned `Ok` for is on the
//! disk, and everything that belongs to a live session is written only by the holder of its
//! lease. Readers are never in the way of the writer, nor it in theirs.
//!
//! ```
//! use std::time::Duration;
//! use falconer_store::{Append, Claim, EventQuery, NewEvent, NewSession, SqliteStore, Store};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! let store = SqliteStore::in_memory().await?;
//! let session = store.create_session(NewSession::new("auto", "/project")).await?.id;
//! let claim = store.claim(&session, &"this-process".into(), Duration::from_secs(30)).await?;
//! if let Claim::Claimed(lease) = claim {
//!     let event = NewEvent::new("turn.started", r#"{"seq":1}"#);
//!     let head = store.append(Append::new(session.clone(), lease.fence, 1, vec![event])).await?;
//!     assert_eq!(head, 1);
//! }
//! let page = store.events(&session, EventQuery::after(0)).await?;
//! assert_eq!(page.events[0].json, r#"{"seq":1}"#);
//! store.close().await?;
//! # Ok::<(), falconer_store::Error>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod error;
mod id;
mod query;
mod record;
mod sqlite;
mod store;
mod time;
mod watch;

pub use error::{Entity, Error, Result};
pub use falconer_event::Delivery;
pub use id::{
    AuditId, BlobHash, BlobId, Fence, MessageId, NodeId, RequestId, RuleId, SessionId, TokenHash,
    TokenId,
};
pub use query::{
    Archived, AuditPage, Cursor, EventPage, EventQuery, InputQuery, RequestQuery, RuleQuery,
    SessionPage, SessionQuery,
};
pub use record::{
    Append, Attachment, AuditRecord, BlobRecord, Claim, Counts, Death, Decided, DecisionRecord,
    EventRow, Guard, InputRecord, InputState, Inserted, LastTurn, Lease, LivePatch, Moved,
    NewAudit, NewBlob, NewEvent, NewInput, NewRequest, NewRule, NewSession, NewToken, Node, Owner,
    Process, RequestKind, RequestRecord, RequestState, RuleEffect, RulePatch, RuleRecord,
    RuleScope, Scope, SessionPatch, SessionRecord, SessionState, TokenRecord, TurnOutcome,
};
pub use sqlite::{Durability, SqliteOptions, SqliteStore};
pub use store::{MAX_BLOB_BYTES, MAX_EVENT_BYTES, MAX_PAGE, MAX_PAGE_BYTES, MAX_TEXT_BYTES, Store};
pub use time::Timestamp;
pub use watch::{Change, Watcher};
