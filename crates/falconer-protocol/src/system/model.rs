//! Trouble with the model or the API, and its progress.

use crate::id::{MessageUuid, SessionId};
use crate::message::AssistantError;
use crate::number::Number;
use crate::wire::wire_struct;

wire_struct! {
    /// An API request failed and is tried again.
    pub struct ApiRetry ["type" = "system", "subtype" = "api_retry"] {
        /// Number of the failed attempt, counted from one.
        pub attempt: u64,
        /// Number of retries before the turn fails; 10 by default.
        pub max_retries: u64,
        /// Milliseconds until the next attempt.
        pub retry_delay_ms: Number,
        /// HTTP status; `null` if there was no answer.
        pub error_status ? u64,
        /// Class of the failure. A rejected key is retried like any other.
        pub error ? AssistantError,
        /// Set if the API did not begin to answer in time.
        pub no_response ? NoResponse,
        /// Session that wrote this line.
        pub session_id ? SessionId,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
    }
}

wire_struct! {
    /// The wait for an answer that did not come.
    pub struct NoResponse {
        /// Milliseconds the failed attempt waited.
        pub waited_ms: Number,
        /// Milliseconds the next attempt will wait.
        pub retry_wait_ms ? Number,
    }
}

wire_struct! {
    /// Another model takes over because of load.
    pub struct ModelFallback ["type" = "system", "subtype" = "model_fallback"] {
        /// Cause; observed as `overloaded`.
        pub trigger ? String,
        /// Model that was overloaded; the next turn tries it again.
        pub original_model: String,
        /// Model that takes over.
        pub fallback_model: String,
        /// Text for the user.
        pub content ? String,
        /// Session that wrote this line.
        pub session_id ? SessionId,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
    }
}

wire_struct! {
    /// Another model takes over after a refusal.
    pub struct ModelRefusalFallback ["type" = "system", "subtype" = "model_refusal_fallback"] {
        /// Cause; observed as `refusal`.
        pub trigger ? String,
        /// `retry`, `revert` or `sticky`.
        pub direction ? String,
        /// `session` if the session's model changes, `local` if only one answer does.
        pub scope ? String,
        /// Model that refused.
        pub original_model: String,
        /// Model that takes over.
        pub fallback_model: String,
        /// Id that the API gave the refused request; `null` if unknown.
        pub request_id ? String,
        /// Category of the refusal, such as `cyber`; `null` if unknown.
        pub api_refusal_category ? String,
        /// Explanation for people; `null` if there is none.
        pub api_refusal_explanation ? String,
        /// Ids of earlier lines that no longer count.
        pub retracted_message_uuids ? Vec<MessageUuid>,
        /// Prompt that was refused.
        pub refused_user_message_uuid ? MessageUuid,
        /// Text for the user.
        pub content ? String,
        /// Session that wrote this line.
        pub session_id ? SessionId,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
    }
}

wire_struct! {
    /// The model refused and no other takes over.
    pub struct ModelRefusalNoFallback ["type" = "system", "subtype" = "model_refusal_no_fallback"] {
        /// Model that refused.
        pub original_model: String,
        /// Id that the API gave the refused request; `null` if unknown.
        pub request_id ? String,
        /// Category of the refusal, such as `cyber`; `null` if unknown.
        pub api_refusal_category ? String,
        /// Explanation for people; `null` if there is none.
        pub api_refusal_explanation ? String,
        /// Prompt that was refused.
        pub refused_user_message_uuid ? MessageUuid,
        /// Text for the user; observed as empty.
        pub content ? String,
        /// Session that wrote this line.
        pub session_id ? SessionId,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
    }
}

wire_struct! {
    /// An estimate of the reasoning so far. Only with partial messages switched on.
    pub struct ThinkingTokens ["type" = "system", "subtype" = "thinking_tokens"] {
        /// Tokens of this reasoning block so far.
        pub estimated_tokens: u64,
        /// Tokens since the previous line.
        pub estimated_tokens_delta ? u64,
        /// Prompt that started the turn, if it had a uuid.
        pub user_message_uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
    }
}
