//! Strings: borrowed if they have no escapes, else put together once.

use std::borrow::Cow;

use memchr::memchr;
use serde_json::Result;

use super::Reader;

/// Reads the string that starts here.
#[inline]
pub(super) fn string<'de>(reader: &mut Reader<'de>) -> Result<Cow<'de, str>> {
    let start = reader.at + 1;
    let end = start + plain_length(&reader.text.as_bytes()[start..]);
    if reader.text.as_bytes().get(end) == Some(&b'"') {
        reader.at = end + 1;
        return Ok(Cow::Borrowed(&reader.text[start..end]));
    }
    escaped(reader, start, end).map(Cow::Owned)
}

/// Reads a string whose first escape is at `at`.
fn escaped(reader: &mut Reader<'_>, start: usize, mut at: usize) -> Result<String> {
    let bytes = reader.text.as_bytes();
    while bytes.get(at) == Some(&b'\\') {
        at = (at + 2).min(bytes.len());
        at += plain_length(&bytes[at..]);
    }
    if bytes.get(at) != Some(&b'"') {
        return Err(reader.unexpected("the end of the string"));
    }
    reader.at = at + 1;
    // In the middle of a character only if a character came after a backslash, which is no escape.
    let text = reader.text.get(start..at).and_then(unescape);
    text.ok_or_else(|| reader.unexpected("an escape"))
}

/// Resolves the escapes; returns `None` if one of them is invalid.
fn unescape(mut text: &str) -> Option<String> {
    let mut unescaped = String::with_capacity(text.len());
    while let Some(at) = memchr(b'\\', text.as_bytes()) {
        unescaped.push_str(&text[..at]);
        let (character, length) = escape(&text.as_bytes()[at + 1..])?;
        unescaped.push(character);
        text = &text[at + 1 + length..];
    }
    unescaped.push_str(text);
    Some(unescaped)
}

/// The character after a backslash, and the length of its name.
fn escape(name: &[u8]) -> Option<(char, usize)> {
    let character = match name.first()? {
        b'n' => '\n',
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return unicode_escape(name),
        _ => return None,
    };
    Some((character, 1))
}

/// The character of `uXXXX`, or of `uXXXX\uXXXX` if it takes two.
#[cold]
fn unicode_escape(name: &[u8]) -> Option<(char, usize)> {
    let high = hex(name.get(1..5)?)?;
    if let Some(character) = char::from_u32(high) {
        return Some((character, 5));
    }
    let low = hex(name.get(5..11)?.strip_prefix(b"\\u")?)?;
    let mut units = char::decode_utf16([u16::try_from(high).ok()?, u16::try_from(low).ok()?]);
    Some((units.next()?.ok()?, 11))
}

fn hex(digits: &[u8]) -> Option<u32> {
    let mut digits = digits.iter();
    digits.try_fold(0, |value, &digit| {
        Some(value << 4 | char::from(digit).to_digit(16)?)
    })
}

/// Counts the bytes before a quote, a backslash or a control character.
#[inline]
fn plain_length(bytes: &[u8]) -> usize {
    let mut length = 0;
    while let Some(block) = bytes[length..].first_chunk::<32>() {
        // Not `any`, which would stop early and so look at one byte after the other.
        if block
            .iter()
            .fold(false, |found, byte| found | is_special(*byte))
        {
            break;
        }
        length += block.len();
    }
    while let Some(word) = bytes[length..].first_chunk() {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return length + special.trailing_zeros() as usize / 8;
        }
        length += size_of::<u64>();
    }
    let rest = bytes[length..].iter().position(|byte| is_special(*byte));
    rest.map_or(bytes.len(), |at| length + at)
}

#[inline]
fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// Marks the special bytes of eight; a mark is true unless there is one in a lower byte.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    // Subtracting sets the top bit of a byte that was smaller; those of non-ASCII do not count.
    let control = word.wrapping_sub(ONES * 0x20);
    let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (control | quote | backslash) & !word & TOPS
}
