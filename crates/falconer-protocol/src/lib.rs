//! Wire types of the stream-json protocol that Claude Code style agents speak.
//!
//! One JSON object per line, both ways. [`RawMessage`] holds a line of the engine and decodes it
//! on demand into a [`Message`]; [`HostLine`] is a line of the host; [`to_line`] writes either.
//!
//! Nothing is lost: unknown types, subtypes, blocks and fields are kept and written back, and
//! `null` is told from absent. Reading is tolerant: a value that does not fit its field is kept
//! raw instead of failing the line.
//!
//! The protocol has no specification. Field documentation describes recorded sessions of the CLI,
//! the published types of its SDKs, and our own engine; where it says "observed as", recordings
//! are all there is. "Absent" and "`null`" both read as `None`.
//!
//! Engines add fields with every version, and so does this crate. All structs have [`Default`]
//! and a field `extra` for what they do not know, so end every struct literal in `..`:
//!
//! ```
//! use falconer_protocol::permission::Deny;
//!
//! let denial = Deny {
//!     message: "not on a Friday".into(),
//!     interrupt: Some(true),
//!     ..Deny::default()
//! };
//! # assert!(denial.tool_use_id.is_none());
//! ```
//!
//! A literal written that way still compiles when a field is added, which `#[non_exhaustive]`
//! would not allow at all. Enums are `#[non_exhaustive]` and keep unknown values.
//!
//! No I/O happens here.

#![deny(missing_docs)]

mod decode;
mod error;
mod id;
mod inbound;
mod json;
mod kind;
mod line;
mod number;
mod outbound;
mod raw;
mod repair;
mod scan;
mod wire;

pub mod agent;
pub mod command;
pub mod content;
pub mod control;
pub mod hook;
pub mod mcp;
pub mod message;
pub mod permission;
pub mod sandbox;
pub mod stream;
pub mod system;
pub mod tool;
pub mod usage;

pub use decode::{Decoded, from_value};
pub use error::Error;
pub use id::{
    AgentId, HookCallbackId, MessageUuid, RequestId, RunId, SessionId, TaskId, ToolUseId,
};
pub use inbound::Message;
pub use kind::{MessageKind, peek_kind};
pub use line::to_line;
pub use number::Number;
pub use outbound::{HostLine, Priority, UpdateEnvironmentVariables, UserInput};
pub use raw::RawMessage;
pub use wire::{Extra, Object};
