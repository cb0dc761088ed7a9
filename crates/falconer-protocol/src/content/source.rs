//! Pictures, documents and search results, and where their bytes are.

use serde_json::Value;

use super::Content;
use crate::wire::{tagged_enum, wire_struct};

wire_struct! {
    /// A picture.
    pub struct ImageBlock ["type" = "image"] {
        pub source: MediaSource,
        pub cache_control ? Box<Value>,
    }
}

impl ImageBlock {
    /// A picture whose bytes are given in base64.
    pub fn base64(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self {
            source: MediaSource::Base64(Base64Source {
                media_type: media_type.into(),
                data: data.into(),
                ..Base64Source::default()
            }),
            ..Self::default()
        }
    }
}

wire_struct! {
    /// A document.
    pub struct DocumentBlock ["type" = "document"] {
        pub source: MediaSource,
        pub title ? String,
        pub context ? String,
        pub citations ? Box<Value>,
        pub cache_control ? Box<Value>,
    }
}

wire_struct! {
    /// A search result that the model may cite.
    pub struct SearchResultBlock ["type" = "search_result"] {
        pub source: String,
        pub title: String,
        pub content: Content,
        pub citations ? Box<Value>,
        pub cache_control ? Box<Value>,
    }
}

tagged_enum! {
    /// Where the bytes of a picture or document are.
    pub enum MediaSource by "type" {
        /// Here, in base64.
        Base64(Base64Source) = "base64",
        /// Behind an address.
        Url(UrlSource) = "url",
        /// In the API's file store.
        File(FileSource) = "file",
        /// Here, as text.
        Text(TextSource) = "text",
        /// Here, as blocks.
        Content(ContentSource) = "content",
    }
}

wire_struct! {
    /// Bytes in base64.
    pub struct Base64Source ["type" = "base64"] {
        pub media_type: String,
        pub data: String,
    }
}

wire_struct! {
    /// Bytes behind an address.
    pub struct UrlSource ["type" = "url"] {
        pub url: String,
    }
}

wire_struct! {
    /// Bytes in the API's file store.
    pub struct FileSource ["type" = "file"] {
        pub file_id: String,
    }
}

wire_struct! {
    /// Plain text.
    pub struct TextSource ["type" = "text"] {
        pub media_type: String,
        pub data: String,
    }
}

wire_struct! {
    /// A document made of blocks.
    pub struct ContentSource ["type" = "content"] {
        pub content: Content,
    }
}
