//! Sessions on disk, in the format and place of the official CLI.
//!
//! A transcript is a file of JSON lines, one entry each, that only grows. Entries of the
//! conversation name their parent, so they form a tree: a session that was taken up at an
//! earlier message has branches. [`Transcript`] writes, [`load`] reads.

mod checkpoint;
mod conversation;
mod cost;
mod dropped;
mod entry;
mod facts;
mod fields;
mod fork;
mod load;
mod messages;
mod open;
mod place;
mod stamp;

#[cfg(test)]
mod tests;

pub use checkpoint::{Checkpoints, Rewind, RewindError};
pub use cost::CostState;
pub use entry::{
    AssistantEntry, AttachmentEntry, Compaction, Entry, PromptEntry, RecordedDecision,
    ToolResultEntry,
};
pub use load::Loaded;
#[cfg(test)]
use load::load;
pub use open::{Beginning, Fork, OpenError, OpenRequest, Opened, Persistence, Transcript};
pub use place::{SessionPlace, config_dir};
pub use stamp::Stamp;
