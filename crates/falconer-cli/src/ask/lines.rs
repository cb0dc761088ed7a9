//! Lines of the terminal, read when they are wanted.
//!
//! A line knows since when it was typed: nobody approves what he has not seen.

use std::io;
use std::sync::mpsc as threads;
use std::time::Instant;

use tokio::sync::mpsc;

/// A line somebody typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// When its first letter came; where only whole lines are read, when the line came.
    pub(crate) begun: Instant,
}

/// Reads lines in a thread of its own, one for each that is wanted.
#[derive(Debug)]
pub(crate) struct Lines {
    wanted: threads::SyncSender<()>,
    read: mpsc::Receiver<Option<Line>>,
    /// The thread waits for a line that was wanted by somebody who has left.
    is_waiting: bool,
}

impl Lines {
    /// Lines of stdin.
    pub(crate) fn of_stdin() -> Self {
        let (wanted, wants) = threads::sync_channel(1);
        let (sender, read) = mpsc::channel(1);
        // It ends with the process: a read of a terminal cannot be taken back.
        std::thread::spawn(move || {
            while wants.recv().is_ok() {
                let mut text = String::new();
                let line = match io::stdin().read_line(&mut text) {
                    Ok(1..) => Some(Line {
                        text,
                        begun: Instant::now(),
                    }),
                    Ok(0) | Err(_) => None,
                };
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            wanted,
            read,
            is_waiting: false,
        }
    }

    /// Throws away what was typed so far, lines without an end included.
    pub(crate) fn forget(&mut self) {
        // Only a terminal has such a queue; for a pipe there is nothing to do.
        let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
        if self.read.try_recv().is_ok() {
            self.is_waiting = false;
        }
    }

    /// The next line; `None` at the end. Nothing is lost if this is not waited for.
    pub(crate) async fn next(&mut self) -> Option<Line> {
        if !self.is_waiting {
            self.wanted.try_send(()).ok()?;
            self.is_waiting = true;
        }
        let line = self.read.recv().await;
        self.is_waiting = false;
        line.flatten()
    }
}
