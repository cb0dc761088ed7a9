//! Text, reasoning and citations.

use serde_json::Value;

use crate::wire::{tagged_enum, wire_struct};

wire_struct! {
    /// Text of the model or the user.
    pub struct TextBlock ["type" = "text"] {
        /// Text as written; the API refuses an empty one.
        pub text: String,
        /// Sources of this text; `null` or absent if nothing was cited.
        pub citations ? Vec<Citation>,
        /// Marks the end of a prefix that the API is to cache; absent in what the model says.
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
        /// Readable reasoning; may be empty while `signature` is not.
        pub thinking: String,
        /// Proof for the API that the reasoning is its own. Must go back unchanged.
        pub signature ? String,
    }
}

wire_struct! {
    /// Reasoning that only the API can read.
    pub struct RedactedThinkingBlock ["type" = "redacted_thinking"] {
        /// Encrypted reasoning; must go back unchanged.
        pub data: String,
    }
}

wire_struct! {
    /// A summary that stands for earlier messages.
    pub struct CompactionBlock ["type" = "compaction"] {
        /// Summary text; `null` if the API could not make one.
        pub content ? String,
        /// Marks the end of a prefix that the API is to cache; absent in what the model says.
        pub cache_control ? Box<Value>,
    }
}

tagged_enum! {
    /// The source of a statement.
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
        /// Passage that is cited, copied from the document.
        pub cited_text: String,
        /// Zero-based index of the document among those in the request.
        pub document_index: u64,
        /// Title given with the document; `null` without one.
        pub document_title ? String,
        /// First cited character, counted from zero.
        pub start_char_index: u64,
        /// Character after the last cited one.
        pub end_char_index: u64,
        /// Id in the API's file store, if the document came from there.
        pub file_id ? String,
    }
}

wire_struct! {
    /// Pages of a PDF.
    pub struct PageLocation ["type" = "page_location"] {
        /// Passage that is cited, copied from the document.
        pub cited_text: String,
        /// Zero-based index of the document among those in the request.
        pub document_index: u64,
        /// Title given with the document; `null` without one.
        pub document_title ? String,
        /// First cited page, counted from one.
        pub start_page_number: u64,
        /// Page after the last cited one.
        pub end_page_number: u64,
        /// Id in the API's file store, if the document came from there.
        pub file_id ? String,
    }
}

wire_struct! {
    /// Blocks of a document made of blocks.
    pub struct ContentBlockLocation ["type" = "content_block_location"] {
        /// Passage that is cited, copied from the document.
        pub cited_text: String,
        /// Zero-based index of the document among those in the request.
        pub document_index: u64,
        /// Title given with the document; `null` without one.
        pub document_title ? String,
        /// First cited block, counted from zero.
        pub start_block_index: u64,
        /// Block after the last cited one.
        pub end_block_index: u64,
        /// Id in the API's file store, if the document came from there.
        pub file_id ? String,
    }
}

wire_struct! {
    /// A web page.
    pub struct WebSearchResultLocation ["type" = "web_search_result_location"] {
        /// Beginning of the cited passage.
        pub cited_text: String,
        /// Address of the page.
        pub url: String,
        /// Title of the page; `null` if it has none.
        pub title ? String,
        /// Reference that must go back unchanged in later requests.
        pub encrypted_index ? String,
    }
}

wire_struct! {
    /// A search result that was given to the model.
    pub struct SearchResultLocation ["type" = "search_result_location"] {
        /// Passage that is cited, copied from the search result.
        pub cited_text: String,
        /// Same value as [`SearchResultBlock::source`](super::SearchResultBlock::source).
        pub source: String,
        /// Title given with the search result; `null` without one.
        pub title ? String,
        /// Zero-based index among the search results in the request.
        pub search_result_index: u64,
        /// First cited block of the result, counted from zero.
        pub start_block_index: u64,
        /// Block after the last cited one.
        pub end_block_index: u64,
    }
}
