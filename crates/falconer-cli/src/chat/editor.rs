//! The line that is typed, with history and completion, below what the agent writes.
//!
//! `rustyline`, because its external printer shows output above the line that is being typed.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::mpsc as threads;
use std::sync::{Arc, Mutex, PoisonError};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, ExternalPrinter, Helper};
use tokio::sync::mpsc;

use super::slash;

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Line(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the end of a pipe.
    End,
}

/// Words that Tab completes, filled in when the engine has said what it knows.
pub(crate) type Words = Arc<Mutex<Vec<String>>>;

/// Where lines come from. Each is wanted by [`Input::want`] before it is read, so that nobody
/// reads when the command ends.
#[derive(Debug)]
pub(crate) struct Input {
    wanted: threads::SyncSender<()>,
    typed: mpsc::Receiver<Typed>,
}

impl Input {
    /// The terminal, and the writer that writes above the line.
    pub(crate) fn of_terminal(
        history: Option<PathBuf>,
        words: Words,
    ) -> Result<(Self, Above), ReadlineError> {
        let config = Config::builder()
            .auto_add_history(true)
            .max_history_size(1_000)?
            .build();
        let mut editor: Editor<Typing, FileHistory> = Editor::with_config(config)?;
        editor.set_helper(Some(Typing { words }));
        if let Some(history) = &history {
            // The first conversation has none yet.
            let _ = editor.load_history(history);
        }
        let printer = editor.create_external_printer()?;
        let (input, wants, sender) = Self::channels();
        // It ends with the command, or waits for a line when the process does.
        std::thread::spawn(move || {
            while wants.recv().is_ok() {
                let typed = match editor.readline("> ") {
                    Ok(line) => Typed::Line(line),
                    Err(ReadlineError::Interrupted) => Typed::Interrupt,
                    Err(_) => Typed::End,
                };
                if let Some(history) = &history {
                    let _ = editor.append_history(history);
                }
                if sender.blocking_send(typed).is_err() {
                    return;
                }
            }
        });
        Ok((input, Above::new(Box::new(printer))))
    }

    /// A pipe.
    pub(crate) fn of_pipe() -> Self {
        let (input, wants, sender) = Self::channels();
        std::thread::spawn(move || {
            while wants.recv().is_ok() {
                let mut line = String::new();
                let typed = match io::stdin().read_line(&mut line) {
                    Ok(1..) => Typed::Line(line),
                    Ok(0) | Err(_) => Typed::End,
                };
                if sender.blocking_send(typed).is_err() {
                    return;
                }
            }
        });
        input
    }

    fn channels() -> (Self, threads::Receiver<()>, mpsc::Sender<Typed>) {
        let (wanted, wants) = threads::sync_channel(1);
        let (sender, typed) = mpsc::channel(1);
        (Self { wanted, typed }, wants, sender)
    }

    /// The next line may be read.
    pub(crate) fn want(&self) {
        // A line that is wanted already is not wanted twice.
        let _ = self.wanted.try_send(());
    }

    pub(crate) async fn next(&mut self) -> Typed {
        self.typed.recv().await.unwrap_or(Typed::End)
    }
}

/// Writes whole lines above the one that is being typed.
pub(crate) struct Above {
    printer: Box<dyn Printing>,
    line: Vec<u8>,
}

trait Printing: Send {
    fn show(&mut self, text: String) -> io::Result<()>;
}

impl<P: ExternalPrinter + Send> Printing for P {
    fn show(&mut self, text: String) -> io::Result<()> {
        self.print(text).map_err(io::Error::other)
    }
}

impl Above {
    fn new(printer: Box<dyn Printing>) -> Self {
        Self {
            printer,
            line: Vec::new(),
        }
    }
}

impl Write for Above {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') {
            let lines: Vec<u8> = self.line.drain(..=end).collect();
            self.printer
                .show(String::from_utf8_lossy(&lines).into_owned())?;
        }
        Ok(bytes.len())
    }

    /// A line without an end waits for it.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the editor knows of our lines.
struct Typing {
    words: Words,
}

impl Helper for Typing {}
impl Highlighter for Typing {}

impl Hinter for Typing {
    type Hint = String;
}

impl Validator for Typing {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match slash::is_unfinished(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Completer for Typing {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let before = line.get(..position).unwrap_or_default();
        Ok((0, candidates(before, &words)))
    }
}

fn candidates(before: &str, words: &[String]) -> Vec<String> {
    match before.starts_with('/') {
        true => words
            .iter()
            .filter(|word| word.starts_with(before))
            .cloned()
            .collect(),
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, Clone)]
    struct Kept(Arc<Mutex<Vec<String>>>);

    impl Printing for Kept {
        fn show(&mut self, text: String) -> io::Result<()> {
            self.0.lock().unwrap().push(text);
            Ok(())
        }
    }

    #[test]
    fn only_whole_lines_are_shown() {
        let kept = Kept::default();
        let mut above = Above::new(Box::new(kept.clone()));
        for piece in ["one", " line\ntwo\nthr", "ee", "\n"] {
            write!(above, "{piece}").unwrap();
            above.flush().unwrap();
        }
        assert_eq!(*kept.0.lock().unwrap(), ["one line\ntwo\n", "three\n"]);
    }

    #[test]
    fn commands_are_completed_and_words_are_not() {
        let words = ["/help".to_owned(), "/model".to_owned()];
        assert_eq!(candidates("/m", &words), ["/model"]);
        assert!(candidates("m", &words).is_empty());
    }
}
