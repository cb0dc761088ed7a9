//! The line that is typed, with history and completion, below what the agent writes.
//!
//! `rustyline`, because its external printer shows output above the line that is being typed.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::mpsc as threads;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, ExternalPrinter, Helper, Prompt};
use tokio::sync::mpsc;

use super::slash;
use crate::ask::Line;
use crate::here;
use crate::log::screen;

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Line(Line),
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
    keys: Keys,
    kind: Kind,
}

/// What reads the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Editor,
    /// A terminal that gives whole lines.
    Plain,
    Pipe,
}

/// The answers to the question on the screen, while there is one.
#[derive(Debug, Clone, Default)]
struct Keys(Arc<Mutex<Option<String>>>);

impl Keys {
    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The prompt of a line that begins now.
    fn prompt(&self) -> String {
        match &*self.lock() {
            Some(keys) => format!("? [{keys}] > "),
            None => "> ".to_owned(),
        }
    }
}

/// A prompt that shows whether a question is open, also if that changes while a line is typed.
/// Its width stays: the editor measures it once.
struct Asking {
    keys: Keys,
    raw: String,
    /// Shown if there was no question when the line began, and now there is, or the other way
    /// round.
    changed: String,
    was_asking: bool,
}

impl Asking {
    fn now(keys: &Keys) -> Self {
        let raw = keys.prompt();
        let was_asking = keys.lock().is_some();
        let changed = if was_asking {
            format!("{:>1$}", "> ", raw.chars().count())
        } else {
            "? ".to_owned()
        };
        Self {
            keys: keys.clone(),
            raw,
            changed,
            was_asking,
        }
    }
}

impl Prompt for Asking {
    fn raw(&self) -> &str {
        &self.raw
    }

    fn styled(&self) -> &str {
        if self.keys.lock().is_some() == self.was_asking {
            &self.raw
        } else {
            &self.changed
        }
    }
}

/// Whether the terminal can only write one line below the other.
pub(crate) fn is_plain() -> bool {
    const PLAIN: [&str; 3] = ["dumb", "cons25", "emacs"];
    let term = std::env::var("TERM").unwrap_or_default();
    PLAIN.iter().any(|plain| plain.eq_ignore_ascii_case(&term))
}

