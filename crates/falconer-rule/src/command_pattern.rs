//! Patterns over the text of a command: exact, with stars, or the beginning of it.

use crate::shell::{self, Part};

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    /// The texts between the stars; one text means an exact match.
    pieces: Vec<String>,
    /// A trailing ` *`: the bare command matches, too, and a word has to end there.
    bare: Option<Box<CommandPattern>>,
    /// The same for a program without its directory, if it has one.
    named: Option<Box<CommandPattern>>,
}

impl CommandPattern {
    /// Reads `git status`, `git *`, `git:*`.
    pub fn new(written: &str) -> Self {
        let written = written.trim();
        // The old way to write a beginning; more stars mean no more.
        let start = written.trim_end_matches('*');
        let start = start.strip_suffix(':').filter(|_| written.ends_with('*'));
        if let Some(start) = start {
            return Self::beginning(start);
        }
        match written.strip_suffix(" *") {
            Some(start) => Self::beginning(start),
            None => Self::plain(written).with_name(),
        }
    }

    /// The beginning of a command, as words.
    pub fn beginning(start: &str) -> Self {
        let start = start.trim_end();
        if start.is_empty() {
            return Self::plain("*").with_name();
        }
        let bare = Self::plain(start);
        let mut pieces = bare.pieces.clone();
        if let Some(last) = pieces.last_mut() {
            last.push(' ');
        }
        pieces.push(String::new());
        let whole = Self {
            pieces,
            bare: Some(Box::new(bare)),
            named: None,
        };
        whole.with_name()
    }

    fn with_name(mut self) -> Self {
        self.named = self.without_directory().map(Box::new);
        self
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
        Self {
            pieces,
            bare: None,
            named: None,
        }
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

    /// Whether a text is meant by a rule that forbids: the directory of a program counts for
    /// nothing, because it has other names.
    pub(crate) fn matches_named(&self, text: &str) -> bool {
        self.matches(text) || self.named.as_ref().is_some_and(|it| it.matches(text))
    }

    /// `/usr/bin/rm *` as `rm *`.
    fn without_directory(&self) -> Option<Self> {
        let program = self.program()?;
        let (directory, _) = program.rsplit_once('/')?;
        let rest = self.pieces.first()?.get(directory.len() + 1..)?;
        let mut named = self.clone();
        rest.clone_into(named.pieces.first_mut()?);
        let bare = self.bare.as_ref().and_then(|bare| bare.without_directory());
        named.bare = bare.map(Box::new);
        Some(named)
    }

    /// Whether a rule with this pattern allows a part of a plain command.
    ///
    /// A pattern without stars allows exactly its text, alone: not fed by a pipe, and not with
    /// files that the shell opens. With stars, programs that only start others are looked
    /// through, and a word with which a program leaves its frame (`git -c`, `find -exec`) has to
    /// be spelled out by the rule.
    pub fn allows(&self, part: &Part) -> bool {
        let bare = shell::stripped(part);
        if bare.opaque.is_some() || bare.words.is_empty() {
            return false;
        }
        if self.is_exact() {
            return !part.is_attached && self.matches(&part.text());
        }
        self.matches(&bare.text()) && self.spells_hatches(bare.into_owned())
    }

    /// Whether every word with which the program leaves its frame is in the rule.
    fn spells_hatches(&self, mut part: Part) -> bool {
        while let Some(hatch) = shell::escape_hatch(&part) {
            if !self.spells(&hatch) {
                return false;
            }
            let starts_others = shell::starts_others(&part);
            let mut arguments = part.arguments().iter();
            let index = arguments.position(|word| shell::spelled(word) == hatch);
            let Some(index) = index else {
                return true;
            };
            if !starts_others {
                part.words.remove(index + 1);
                continue;
            }
            // Which program an option belongs to cannot be told.
            if hatch.starts_with('-') {
                return false;
            }
            // The program that is started has a frame of its own.
            part.words.drain(..=index);
        }
        true
    }

    /// Whether a text that begins like this, and goes on in a way nobody knows, may be meant.
    pub(crate) fn may_continue(&self, known: &str) -> bool {
        let first = self.pieces.first().map_or("", String::as_str);
        let shorter = first.len().min(known.len());
        first.as_bytes()[..shorter] == known.as_bytes()[..shorter]
    }

    /// The words that the pattern begins with, the program without its directory.
    pub(crate) fn words(&self) -> Option<impl Iterator<Item = &str>> {
        let mut words = self.pieces.first()?.split_whitespace();
        let program = words.next()?;
        let name = program.rsplit('/').next().unwrap_or(program);
        Some(std::iter::once(name).chain(words))
    }

    /// The program that the pattern begins with.
    pub(crate) fn program(&self) -> Option<&str> {
        self.pieces.first()?.split_whitespace().next()
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
