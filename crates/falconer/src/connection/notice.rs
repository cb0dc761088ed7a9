//! Lines the SDK itself puts into the message stream, where the caller would miss something
//! otherwise: a line that was too long, a line that is no JSON, messages lost to a bad disk.
//!
//! They are ordinary lines of type `falconer_warning`, so that they keep their place among
//! the engine's messages and are recorded with them.

use std::io;

use bytes::Bytes;
use serde_json::json;

use crate::transport::SkippedLine;

/// The head of a bad line that is shown.
const HEAD: usize = SkippedLine::HEAD;

/// A line was longer than the limit.
pub(crate) fn line_too_long(line: &SkippedLine) -> Bytes {
    warning(
        "line_too_long",
        &format!(
            "a line of {} bytes from the engine was longer than the limit and was skipped; \
             raise it with Options::max_line_bytes",
            line.length
        ),
        Some(&line.head),
    )
}

/// A line could not be read as a message.
pub(crate) fn unreadable_line(length: usize, error: &falconer_protocol::Error) -> Bytes {
    warning(
        "malformed_line",
        &format!("a line of {length} bytes from the engine cannot be read: {error}"),
        None,
    )
}

/// A line is not a JSON object.
pub(crate) fn malformed_line(line: &[u8]) -> Bytes {
    warning(
        "malformed_line",
        &format!(
            "a line of {} bytes from the engine is not a JSON object",
            line.len()
        ),
        Some(line),
    )
}

/// Messages could not be read back from disk.
pub(crate) fn messages_lost(bytes: usize, error: &io::Error) -> Bytes {
    let text = format!("{bytes} bytes of unread messages could not be read back: {error}");
    warning("messages_lost", &text, None)
}

/// The session store did not take a batch of transcript entries.
pub(crate) fn mirror_error(text: &str) -> Bytes {
    warning("mirror_error", text, None)
}

/// The engine asked or answered something that does not fit the protocol.
pub(crate) fn protocol(text: &str) -> Bytes {
    warning("protocol", text, None)
}

fn warning(kind: &str, text: &str, head: Option<&[u8]>) -> Bytes {
    tracing::warn!(kind, "{text}");
    let mut line = json!({ "type": "falconer_warning", "kind": kind, "text": text });
    if let Some(head) = head {
        let head = &head[..head.len().min(HEAD)];
        line["head"] = String::from_utf8_lossy(head).into();
    }
    Bytes::from(format!("{line}\n"))
}
