//! The last lines an engine wrote to stderr.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

/// Number of bytes of a line that are kept.
const LONGEST_LINE: usize = 4 * 1024;

/// Called with each line of stderr, without its newline, on the task that drains it.
pub type StderrCallback = Arc<dyn Fn(&str) + Send + Sync>;

/// A bounded list of lines: the oldest go first, long ones are cut at 4 KiB.
#[derive(Clone)]
pub(crate) struct StderrRing {
    lines: Arc<Mutex<VecDeque<String>>>,
    capacity: usize,
    callback: Option<StderrCallback>,
}

impl StderrRing {
    pub(crate) fn new(capacity: usize, callback: Option<StderrCallback>) -> Self {
        Self {
            lines: Arc::default(),
            capacity,
            callback,
        }
    }

    /// The lines, oldest first.
    pub(crate) fn tail(&self) -> Vec<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect()
    }

    /// Reads until the end; an error is the end as well.
    pub(crate) async fn drain(self, mut stderr: impl AsyncRead + Unpin) {
        let mut block = vec![0; 8 * 1024];
        let mut line = Vec::new();
        while let Ok(read @ 1..) = stderr.read(&mut block).await {
            for part in block[..read].split_inclusive(|byte| *byte == b'\n') {
                let room = LONGEST_LINE.saturating_sub(line.len());
                let text = part.strip_suffix(b"\n").unwrap_or(part);
                line.extend_from_slice(&text[..text.len().min(room)]);
                if part.ends_with(b"\n") {
                    self.push(&line);
                    line.clear();
                }
            }
        }
        if !line.is_empty() {
            self.push(&line);
        }
    }

    fn push(&self, line: &[u8]) {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
        if let Some(callback) = &self.callback
            && catch_unwind(AssertUnwindSafe(|| callback(&line))).is_err()
        {
            // Stderr has to be drained all the same, or the engine would get stuck.
            tracing::warn!("the callback for stderr panicked");
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push_back(line);
        while lines.len() > self.capacity {
            lines.pop_front();
        }
    }
}

impl fmt::Debug for StderrRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StderrRing")
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn tail(text: &[u8], capacity: usize) -> Vec<String> {
        let ring = StderrRing::new(capacity, None);
        ring.clone().drain(text).await;
        ring.tail()
    }

    #[tokio::test]
    async fn the_last_lines_are_kept() {
        assert_eq!(tail(b"", 3).await, [""; 0]);
        assert_eq!(tail(b"one\r\n\ntwo", 3).await, ["one", "", "two"]);
        assert_eq!(tail(b"1\n2\n3\n4\n5", 3).await, ["3", "4", "5"]);
        assert_eq!(tail(b"1\n2\n", 0).await, [""; 0]);
        assert_eq!(tail(b"\xff!\n", 3).await, ["\u{fffd}!"]);
    }

    #[tokio::test]
    async fn a_line_without_end_is_cut_and_the_next_one_is_whole() {
        let text = [vec![b'x'; 1_000_000], b"\nnext\n".to_vec()].concat();
        assert_eq!(
            tail(&text, 3).await,
            ["x".repeat(LONGEST_LINE), "next".to_owned()]
        );
    }

    #[tokio::test]
    async fn a_callback_sees_every_line_even_if_it_panics() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let callback: StderrCallback = Arc::new(move |line| {
            log.lock().unwrap().push(line.to_owned());
            // Not while the log is locked.
            assert_ne!(line, "2", "on purpose");
        });
        let ring = StderrRing::new(1, Some(callback));
        ring.clone().drain(&b"1\n2\n3\n"[..]).await;
        assert_eq!(*seen.lock().unwrap(), ["1", "2", "3"]);
        assert_eq!(ring.tail(), ["3"]);
    }
}
