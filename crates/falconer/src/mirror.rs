//! Sessions outside of the local disk: the store contract, the mirror, and the way back.
//!
//! The engine always writes its transcripts to disk. With a [`SessionStore`], a [`Mirror`]
//! copies them there while the session runs, [`StoredSessions`] reads and changes them
//! there, and [`materialize`] brings one back to disk so that it can be resumed.

pub use falconer_transcript::mirror::{
    Capabilities, DirectorySessionStore, FlushMode, Imported, InMemorySessionStore,
    MaterializeOptions, Materialized, Mirror, MirrorError, MirrorHandle, MirrorOptions, SessionKey,
    SessionListing, SessionStore, SessionStoreEntry, SessionStoreError, SessionStoreFuture,
    StoredSessions, SummaryEntry, conformance, fold_session_summary, import_session_to_store,
    materialize,
};
