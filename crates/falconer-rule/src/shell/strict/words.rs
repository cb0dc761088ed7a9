//! Words: bare letters, quotes and escapes that every shell reads alike.

use super::super::Word;
use super::super::variable::{is_name, is_shown};
use super::{NotPlain, Reader};

#[derive(Default)]
struct Draft {
    value: String,
    is_glob: bool,
    has_braces: bool,
    has_variables: bool,
}

impl Reader<'_> {
    /// Reads the word that starts here.
    pub(super) fn word(&mut self) -> Result<Word, NotPlain> {
        let start = self.at;
        let mut draft = Draft::default();
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' => break,
                b'(' | b')' => return Err(NotPlain::Compound),
                b'\'' => self.single_quotes(&mut draft)?,
                b'"' => self.double_quotes(&mut draft)?,
                b'\\' => self.escape(&mut draft)?,
                b'$' => self.variable(&mut draft)?,
                b'`' => return Err(NotPlain::Expansion),
                b'~' => self.tilde(start, &mut draft)?,
                _ => self.bare(byte, &mut draft),
            }
        }
        let text = &self.source[start..self.at];
        finished(text, draft)
    }

    fn bare(&mut self, byte: u8, draft: &mut Draft) {
        draft.is_glob |= matches!(byte, b'*' | b'?' | b'[');
        draft.has_braces |= byte == b'{';
        self.take_letter(draft);
    }

    fn take_letter(&mut self, draft: &mut Draft) {
        if let Some(letter) = self.source[self.at..].chars().next() {
            draft.value.push(letter);
            self.at += letter.len_utf8();
        }
    }

    fn single_quotes(&mut self, draft: &mut Draft) -> Result<(), NotPlain> {
        let rest = &self.source[self.at + 1..];
        let end = rest.find('\'').ok_or(NotPlain::Syntax)?;
        self.check_lines(&rest[..end])?;
        draft.value.push_str(&rest[..end]);
        self.at += end + 2;
        Ok(())
    }

    fn double_quotes(&mut self, draft: &mut Draft) -> Result<(), NotPlain> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek(0).ok_or(NotPlain::Syntax)? {
                b'"' => break,
                b'`' => return Err(NotPlain::Expansion),
                b'$' => self.variable(draft)?,
                b'\\' => match self.peek(1) {
                    Some(escaped @ (b'"' | b'\\' | b'$' | b'`')) => {
                        draft.value.push(char::from(escaped));
                        self.at += 2;
                    }
                    Some(b'\n') | None => return Err(NotPlain::Syntax),
                    Some(_) => self.take_letter(draft),
                },
                _ => self.take_letter(draft),
            }
        }
        self.at += 1;
        self.check_lines(&self.source[start..self.at])
    }

    /// A line that ends in quotes is not the one after which a here-document starts.
    fn check_lines(&self, quoted: &str) -> Result<(), NotPlain> {
        if self.heredoc.is_some() && quoted.contains('\n') {
            return Err(NotPlain::HereDocument);
        }
        Ok(())
    }

    fn escape(&mut self, draft: &mut Draft) -> Result<(), NotPlain> {
        match self.peek(1) {
            Some(escaped @ b' '..=b'~') => {
                draft.value.push(char::from(escaped));
                self.at += 2;
                Ok(())
            }
            _ => Err(NotPlain::Syntax),
        }
    }

    /// `$HOME`, `${HOME}`, `$?`: variables whose value may be shown.
    fn variable(&mut self, draft: &mut Draft) -> Result<(), NotPlain> {
        let rest = &self.source[self.at + 1..];
        let (name, width) = match rest.strip_prefix('{') {
            Some(inner) => {
                let end = inner.find('}').ok_or(NotPlain::Expansion)?;
                (&inner[..end], end + 2)
            }
            None if rest.starts_with('?') => ("?", 1),
            None => {
                let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                let end = rest.find(|letter| !is_letter(letter));
                let name = &rest[..end.unwrap_or(rest.len())];
                (name, name.len())
            }
        };
        let is_followed_by_index = rest[width..].starts_with('[');
        let is_known = name == "?" || is_name(name) && is_shown(name);
        if !is_known || is_followed_by_index {
            return Err(NotPlain::Expansion);
        }
        draft.has_variables = true;
        self.at += width + 1;
        Ok(())
    }

    fn tilde(&mut self, start: usize, draft: &mut Draft) -> Result<(), NotPlain> {
        let is_first = self.at == start;
        let next = self.peek(1);
        let is_home = next.is_none_or(|byte| b"/ \t\n;&|<>".contains(&byte));
        let may_expand = matches!(self.before(), Some(b'=' | b':'));
        if is_first && !is_home || !is_first && may_expand {
            return Err(NotPlain::Tilde);
        }
        self.take_letter(draft);
        Ok(())
    }
}

fn finished(text: &str, draft: Draft) -> Result<Word, NotPlain> {
    // A bracket alone is a program or an argument, not a pattern.
    let is_glob = draft.is_glob && text != "[";
    if draft.has_braces && (text.contains(',') || text.contains("..")) {
        return Err(NotPlain::Braces);
    }
    if draft.has_variables && (is_glob || draft.has_braces) {
        return Err(NotPlain::Expansion);
    }
    let is_known = !draft.has_variables;
    Ok(Word {
        text: text.to_owned(),
        literal: (is_known && !is_glob).then(|| draft.value.clone()),
        glob: (is_known && is_glob).then_some(draft.value),
        quoted: text.starts_with('"') && text.ends_with('"'),
        shows_variables: draft.has_variables,
    })
}
