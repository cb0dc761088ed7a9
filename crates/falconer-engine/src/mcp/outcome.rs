//! The result of a call, as the model gets it.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use falconer_secret::{Environment, Redactor};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

use super::name;
use crate::task::private_directory;
use crate::tool::{Attempt, Outcome};

/// Tokens of one result that go into the conversation, unless `MAX_MCP_OUTPUT_TOKENS` says.
const TOKENS: usize = 25_000;
/// Roughly.
const CHARACTERS_PER_TOKEN: usize = 4;

/// Where results go that are no text or too long.
#[derive(Debug)]
pub(super) struct Overflow<'a> {
    pub(super) directory: &'a Path,
    /// `server-tool`, for the names of files.
    pub(super) origin: String,
    pub(super) characters: usize,
    redactor: Redactor,
}

impl<'a> Overflow<'a> {
    pub(super) fn new(directory: &'a Path, origin: &str, environment: &Environment) -> Self {
        let tokens = environment.text("MAX_MCP_OUTPUT_TOKENS");
        let tokens = tokens.and_then(|it| it.parse().ok()).unwrap_or(TOKENS);
        Self {
            directory,
            origin: name::plain(origin).chars().take(80).collect(),
            characters: tokens.saturating_mul(CHARACTERS_PER_TOKEN),
            redactor: environment.redactor().clone(),
        }
    }

    /// Writes a file, without secrets if it is text, and returns its path.
    pub(super) async fn save(&self, bytes: &[u8], extension: &str) -> std::io::Result<PathBuf> {
        private_directory(self.directory)?;
        let id = uuid::Uuid::new_v4().simple();
        let file = format!("mcp-{}-{id}.{extension}", self.origin);
        let path = self.directory.join(file);
        let text = std::str::from_utf8(bytes).ok();
        let clean = text.and_then(|text| self.redactor.text(text));
        let bytes = clean.as_ref().map_or(bytes, String::as_bytes);
        let written = tokio::fs::write(&path, bytes).await;
        if let Err(error) = written {
            let _ = tokio::fs::remove_file(&path).await;
            return Err(error);
        }
        Ok(path)
    }
}

/// What a call means for the model and the host.
pub(super) async fn of_call(result: CallToolResult, overflow: &Overflow<'_>) -> Outcome {
    let links: Vec<Value> = result.content.iter().filter_map(link_of).collect();
    let mut blocks = Vec::new();
    for block in result.content {
        let block = block_of(block, overflow).await;
        let copy = copy_of(&block, overflow).await;
        blocks.extend(std::iter::once(block).chain(copy));
    }
    let structured = result.structured_content;
    if let Some(structured) = &structured {
        // The blocks say the same in words.
        blocks = vec![text(structured.to_string())];
    }
    let characters: usize = blocks.iter().map(characters_of).sum();
    if characters > overflow.characters {
        return too_long(&blocks, characters, overflow).await;
    }
    if result.is_error == Some(true) {
        let said = joined(&blocks);
        return Outcome::error(if said.is_empty() {
            "the tool failed"
        } else {
            &said
        });
    }
    let content = match &structured {
        Some(structured) => Value::String(structured.to_string()),
        None => Value::Array(blocks),
    };
    let mut output = content.clone();
    if structured.is_some() || !links.is_empty() {
        output = json!({"content": output});
    }
    if let Some(structured) = structured {
        output["structuredContent"] = structured;
    }
    if !links.is_empty() {
        output["resourceLinks"] = Value::Array(links);
    }
    Outcome {
        output: Some(output),
        content,
        is_error: false,
        attempt: Attempt::Made,
        effects: Vec::new(),
    }
}

/// A link, for the host.
fn link_of(block: &ContentBlock) -> Option<Value> {
    let ContentBlock::ResourceLink(link) = block else {
        return None;
    };
    let mut shown = json!({"uri": link.uri, "name": link.name});
    if let Some(kind) = &link.mime_type {
        shown["mimeType"] = json!(kind);
    }
    if let Some(about) = &link.description {
        shown["description"] = json!(about);
    }
    Some(shown)
}

