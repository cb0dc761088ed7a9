//! Tokens and money.

use serde_json::Value;

use crate::number::Number;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// Tokens as the API counts them.
    pub struct Usage {
        /// Input tokens that were neither read from nor written to the cache.
        pub input_tokens ? u64,
        /// Input tokens written to the cache; billed above the plain rate.
        pub cache_creation_input_tokens ? u64,
        /// Input tokens read from the cache; billed below the plain rate.
        pub cache_read_input_tokens ? u64,
        /// Tokens generated, reasoning included. In an `assistant` line it is the count at the
        /// start of the response, usually 1.
        pub output_tokens ? u64,
        /// Breakdown of `output_tokens`, observed with the key `thinking_tokens`.
        pub output_tokens_details ? OutputTokensDetails,
        /// Calls of tools that the API ran; `null` or absent if none was offered.
        pub server_tool_use ? ServerToolUsage,
        /// Tier that served the request, such as `standard`, `priority` or `batch`.
        pub service_tier ? String,
        /// Split of `cache_creation_input_tokens` by lifetime.
        pub cache_creation ? CacheCreation,
        /// Region of the inference; observed as an empty string or `null`.
        pub inference_geo ? String,
        /// Usage of each step of a server-side tool loop; empty or `null` without one.
        pub iterations ? Vec<Value>,
        /// Observed as `standard`; another value in fast mode.
        pub speed ? String,
        /// Observed as `null` only.
        pub fallback_credit ? Box<Value>,
    }
}

wire_struct! {
    /// Output tokens by use.
    pub struct OutputTokensDetails {
        /// Tokens of the reasoning.
        pub thinking_tokens ? u64,
    }
}

wire_struct! {
    /// Tokens written to the cache, by how long they stay.
    pub struct CacheCreation {
        /// Tokens kept for five minutes after their last use.
        pub ephemeral_5m_input_tokens ? u64,
        /// Tokens kept for an hour after their last use.
        pub ephemeral_1h_input_tokens ? u64,
    }
}

wire_struct! {
    /// Calls of tools that the API runs.
    pub struct ServerToolUsage {
        /// Number of web searches.
        pub web_search_requests ? u64,
        /// Number of pages fetched.
        pub web_fetch_requests ? u64,
    }
}

wire_struct! {
    /// The use of one model since the process started.
    pub struct ModelUsage {
        /// Input tokens outside the cache, main loop and sub-agents together.
        pub input_tokens ? u64 => "inputTokens",
        /// Tokens generated, reasoning included.
        pub output_tokens ? u64 => "outputTokens",
        /// Part of `output_tokens` spent on reasoning; absent if never recorded.
        pub thinking_tokens ? u64 => "thinkingTokens",
        /// Input tokens read from the cache.
        pub cache_read_input_tokens ? u64 => "cacheReadInputTokens",
        /// Input tokens written to the cache.
        pub cache_creation_input_tokens ? u64 => "cacheCreationInputTokens",
        /// Part of `cache_creation_input_tokens` kept for five minutes.
        pub cache_creation_ephemeral_5m_input_tokens ? u64 => "cacheCreationEphemeral5mInputTokens",
        /// Part of `cache_creation_input_tokens` kept for an hour.
        pub cache_creation_ephemeral_1h_input_tokens ? u64 => "cacheCreationEphemeral1hInputTokens",
        /// Number of web searches the API ran for this model.
        pub web_search_requests ? u64 => "webSearchRequests",
        /// Estimated cost in US dollars; not a bill.
        pub cost_usd ? Number => "costUSD",
        /// Size of the model's context window, in tokens.
        pub context_window ? u64 => "contextWindow",
        /// Largest answer the engine asks this model for, in tokens.
        pub max_output_tokens ? u64 => "maxOutputTokens",
        /// Model id used to look up the price; may differ from the key of the map, which can be an
        /// alias or a provider's own id.
        pub canonical_model ? String => "canonicalModel",
        /// API that served the model: `firstParty`, `bedrock`, `vertex` and others.
        pub provider ? String,
        /// Price table of the latest request for this model.
        pub cost_basis ? CostBasis => "costBasis",
    }
}

open_enum! {
    /// The table that a cost was computed with.
    pub enum CostBasis {
        /// The engine's built-in list prices.
        List = "list",
        /// Prices from the organisation's managed settings.
        Managed = "managed",
        /// No price is known for the model.
        Unknown = "unknown",
    }
}
