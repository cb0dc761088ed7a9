//! Files of text: their encoding and line endings, so that a change keeps both.

/// How many bytes at the start tell text from other data.
pub(crate) const HEAD: usize = 8 << 10;

/// A decoded file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// With `\n` at the ends of lines, unless the endings are mixed.
    pub(crate) text: String,
    pub(crate) encoding: Encoding,
    pub(crate) endings: Endings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    Utf8WithMark,
    Utf16Le,
    Utf16Be,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endings {
    Lf,
    CrLf,
    /// Left as they are, every one.
    Mixed,
}

/// Bytes that are not text we can write back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotText {
    #[error("it holds binary data")]
    Binary,
    #[error("it is not valid UTF-8, so it has an older encoding or is binary")]
    NotUtf8,
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

impl Encoding {
    /// What the mark at the start says.
    pub(crate) fn of(head: &[u8]) -> Self {
        if head.starts_with(UTF8_MARK) {
            Self::Utf8WithMark
        } else if head.starts_with(b"\xff\xfe") {
            Self::Utf16Le
        } else if head.starts_with(b"\xfe\xff") {
            Self::Utf16Be
        } else {
            Self::Utf8
        }
    }
}

/// Whether the start of a file looks like something other than text.
pub(crate) fn is_binary(head: &[u8]) -> bool {
    match Encoding::of(head) {
        Encoding::Utf16Le | Encoding::Utf16Be => false,
        Encoding::Utf8 | Encoding::Utf8WithMark => {
            let head = &head[..head.len().min(HEAD)];
            let odd = head.iter().filter(|byte| is_odd(**byte)).count();
            head.contains(&0) || odd * 10 > head.len()
        }
    }
}

/// Control characters that no text has in numbers.
fn is_odd(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x08 | 0x0c | 0x1b)
}

impl Text {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, NotText> {
        if is_binary(bytes) {
            return Err(NotText::Binary);
        }
        let encoding = Encoding::of(bytes);
        let raw = match encoding {
            Encoding::Utf8 => utf8(bytes)?,
            Encoding::Utf8WithMark => utf8(&bytes[UTF8_MARK.len()..])?,
            Encoding::Utf16Le => utf16(&bytes[2..], u16::from_le_bytes)?,
            Encoding::Utf16Be => utf16(&bytes[2..], u16::from_be_bytes)?,
        };
        let endings = Endings::of(&raw);
        let text = match endings {
            Endings::CrLf => raw.replace("\r\n", "\n"),
            Endings::Lf | Endings::Mixed => raw,
        };
        Ok(Self {
            text,
            encoding,
            endings,
        })
    }

    /// A text with the mark that this one begins with, as a host shows it.
    pub(crate) fn marked(&self, text: &str) -> String {
        match self.encoding {
            Encoding::Utf8 => text.to_owned(),
            Encoding::Utf8WithMark | Encoding::Utf16Le | Encoding::Utf16Be => {
                format!("\u{feff}{text}")
            }
        }
    }

    /// Another text in the encoding and with the line endings of this one.
    pub(crate) fn encode(&self, text: &str) -> Vec<u8> {
        let text = match self.endings {
            Endings::CrLf => text.replace("\r\n", "\n").replace('\n', "\r\n"),
            Endings::Lf | Endings::Mixed => text.to_owned(),
        };
        match self.encoding {
            Encoding::Utf8 => text.into_bytes(),
            Encoding::Utf8WithMark => [UTF8_MARK, text.as_bytes()].concat(),
            Encoding::Utf16Le => wide(&text, u16::to_le_bytes),
            Encoding::Utf16Be => wide(&text, u16::to_be_bytes),
        }
    }
}

impl Endings {
    fn of(text: &str) -> Self {
        let all = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let pairs = text.matches("\r\n").count();
        match (all, pairs) {
            (_, 0) => Self::Lf,
            // `\r\r\n` would come back as `\r\n`.
            (all, pairs) if all == pairs && !text.contains("\r\r\n") => Self::CrLf,
            _ => Self::Mixed,
        }
    }
}

fn utf8(bytes: &[u8]) -> Result<String, NotText> {
    let text = std::str::from_utf8(bytes).map_err(|_| NotText::NotUtf8)?;
    Ok(text.to_owned())
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, NotText> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(NotText::NotUtf8);
    }
    char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
        .collect::<Result<String, _>>()
        .map_err(|_| NotText::NotUtf8)
}

fn wide(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff)
        .chain(text.encode_utf16())
        .flat_map(bytes)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_file_survives_decoding_and_encoding(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(text) = Text::decode(&bytes) {
                prop_assert_eq!(text.encode(&text.text), bytes);
            }
        }

        #[test]
        fn every_encoding_and_ending_survives(
            lines in proptest::collection::vec("[a-zé€😀]{0,9}", 0..9),
            end in prop_oneof![Just("\n"), Just("\r\n")],
            encoding in 0..4_usize,
        ) {
            let raw = lines.join(end);
            let bytes = match encoding {
                0 => raw.clone().into_bytes(),
                1 => [UTF8_MARK, raw.as_bytes()].concat(),
                2 => wide(&raw, u16::to_le_bytes),
                _ => wide(&raw, u16::to_be_bytes),
            };
            let text = Text::decode(&bytes).unwrap();
            prop_assert_eq!(&text.text, &lines.join("\n"));
            prop_assert_eq!(text.encode(&text.text), bytes);
        }
    }

    #[test]
    fn data_is_told_from_text() {
        let check = |bytes: &[u8], expect| {
            assert_eq!(Text::decode(bytes).map(|text| text.text), expect);
        };
        check(b"plain\n", Ok("plain\n".into()));
        check(b"caf\xe9\n", Err(NotText::NotUtf8));
        check(b"\x7fELF\x02\x01\x01\0\0", Err(NotText::Binary));
        check(b"\x01\x02\x03\x04abc", Err(NotText::Binary));
        check(b"\xff\xfeh\0i\0", Ok("hi".into()));
        check(b"\xff\xfeh\0i", Err(NotText::NotUtf8));
        check(
            b"\x1b[1mbold\x1b[0m\n",
            Ok("\u{1b}[1mbold\u{1b}[0m\n".into()),
        );
    }
}
