//! Sessions in process on a scripted model: what the official CLI did, and what we promise.

mod bounds;
mod cassette;
mod drive;
mod hooks;
mod promises;
mod replay;
mod unsupported;
