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
        /// Event of the streaming API, passed on unchanged. The engine drops `ping`.
        pub event: StreamEvent,
        /// Session that wrote this line.
        pub session_id ? SessionId,
        /// Observed as `null` only: deltas of sub-agents are not forwarded.
        pub parent_tool_use_id ? ToolUseId,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Milliseconds to the first token; only with `message_start`.
        pub ttft_ms ? u64,
        /// Id of the API response, equal to `message.id` of its `assistant` lines.
        pub api_message_id ? String,
        /// Form in which reasoning is shown; observed as `updates`.
        pub thinking_display ? String,
        /// Prompt that this turn answers; only on the first event of the turn, if the prompt had a
        /// uuid.
        pub user_message_uuid ? MessageUuid,
        /// All prompts this turn has taken up so far; present together with `user_message_uuid`.
        pub user_message_uuids ? Vec<MessageUuid>,
        /// Set if the turn goes on with one that a restart interrupted.
        pub resume_reason ? String,
        /// Blocks that will not be finished because the request failed: `api_message_id` and
        /// `from_block_index`.
        pub abandoned_blocks ? AbandonedBlocks,
        /// Not in any recorded session; kept as it comes.
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

wire_struct! {
    /// Blocks that will not be finished.
    pub struct AbandonedBlocks {
        /// The response they belong to.
        pub api_message_id: String,
        /// The first of them.
        pub from_block_index: u64,
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
        /// The reason the response stops, and its usage.
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
        /// Response with empty content and the usage of the request.
        pub message: ApiMessage,
    }
}

wire_struct! {
    /// A block begins.
    pub struct ContentBlockStart ["type" = "content_block_start"] {
        /// Position of the block in the response, counted from zero.
        pub index: u64,
        /// Block with its text or input still empty.
        pub content_block: ContentBlock,
    }
}

wire_struct! {
    /// A piece of a block.
    pub struct ContentBlockDelta ["type" = "content_block_delta"] {
        /// Position of the block in the response, counted from zero.
        pub index: u64,
        /// Piece to append to the block.
        pub delta: Delta,
    }
}

wire_struct! {
    /// A block ends.
    pub struct ContentBlockStop ["type" = "content_block_stop"] {
        /// Position of the block in the response, counted from zero.
        pub index: u64,
    }
}

wire_struct! {
    /// The reason the response stops, and its usage.
    pub struct MessageDelta ["type" = "message_delta"] {
        /// End of the response.
        pub delta: MessageDeltaBody,
        /// Final token counts of the response, not an increment.
        pub usage ? Usage,
        /// Changes the API made to the context; `null` if none.
        pub context_management ? Box<Value>,
    }
}

wire_struct! {
    /// The reason the response stops.
    pub struct MessageDeltaBody {
        /// `null` after an interrupt, when the engine closes the stream itself.
        pub stop_reason ? StopReason,
        /// Sequence that was hit, with [`StopReason::StopSequence`].
        pub stop_sequence ? String,
        /// Category and explanation of a refusal; `null` otherwise.
        pub stop_details ? Box<Value>,
        /// Container in which the API executed code; `null` otherwise.
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
        /// Error object of the API, with `type` and `message`.
        pub error: Value,
    }
}

tagged_enum! {
    /// An addition to a block.
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
        /// Text to append.
        pub text: String,
    }
}

wire_struct! {
    /// A piece of the JSON text of a tool's input.
    pub struct InputJsonDelta ["type" = "input_json_delta"] {
        /// Fragment of JSON text; only all fragments of a block together parse.
        pub partial_json: String,
    }
}

wire_struct! {
    /// Reasoning.
    pub struct ThinkingDelta ["type" = "thinking_delta"] {
        /// Reasoning to append; empty if reasoning is not shown.
        pub thinking: String,
        /// Estimate of the reasoning so far, in tokens.
        pub estimated_tokens ? u64,
    }
}

wire_struct! {
    /// The signature of the reasoning.
    pub struct SignatureDelta ["type" = "signature_delta"] {
        /// Signature of the whole block; comes once, after the reasoning.
        pub signature: String,
    }
}

wire_struct! {
    /// A citation.
    pub struct CitationsDelta ["type" = "citations_delta"] {
        /// One citation to append to the text block.
        pub citation: Citation,
    }
}

wire_struct! {
    /// A summary of earlier messages.
    pub struct CompactionDelta ["type" = "compaction_delta"] {
        /// Summary text; `null` if there is none.
        pub content ? String,
    }
}