/// Saves a result that is too long and says where it is.
async fn too_long(blocks: &[Value], characters: usize, overflow: &Overflow<'_>) -> Outcome {
    let whole = joined(blocks);
    let lines = whole.lines().count();
    let (count, lines_text) = (
        grouped(characters),
        if lines == 1 { "line" } else { "lines" },
    );
    let what = format!(
        "result ({count} characters across {} {lines_text})",
        grouped(lines)
    );
    let told = match overflow.save(whole.as_bytes(), "txt").await {
        Ok(path) => format!(
            "Error: {what} exceeds maximum allowed tokens. Output has been saved to {}\n\
             Read it in parts (with offset and limit, or search it) instead of as a whole.",
            path.display()
        ),
        Err(error) => format!(
            "Error: {what} exceeds maximum allowed tokens, and it could not be saved: {error}. \
             Call the tool in a way that returns less."
        ),
    };
    let output = Value::String(told.clone());
    Outcome::text(told, output)
}

async fn block_of(block: ContentBlock, overflow: &Overflow<'_>) -> Value {
    match block {
        ContentBlock::Text(it) => text(it.text),
        ContentBlock::Image(it) => binary(&it.data, &it.mime_type, "An image", overflow).await,
        ContentBlock::Audio(it) => binary(&it.data, &it.mime_type, "A sound", overflow).await,
        ContentBlock::Resource(it) => match it.resource {
            ResourceContents::TextResourceContents {
                uri, text: said, ..
            } => text(format!("[Resource {uri}]\n{said}")),
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => {
                let kind = mime_type.unwrap_or_default();
                binary(&blob, &kind, &format!("Resource {uri}"), overflow).await
            }
            _ => text("[A resource of an unknown kind]".to_owned()),
        },
        ContentBlock::ResourceLink(link) => {
            let about = link
                .description
                .map(|it| format!(" ({it})"))
                .unwrap_or_default();
            text(format!(
                "[Resource link: {}] {}{about}",
                link.name, link.uri
            ))
        }
        _ => text("[Content of an unknown kind]".to_owned()),
    }
}

/// Where an image is, so that the model can do more with it than look.
async fn copy_of(block: &Value, overflow: &Overflow<'_>) -> Option<Value> {
    let data = block["source"]["data"].as_str()?;
    let kind = block["source"]["media_type"].as_str()?;
    let bytes = STANDARD.decode(data).ok()?;
    let path = overflow.save(&bytes, extension(kind)).await.ok()?;
    Some(text(format!("[The image is in {}]", path.display())))
}

/// Images that models can see go as they are, everything else to a file.
async fn binary(data: &str, kind: &str, what: &str, overflow: &Overflow<'_>) -> Value {
    let visible = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    if visible.contains(&kind) && data.len() <= 5 * 1024 * 1024 {
        return json!({"type": "image",
            "source": {"type": "base64", "media_type": kind, "data": data}});
    }
    let Ok(bytes) = STANDARD.decode(data) else {
        return text(format!("[{what} ({kind}) cannot be decoded]"));
    };
    match overflow.save(&bytes, extension(kind)).await {
        Ok(path) => text(format!("[{what} ({kind}) was saved to {}]", path.display())),
        Err(error) => text(format!("[{what} ({kind}) could not be saved: {error}]")),
    }
}

/// A harmless ending for a file of this type.
pub(super) fn extension(kind: &str) -> &'static str {
    match kind.split(';').next().unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "application/pdf" => "pdf",
        "application/json" => "json",
        _ => "bin",
    }
}

fn text(text: String) -> Value {
    let mut block = json!({"type": "text"});
    block["text"] = Value::String(text);
    block
}

/// Images cost the same whatever their size.
fn characters_of(block: &Value) -> usize {
    block["text"]
        .as_str()
        .map_or(0, |text| text.chars().count())
}

/// The texts of a result.
pub(super) fn joined(blocks: &[Value]) -> String {
    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

/// `2000000` as `2,000,000`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
