//! A message of the scripted model: its parts, its pace, and how its stream may break.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::reply::ApiError;

/// A message of the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct MessageReply {
    /// Content blocks, and pauses between and inside them.
    pub content: Vec<Part>,
    /// Reason the model stopped; without it `tool_use` if a tool is called, else `end_turn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Details of the reason, such as the category of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_details: Option<Box<Value>>,
    /// The tokens used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that answers; without it the one asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Milliseconds before the first byte.
    #[serde(skip_serializing_if = "is_zero")]
    pub delay_ms: u64,
    /// Milliseconds before each delta but the first of the message.
    #[serde(skip_serializing_if = "is_zero")]
    pub delta_delay_ms: u64,
    /// Number of characters in a delta; without it each block is one delta.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_chars: Option<usize>,
    /// Writes the stream in pieces of so many bytes, which splits events and characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<usize>,
    /// More headers of the answer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Break of the stream, if it breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<StreamFault>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A content block, or a pause.
///
/// Pauses before the first block come before the first byte of the answer. Pauses between two
/// texts do not end the block: both texts are one block with a pause inside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Part {
    /// Text for the user.
    Text {
        /// The text.
        text: String,
    },
    /// A thought.
    Thinking {
        /// The thought.
        thinking: String,
        /// Its signature.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        signature: String,
    },
    /// A call of a tool.
    ToolUse {
        /// The id of the call; made up when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The tool.
        name: String,
        /// Its input.
        input: Value,
    },
    /// A block that is sent as it is.
    Raw {
        /// The block.
        block: Value,
    },
    /// Waits until the test releases the gate of this name.
    Hold {
        /// The gate.
        name: String,
    },
    /// Waits for a time.
    Wait {
        /// Milliseconds.
        ms: u64,
    },
}

/// Tokens used by a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Tokens read, the cached ones left out.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens written to the cache.
    pub cache_creation_input_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_input_tokens: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            input_tokens: 10,
            output_tokens: 5,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 0,
        }
    }
}

/// The way a stream breaks, after a number of events.
///
/// Events are counted as written, `message_start` and `ping` included. An answer that is not
/// streamed breaks before its first byte.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum StreamFault {
    /// The connection ends without the end of the answer.
    Cut {
        /// Events before it.
        after: usize,
    },
    /// An `error` event, then the end of the stream.
    Error {
        /// Events before it.
        after: usize,
        /// The error.
        error: ApiError,
    },
    /// Bytes that are no event, then the rest of the stream.
    Garbage {
        /// Events before it.
        after: usize,
        /// The bytes.
        text: String,
    },
    /// Silence until the gate `stall` is released, then the rest of the stream.
    Stall {
        /// Events before it.
        after: usize,
    },
}
