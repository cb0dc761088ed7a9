//! Patterns over the text of a command: exact, with stars, or the beginning of it.

use crate::shell::{self, Part};

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    /// The texts between the stars; one text means an exact match.
    pieces: Vec<String>,
    /// A trailing ` *`: the bare command matches, too, and a word has to end there.
    bare: Option<Box<CommandPattern>>,
}

impl CommandPattern {
    /// Reads `git status`, `git *`, `git:*`.
    pub fn new(written: &str) -> Self {
        let written = written.trim();
        // The old way to write a beginning.
        if let Some(start) = written.strip_suffix(":*") {
            return Self::beginning(start);
        }
        match written.strip_suffix(" *") {
            Some(start) => Self::beginning(start),
            None => Self::plain(written),
        }
    }

    /// The beginning of a command, as words.
    pub fn beginning(start: &str) -> Self {
        let start = start.trim_end();
        if start.is_empty() {
            return Self::plain("*");
        }
        let bare = Self::plain(start);
        let mut pieces = bare.pieces.clone();
        if let Some(last) = pieces.last_mut() {
            last.push(' ');
        }
        pieces.push(String::new());
        Self {
            pieces,
            bare: Some(Box::new(bare)),
        }
    }

    fn plain(written: &str) -> Self {
        let mut pieces = vec![String::new()];
        let mut letters = written.chars().peekable();
        while let Some(letter) = letters.next() {
            match (letter, letters.peek()) {
                ('\\', Some('*')) => push(&mut pieces, letters.next()),
                ('*', _) => pieces.push(String::new()),
                _ => push(&mut pieces, Some(letter)),
            }
        }
        Self { pieces, bare: None }
    }

    /// Whether it has no star.
    pub fn is_exact(&self) -> bool {
        self.pieces.len() == 1
    }

    /// Whether the rule itself spells this word out.
    pub fn spells(&self, word: &str) -> bool {
        self.pieces
            .iter()
            .flat_map(|piece| piece.split_whitespace())
            .any(|piece| piece == word || piece.split('=').next() == Some(word))
    }

    /// Whether a text is meant.
    pub fn matches(&self, text: &str) -> bool {
        self.bare.as_ref().is_some_and(|bare| bare.matches(text)) || self.matches_pieces(text)
    }

    /// Whether a rule with this pattern allows a part of a command.
    ///
    /// Programs that only start others are looked through, and a word with which a program
    /// leaves its frame (`git -c`, `find -exec`) has to be spelled out by the rule.
    pub fn allows(&self, part: &Part) -> bool {
        let bare = shell::stripped(part);
        if bare.opaque.is_some() || bare.words.is_empty() {
            return false;
        }
        let text = bare.text();
        if self.is_exact() {
            return self.matches(&text) || self.matches(&part.text());
        }
        let hatch = shell::escape_hatch(&bare);
        self.matches(&text) && hatch.is_none_or(|word| self.spells(&word))
    }

    fn matches_pieces(&self, text: &str) -> bool {
        let Some((first, rest)) = self.pieces.split_first() else {
            return false;
        };
        let Some(mut text) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        let Some((last, middle)) = rest.split_last() else {
            return text.is_empty();
        };
        for piece in middle {
            match text.find(piece.as_str()) {
                Some(at) => text = &text[at + piece.len()..],
                None => return false,
            }
        }
        text.ends_with(last.as_str())
    }
}

fn push(pieces: &mut [String], letter: Option<char>) {
    if let Some(piece) = pieces.last_mut() {
        piece.extend(letter);
    }
}
