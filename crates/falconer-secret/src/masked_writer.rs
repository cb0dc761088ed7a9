//! Logs without secrets.

use std::io::{self, Write};

use crate::redactor::Redactor;

/// Largest number of bytes that are kept until they are written.
const LARGEST: usize = 256 << 10;

/// A writer that takes secrets out of what is written through it.
///
/// What is written is kept until it is flushed or the writer is dropped, so that a secret in two
/// pieces is found. A subscriber of `tracing` makes one for each event:
///
/// ```
/// use falconer_secret::{MaskedWriter, Redactor};
///
/// let redactor = Redactor::new(["a known secret"]);
/// let make_writer = move || MaskedWriter::new(std::io::stderr(), redactor.clone());
/// // tracing_subscriber::fmt().with_writer(make_writer).init();
/// # drop(make_writer());
/// ```
#[derive(Debug)]
pub struct MaskedWriter<W: Write> {
    to: W,
    redactor: Redactor,
    kept: Vec<u8>,
}

impl<W: Write> MaskedWriter<W> {
    /// Writes to `to` what is left.
    pub fn new(to: W, redactor: Redactor) -> Self {
        Self {
            to,
            redactor,
            kept: Vec::new(),
        }
    }

    fn write_kept(&mut self) -> io::Result<()> {
        if self.kept.is_empty() {
            return Ok(());
        }
        let kept = std::mem::take(&mut self.kept);
        let text = String::from_utf8_lossy(&kept);
        let clean = self.redactor.text(&text);
        self.to
            .write_all(clean.as_deref().unwrap_or(&text).as_bytes())
    }
}

impl<W: Write> Write for MaskedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.kept.extend_from_slice(bytes);
        // Nobody logs this much at once; whole lines are let go so that it stays bounded.
        if self.kept.len() > LARGEST {
            let end = self.kept.iter().rposition(|byte| *byte == b'\n');
            let rest = end.map_or_else(Vec::new, |end| self.kept.split_off(end + 1));
            self.write_kept()?;
            self.kept = rest;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_kept()?;
        self.to.flush()
    }
}

impl<W: Write> Drop for MaskedWriter<W> {
    fn drop(&mut self) {
        // A log that cannot be written is nothing to fail for.
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_written_in_pieces_is_taken_out() {
        let redactor = Redactor::new(["hunter2-hunter2"]);
        let mut out = Vec::new();
        let mut writer = MaskedWriter::new(&mut out, redactor);
        for piece in ["the key hunter2", "-hunter2 and sk-ant-", "api03-abcdef\n"] {
            writer.write_all(piece.as_bytes()).unwrap();
        }
        drop(writer);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "the key [redacted] and [redacted]\n");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut out = Vec::new();
        let mut writer = MaskedWriter::new(&mut out, Redactor::default());
        for _ in 0..10_000 {
            writer.write_all(&[b'x'; 99]).unwrap();
            writer.write_all(b"\n").unwrap();
            assert!(writer.kept.len() <= LARGEST + 100);
        }
        drop(writer);
        assert_eq!(out.len(), 1_000_000);
    }
}
