//! The result of a call, as the model gets it.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use falconer_protocol::content::{Content, ContentBlock, ImageBlock, MediaSource};
use falconer_secret::{Environment, Redactor};
use rmcp::model::{self, CallToolResult, ResourceContents};
use serde::Serialize;
use serde_json::Value;

use super::name;
use crate::task::private_directory;
use crate::tool::Outcome;

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
    let links: Vec<Link> = result.content.iter().filter_map(Link::of).collect();
    let mut blocks = Vec::new();
    for block in result.content {
        let block = block_of(block, overflow).await;
        let copy = copy_of(&block, overflow).await;
        blocks.extend(std::iter::once(block).chain(copy));
    }
    let structured = result.structured_content;
    if let Some(structured) = &structured {
        // The blocks say the same in words.
        blocks = vec![ContentBlock::text(structured.to_string())];
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
        Some(structured) => Content::Text(structured.to_string()),
        None => Content::Blocks(blocks),
    };
    let mut outcome = if structured.is_none() && links.is_empty() {
        Outcome::text("", &content)
    } else {
        let output = Output {
            content: &content,
            structured_content: structured,
            resource_links: links,
        };
        Outcome::text("", output)
    };
    outcome.content = content;
    outcome
}

/// A result with more than its content, as the host sees it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    content: &'a Content,
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resource_links: Vec<Link>,
}

/// A link, for the host.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Link {
    uri: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

impl Link {
    fn of(block: &model::ContentBlock) -> Option<Self> {
        let model::ContentBlock::ResourceLink(link) = block else {
            return None;
        };
        Some(Self {
            uri: link.uri.clone(),
            name: link.name.clone(),
            mime_type: link.mime_type.clone(),
            description: link.description.clone(),
        })
    }
}

/// Saves a result that is too long and says where it is.
async fn too_long(blocks: &[ContentBlock], characters: usize, overflow: &Overflow<'_>) -> Outcome {
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
    Outcome::text(told.as_str(), told.as_str())
}

async fn block_of(block: model::ContentBlock, overflow: &Overflow<'_>) -> ContentBlock {
    match block {
        model::ContentBlock::Text(it) => ContentBlock::text(it.text),
        model::ContentBlock::Image(it) => {
            binary(&it.data, &it.mime_type, "An image", overflow).await
        }
        model::ContentBlock::Audio(it) => {
            binary(&it.data, &it.mime_type, "A sound", overflow).await
        }
        model::ContentBlock::Resource(it) => match it.resource {
            ResourceContents::TextResourceContents {
                uri, text: said, ..
            } => ContentBlock::text(format!("[Resource {uri}]\n{said}")),
            ResourceContents::BlobResourceContents {
                uri,
                mime_type,
                blob,
                ..
            } => {
                let kind = mime_type.unwrap_or_default();
                binary(&blob, &kind, &format!("Resource {uri}"), overflow).await
            }
            _ => ContentBlock::text("[A resource of an unknown kind]"),
        },
        model::ContentBlock::ResourceLink(link) => {
            let about = link
                .description
                .map(|it| format!(" ({it})"))
                .unwrap_or_default();
            ContentBlock::text(format!(
                "[Resource link: {}] {}{about}",
                link.name, link.uri
            ))
        }
        _ => ContentBlock::text("[Content of an unknown kind]"),
    }
}

/// Where an image is, so that the model can do more with it than look.
async fn copy_of(block: &ContentBlock, overflow: &Overflow<'_>) -> Option<ContentBlock> {
    let ContentBlock::Image(image) = block else {
        return None;
    };
    let MediaSource::Base64(source) = &image.source else {
        return None;
    };
    let bytes = STANDARD.decode(&source.data).ok()?;
    let path = overflow.save(&bytes, extension(&source.media_type));
    let path = path.await.ok()?;
    let text = format!("[The image is in {}]", path.display());
    Some(ContentBlock::text(text))
}

/// Images that models can see go as they are, everything else to a file.
async fn binary(data: &str, kind: &str, what: &str, overflow: &Overflow<'_>) -> ContentBlock {
    let visible = ["image/png", "image/jpeg", "image/gif", "image/webp"];
    if visible.contains(&kind) && data.len() <= 5 * 1024 * 1024 {
        return ContentBlock::Image(Box::new(ImageBlock::base64(kind, data)));
    }
    let Ok(bytes) = STANDARD.decode(data) else {
        return ContentBlock::text(format!("[{what} ({kind}) cannot be decoded]"));
    };
    ContentBlock::text(match overflow.save(&bytes, extension(kind)).await {
        Ok(path) => format!("[{what} ({kind}) was saved to {}]", path.display()),
        Err(error) => format!("[{what} ({kind}) could not be saved: {error}]"),
    })
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

/// Images cost the same whatever their size.
fn characters_of(block: &ContentBlock) -> usize {
    block.as_text().map_or(0, |text| text.chars().count())
}

/// The texts of a result.
fn joined(blocks: &[ContentBlock]) -> String {
    let texts = blocks.iter().filter_map(ContentBlock::as_text);
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
