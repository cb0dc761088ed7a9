//! Numbers: small whole ones at once, all others as serde_json reads them.

use serde::de::{Deserializer, Visitor};
use serde_json::{Number, Result};

use super::Reader;

/// So many digits fit into a `u64` whatever they are.
const SAFE_DIGITS: usize = 18;

/// Reads the number that starts here.
#[inline]
pub(super) fn visit<'de, V: Visitor<'de>>(
    reader: &mut Reader<'de>,
    visitor: V,
) -> Result<V::Value> {
    let rest = &reader.text.as_bytes()[reader.at..];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_whole = !matches!(rest.get(digits), Some(b'.' | b'e' | b'E'));
    let is_plain = digits == 1 || rest[0] != b'0';
    if !is_whole || !is_plain || digits == 0 || digits > SAFE_DIGITS {
        return visit_any(reader, visitor);
    }
    let value = rest[..digits]
        .iter()
        .fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
    reader.at += digits;
    visitor.visit_u64(value)
}

#[cold]
#[inline(never)]
fn visit_any<'de, V: Visitor<'de>>(reader: &mut Reader<'de>, visitor: V) -> Result<V::Value> {
    let rest = &reader.text[reader.at..];
    let is_part = |byte: u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let end = rest.bytes().position(|byte| !is_part(byte));
    let number = &rest[..end.unwrap_or(rest.len())];
    let value: Number = number.parse()?;
    reader.at += number.len();
    value.deserialize_any(visitor)
}
