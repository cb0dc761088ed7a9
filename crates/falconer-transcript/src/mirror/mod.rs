//! Sessions outside of the local disk: the store contract, the mirror, and the way back.
//!
//! The engine always writes its transcripts to disk. With a [`SessionStore`], a [`Mirror`]
//! copies them there while the session runs, [`StoredSessions`] reads and changes them
//! there, and [`materialize`] brings one back to disk so that it can be resumed.

mod contract;
mod directory;
mod entry;
mod import;
mod key;
mod live;
mod materialize;
mod memory;
mod seed;
mod stored;
mod stored_lines;
mod summary;

pub mod conformance;

pub use crate::store_error::SessionStoreError;
pub use contract::{Capabilities, SessionListing, SessionStore, SessionStoreFuture};
pub use directory::DirectorySessionStore;
pub use entry::SessionStoreEntry;
pub use import::{Imported, import_session_to_store};
pub use key::SessionKey;
pub use live::{FlushMode, Mirror, MirrorError, MirrorHandle, MirrorOptions};
pub use materialize::{MaterializeOptions, Materialized, materialize};
pub use memory::InMemorySessionStore;
pub use seed::copy_login;
pub use stored::StoredSessions;
pub use summary::{SummaryEntry, fold_session_summary};
