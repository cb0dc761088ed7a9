//! The output of a tool.

use std::fmt::Display;

use serde_json::{Value, json};

/// The result of one call.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolOutput {
    /// Content that the model sees.
    pub content: Vec<ToolContent>,
    /// The same as data, for callers that read `tool_use_result`.
    pub structured: Option<Value>,
    /// The call failed; the content says why.
    pub is_error: bool,
}

/// A piece of a result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolContent {
    /// Text.
    Text(String),
    /// An image or a sound: base64 data and its media type.
    Media {
        /// `image` or `audio`.
        kind: MediaKind,
        /// The base64 text.
        data: String,
        /// Such as `image/png`.
        mime_type: String,
    },
    /// Any other MCP content block, as it goes over the wire.
    Other(Value),
}

/// The kind of a [`ToolContent::Media`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A sound.
    Audio,
}

impl ToolOutput {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ToolContent::Text(text.into())],
            ..Self::default()
        }
    }

    /// A failure the model shall read.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    /// A picture, as base64.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        let image = ToolContent::Media {
            kind: MediaKind::Image,
            data: data.into(),
            mime_type: mime_type.into(),
        };
        Self {
            content: vec![image],
            ..Self::default()
        }
    }

    /// Adds a piece.
    #[must_use]
    pub fn with(mut self, content: ToolContent) -> Self {
        self.content.push(content);
        self
    }

    /// The MCP `CallToolResult`.
    pub(crate) fn into_wire(self) -> Value {
        let content: Vec<Value> = self
            .content
            .into_iter()
            .map(ToolContent::into_wire)
            .collect();
        let mut result = json!({ "content": content });
        if let Some(structured) = self.structured {
            result["structuredContent"] = structured;
        }
        if self.is_error {
            result["isError"] = true.into();
        }
        result
    }
}

impl ToolContent {
    fn into_wire(self) -> Value {
        match self {
            Self::Text(text) => json!({ "type": "text", "text": text }),
            Self::Media {
                kind,
                data,
                mime_type,
            } => {
                let kind = match kind {
                    MediaKind::Image => "image",
                    MediaKind::Audio => "audio",
                };
                json!({ "type": kind, "data": data, "mimeType": mime_type })
            }
            Self::Other(block) => block,
        }
    }
}

/// Anything a tool function may return.
///
/// Text goes as it is, JSON as text and as structured content, `Err` as a tool error with
/// the error's text.
pub trait IntoToolOutput {
    /// Makes the result of the call.
    fn into_tool_output(self) -> ToolOutput;
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> ToolOutput {
        self
    }
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> ToolOutput {
        ToolOutput::text(self)
    }
}

impl IntoToolOutput for &str {
    fn into_tool_output(self) -> ToolOutput {
        ToolOutput::text(self)
    }
}

impl IntoToolOutput for () {
    fn into_tool_output(self) -> ToolOutput {
        ToolOutput::text("done")
    }
}

impl IntoToolOutput for Value {
    fn into_tool_output(self) -> ToolOutput {
        let structured = self.is_object().then(|| self.clone());
        ToolOutput {
            structured,
            ..ToolOutput::text(self.to_string())
        }
    }
}

impl<T: IntoToolOutput, E: Display> IntoToolOutput for Result<T, E> {
    fn into_tool_output(self) -> ToolOutput {
        match self {
            Ok(output) => output.into_tool_output(),
            Err(error) => ToolOutput::error(error.to_string()),
        }
    }
}
