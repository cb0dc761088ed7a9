//! Pictures, documents and search results, and where their bytes are.

use serde_json::Value;

use super::Content;
use crate::wire::{tagged_enum, wire_struct};

wire_struct! {
    /// A picture.
    pub struct ImageBlock ["type" = "image"] {
        /// Bytes of the picture, or a reference to them.
        pub source: MediaSource,
        /// Marks the end of a prefix that the API is to cache; absent in what the model says.
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
        /// Bytes of the document, or a reference to them.
        pub source: MediaSource,
        /// Title that the model sees and citations repeat.
        pub title ? String,
        /// Text about the document that the model reads but cannot cite.
        pub context ? String,
        /// Settings for citing this document, such as `{"enabled": true}`.
        pub citations ? Box<Value>,
        /// Marks the end of a prefix that the API is to cache; absent in what the model says.
        pub cache_control ? Box<Value>,
    }
}

wire_struct! {
    /// A search result that the model may cite.
    pub struct SearchResultBlock ["type" = "search_result"] {
        /// Address or name of the origin; repeated in citations.
        pub source: String,
        /// Title that the model sees and citations repeat.
        pub title: String,
        /// Text of the result; the API accepts text blocks only.
        pub content: Content,
        /// Settings for citing this result, such as `{"enabled": true}`.
        pub citations ? Box<Value>,
        /// Marks the end of a prefix that the API is to cache; absent in what the model says.
        pub cache_control ? Box<Value>,
    }
}

tagged_enum! {
    /// The bytes of a picture or document, or a reference to them.
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
        /// MIME type, such as `image/png` or `application/pdf`.
        pub media_type: String,
        /// Standard base64 without a `data:` prefix.
        pub data: String,
    }
}

wire_struct! {
    /// Bytes behind an address.
    pub struct UrlSource ["type" = "url"] {
        /// Address that the API fetches; the engine does not.
        pub url: String,
    }
}

wire_struct! {
    /// Bytes in the API's file store.
    pub struct FileSource ["type" = "file"] {
        /// Id that the API's file store gave the upload.
        pub file_id: String,
    }
}

wire_struct! {
    /// Plain text.
    pub struct TextSource ["type" = "text"] {
        /// MIME type; the API accepts `text/plain`.
        pub media_type: String,
        /// The text itself, not encoded.
        pub data: String,
    }
}

wire_struct! {
    /// A document made of blocks.
    pub struct ContentSource ["type" = "content"] {
        /// Text or blocks; citations name blocks by their index in it.
        pub content: Content,
    }
}
