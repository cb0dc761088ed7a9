//! A sheet on the screen: all of it, or its beginning and its end and the rest page by page.

use std::io::{self, Write};

use falconer_event::Shown;
use owo_colors::OwoColorize;

use crate::render::{Screen, Sheet, Window};

/// The most lines that are shown at once.
const MOST: usize = 40;

/// Lines of a window that are left for the question itself.
const AROUND: usize = 6;

/// The fewest lines that are shown at once, however low the window is.
const FEWEST: usize = 10;

/// The lines of a request, and how many of them were seen.
#[derive(Debug)]
pub(super) struct Reader {
    rows: Vec<String>,
    /// Lines shown at once.
    room: usize,
    shown: Shown,
    /// The next line of the page by page view, while it goes on.
    at: Option<usize>,
}

/// Where a reader is after a page was turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Page {
    Middle,
    Last,
}

impl Reader {
    pub(super) fn new(sheet: &Sheet, window: Window) -> Self {
        let rows = sheet.rows(window.columns);
        let room = window.rows.saturating_sub(AROUND).clamp(FEWEST, MOST);
        let shown = if rows.len() <= room {
            Shown::Full
        } else {
            Shown::Part
        };
        Self {
            rows,
            room,
            shown,
            at: None,
        }
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
        let hidden = format!(
            "  … {} lines are not shown; [v]iew shows them …",
            end - head
        );
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

    /// Shows the next page.
    pub(super) fn turn<W: Write>(&mut self, screen: &mut Screen<W>) -> io::Result<Page> {
        let from = self.at.unwrap_or(0);
        let to = (from + self.room).min(self.rows.len());
        self.rows[from..to]
            .iter()
            .try_for_each(|row| screen.line(row))?;
        if to < self.rows.len() {
            self.at = Some(to);
            return Ok(Page::Middle);
        }
        self.at = None;
        self.shown = match self.shown {
            Shown::Full => Shown::Full,
            _ => Shown::Viewed,
        };
        Ok(Page::Last)
    }

    /// Asks for the next page.
    pub(super) fn prompt<W: Write>(&self, screen: &mut Screen<W>) -> io::Result<()> {
        let (at, of) = (self.at.unwrap_or(0), self.rows.len());
        screen.prompt(format!(
            "    line {at} of {of}; Enter for more, q to leave: "
        ))
    }
}
