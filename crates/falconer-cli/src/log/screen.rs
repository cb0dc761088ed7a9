//! Log lines on a terminal that something else draws on.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::ProgressBar;

/// Lines that may wait for the end of a line: an answer of a person, or of the model.
const MOST_HELD: usize = 1000;

static SCREEN: Mutex<Drawn> = Mutex::new(Drawn {
    bar: None,
    editor: None,
    held: None,
});

/// What is on the terminal now.
#[derive(Default)]
struct Drawn {
    /// A moving line.
    bar: Option<ProgressBar>,
    /// A line that is being edited: it shows text above itself.
    editor: Option<Above>,
    /// A line is not complete, because a question waits for its answer or a text is streamed: log
    /// lines wait.
    held: Option<Held>,
}

/// Log lines that wait.
#[derive(Debug, Default)]
struct Held {
    lines: Vec<String>,
    /// Those for which there was no room.
    lost: usize,
}

/// Shows a line above the one that is being edited.
type Above = Box<dyn Fn(&str) + Send>;

impl fmt::Debug for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drawn").finish_non_exhaustive()
    }
}

fn drawn() -> MutexGuard<'static, Drawn> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows log lines above this moving line from now on; call it before the line is drawn.
pub(crate) fn move_with(bar: &ProgressBar) {
    drawn().bar = Some(bar.clone());
}

/// Takes the moving line away. No log line comes in between.
pub(crate) fn rest(bar: &ProgressBar) {
    let mut drawn = drawn();
    bar.finish_and_clear();
    drawn.bar = None;
}

/// Names the editor there is.
pub(crate) fn editing(above: Option<Above>) {
    drawn().editor = above;
}

/// Keeps log lines back from now on.
pub(crate) fn hold() {
    drawn().held.get_or_insert_default();
}

/// Shows what was kept back.
pub(crate) fn release() {
    let mut drawn = drawn();
    let held = drawn.held.take().unwrap_or_default();
    for line in held.lines {
        drawn.show(&line);
    }
    if held.lost > 0 {
        drawn.show(&format!("warning: {} log lines are left out\n", held.lost));
    }
}

/// Writes a line to stderr without spoiling what is drawn.
pub(super) fn add(line: &str) {
    let mut drawn = drawn();
    if !io::stderr().is_terminal() {
        write(line);
        return;
    }
    match &mut drawn.held {
        Some(held) if held.lines.len() < MOST_HELD => held.lines.push(line.to_owned()),
        Some(held) => held.lost += 1,
        None => drawn.show(line),
    }
}

impl Drawn {
    fn show(&self, line: &str) {
        match (&self.editor, &self.bar) {
            (Some(above), _) => above(line),
            (None, Some(bar)) => bar.suspend(|| write(line)),
            (None, None) => write(line),
        }
    }
}

fn write(line: &str) {
    // Nobody is left to be told that stderr is gone.
    let _ = io::stderr().write_all(line.as_bytes());
}
