//! What the logs of both executables share: lines without secrets, files of a limited size.

#[path = "file.rs"]
mod file;
#[path = "layer.rs"]
mod layer;

pub(crate) use file::{LARGEST, LogFile};
pub(crate) use layer::{Format, Lines, PANIC, log_panics};
