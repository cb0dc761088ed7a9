//! Finding a top-level string in an object without parsing the object.

use std::borrow::Cow;

/// Walks over JSON text. It trusts the text to be JSON and never reads past its end.
pub(crate) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// The string under `key` of the object that the text is.
    pub(crate) fn string_at(mut self, key: &str) -> Option<Cow<'a, [u8]>> {
        self.expect(b'{')?;
        loop {
            self.skip_space();
            let found = *self.string()? == *key.as_bytes();
            self.expect(b':')?;
            self.skip_space();
            if found {
                return self.string();
            }
            self.skip_value()?;
            self.expect(b',')?;
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.skip_space();
        (self.text.get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    fn skip_space(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// The string that starts here, without its quotes and with its escapes resolved.
    fn string(&mut self) -> Option<Cow<'a, [u8]>> {
        let start = self.at;
        let has_escapes = self.skip_string()?;
        let quoted = &self.text[start..self.at];
        if has_escapes {
            let text: String = serde_json::from_slice(quoted).ok()?;
            return Some(Cow::Owned(text.into_bytes()));
        }
        Some(Cow::Borrowed(&quoted[1..quoted.len() - 1]))
    }

    /// Steps over a string; returns `true` if it had escapes.
    fn skip_string(&mut self) -> Option<bool> {
        if self.text.get(self.at) != Some(&b'"') {
            return None;
        }
        self.at += 1;
        let mut has_escapes = false;
        loop {
            self.at += memchr::memchr2(b'"', b'\\', self.text.get(self.at..)?)?;
            if self.text[self.at] == b'"' {
                self.at += 1;
                return Some(has_escapes);
            }
            has_escapes = true;
            self.at += 2;
        }
    }

    fn skip_value(&mut self) -> Option<()> {
        match self.text.get(self.at)? {
            b'"' => self.skip_string().map(drop),
            b'{' | b'[' => self.skip_nested(),
            _ => {
                let rest = &self.text[self.at..];
                self.at += rest.iter().position(|byte| {
                    matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n')
                })?;
                Some(())
            }
        }
    }

    fn skip_nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.text.get(self.at)? {
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }
}
