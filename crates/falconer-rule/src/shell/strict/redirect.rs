//! Redirections with exactly one word, and here-documents.

use super::super::{Direction, Part, Redirect};
use super::{HereDocument, NotPlain, Reader};

impl<'s> Reader<'s> {
    /// Reads the redirection that starts here, perhaps after the number of a descriptor.
    pub(super) fn redirect(&mut self, descriptor: Option<&str>) -> Result<(), NotPlain> {
        const OPERATORS: &[&str] = &[
            "<<<", "<<-", "<<", "<&", "<>", "<(", "<", "&>>", "&>", ">>", ">&", ">|", ">(", ">",
        ];
        if self.command.words.is_empty() {
            return Err(NotPlain::Redirection);
        }
        let rest = &self.source[self.at..];
        let operator = OPERATORS
            .iter()
            .find(|operator| rest.starts_with(**operator));
        let operator = operator.copied().ok_or(NotPlain::Redirection)?;
        self.at += operator.len();
        self.command.is_redirected = true;
        match (operator, descriptor) {
            ("<", None | Some("0")) => self.file(Direction::Read),
            (">" | ">>", None | Some("1" | "2")) | ("&>" | "&>>", None) => {
                self.file(Direction::Write)
            }
            (">&", None | Some("1" | "2")) => self.duplicate(),
            ("<<<", None) => self.herestring(),
            ("<<", None) => self.heredoc(),
            _ => Err(NotPlain::Redirection),
        }
    }

    fn file(&mut self, direction: Direction) -> Result<(), NotPlain> {
        let file = self.one_word()?;
        self.command.is_attached |= !super::super::is_sink(&file);
        self.command.files.push(Part {
            redirects: vec![Redirect { direction, file }],
            ..Part::default()
        });
        Ok(())
    }

    fn herestring(&mut self) -> Result<(), NotPlain> {
        self.one_word()?;
        self.command.is_attached = true;
        Ok(())
    }

    fn one_word(&mut self) -> Result<super::super::Word, NotPlain> {
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let is_word = self
            .peek(0)
            .is_some_and(|byte| !b"\n;&|<>()#".contains(&byte));
        if !is_word {
            return Err(NotPlain::Redirection);
        }
        let word = self.word()?;
        let is_literal = word.literal.as_deref().is_some_and(|text| !text.is_empty());
        let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit());
        let runs_on = matches!(self.peek(0), Some(b'<' | b'>')) && is_number;
        if !is_literal || runs_on {
            return Err(NotPlain::Redirection);
        }
        Ok(word)
    }

    /// `2>&1`
    fn duplicate(&mut self) -> Result<(), NotPlain> {
        let ends = self.peek(1).is_none_or(|byte| b" \t\n;|".contains(&byte));
        match self.peek(0) {
            Some(b'1' | b'2') if ends => {
                self.at += 1;
                Ok(())
            }
            _ => Err(NotPlain::Redirection),
        }
    }

    fn heredoc(&mut self) -> Result<(), NotPlain> {
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let rest = &self.source[self.at..];
        let end = rest.find([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']);
        let written = &rest[..end.unwrap_or(rest.len())];
        let unquoted = ['\'', '"']
            .iter()
            .find_map(|quote| written.strip_prefix(*quote)?.strip_suffix(*quote));
        let delimiter = unquoted.unwrap_or(written);
        let is_clear = !delimiter.is_empty()
            && delimiter
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_clear || self.heredoc.is_some() {
            return Err(NotPlain::HereDocument);
        }
        self.at += written.len();
        self.command.is_attached = true;
        self.heredoc = Some(HereDocument {
            delimiter,
            is_raw: unquoted.is_some(),
        });
        Ok(())
    }

    /// Reads the lines up to the delimiter.
    pub(super) fn body(&mut self, heredoc: &HereDocument<'s>) -> Result<(), NotPlain> {
        while self.at < self.source.len() {
            let rest = &self.source[self.at..];
            let line = rest.split('\n').next().unwrap_or(rest);
            self.at += (line.len() + 1).min(rest.len());
            if line == heredoc.delimiter {
                return Ok(());
            }
            let is_plain = heredoc.is_raw || !line.contains(['$', '`', '\\']);
            // Some readers end the text at such a line already.
            if !is_plain || line.trim_matches(['\t', ' ']) == heredoc.delimiter {
                return Err(NotPlain::HereDocument);
            }
        }
        Err(NotPlain::HereDocument)
    }
}
