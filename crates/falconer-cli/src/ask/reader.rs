//! A sheet on the screen: all of it, or its beginning and its end and the rest page by page.

use std::io::{self, Write};

use falconer_event::Shown;
use owo_colors::OwoColorize;

use crate::render::{Screen, Sheet, Window};

/// The most lines that are shown at once.
const MOST: usize = 40;

/// Lines of a window that are left for the question itself.
const AROUND: usize = 6;

/// The narrowest window in which no row of a sheet is broken by the terminal.
const NARROWEST: usize = 16;

/// The lines of a request, and how many of them were seen.
#[derive(Debug)]
pub(super) struct Reader {
    sheet: Sheet,
    measure: fn() -> Window,
    /// The window for which the rows were laid out.
    window: Window,
    rows: Vec<String>,
    /// Lines shown at once.
    room: usize,
    shown: Shown,
    /// The next line of the page by page view, while it goes on.
    at: Option<usize>,
}

impl Reader {
    pub(super) fn new(sheet: Sheet, measure: fn() -> Window) -> Self {
        let mut reader = Self {
            sheet,
            measure,
            window: measure(),
            rows: Vec::new(),
            room: 0,
            shown: Shown::Full,
            at: None,
        };
        reader.lay_out();
        reader
    }

    fn lay_out(&mut self) {
        self.rows = self.sheet.rows(self.window.columns);
        let broken = NARROWEST.div_ceil(self.window.columns.max(1));
        let lines = self.window.rows.saturating_sub(AROUND) / broken;
        self.room = lines.clamp(1, MOST);
        if self.shown == Shown::Full && self.rows.len() > self.room {
            self.shown = Shown::Part;
        }
    }

    /// Lays it out anew if the window has another size; `true` if less of it was seen than before.
    pub(super) fn resize(&mut self) -> bool {
        let window = (self.measure)();
        if window == self.window {
            return false;
        }
        self.window = window;
        self.at = self.at.map(|_| 0);
        let was_seen = self.is_seen();
        self.lay_out();
        was_seen && !self.is_seen()
    }

    /// Shows all of it, or its beginning and its end.
    pub(super) fn begin<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        if self.is_seen() {
            return self.rows.iter().try_for_each(|row| screen.line(row));
        }
        let tail = self.room / 3;
        let (head, end) = (self.room - tail - 1, self.rows.len() - tail);
        self.rows[..head]
            .iter()
            .try_for_each(|row| screen.line(row))?;
        let hidden = format!("  … {} lines hidden; [v]iew to show them …", end - head);
        screen.line(hidden.yellow().bold())?;
        self.rows[end..].iter().try_for_each(|row| screen.line(row))
    }

    pub(super) fn shown(&self) -> Shown {
        self.shown
    }

    /// Whether nothing is left to see, or the person chose not to.
    pub(super) fn is_seen(&self) -> bool {
        self.shown != Shown::Part
    }

    pub(super) fn is_paging(&self) -> bool {
        self.at.is_some()
    }

    /// Approving is then possible without having seen it; the record says so.
    pub(super) fn skip(&mut self) {
        self.at = None;
        if self.shown == Shown::Part {
            self.shown = Shown::Skipped;
        }
    }

    pub(super) fn stop(&mut self) {
        self.at = None;
    }

    /// Shows the next page; the first one again if the window has another size now.
    pub(super) fn turn<W: Write>(&mut self, screen: &mut Screen<W>) -> io::Result<()> {
        self.resize();
        let from = self.at.unwrap_or(0);
        let to = (from + self.room).min(self.rows.len());
        self.rows[from..to]
            .iter()
            .try_for_each(|row| screen.line(row))?;
        if to < self.rows.len() {
            self.at = Some(to);
            return Ok(());
        }
        self.at = None;
        self.shown = match self.shown {
            Shown::Full => Shown::Full,
            _ => Shown::Viewed,
        };
        Ok(())
    }

    /// Asks for the next page.
    pub(super) fn prompt<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        let (at, of) = (self.at.unwrap_or(0), self.rows.len());
        screen.prompt(format!(
            "    line {at} of {of}; Enter for more, q to quit: "
        ))
    }
}
