//! Lines that a host sends to an engine.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::content::Content;
use crate::control::{ControlCancelRequest, ControlResponse, HostControlRequest};
use crate::decode::{Decoded, decode};
use crate::error::Error;
use crate::id::{MessageUuid, RequestId, SessionId, ToolUseId};
use crate::message::{KeepAliveMessage, MessageOrigin, UserBody};
use crate::wire::{open_enum, tagged_enum, wire_struct};

tagged_enum! {
    /// A line of the host.
    pub enum HostLine by "type" {
        /// A prompt.
        User(Box<UserInput>) = "user",
        /// A request that the engine answers.
        ControlRequest(Box<HostControlRequest>) = "control_request",
        /// The answer to a request of the engine.
        ControlResponse(Box<ControlResponse>) = "control_response",
        /// A request is taken back.
        ControlCancelRequest(ControlCancelRequest) = "control_cancel_request",
        /// A sign of life.
        KeepAlive(KeepAliveMessage) = "keep_alive",
        /// Variables to set.
        UpdateEnvironmentVariables(UpdateEnvironmentVariables) = "update_environment_variables",
    }
}

impl HostLine {
    /// Reads a line.
    ///
    /// Fails only if it is not a JSON object; lines that do not fit are kept as `Unknown`.
    pub fn decode(line: &[u8]) -> Result<Self, Error> {
        Self::decode_with_notes(line).map(|decoded| decoded.message)
    }

    /// Reads a line and notes what did not fit.
    pub fn decode_with_notes(line: &[u8]) -> Result<Decoded<Self>, Error> {
        if !line.trim_ascii_start().starts_with(b"{") {
            return Err(Error::not_an_object(line));
        }
        decode(line, None)
    }
}

wire_struct! {
    /// A prompt.
    pub struct UserInput ["type" = "user"] {
        /// Role and content of the prompt.
        pub message: UserBody,
        /// `null` in the main conversation, which is the only one a host can write to.
        pub parent_tool_use_id ? ToolUseId,
        /// Not looked at by the CLI; a wrong one does no harm.
        pub session_id ? SessionId,
        /// Id that makes the prompt traceable: lifecycle lines, rewind, cancel. The engine drops a
        /// prompt whose id it has seen.
        pub uuid ? MessageUuid,
        /// Place in the queue; absent counts as [`Priority::Next`].
        pub priority ? Priority,
        /// `false` keeps the prompt for the next turn without asking the model.
        pub should_query ? bool => "shouldQuery",
        /// `true` takes the text as it is: no slash commands, no `@path`.
        pub client_composed ? bool,
        /// Cause of the prompt, if it is not a person at the host.
        pub origin ? MessageOrigin,
        /// ISO 8601 time at which the prompt was written, for display.
        pub timestamp ? String,
        /// `true` if a program wrote the prompt.
        pub is_synthetic ? bool => "isSynthetic",
        /// Structured result, if the content is a tool result.
        pub tool_use_result ? Value,
        /// Pasted texts to append after the typed one, each a string or a list of blocks.
        pub pasted_content ? Vec<Value>,
        /// Passages of the content that were pasted; the text itself stays unchanged.
        pub inline_pastes ? Vec<String>,
    }
}

impl UserInput {
    /// A prompt.
    pub fn new(content: impl Into<Content>) -> Self {
        Self {
            message: UserBody::new(content),
            ..Self::default()
        }
    }

    /// Makes a prompt of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(text.into())
    }
}

open_enum! {
    /// The point at which a prompt gets its turn.
    pub enum Priority {
        /// After the running turn, or folded into it between two tool calls.
        Next = "next",
        /// At once; the running turn is ended.
        Now = "now",
        /// After the prompts that are already queued.
        Later = "later",
    }
}

wire_struct! {
    /// Variables to set; the engine takes only those it allows.
    pub struct UpdateEnvironmentVariables ["type" = "update_environment_variables"] {
        /// Names and new values; names the engine does not allow are ignored.
        pub variables: BTreeMap<String, String>,
        /// Chosen by the host if it wants the update to be acknowledged.
        pub request_id ? RequestId,
    }
}
