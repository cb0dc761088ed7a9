//! `WebFetch` and `WebSearch`.

use serde_json::Value;

use crate::number::Number;
use crate::wire::wire_struct;

wire_struct! {
    /// A page, and what to look for in it.
    pub struct WebFetchInput {
        pub url: String,
        pub prompt ? String,
        pub offset ? u64,
    }
}

wire_struct! {
    /// What the page says.
    pub struct WebFetchOutput {
        pub bytes ? u64,
        pub code ? u64,
        pub code_text ? String => "codeText",
        pub result: String,
        pub duration_ms ? Number => "durationMs",
        pub url ? String,
        pub artifact_read ? Value => "artifactRead",
    }
}

wire_struct! {
    /// What to search for, and where.
    pub struct WebSearchInput {
        pub query: String,
        pub allowed_domains ? Vec<String>,
        pub blocked_domains ? Vec<String>,
    }
}

wire_struct! {
    /// What was found: objects with hits, and texts.
    pub struct WebSearchOutput {
        pub query: String,
        pub results * Vec<Value>,
        pub duration_seconds ? Number => "durationSeconds",
        pub search_count ? u64 => "searchCount",
    }
}
