//! Pieces of an API response while it streams.

use serde_json::Value;

use crate::content::{Citation, ContentBlock};
use crate::id::{MessageUuid, SessionId, ToolUseId};
use crate::message::{ApiMessage, StopReason};
use crate::usage::Usage;
use crate::wire::{tagged_enum, wire_struct};

wire_struct! {
    /// A piece of an API response. Only with partial messages switched on.
    ///
    /// The finished block comes as an `assistant` line before its `content_block_stop`.
    pub struct StreamEventMessage ["type" = "stream_event"] {
        pub event: StreamEvent,
        pub session_id ? SessionId,
        pub parent_tool_use_id ? ToolUseId,
        pub uuid ? MessageUuid,
        /// Milliseconds to the first token; with `message_start`.
        pub ttft_ms ? u64,
        pub api_message_id ? String,
        pub thinking_display ? String,
        pub user_message_uuid ? MessageUuid,
        pub user_message_uuids ? Vec<MessageUuid>,
        pub resume_reason ? String,
        /// Blocks that will not be finished because the request failed.
        pub abandoned_blocks ? Box<Value>,
        pub owed_rows ? Vec<Value>,
    }
}

impl StreamEventMessage {
    /// The text this event adds to the answer, if it does.
    pub fn text_delta(&self) -> Option<&str> {
        match &self.event {
            StreamEvent::ContentBlockDelta(event) => match &event.delta {
                Delta::Text(delta) => Some(&delta.text),
                _ => None,
            },
            _ => None,
        }
    }
}

tagged_enum! {
    /// An event of the streaming API.
    pub enum StreamEvent by "type" {
        /// A piece of a block.
        ContentBlockDelta(ContentBlockDelta) = "content_block_delta",
        /// A block begins.
        ContentBlockStart(Box<ContentBlockStart>) = "content_block_start",
        /// A block ends.
        ContentBlockStop(ContentBlockStop) = "content_block_stop",
        /// The response begins.
        MessageStart(Box<MessageStart>) = "message_start",
        /// Why the response stops, and its usage.
        MessageDelta(Box<MessageDelta>) = "message_delta",
        /// The response ends.
        MessageStop(MessageStop) = "message_stop",
        /// A sign of life.
        Ping(Ping) = "ping",
        /// The API failed in the middle of the response.
        Error(Box<StreamError>) = "error",
    }
}

wire_struct! {
    /// The response begins.
    pub struct MessageStart ["type" = "message_start"] {
        pub message: ApiMessage,
    }
}

wire_struct! {
    /// A block begins.
    pub struct ContentBlockStart ["type" = "content_block_start"] {
        pub index: u64,
        pub content_block: ContentBlock,
    }
}

wire_struct! {
    /// A piece of a block.
    pub struct ContentBlockDelta ["type" = "content_block_delta"] {
        pub index: u64,
        pub delta: Delta,
    }
}

wire_struct! {
    /// A block ends.
    pub struct ContentBlockStop ["type" = "content_block_stop"] {
        pub index: u64,
    }
}

wire_struct! {
    /// Why the response stops, and its usage.
    pub struct MessageDelta ["type" = "message_delta"] {
        pub delta: MessageDeltaBody,
        pub usage ? Usage,
        pub context_management ? Box<Value>,
    }
}

wire_struct! {
    /// Why the response stops.
    pub struct MessageDeltaBody {
        pub stop_reason ? StopReason,
        pub stop_sequence ? String,
        pub stop_details ? Box<Value>,
        pub container ? Box<Value>,
    }
}

wire_struct! {
    /// The response ends.
    pub struct MessageStop ["type" = "message_stop"] {}
}

wire_struct! {
    /// A sign of life.
    pub struct Ping ["type" = "ping"] {}
}

wire_struct! {
    /// The API failed in the middle of the response.
    pub struct StreamError ["type" = "error"] {
        pub error: Value,
    }
}

tagged_enum! {
    /// What is added to a block.
    pub enum Delta by "type" {
        /// Text.
        Text(TextDelta) = "text_delta",
        /// A piece of the JSON text of a tool's input.
        InputJson(InputJsonDelta) = "input_json_delta",
        /// Reasoning.
        Thinking(ThinkingDelta) = "thinking_delta",
        /// The signature of the reasoning.
        Signature(SignatureDelta) = "signature_delta",
        /// A citation.
        Citations(Box<CitationsDelta>) = "citations_delta",
        /// A summary of earlier messages.
        Compaction(CompactionDelta) = "compaction_delta",
    }
}

wire_struct! {
    /// Text.
    pub struct TextDelta ["type" = "text_delta"] {
        pub text: String,
    }
}

wire_struct! {
    /// A piece of the JSON text of a tool's input.
    pub struct InputJsonDelta ["type" = "input_json_delta"] {
        pub partial_json: String,
    }
}

wire_struct! {
    /// Reasoning.
    pub struct ThinkingDelta ["type" = "thinking_delta"] {
        pub thinking: String,
        pub estimated_tokens ? u64,
    }
}

wire_struct! {
    /// The signature of the reasoning.
    pub struct SignatureDelta ["type" = "signature_delta"] {
        pub signature: String,
    }
}

wire_struct! {
    /// A citation.
    pub struct CitationsDelta ["type" = "citations_delta"] {
        pub citation: Citation,
    }
}

wire_struct! {
    /// A summary of earlier messages.
    pub struct CompactionDelta ["type" = "compaction_delta"] {
        pub content ? String,
    }
}
