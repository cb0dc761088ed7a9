//! A reader for a small part of the shell language, for commands that are to run unasked.
//!
//! It knows plain words, quotes, `;` `&&` `||` `|`, lines, redirections and here-documents, and
//! reads them in one pass as bash does. Everything else is [`NotPlain`].

mod redirect;
mod words;

use super::variable::{self, is_name};
use super::{Assignment, Part};

/// Why a command is more than plain words, quotes, lists, pipes and redirections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotPlain {
    /// `$(…)`, `` `…` ``, `$x`, `$'…'`.
    #[error("it has an expansion")]
    Expansion,
    /// `{a,b}`.
    #[error("it has a brace expansion")]
    Braces,
    /// `~user`, `a=~`.
    #[error("it names a directory by `~`")]
    Tilde,
    /// `cmd &`.
    #[error("it runs something in the background")]
    Background,
    /// `if`, `for`, `{`, `!`, `[[`, a function, a subshell.
    #[error("it uses a compound command or a reserved word")]
    Compound,
    /// A variable that may change what programs do.
    #[error("it sets a variable")]
    Assignment,
    /// A redirection other than those to one file or descriptor.
    #[error("it has an unusual redirection")]
    Redirection,
    /// An argument after a redirection.
    #[error("it has a word after a redirection")]
    WordAfterRedirection,
    /// A here-document that expands, or whose end is unclear.
    #[error("it has a here-document that may expand")]
    HereDocument,
    /// An escape, a quote or an operator that bash may read differently.
    #[error("it is not plain shell syntax")]
    Syntax,
    /// The second reader found other words.
    #[error("two readers disagree about its words")]
    Disagreement,
    /// Too long for the second reader.
    #[error("it is too long to be checked twice")]
    TooLong,
    /// More words or parts than anybody would read.
    #[error("it has too many words or parts")]
    TooMany,
}

/// Simple commands and files in one command.
const MAX_PARTS: usize = 128;

/// Words in one command.
pub(super) const MAX_WORDS: usize = 512;

/// Words that begin or continue compound commands.
const RESERVED: &[&str] = &[
    "!", "{", "}", "[[", "]]", "((", "case", "coproc", "do", "done", "elif", "else", "esac", "fi",
    "for", "function", "if", "in", "select", "then", "time", "until", "while",
];

/// Whether a name is a word of the shell language.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Reads the simple commands of a plain command, each followed by the files the shell opens.
pub(super) fn read(source: &str) -> Result<Vec<Part>, NotPlain> {
    let mut reader = Reader {
        source,
        at: 0,
        parts: Vec::new(),
        command: Command::default(),
        open: Open::Nothing,
        heredoc: None,
        words: 0,
    };
    while reader.at < source.len() {
        reader.token()?;
    }
    reader.finish()
}

struct Reader<'s> {
    source: &'s str,
    at: usize,
    parts: Vec<Part>,
    command: Command,
    open: Open,
    /// A here-document whose body starts on the next line.
    heredoc: Option<HereDocument<'s>>,
    words: usize,
}

/// The simple command that is being read.
#[derive(Default)]
struct Command {
    assignments: Vec<Assignment>,
    words: Vec<super::Word>,
    files: Vec<Part>,
    is_redirected: bool,
    is_attached: bool,
}

impl Command {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.assignments.is_empty() && !self.is_redirected
    }
}

/// What waits for a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    /// `&&`, `||`
    List,
    Pipe,
}

struct HereDocument<'s> {
    delimiter: &'s str,
    is_raw: bool,
}

