//! PDF files go to the model as documents; the API reads them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use falconer_protocol::content::{Base64Source, ContentBlock, DocumentBlock, MediaSource};
use falconer_protocol::tool::ReadFile;

use super::{Failure, Outcome, Source, output};

/// What still fits into a request, with base64 around it.
const MOST: u64 = 20 << 20;
const PAGES: u64 = 20;

/// Checks a page range: `3` or `1-5`.
pub(super) fn check_pages(pages: &str) -> Result<(), String> {
    let (first, last) = pages.split_once('-').unwrap_or((pages, pages));
    let range = (first.trim().parse::<u64>(), last.trim().parse::<u64>());
    match range {
        (Ok(first), Ok(last)) if 1 <= first && first <= last => {
            if last - first < PAGES {
                Ok(())
            } else {
                Err(format!(
                    "The parameter `pages` asks for {pages}, but at most {PAGES} pages can be asked for at once"
                ))
            }
        }
        _ => Err(format!(
            "The parameter `pages` must be one page (\"3\") or one range (\"1-5\"), but {pages:?} was given"
        )),
    }
}

pub(super) fn read(source: &Source<'_>, pages: Option<&str>) -> Result<Outcome, Failure> {
    let bytes = source.bytes(MOST)?;
    let data = STANDARD.encode(&bytes);
    let mut note = format!("PDF document {} ({} bytes)", source.written, bytes.len());
    if let Some(pages) = pages {
        note.push_str(&format!(
            "; the whole document follows, look at page {pages}"
        ));
    }
    let document = DocumentBlock {
        source: MediaSource::Base64(Base64Source {
            media_type: "application/pdf".to_owned(),
            data: data.clone(),
            ..Base64Source::default()
        }),
        ..DocumentBlock::default()
    };
    let file = ReadFile {
        file_path: Some(source.written.to_owned()),
        base64: Some(data),
        original_size: Some(bytes.len() as u64),
        ..ReadFile::default()
    };
    let content = vec![
        ContentBlock::text(note),
        ContentBlock::Document(Box::new(document)),
    ];
    Ok(Outcome::blocks(content, output("pdf", file)))
}
