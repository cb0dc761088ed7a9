//! Long texts, shortened for people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::image::{Image, Images};

/// The beginning of a text, and how much there was of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Preview {
    /// At most [`Preview::LONGEST`] characters.
    pub text: String,
    /// Characters of the whole.
    pub length: usize,
    /// The first line that is not blank, shortened like the text.
    pub first_line: String,
    /// `true` if something is missing.
    pub truncated: bool,
}

impl Preview {
    /// The most characters a preview has.
    pub const LONGEST: usize = 1000;

    /// Shortens a text.
    pub fn of(whole: &str) -> Self {
        let length = whole.chars().count();
        let cut = |text: &str| text.chars().take(Self::LONGEST).collect::<String>();
        let first_line = whole.lines().find(|line| !line.trim().is_empty());
        Self {
            text: cut(whole),
            length,
            first_line: cut(first_line.unwrap_or_default().trim_end()),
            truncated: length > Self::LONGEST,
        }
    }

    /// Shortens what a tool returned: a text, a list of blocks, or an object.
    pub fn of_result(content: &Value) -> Self {
        Self::with_images(content).0
    }

    /// The same, with the images in it.
    pub(crate) fn with_images(content: &Value) -> (Self, Vec<Image>) {
        let mut images = Images::default();
        let text = text_of(content, &mut images);
        (Self::of(unwrapped(&text)), images.taken)
    }
}

/// Some engines put the text of an error between marks that are meant for the model.
fn unwrapped(text: &str) -> &str {
    let inner = text.strip_prefix("<tool_use_error>");
    let inner = inner.and_then(|text| text.strip_suffix("</tool_use_error>"));
    inner.unwrap_or(text)
}

/// The text in a result of any shape.
fn text_of(content: &Value, images: &mut Images) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().map(|block| text_of_block(block, images));
            texts.collect::<Vec<String>>().join("\n")
        }
        other => text_of_block(other, images),
    }
}

fn text_of_block(block: &Value, images: &mut Images) -> String {
    match (block["text"].as_str(), block["type"].as_str()) {
        (Some(text), _) => text.to_owned(),
        (None, Some("image")) => images.take(block),
        (None, Some("document")) => "[document]".to_owned(),
        (None, _) => match block {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_of_every_shape_become_text() {
        let cases = [
            (json!(null), ""),
            (json!("plain"), "plain"),
            (
                json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
                "a\nb",
            ),
            (json!([{"type": "image", "source": {}}]), "[image]"),
            (json!(["bare", {"text": "block"}]), "bare\nblock"),
            (json!({"type": "text", "text": "one"}), "one"),
            (json!({"answer": 42}), r#"{"answer":42}"#),
            (json!(7), "7"),
            (json!("<tool_use_error>no</tool_use_error>"), "no"),
            (json!("<tool_use_error>no"), "<tool_use_error>no"),
        ];
        for (content, expected) in cases {
            assert_eq!(Preview::of_result(&content).text, expected, "{content}");
        }
    }

    #[test]
    fn a_preview_says_what_is_missing() {
        let long = format!("\n  first ü\n{}", "x".repeat(2000));
        let preview = Preview::of(&long);
        assert_eq!(preview.text.chars().count(), Preview::LONGEST);
        assert_eq!(preview.length, 2011);
        assert_eq!(preview.first_line, "  first ü");
        assert!(preview.truncated);
        assert!(!Preview::of("short").truncated);
        assert!(!Preview::of(&"x".repeat(Preview::LONGEST)).truncated);
    }
}
