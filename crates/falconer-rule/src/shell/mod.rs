//! Shell commands, taken apart so that each part can be judged on its own.
//!
//! Two readers take part: a strict one of our own for a small language, and a syntax tree for
//! all of it. What both read alike is plain and may be allowed; the rest can only be forbidden,
//! asked about, or allowed as a whole. Nothing here decides.

mod builtin;
mod code;
mod git;
mod git_content;
mod git_hatch;
mod grammar;
mod hatch;
mod heredoc;
mod kind;
mod meaning;
mod narrow;
mod option;
mod plain;
mod programs;
mod read_only;
mod script;
mod search;
mod sed;
mod strict;
mod tree;
mod variable;
mod walk;
mod word;
mod wrapper;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use git_content::{Content, Operands, content};
pub(crate) use git_hatch::asks_git_for_unknown;
pub(crate) use hatch::spelled;
pub use hatch::{escape_hatch, runs_code};
pub(crate) use meaning::{Inner, Meaning};
pub use plain::one_line;
pub use read_only::{Grade, Reading, is_sink, reads_only, reads_trees};
pub use script::{Script, read};
pub(crate) use sed::script_files;
pub use strict::NotPlain;
pub use word::Word;
pub use wrapper::{runs_unknown, script, scripts, stripped, stripped_for_denial};
pub(crate) use wrapper::{starts_others, takes_more};
pub use write::{FileWork, file_work};
pub(crate) use write::{changes_trees, renames_trees, unpacks};

/// One simple command of a longer one, or the files the shell opens for one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// `NAME=value` in front of it, or all there is.
    pub assignments: Vec<Assignment>,
    /// The name of the program and its arguments.
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
    /// It is fed by a pipe, a here-document or a file, or writes one.
    pub is_attached: bool,
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
    #[error("the command is too long to be judged")]
    TooLong,
    #[error("the command contains a control character or an unusual space")]
    OddCharacter,
    #[error("the command is not valid shell syntax as far as can be told")]
    Syntax,
    #[error("the command is too complex to be judged")]
    TooComplex,
    #[error("the shell parser could not be started")]
    NoParser,
}

/// The simple commands in a command, in the order in which they are written.
pub fn parts(command: &str) -> Result<Vec<Part>, Unparsable> {
    read(command).map(|script| script.parts().to_vec())
}

/// Whether a command changes nothing, whatever it reads.
pub fn is_read_only(command: &str) -> bool {
    read(command).is_ok_and(|script| script.reads_only().is_some())
}

/// A repository elsewhere may bring its own configuration, and with it programs to start.
pub fn moves_and_asks_git(parts: &[Part]) -> bool {
    let has = |name| parts.iter().any(|part| stripped(part).name() == Some(name));
    has("git") && (has("cd") || has("pushd") || has("popd"))
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
    let mut joined = String::new();
    for (index, text) in texts.enumerate() {
        if index > 0 {
            joined.push(' ');
        }
        joined.push_str(text);
    }
    joined
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
