//! What a host says to an engine.

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
        /// A question.
        ControlRequest(Box<HostControlRequest>) = "control_request",
        /// The answer to a question of the engine.
        ControlResponse(Box<ControlResponse>) = "control_response",
        /// A question is no longer asked.
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
    /// Fails only if it is no JSON object; what does not fit is kept as `Unknown`.
    pub fn decode(line: &[u8]) -> Result<Self, Error> {
        Self::decode_with_notes(line).map(|decoded| decoded.message)
    }

    /// Reads a line and says how well it went.
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
        pub message: UserBody,
        pub parent_tool_use_id ? ToolUseId,
        /// Not looked at by the CLI.
        pub session_id ? SessionId,
        /// Makes the prompt traceable: lifecycle lines, rewind, cancel. A repeated one is dropped.
        pub uuid ? MessageUuid,
        pub priority ? Priority,
        /// `false` keeps the prompt without asking the model.
        pub should_query ? bool => "shouldQuery",
        /// `true` takes the text as it is: no commands, no `@path`.
        pub client_composed ? bool,
        pub origin ? MessageOrigin,
        pub timestamp ? String,
        pub is_synthetic ? bool => "isSynthetic",
        pub tool_use_result ? Value,
        pub pasted_content ? Vec<Value>,
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

    /// A prompt that is text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(text.into())
    }
}

open_enum! {
    /// When a prompt gets its turn.
    pub enum Priority {
        Next = "next",
        /// At once; the running turn is ended.
        Now = "now",
        Later = "later",
    }
}

wire_struct! {
    /// Variables to set; the engine takes only those it allows.
    pub struct UpdateEnvironmentVariables ["type" = "update_environment_variables"] {
        pub variables: BTreeMap<String, String>,
        pub request_id ? RequestId,
    }
}
