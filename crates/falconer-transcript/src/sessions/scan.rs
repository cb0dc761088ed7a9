//! Finding a few fields in a piece of a transcript without decoding all of it.
//!
//! Works on pieces that are cut anywhere. A search is a substring search first; only lines
//! that contain the field are decoded.

use memchr::memmem;
use serde::Deserialize;

use crate::text::{Fields, Text};

/// The value of the first `"key":"value"` anywhere in `piece`.
pub(crate) fn first_raw(piece: &[u8], key: &str) -> Option<String> {
    [format!("\"{key}\":\""), format!("\"{key}\": \"")]
        .iter()
        .find_map(|pattern| {
            let at = memmem::find(piece, pattern.as_bytes())? + pattern.len();
            string_at(&piece[at..])
        })
}

/// The value of the last `"key":"value"` anywhere in `piece`.
pub(crate) fn last_raw(piece: &[u8], key: &str) -> Option<String> {
    [format!("\"{key}\":\""), format!("\"{key}\": \"")]
        .iter()
        .filter_map(|pattern| last_of(piece, pattern.as_bytes()))
        .max_by_key(|(at, _)| *at)
        .map(|(_, value)| value)
}

/// The last occurrence of `pattern` that is followed by a whole string.
fn last_of(piece: &[u8], pattern: &[u8]) -> Option<(usize, String)> {
    let mut last = None;
    let mut before = None;
    // Forward search is vectorised and much faster than searching from the end.
    for at in memmem::find_iter(piece, pattern) {
        before = last;
        last = Some(at);
    }
    [last, before].into_iter().flatten().find_map(|at| {
        let value = string_at(&piece[at + pattern.len()..])?;
        Some((at, value))
    })
}

/// The JSON string whose first quote is just before `rest`, if it ends in `rest`.
fn string_at(rest: &[u8]) -> Option<String> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', &rest[at..])?;
        if rest[at] == b'"' {
            return Some(unescape(&rest[..at]));
        }
        at += 2;
        if at > rest.len() {
            return None;
        }
    }
}

/// Decodes the inside of a JSON string; what cannot be decoded is kept as it is.
fn unescape(inside: &[u8]) -> String {
    if memchr::memchr(b'\\', inside).is_some() {
        let quoted = [b"\"", inside, b"\""].concat();
        if let Ok(text) = serde_json::from_slice(&quoted) {
            return text;
        }
    }
    String::from_utf8_lossy(inside).into_owned()
}

/// Which entries a field is taken from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of<'a> {
    /// Only entries of this type.
    Type(&'a str),
    /// Any entry.
    Any,
}

/// The top-level text field `key` of the last whole entry of `piece` that has it.
pub(crate) fn last_field(piece: &[u8], key: &str, of: Of<'_>) -> Option<String> {
    let quoted = format!("\"{key}\"");
    let mut lines: Vec<(usize, usize)> = Vec::new();
    for at in memmem::find_iter(piece, quoted.as_bytes()) {
        if lines.last().is_none_or(|(_, end)| at >= *end) {
            lines.push(line_around(piece, at));
        }
    }
    lines
        .iter()
        .rev()
        .find_map(|(start, end)| field_of(&piece[*start..*end], key, of))
}

/// The start and end of the line that contains position `at`.
fn line_around(piece: &[u8], at: usize) -> (usize, usize) {
    let start = memchr::memrchr(b'\n', &piece[..at]).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &piece[at..]).map_or(piece.len(), |newline| at + newline);
    (start, end)
}

fn field_of(line: &[u8], key: &str, of: Of<'_>) -> Option<String> {
    let mut found: Option<String> = None;
    let mut kind: Option<String> = None;
    let fields = Fields::new(|name: &str, value: Text<'_>| {
        if name == key {
            found = value.into_string();
        } else if name == "type" {
            kind = value.into_string();
        }
    });
    serde::de::DeserializeSeed::deserialize(
        fields,
        &mut serde_json::Deserializer::from_slice(line),
    )
    .ok()?;
    match of {
        Of::Any => found,
        Of::Type(wanted) => found.filter(|_| kind.as_deref() == Some(wanted)),
    }
}

/// Whether `piece` contains `"key":true`, with or without a blank.
pub(crate) fn has_true(piece: &[u8], key: &str) -> bool {
    contains(piece, &format!("\"{key}\":true")) || contains(piece, &format!("\"{key}\": true"))
}

pub(crate) fn contains(piece: &[u8], needle: &str) -> bool {
    memmem::find(piece, needle.as_bytes()).is_some()
}

/// The lines of `piece`, cut ones included.
pub(crate) fn lines(piece: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(piece);
    std::iter::from_fn(move || {
        let piece = rest?;
        match memchr::memchr(b'\n', piece) {
            Some(newline) => {
                rest = Some(&piece[newline + 1..]);
                Some(&piece[..newline])
            }
            None => {
                rest = None;
                Some(piece)
            }
        }
    })
}

/// Decodes a line into `T`; `None` for a line that is cut or damaged.
pub(crate) fn decode<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Option<T> {
    serde_json::from_slice(line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_fields_are_found_in_pieces_that_are_cut_anywhere() {
        let piece = br#"tch":"cut"} {"gitBranch":"a\"b"} {"gitBranch": "c"} {"gitBranch":"unfin"#;
        assert_eq!(first_raw(piece, "gitBranch").as_deref(), Some("a\"b"));
        assert_eq!(last_raw(piece, "gitBranch").as_deref(), Some("c"));
        assert_eq!(first_raw(piece, "missing"), None);
        assert_eq!(first_raw(br#""k":"ends in \"#, "k"), None);
    }

    #[test]
    fn typed_fields_come_from_the_top_level_of_whole_entries_only() {
        let piece = concat!(
            r#"{"type":"custom-title","customTitle":"one"}"#,
            "\n",
            r#"{"customTitle":"two","type":"custom-title"}"#,
            "\n",
            r#"{"type":"assistant","message":{"type":"custom-title","customTitle":"inner"}}"#,
            "\n",
            r#"{"type":"custom-title","customTitle":"#,
        );
        let title = last_field(piece.as_bytes(), "customTitle", Of::Type("custom-title"));
        assert_eq!(title.as_deref(), Some("two"));
        let other = last_field(piece.as_bytes(), "customTitle", Of::Type("tag"));
        assert_eq!(other, None);
    }
}
