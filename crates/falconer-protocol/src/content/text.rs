//! Text, reasoning and citations.

use serde_json::Value;

use crate::wire::{tagged_enum, wire_struct};

wire_struct! {
    /// Text of the model or the user.
    pub struct TextBlock ["type" = "text"] {
        pub text: String,
        pub citations ? Vec<Citation>,
        pub cache_control ? Box<Value>,
    }
}

impl TextBlock {
    /// A block of `text` without citations.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }
}

wire_struct! {
    /// Reasoning of the model.
    pub struct ThinkingBlock ["type" = "thinking"] {
        pub thinking: String,
        /// Proves to the API that the reasoning is its own.
        pub signature ? String,
    }
}

wire_struct! {
    /// Reasoning that only the API can read.
    pub struct RedactedThinkingBlock ["type" = "redacted_thinking"] {
        pub data: String,
    }
}

wire_struct! {
    /// A summary that stands for earlier messages.
    pub struct CompactionBlock ["type" = "compaction"] {
        pub content ? String,
        pub cache_control ? Box<Value>,
    }
}

tagged_enum! {
    /// Where a statement comes from.
    pub enum Citation by "type" {
        /// Characters of a plain text document.
        CharLocation(CharLocation) = "char_location",
        /// Pages of a PDF.
        PageLocation(PageLocation) = "page_location",
        /// Blocks of a document made of blocks.
        ContentBlockLocation(ContentBlockLocation) = "content_block_location",
        /// A web page.
        WebSearchResultLocation(WebSearchResultLocation) = "web_search_result_location",
        /// A search result that was given to the model.
        SearchResultLocation(SearchResultLocation) = "search_result_location",
    }
}

wire_struct! {
    /// Characters of a plain text document.
    pub struct CharLocation ["type" = "char_location"] {
        pub cited_text: String,
        pub document_index: u64,
        pub document_title ? String,
        pub start_char_index: u64,
        pub end_char_index: u64,
        pub file_id ? String,
    }
}

wire_struct! {
    /// Pages of a PDF.
    pub struct PageLocation ["type" = "page_location"] {
        pub cited_text: String,
        pub document_index: u64,
        pub document_title ? String,
        pub start_page_number: u64,
        pub end_page_number: u64,
        pub file_id ? String,
    }
}

wire_struct! {
    /// Blocks of a document made of blocks.
    pub struct ContentBlockLocation ["type" = "content_block_location"] {
        pub cited_text: String,
        pub document_index: u64,
        pub document_title ? String,
        pub start_block_index: u64,
        pub end_block_index: u64,
        pub file_id ? String,
    }
}

wire_struct! {
    /// A web page.
    pub struct WebSearchResultLocation ["type" = "web_search_result_location"] {
        pub cited_text: String,
        pub url: String,
        pub title ? String,
        pub encrypted_index ? String,
    }
}

wire_struct! {
    /// A search result that was given to the model.
    pub struct SearchResultLocation ["type" = "search_result_location"] {
        pub cited_text: String,
        pub source: String,
        pub title ? String,
        pub search_result_index: u64,
        pub start_block_index: u64,
        pub end_block_index: u64,
    }
}
