//! What the agent is told: an argument, a file, what was piped in, and files sent along.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use falconer::Prompt;
use falconer::protocol::content::{ContentBlock, ImageBlock, TextBlock};
use falconer_event::Image;
use serde_json::{Value, json};

use crate::exit::Fault;
use crate::piped::{self, Need};

/// The most a file that is sent along may have: what the API takes at most.
const LARGEST: u64 = 32 << 20;

/// The prompt given, with what was piped in after it.
pub(super) fn text(given: Option<&str>, file: Option<&Path>) -> Result<String, Fault> {
    let of_file = file.map(read_text).transpose()?;
    let given = given.map(str::to_owned).or(of_file);
    let need = match given {
        Some(_) => Need::Optional,
        None => Need::Required,
    };
    let piped = piped::read(need).map_err(|error| {
        let text = format!("failed to read stdin: {error}");
        Fault::setup(text, "give the prompt as an argument")
    })?;
    let given = given.unwrap_or_default();
    let parts = [given.trim_end(), piped.trim_end()];
    let parts: Vec<_> = parts
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect();
    match parts.is_empty() {
        true => Err(Fault::usage(
            "there is nothing to do: no prompt was given",
            "for example `falconer run 'What does this project do?'`",
        )),
        false => Ok(parts.join("\n\n")),
    }
}

/// The schema in a file.
pub(super) fn schema(file: &Path) -> Result<Value, Fault> {
    let text = read_text(file)?;
    serde_json::from_str(&text).map_err(|error| {
        let text = format!("{} is no JSON Schema: {error}", file.display());
        Fault::usage(
            text,
            "the file has to hold one JSON object, such as {\"type\": \"object\"}",
        )
    })
}

/// The text, and after it the files.
pub(super) fn with_attachments(text: String, files: &[impl AsRef<Path>]) -> Result<Prompt, Fault> {
    if files.is_empty() {
        return Ok(text.into());
    }
    let mut blocks = vec![ContentBlock::Text(TextBlock::new(text))];
    for file in files {
        blocks.push(attachment(file.as_ref())?);
    }
    Ok(Prompt::blocks(blocks))
}

fn attachment(file: &Path) -> Result<ContentBlock, Fault> {
    let bytes = read(file)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    if let Some(media_type) = Image::media_type_of(&bytes) {
        let data = STANDARD.encode(&bytes);
        return Ok(ContentBlock::Image(Box::new(ImageBlock::base64(
            media_type, data,
        ))));
    }
    if bytes.starts_with(b"%PDF-") {
        let source = json!({"type": "base64", "media_type": "application/pdf",
            "data": STANDARD.encode(&bytes)});
        let block = json!({"type": "document", "source": source, "title": name});
        return serde_json::from_value(block).map_err(|error| std::io::Error::other(error).into());
    }
    match String::from_utf8(bytes) {
        Ok(text) => {
            let text = format!("The file {name}:\n\n{text}");
            Ok(ContentBlock::Text(TextBlock::new(text)))
        }
        Err(_) => Err(Fault::usage(
            format!("{} is neither a picture, a PDF nor a text", file.display()),
            "PNG, JPEG, GIF, WebP, PDF and UTF-8 can be sent",
        )),
    }
}

fn read_text(file: &Path) -> Result<String, Fault> {
    String::from_utf8(read(file)?).map_err(|_| {
        let text = format!("{} is no text in UTF-8", file.display());
        Fault::usage(text, "name a text file")
    })
}

fn read(file: &Path) -> Result<Vec<u8>, Fault> {
    let failed = |problem: String| {
        let text = format!("failed to read {}: {problem}", file.display());
        Fault::setup(text, "name a file that can be read")
    };
    let metadata = std::fs::metadata(file).map_err(|error| failed(error.to_string()))?;
    if !metadata.is_file() {
        return Err(failed("it is no file".to_owned()));
    }
    if metadata.len() > LARGEST {
        return Err(failed(format!("it is larger than {} MiB", LARGEST >> 20)));
    }
    std::fs::read(file).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let table: [(&str, &[u8], &str); 5] = [
            ("a.txt", b"\x89PNG\r\n\x1a\n", "image"),
            ("b.png", b"words", "text"),
            ("c", b"%PDF-1.7", "document"),
            ("d", b"RIFF0000WEBP", "image"),
            ("e", b"\xff\xfe\x00", "refused"),
        ];
        for (name, bytes, expected) in table {
            let path = directory.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let kind = match attachment(&path) {
                Ok(ContentBlock::Image(_)) => "image",
                Ok(ContentBlock::Document(_)) => "document",
                Ok(_) => "text",
                Err(_) => "refused",
            };
            assert_eq!(kind, expected, "{name}");
        }
        assert!(attachment(directory.path()).is_err());
    }
}
