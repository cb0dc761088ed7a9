//! Tokens and money.

use serde_json::Value;

use crate::number::Number;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// Tokens as the API counts them.
    pub struct Usage {
        pub input_tokens ? u64,
        pub cache_creation_input_tokens ? u64,
        pub cache_read_input_tokens ? u64,
        pub output_tokens ? u64,
        pub output_tokens_details ? Box<Value>,
        pub server_tool_use ? ServerToolUsage,
        pub service_tier ? String,
        pub cache_creation ? CacheCreation,
        pub inference_geo ? String,
        pub iterations ? Vec<Value>,
        pub speed ? String,
        pub fallback_credit ? Box<Value>,
    }
}

wire_struct! {
    /// Tokens written to the cache, by how long they stay.
    pub struct CacheCreation {
        pub ephemeral_5m_input_tokens ? u64,
        pub ephemeral_1h_input_tokens ? u64,
    }
}

wire_struct! {
    /// Calls of tools that the API runs.
    pub struct ServerToolUsage {
        pub web_search_requests ? u64,
        pub web_fetch_requests ? u64,
    }
}

wire_struct! {
    /// What one model used since the process started.
    pub struct ModelUsage {
        pub input_tokens ? u64 => "inputTokens",
        pub output_tokens ? u64 => "outputTokens",
        pub thinking_tokens ? u64 => "thinkingTokens",
        pub cache_read_input_tokens ? u64 => "cacheReadInputTokens",
        pub cache_creation_input_tokens ? u64 => "cacheCreationInputTokens",
        pub cache_creation_ephemeral_5m_input_tokens ? u64 => "cacheCreationEphemeral5mInputTokens",
        pub cache_creation_ephemeral_1h_input_tokens ? u64 => "cacheCreationEphemeral1hInputTokens",
        pub web_search_requests ? u64 => "webSearchRequests",
        pub cost_usd ? Number => "costUSD",
        pub context_window ? u64 => "contextWindow",
        pub max_output_tokens ? u64 => "maxOutputTokens",
        pub canonical_model ? String => "canonicalModel",
        pub provider ? String,
        pub cost_basis ? CostBasis => "costBasis",
    }
}

open_enum! {
    /// Where a price comes from.
    pub enum CostBasis {
        List = "list",
        Managed = "managed",
        Unknown = "unknown",
    }
}
