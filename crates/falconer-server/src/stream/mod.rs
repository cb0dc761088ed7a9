//! Following what happens: one session (`feed`), all of them (`overview`), as server-sent events
//! (`sse`) or over a WebSocket (`socket`).
//!
//! What is sent is read from the store. A wake-up (`wake`) only says that it is time to look, so
//! a lost one costs time and never an event.

pub(crate) mod feed;
pub(crate) mod frame;
pub(crate) mod overview;
pub(crate) mod socket;
pub(crate) mod sse;
pub(crate) mod wake;
