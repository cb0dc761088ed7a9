//! Shell commands, taken apart so that each part can be judged on its own.
//!
//! Nothing here decides. What is not understood is said to be opaque, and then no pattern and no
//! list of harmless commands applies to it.

mod heredoc;
mod narrow;
mod option;
mod plain;
mod programs;
mod read_only;
mod walk;
mod word;
mod wrapper;
mod write;

#[cfg(test)]
mod tests;

use tree_sitter::Parser;

pub use option::escape_hatch;
pub use plain::one_line;
pub use read_only::{Reading, is_sink, reads_only, reads_trees};
pub use word::Word;
pub use wrapper::{script, stripped, stripped_for_denial};
pub use write::{FileWork, file_work};

/// Commands longer than this are not looked into.
const MAX_COMMAND: usize = 64 * 1024;

/// One simple command of a longer one, or the files the shell opens for one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// `NAME=value` in front of it, or all there is.
    pub assignments: Vec<Assignment>,
    /// The name of the program and its arguments.
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
    /// Why nobody can say what it will do.
    pub opaque: Option<&'static str>,
}

/// A variable that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub name: String,
    /// As written, with the name.
    pub text: String,
}

/// A file that the shell itself opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    pub direction: Direction,
    pub file: Word,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Read,
    Write,
}

/// Why a command could not be taken apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unparsable {
    #[error("the command is longer than {MAX_COMMAND} bytes")]
    TooLong,
    #[error("the command contains a control character or an unusual space")]
    OddCharacter,
    #[error("the command is not valid shell syntax as far as can be told")]
    Syntax,
    #[error("the shell parser could not be started")]
    NoParser,
}

/// The simple commands in a command, in the order in which they are written.
pub fn parts(command: &str) -> Result<Vec<Part>, Unparsable> {
    if command.len() > MAX_COMMAND {
        return Err(Unparsable::TooLong);
    }
    if command.chars().any(is_odd) {
        return Err(Unparsable::OddCharacter);
    }
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .map_err(|_| Unparsable::NoParser)?;
    let tree = parser.parse(&*narrow::stand_in(command), None);
    let tree = tree.ok_or(Unparsable::NoParser)?;
    if tree.root_node().has_error() || narrow::cuts_a_character(command, &tree) {
        return Err(Unparsable::Syntax);
    }
    walk::parts(command, tree.root_node())
}

/// Whether a command changes nothing, whatever it reads.
pub fn is_read_only(command: &str) -> bool {
    parts(command).is_ok_and(|parts| {
        !parts.is_empty()
            && !moves_and_asks_git(&parts)
            && parts.iter().all(|part| reads_only(part).is_some())
    })
}

/// A repository elsewhere may bring its own configuration, and with it programs to start.
pub fn moves_and_asks_git(parts: &[Part]) -> bool {
    let has = |name| parts.iter().any(|part| stripped(part).name() == Some(name));
    has("cd") && has("git")
}

impl Part {
    pub(crate) fn opaque(reason: &'static str) -> Self {
        Self {
            opaque: Some(reason),
            ..Self::default()
        }
    }

    /// The program, if it can be told.
    pub fn name(&self) -> Option<&str> {
        self.words.first()?.literal.as_deref()
    }

    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The part on one line with single spaces: the name without its quotes, the rest as written.
    pub fn text(&self) -> String {
        let assignments = self.assignments.iter().map(|one| one.text.as_str());
        let name = self.words.first().map(Word::unquoted);
        let arguments = self.arguments().iter().map(|word| word.text.as_str());
        join(assignments.chain(name).chain(arguments))
    }

    /// The same without any quotes, for rules that forbid.
    pub fn unquoted_text(&self) -> String {
        join(self.words.iter().map(Word::unquoted))
    }
}

fn join<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.collect::<Vec<_>>().join(" ")
}

/// The shell and the parser may see such a character differently.
fn is_odd(character: char) -> bool {
    match character {
        ' ' | '\t' | '\n' => false,
        _ => {
            character.is_control()
                || character.is_whitespace()
                || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        }
    }
}
