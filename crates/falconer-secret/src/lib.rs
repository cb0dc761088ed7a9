//! Secrets, in one place: which variables carry them, and how they are taken out of texts.
//!
//! Everything that Falconer writes or sends goes through a [`Redactor`]: it knows secrets by
//! value, also encoded, and by pattern. [`without_keys`] makes the environment of a child process
//! that was not given a key by name; an [`Environment`] holds the variables of a session and the
//! redactor that learns their secrets.

mod environment;
mod form;
mod key;
mod masked_writer;
mod name;
mod panics;
mod redactor;
mod unfinished;

pub use environment::{Environment, Variables, for_children};
pub use key::{KEEP_VARIABLE, Kept, carries_secret, is_key, without_keys};
pub use masked_writer::MaskedWriter;
pub use name::is_secret_name;
pub use panics::redact_panics;
pub use redactor::{REDACTED, Redactor};