impl Input {
    /// The terminal, and the writer that writes above the line.
    pub(crate) fn of_terminal(
        history: Option<PathBuf>,
        words: Words,
    ) -> Result<(Self, Above), ReadlineError> {
        let config = Config::builder()
            .auto_add_history(false)
            .max_history_size(1_000)?
            .build();
        let mut editor: Editor<Typing, FileHistory> = Editor::with_config(config)?;
        let begun = Begun::default();
        editor.set_helper(Some(Typing {
            words,
            begun: begun.clone(),
        }));
        if let Some(history) = &history {
            // The first conversation has none yet.
            let _ = editor.load_history(history);
        }
        let printer = editor.create_external_printer()?;
        let (input, wants, sender) = Self::channels(Kind::Editor);
        let keys = input.keys.clone();
        // It ends with the command, or waits for a line when the process does.
        std::thread::spawn(move || {
            while wants.recv().is_ok() {
                begun.forget();
                let wanted = Instant::now();
                let typed = match editor.readline(&Asking::now(&keys)) {
                    Ok(text) => {
                        // What is typed may be a key, and the history is a file.
                        let _ = editor.add_history_entry(here::redactor().clean(text.clone()));
                        Typed::Line(Line {
                            text,
                            begun: begun.get().unwrap_or(wanted),
                        })
                    }
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
        Self::of_lines(Kind::Pipe)
    }

    /// A terminal without an editor. A line is as old as its end: what was typed of it when a
    /// question appears is thrown away.
    pub(crate) fn of_plain_terminal() -> Self {
        Self::of_lines(Kind::Plain)
    }

    fn of_lines(kind: Kind) -> Self {
        let (input, wants, sender) = Self::channels(kind);
        let keys = input.keys.clone();
        std::thread::spawn(move || {
            while wants.recv().is_ok() {
                if kind == Kind::Plain {
                    print_prompt(&keys);
                }
                let mut text = String::new();
                let typed = match io::stdin().read_line(&mut text) {
                    Ok(1..) => Typed::Line(Line {
                        text,
                        begun: Instant::now(),
                    }),
                    Ok(0) | Err(_) => Typed::End,
                };
                if sender.blocking_send(typed).is_err() {
                    return;
                }
            }
        });
        input
    }

    fn channels(kind: Kind) -> (Self, threads::Receiver<()>, mpsc::Sender<Typed>) {
        let (wanted, wants) = threads::sync_channel(1);
        let (sender, typed) = mpsc::channel(1);
        let input = Self {
            wanted,
            typed,
            keys: Keys::default(),
            kind,
        };
        (input, wants, sender)
    }

    /// The next line may be read.
    pub(crate) fn want(&self) {
        // A line that is wanted already is not wanted twice.
        let _ = self.wanted.try_send(());
    }

    /// The answers to the question on the screen; the prompt shows them.
    pub(crate) fn set_keys(&self, keys: Option<String>) {
        *self.keys.lock() = keys;
    }

    /// A question may be answered from now on. What was typed of a line that nobody watched
    /// is thrown away.
    pub(crate) fn asked(&self, keys: Option<String>) {
        self.set_keys(keys);
        if self.kind == Kind::Plain {
            let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
            print_prompt(&self.keys);
        }
    }

    pub(crate) async fn next(&mut self) -> Typed {
        self.typed.recv().await.unwrap_or(Typed::End)
    }
}

fn print_prompt(keys: &Keys) {
    let mut stdout = io::stdout();
    // A terminal that is gone is noticed by who reads from it.
    let _ = write!(stdout, "{}", keys.prompt()).and_then(|()| stdout.flush());
}

/// Writes whole lines above the one that is being typed, and never waits for the editor.
///
/// The editor takes lines only while it reads. One that has just been given a line takes none
/// until it is wanted again, and whoever wants it may be the one who writes: so a thread of its
/// own waits for the editor.
pub(crate) struct Above {
    waiting: Arc<Waiting>,
    line: Vec<u8>,
}

/// Lines on their way to the editor.
#[derive(Debug, Default)]
struct Waiting {
    state: Mutex<Lines>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Lines {
    text: Vec<u8>,
    /// Some are with the editor.
    is_printing: bool,
    failure: Option<io::ErrorKind>,
    /// No more will come.
    is_over: bool,
}

/// More than this waits only if nobody will ever read it.
const MOST_WAITING: usize = 16 << 20;

/// How long the last lines may take.
const LAST_LINES: Duration = Duration::from_secs(2);

trait Printing: Send {
    fn show(&mut self, text: String) -> io::Result<()>;
}

impl<P: ExternalPrinter + Send> Printing for P {
    fn show(&mut self, text: String) -> io::Result<()> {
        self.print(text).map_err(io::Error::other)
    }
}

impl Above {
    fn new(mut printer: Box<dyn Printing>) -> Self {
        let waiting = Arc::new(Waiting::default());
        let shared = Arc::clone(&waiting);
        let log = Arc::clone(&waiting);
        // A terminal that takes nothing any more shows no log either.
        screen::editing(Some(Box::new(move |line| drop(log.add(line.as_bytes())))));
        // It ends with the writer, or waits for the editor when the process does.
        std::thread::spawn(move || {
            while let Some(text) = shared.take() {
                let printed = printer.show(text);
                shared.printed(printed.err().map(|error| error.kind()));
            }
        });
        Self {
            waiting,
            line: Vec::new(),
        }
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, lines: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        if let Some(kind) = state.failure {
            return Err(kind.into());
        }
        if state.text.len() + lines.len() > MOST_WAITING {
            return Err(io::Error::other("the terminal is closed"));
        }
        state.text.extend_from_slice(lines);
        self.changed.notify_all();
        Ok(())
    }

    /// All that waits, once there is some; `None` when there will be no more.
    fn take(&self) -> Option<String> {
        let is_idle = |state: &mut Lines| state.text.is_empty() && !state.is_over;
        let state = self.changed.wait_while(self.lock(), is_idle);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.text.is_empty() {
            return None;
        }
        state.is_printing = true;
        let text = std::mem::take(&mut state.text);
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    fn printed(&self, failure: Option<io::ErrorKind>) {
        let mut state = self.lock();
        state.is_printing = false;
        state.failure = state.failure.or(failure);
        self.changed.notify_all();
    }
}

impl Write for Above {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') {
            let lines: Vec<u8> = self.line.drain(..=end).collect();
            self.waiting.add(&lines)?;
        }
        Ok(bytes.len())
    }

    /// A line without an end waits for it.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Above {
    /// The last lines are shown, if anybody takes them.
    fn drop(&mut self) {
        screen::editing(None);
        let is_busy = |state: &mut Lines| state.is_printing || !state.text.is_empty();
        let state = self.waiting.lock();
        let waited = self
            .waiting
            .changed
            .wait_timeout_while(state, LAST_LINES, is_busy);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.is_over = true;
        self.waiting.changed.notify_all();
    }
}

/// When the first letter of the line was typed, as long as the line is not empty.
#[derive(Debug, Clone, Default)]
struct Begun(Arc<Mutex<Option<Instant>>>);

impl Begun {
    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self) -> Option<Instant> {
        *self.lock()
    }

    fn forget(&self) {
        *self.lock() = None;
    }

    /// The line is this now.
    fn note(&self, line: &str) {
        let mut begun = self.lock();
        *begun = if line.is_empty() {
            None
        } else {
            begun.or_else(|| Some(Instant::now()))
        };
    }
}

/// What the editor knows of our lines.
struct Typing {
    words: Words,
    begun: Begun,
}

impl Helper for Typing {}
impl Highlighter for Typing {}

impl Hinter for Typing {
    type Hint = String;

    /// Hints nothing: the editor asks after every change of the line, which is how its age is
    /// known.
    fn hint(&self, line: &str, _position: usize, _context: &Context<'_>) -> Option<String> {
        self.begun.note(line);
        None
    }
}

impl Validator for Typing {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        // An empty line is begun, and ended, by Enter.
        if context.input().is_empty() {
            self.begun.note("\n");
        }
        Ok(if slash::is_unfinished(context.input()) {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
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
    if before.starts_with('/') {
        words
            .iter()
            .filter(|word| word.starts_with(before))
            .cloned()
            .collect()
    } else {
        Vec::new()
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
        for piece in ["one", " line\ntwo\nthr", "ee", "\nhalf"] {
            write!(above, "{piece}").unwrap();
            above.flush().unwrap();
        }
        drop(above);
        let shown = kept.0.lock().unwrap().concat();
        assert_eq!(shown, "one line\ntwo\nthree\n");
    }

    /// An editor that takes nothing until it is wanted again.
    struct Deaf(threads::Receiver<()>, Kept);

    impl Printing for Deaf {
        fn show(&mut self, text: String) -> io::Result<()> {
            self.0.recv().map_err(io::Error::other)?;
            self.1.show(text)
        }
    }

    #[test]
    fn who_writes_does_not_wait_for_an_editor_that_he_has_to_wake() {
        let (wake, woken) = threads::channel();
        let kept = Kept::default();
        let mut above = Above::new(Box::new(Deaf(woken, kept.clone())));
        for number in 0..10_000 {
            writeln!(above, "line {number}").unwrap();
        }
        // However the lines were gathered, each time it is woken it takes some.
        for _ in 0..10_000 {
            wake.send(()).unwrap();
        }
        drop(above);
        let shown = kept.0.lock().unwrap().concat();
        assert_eq!(shown.lines().count(), 10_000);
    }

    #[test]
    fn the_prompt_shows_a_question_and_keeps_its_width() {
        let keys = Keys::default();
        let before = Asking::now(&keys);
        assert_eq!((before.raw(), before.styled()), ("> ", "> "));
        *keys.lock() = Some("y/n/s".to_owned());
        assert_eq!(before.styled(), "? ");
        let asked = Asking::now(&keys);
        assert_eq!(
            (asked.raw(), asked.styled()),
            ("? [y/n/s] > ", "? [y/n/s] > ")
        );
        *keys.lock() = None;
        assert_eq!(asked.styled(), "          > ");
        assert_eq!(before.styled(), "> ");
    }

    #[test]
    fn a_line_is_as_old_as_its_first_letter() {
        let begun = Begun::default();
        begun.note("");
        assert_eq!(begun.get(), None);
        begun.note("y");
        let first = begun.get();
        begun.note("yes");
        assert_eq!(begun.get(), first);
        begun.note("");
        begun.note("n");
        assert!(begun.get() > first);
    }

    #[test]
    fn commands_are_completed_and_words_are_not() {
        let words = ["/help".to_owned(), "/model".to_owned()];
        assert_eq!(candidates("/m", &words), ["/model"]);
        assert!(candidates("m", &words).is_empty());
    }
}
