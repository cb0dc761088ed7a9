//! The size of the window.

use std::io;

/// Columns and rows of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl Window {
    /// The window as it is now; the usual size where there is none.
    pub(crate) fn now() -> Self {
        let size = rustix::termios::tcgetwinsize(io::stdout())
            .or_else(|_| rustix::termios::tcgetwinsize(io::stderr()))
            .or_else(|_| rustix::termios::tcgetwinsize(io::stdin()));
        match size {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Self {
                columns: usize::from(size.ws_col),
                rows: usize::from(size.ws_row),
            },
            _ => Self {
                columns: 100,
                rows: 46,
            },
        }
    }
}
