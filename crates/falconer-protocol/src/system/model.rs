//! Trouble with the model or the API, and its progress.

use crate::id::{MessageUuid, SessionId};
use crate::message::AssistantError;
use crate::number::Number;
use crate::wire::wire_struct;

wire_struct! {
    /// An API request failed and is tried again.
    pub struct ApiRetry ["type" = "system", "subtype" = "api_retry"] {
        pub attempt: u64,
        pub max_retries: u64,
        pub retry_delay_ms: Number,
        /// The HTTP status; `null` if there was no answer.
        pub error_status ? u64,
        pub error ? AssistantError,
        pub no_response ? NoResponse,
        pub session_id ? SessionId,
        pub uuid ? MessageUuid,
    }
}

wire_struct! {
    /// How long the engine waited for an answer.
    pub struct NoResponse {
        pub waited_ms: Number,
        pub retry_wait_ms ? Number,
    }
}

wire_struct! {
    /// Another model takes over because of load.
    pub struct ModelFallback ["type" = "system", "subtype" = "model_fallback"] {
        pub trigger ? String,
        pub original_model: String,
        pub fallback_model: String,
        pub content ? String,
        pub session_id ? SessionId,
        pub uuid ? MessageUuid,
    }
}

wire_struct! {
    /// Another model takes over after a refusal.
    pub struct ModelRefusalFallback ["type" = "system", "subtype" = "model_refusal_fallback"] {
        pub trigger ? String,
        pub direction ? String,
        pub scope ? String,
        pub original_model: String,
        pub fallback_model: String,
        pub request_id ? String,
        pub api_refusal_category ? String,
        pub api_refusal_explanation ? String,
        /// Lines that no longer count.
        pub retracted_message_uuids ? Vec<MessageUuid>,
        pub refused_user_message_uuid ? MessageUuid,
        pub content ? String,
        pub session_id ? SessionId,
        pub uuid ? MessageUuid,
    }
}

wire_struct! {
    /// The model refused and no other takes over.
    pub struct ModelRefusalNoFallback ["type" = "system", "subtype" = "model_refusal_no_fallback"] {
        pub original_model: String,
        pub request_id ? String,
        pub api_refusal_category ? String,
        pub api_refusal_explanation ? String,
        pub refused_user_message_uuid ? MessageUuid,
        pub content ? String,
        pub session_id ? SessionId,
        pub uuid ? MessageUuid,
    }
}

wire_struct! {
    /// How many tokens the model has been thinking.
    pub struct ThinkingTokens ["type" = "system", "subtype" = "thinking_tokens"] {
        pub estimated_tokens: u64,
        pub estimated_tokens_delta ? u64,
        pub user_message_uuid ? MessageUuid,
        pub session_id ? SessionId,
        pub uuid ? MessageUuid,
    }
}
