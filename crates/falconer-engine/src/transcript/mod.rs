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
mod fields;
mod fork;
mod index;
mod lines;
mod load;
mod messages;
mod open;
mod place;
mod project_key;
mod stamp;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use checkpoint::{Checkpoints, Rewind};
pub(crate) use cost::CostState;
pub(crate) use entry::{AssistantBlock, Attachment, Entry, PermissionDecision, Prompt, ToolResult};
#[cfg(test)]
pub(crate) use load::load;
pub(crate) use open::{Fork, OpenError, Opened, Origin, Persistence, Request, Transcript};
pub(crate) use place::{Place, config_dir};
pub(crate) use stamp::Stamp;
