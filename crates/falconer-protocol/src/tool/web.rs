//! `WebFetch` and `WebSearch`.

use serde_json::Value;

use crate::number::Number;
use crate::wire::wire_struct;

wire_struct! {
    /// A page, and what to look for in it.
    pub struct WebFetchInput {
        /// Address of the page.
        pub url: String,
        /// Question about the page for a small model.
        pub prompt ? String,
        /// Position in the page's text to start at, in characters.
        pub offset ? u64,
    }
}

wire_struct! {
    /// An answer about a page.
    pub struct WebFetchOutput {
        /// Size of the page in bytes.
        pub bytes ? u64,
        /// HTTP status.
        pub code ? u64,
        /// Reason phrase of the status.
        pub code_text ? String => "codeText",
        /// Answer to the prompt.
        pub result: String,
        /// Milliseconds for fetching and answering.
        pub duration_ms ? Number => "durationMs",
        /// Address that was fetched.
        pub url ? String,
        /// Version of an artifact that counts as read now.
        pub artifact_read ? Value => "artifactRead",
    }
}

wire_struct! {
    /// A web search.
    pub struct WebSearchInput {
        /// Text to search for.
        pub query: String,
        /// Domains to return hits from; absent for all.
        pub allowed_domains ? Vec<String>,
        /// Domains to return no hits from.
        pub blocked_domains ? Vec<String>,
    }
}

wire_struct! {
    /// The hits of a web search.
    pub struct WebSearchOutput {
        /// Text that was searched for.
        pub query: String,
        /// Objects with `tool_use_id` and hits, and texts of the model.
        pub results * Vec<Value>,
        /// Seconds the search took.
        pub duration_seconds ? Number => "durationSeconds",
        /// Number of searches that were made.
        pub search_count ? u64 => "searchCount",
    }
}
