//! What the agent is told: an argument, a file, what was piped in, and files sent along.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use falconer_event::Image;
use falconer_session::{Message, Part};
use serde_json::Value;

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
    if parts.is_empty() {
        Err(Fault::usage(
            "no prompt given",
            "try `falconer run 'What does this project do?'`",
        ))
    } else {
        Ok(parts.join("\n\n"))
    }
}

/// The schema in a file.
pub(super) fn schema(file: &Path) -> Result<Value, Fault> {
    let text = read_text(file)?;
    serde_json::from_str(&text).map_err(|error| {
        let text = format!("{} is not a valid JSON Schema: {error}", file.display());
        Fault::usage(
            text,
            "the file must hold one JSON object, such as {\"type\": \"object\"}",
        )
    })
}

/// The text, and after it the files.
pub(super) fn with_attachments(text: String, files: &[impl AsRef<Path>]) -> Result<Message, Fault> {
    let mut parts = vec![Part::Text(text)];
    for file in files {
        parts.push(attachment(file.as_ref())?);
    }
    Ok(parts.into())
}

fn attachment(file: &Path) -> Result<Part, Fault> {
    let bytes = read(file)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    if let Some(media_type) = Image::media_type_of(&bytes) {
        return Ok(Part::Image {
            media_type: media_type.to_owned(),
            data: STANDARD.encode(&bytes),
        });
    }
    if bytes.starts_with(b"%PDF-") {
        return Ok(Part::Document {
            name: name.into_owned(),
            media_type: "application/pdf".to_owned(),
            data: STANDARD.encode(&bytes),
        });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Part::Text(format!("The file {name}:\n\n{text}"))),
        Err(_) => Err(Fault::usage(
            format!("{} is not an image, a PDF or a text file", file.display()),
            "PNG, JPEG, GIF, WebP, PDF and UTF-8 text can be sent",
        )),
    }
}

fn read_text(file: &Path) -> Result<String, Fault> {
    String::from_utf8(read(file)?).map_err(|_| {
        let text = format!("{} is not UTF-8 text", file.display());
        Fault::usage(text, "choose a text file")
    })
}

fn read(file: &Path) -> Result<Vec<u8>, Fault> {
    let failed = |problem: String| {
        let text = format!("failed to read {}: {problem}", file.display());
        Fault::setup(text, "choose a readable file")
    };
    let metadata = std::fs::metadata(file).map_err(|error| failed(error.to_string()))?;
    if !metadata.is_file() {
        return Err(failed("not a regular file".to_owned()));
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
                Ok(Part::Image { .. }) => "image",
                Ok(Part::Document { .. }) => "document",
                Ok(_) => "text",
                Err(_) => "refused",
            };
            assert_eq!(kind, expected, "{name}");
        }
        assert!(attachment(directory.path()).is_err());
    }
}
