//! Making JSON text readable that is valid except for its characters.

use std::borrow::Cow;

/// Replaces invalid UTF-8 and lone surrogate escapes by U+FFFD; `None` if there are none.
pub(crate) fn repaired(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    match without_lone_surrogates(&text) {
        Some(repaired) => Some(repaired),
        None => match text {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text),
        },
    }
}

fn without_lone_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut repaired = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(step) = memchr::memchr(b'\\', bytes.get(at..)?) {
        at += step;
        match surrogate(bytes, at) {
            None => at += 2,
            Some(Surrogate::High) if surrogate(bytes, at + 6) == Some(Surrogate::Low) => at += 12,
            Some(_) => {
                repaired.push_str(&text[copied..at]);
                repaired.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
        }
    }
    repaired.push_str(&text[copied..]);
    (copied > 0).then_some(repaired)
}

#[derive(Debug, PartialEq)]
enum Surrogate {
    High,
    Low,
}

/// The surrogate whose `\uXXXX` escape starts at `at`.
fn surrogate(bytes: &[u8], at: usize) -> Option<Surrogate> {
    let escape = bytes.get(at..at + 6)?;
    let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..=0xDBFF => Some(Surrogate::High),
        0xDC00..=0xDFFF => Some(Surrogate::Low),
        _ => None,
    }
}