impl<'s> Reader<'s> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.source.as_bytes().get(self.at + ahead).copied()
    }

    fn before(&self) -> Option<u8> {
        self.at
            .checked_sub(1)
            .map(|index| self.source.as_bytes()[index])
    }

    fn token(&mut self) -> Result<(), NotPlain> {
        let next = self.peek(1);
        match self.peek(0).ok_or(NotPlain::Syntax)? {
            b' ' | b'\t' => self.at += 1,
            b'\\' if next == Some(b'\n') => self.continue_line()?,
            b'#' => self.comment()?,
            b'\n' => self.end_line()?,
            b';' if matches!(next, Some(b';' | b'&')) => return Err(NotPlain::Compound),
            b';' => self.end_command(Open::Nothing, 1)?,
            b'&' if next == Some(b'&') => self.end_command(Open::List, 2)?,
            b'&' if next == Some(b'>') => self.redirect(None)?,
            b'&' => return Err(NotPlain::Background),
            b'|' if next == Some(b'|') => self.end_command(Open::List, 2)?,
            b'|' if next == Some(b'&') => return Err(NotPlain::Redirection),
            b'|' => self.end_command(Open::Pipe, 1)?,
            b'(' | b')' => return Err(NotPlain::Compound),
            b'<' | b'>' => self.redirect(None)?,
            _ => self.argument()?,
        }
        Ok(())
    }

    /// A backslash at the end of a line, between words.
    fn continue_line(&mut self) -> Result<(), NotPlain> {
        let is_between = matches!(self.before(), Some(b' ' | b'\t'));
        if !is_between || self.peek(2) == Some(b'#') || self.heredoc.is_some() {
            return Err(NotPlain::Syntax);
        }
        self.at += 2;
        Ok(())
    }

    fn comment(&mut self) -> Result<(), NotPlain> {
        let starts_word = self.before().is_none_or(|byte| b" \t\n;|&".contains(&byte));
        if !starts_word || self.heredoc.is_some() {
            return Err(NotPlain::Syntax);
        }
        let rest = &self.source[self.at..];
        self.at += rest.find('\n').unwrap_or(rest.len());
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), NotPlain> {
        if self.command.is_empty() {
            self.at += 1;
        } else {
            self.end_command(Open::Nothing, 1)?;
        }
        match self.heredoc.take() {
            Some(heredoc) => self.body(&heredoc),
            None => Ok(()),
        }
    }

    fn end_command(&mut self, open: Open, width: usize) -> Result<(), NotPlain> {
        self.push_command()?;
        self.open = open;
        self.at += width;
        Ok(())
    }

    fn push_command(&mut self) -> Result<(), NotPlain> {
        let mut command = std::mem::take(&mut self.command);
        if command.words.is_empty() {
            return Err(if command.assignments.is_empty() {
                NotPlain::Syntax
            } else {
                NotPlain::Assignment
            });
        }
        let is_attached = command.is_attached || self.open == Open::Pipe;
        self.parts.push(Part {
            assignments: command.assignments,
            words: command.words,
            is_attached,
            ..Part::default()
        });
        self.parts.append(&mut command.files);
        self.open = Open::Nothing;
        if self.parts.len() > MAX_PARTS {
            return Err(NotPlain::TooMany);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Part>, NotPlain> {
        if !self.command.is_empty() {
            self.push_command()?;
        }
        if self.open != Open::Nothing {
            return Err(NotPlain::Syntax);
        }
        if self.heredoc.is_some() {
            return Err(NotPlain::HereDocument);
        }
        Ok(self.parts)
    }

    fn argument(&mut self) -> Result<(), NotPlain> {
        self.words += 1;
        if self.words > MAX_WORDS {
            return Err(NotPlain::TooMany);
        }
        let word = self.word()?;
        if matches!(self.peek(0), Some(b'<' | b'>')) {
            if word.text.bytes().all(|byte| byte.is_ascii_digit()) {
                return self.redirect(Some(&word.text));
            }
            if word.text.contains('{') {
                return Err(NotPlain::Redirection);
            }
        }
        if self.command.is_redirected {
            return Err(NotPlain::WordAfterRedirection);
        }
        if !self.command.words.is_empty() {
            self.command.words.push(word);
            return Ok(());
        }
        if let Some((name, _)) = word.text.split_once('=')
            && is_name(name.trim_end_matches('+'))
        {
            let assignment = variable::harmless(&word).ok_or(NotPlain::Assignment)?;
            self.command.assignments.push(assignment);
            return Ok(());
        }
        match word.literal.as_deref() {
            None | Some("") => return Err(NotPlain::Expansion),
            Some(name) if is_reserved(name) => return Err(NotPlain::Compound),
            Some(_) => self.command.words.push(word),
        }
        Ok(())
    }
}
