//! Markdown as it arrives: headings, lists, code, bold; nothing waits for the end of a paragraph.

use std::io::{self, Write};

use owo_colors::OwoColorize;

/// Where in a text we are.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    /// The beginning of a line whose kind is not clear yet.
    head: String,
    place: Place,
    code_block: bool,
    bold: bool,
    code: bool,
    /// A star that may be the first of two.
    star: bool,
}

/// What kind of line we are in.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Start,
    Text,
    Heading,
    Code,
    /// The line that begins or ends a block of code, which is not shown.
    Fence,
}

impl Markdown {
    /// Writes the next piece of a text.
    pub(super) fn write(&mut self, text: &str, out: &mut impl Write) -> io::Result<()> {
        for character in text.chars() {
            match (character, self.place) {
                ('\n', _) => self.end_line(out)?,
                (_, Place::Start) => self.begin(character, out)?,
                (_, Place::Fence) => {}
                (_, Place::Code) => write!(out, "{}", character.cyan())?,
                (_, Place::Heading) => write!(out, "{}", character.bold())?,
                (_, Place::Text) => self.inline(character, out)?,
            }
        }
        out.flush()
    }

    /// Ends the text, with an end of line.
    pub(super) fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.place != Place::Start || !self.head.is_empty() {
            self.end_line(out)?;
        }
        *self = Self::default();
        out.flush()
    }

    /// Collects the beginning of a line until it is clear what it is.
    fn begin(&mut self, character: char, out: &mut impl Write) -> io::Result<()> {
        self.head.push(character);
        let trimmed = self.head.trim_start();
        let may_be_more = match trimmed {
            "" | "-" | "*" | "`" | "``" => true,
            _ => !trimmed.is_empty() && trimmed.chars().all(|c| c == '#') && trimmed.len() <= 6,
        };
        // In a block of code only its end is of interest.
        let is_open = if self.code_block {
            matches!(trimmed, "" | "`" | "``")
        } else {
            may_be_more
        };
        if is_open { Ok(()) } else { self.decide(out) }
    }

    /// The kind of a line is clear: writes its beginning.
    fn decide(&mut self, out: &mut impl Write) -> io::Result<()> {
        let head = std::mem::take(&mut self.head);
        let trimmed = head.trim_start();
        let indent = &head[..head.len() - trimmed.len()];
        if trimmed.starts_with("```") {
            self.code_block = !self.code_block;
            self.place = Place::Fence;
            return Ok(());
        }
        if self.code_block {
            self.place = Place::Code;
            return write!(out, "    {}", head.cyan());
        }
        if trimmed.starts_with('#') && trimmed.ends_with(' ') {
            self.place = Place::Heading;
            return Ok(());
        }
        self.place = Place::Text;
        if let "- " | "* " = trimmed {
            return write!(out, "{indent}• ");
        }
        for character in head.chars() {
            self.inline(character, out)?;
        }
        Ok(())
    }

    fn inline(&mut self, character: char, out: &mut impl Write) -> io::Result<()> {
        if character == '*' && !self.code {
            if std::mem::take(&mut self.star) {
                self.bold = !self.bold;
            } else {
                self.star = true;
            }
            return Ok(());
        }
        if std::mem::take(&mut self.star) {
            self.styled('*', out)?;
        }
        if character == '`' {
            self.code = !self.code;
            return Ok(());
        }
        self.styled(character, out)
    }

    fn styled(&self, character: char, out: &mut impl Write) -> io::Result<()> {
        match (self.code, self.bold) {
            (true, _) => write!(out, "{}", character.cyan()),
            (false, true) => write!(out, "{}", character.bold()),
            (false, false) => write!(out, "{character}"),
        }
    }

    fn end_line(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.place == Place::Start && !self.head.is_empty() {
            self.decide(out)?;
        }
        if std::mem::take(&mut self.star) {
            self.styled('*', out)?;
        }
        if self.place != Place::Fence {
            writeln!(out)?;
        }
        // A style that was not closed does not leak into the next line.
        self.bold = false;
        self.code = false;
        self.place = Place::Start;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(chunks: &[&str]) -> String {
        let mut markdown = Markdown::default();
        let mut out = anstream::StripStream::new(Vec::new());
        for chunk in chunks {
            markdown.write(chunk, &mut out).unwrap();
        }
        markdown.finish(&mut out).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    #[test]
    fn marks_become_styles_and_text_stays() {
        let table = [
            ("one\n\ntwo", "one\n\ntwo\n"),
            ("## A heading\ntext", "A heading\ntext\n"),
            ("#hashtag", "#hashtag\n"),
            ("- a\n  - b\n* c", "• a\n  • b\n• c\n"),
            ("-5 and 2 * 3 **bold** `x * y`", "-5 and 2 * 3 bold x * y\n"),
            ("```sh\nls *\n```\nend", "    ls *\nend\n"),
            ("*", "*\n"),
            ("a **never closed\nnext", "a never closed\nnext\n"),
            ("", ""),
            ("ends\n", "ends\n"),
        ];
        for (text, expected) in table {
            assert_eq!(plain(&[text]), expected, "{text:?}");
        }
    }

    #[test]
    fn it_does_not_matter_how_the_text_is_cut() {
        let text = "# Head\n- *one* **two** `three`\n```\ncode **x**\n```\n****\n";
        let whole = plain(&[text]);
        for at in 0..=text.len() {
            assert_eq!(plain(&[&text[..at], &text[at..]]), whole, "cut at {at}");
        }
    }

    #[test]
    fn words_are_shown_before_their_line_ends() {
        let mut markdown = Markdown::default();
        let mut out = Vec::new();
        markdown.write("Let me lo", &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "Let me lo");
    }
}
