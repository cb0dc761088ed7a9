//! Lines of the terminal, read when they are wanted.
//!
//! A line knows since when it was typed: nobody approves what he has not seen.

use std::io::{self, BufRead};
use std::sync::mpsc as threads;
use std::time::Instant;

use tokio::sync::mpsc;

/// A line somebody typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    /// When its first letter came; where a terminal gives whole lines, when the line came.
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
                let line = read_line(&mut io::stdin().lock());
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

/// A line, as old as its first piece: Ctrl-D gives a line away before its end.
fn read_line(from: &mut impl BufRead) -> Option<Line> {
    let mut bytes = Vec::new();
    let mut begun = None;
    loop {
        let piece = match from.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        let end = piece.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(piece.len(), |end| end + 1);
        if taken > 0 {
            begun.get_or_insert_with(Instant::now);
        }
        bytes.extend_from_slice(&piece[..taken]);
        from.consume(taken);
        if end.is_some() || taken == 0 {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            return begun.map(|begun| Line { text, begun });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one piece after the other, and says when.
    struct Pieces(Vec<&'static str>, Vec<Instant>, Vec<u8>);

    impl io::Read for Pieces {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    impl BufRead for Pieces {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            if self.2.is_empty() && !self.0.is_empty() {
                self.1.push(Instant::now());
                self.2 = self.0.remove(0).as_bytes().to_vec();
            }
            Ok(&self.2)
        }

        fn consume(&mut self, amount: usize) {
            self.2.drain(..amount);
        }
    }

    #[test]
    fn a_line_is_as_old_as_its_first_piece() {
        let mut pieces = Pieces(vec!["y", "es\nno\n"], Vec::new(), Vec::new());
        let line = read_line(&mut pieces).unwrap();
        assert_eq!(line.text, "yes\n");
        assert!(line.begun < pieces.1[1], "it began before the second piece");
        assert_eq!(read_line(&mut pieces).unwrap().text, "no\n");
        assert_eq!(read_line(&mut pieces), None);
    }
}
