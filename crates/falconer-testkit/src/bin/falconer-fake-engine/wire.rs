//! Lines in and out, with a copy of the input for the dump.

use std::io::{self, BufRead, BufReader, BufWriter, Stdin, Stdout, Write};

use serde_json::Value;

use crate::Stop;
use crate::dump::Dump;

/// Both lanes to the host.
pub(crate) struct Wire {
    input: BufReader<Stdin>,
    output: BufWriter<Stdout>,
    pub(crate) dump: Dump,
}

impl Wire {
    pub(crate) fn new(dump: Dump) -> Self {
        Self {
            input: BufReader::with_capacity(1 << 16, io::stdin()),
            output: BufWriter::with_capacity(1 << 16, io::stdout()),
            dump,
        }
    }

    /// The next line without its newline, `None` at the end; what was written goes out first.
    pub(crate) fn read_line(&mut self) -> Result<Option<Vec<u8>>, Stop> {
        self.output.flush()?;
        let mut line = Vec::new();
        if self.input.read_until(b'\n', &mut line)? == 0 {
            self.dump.eof()?;
            return Ok(None);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        self.dump.line(&line)?;
        Ok(Some(line))
    }

    /// The next message, blank lines left out. As the CLI does, ends on what is not JSON.
    pub(crate) fn read(&mut self) -> Result<Option<Value>, Stop> {
        loop {
            let Some(line) = self.read_line()? else {
                return Ok(None);
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            return match serde_json::from_slice(&line) {
                Ok(message) => Ok(Some(message)),
                Err(error) => {
                    complain(&format!("Error parsing streaming input line: {error}"));
                    Err(Stop::Exit(1))
                }
            };
        }
    }

    pub(crate) fn write(&mut self, message: &Value) -> io::Result<()> {
        serde_json::to_writer(&mut self.output, message)?;
        self.output.write_all(b"\n")
    }

    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Prints one line and is done.
pub(crate) fn print(line: &str) -> Result<u8, Stop> {
    let mut stdout = io::stdout();
    writeln!(stdout, "{line}")?;
    stdout.flush()?;
    Ok(0)
}

/// Writes to stderr; that nobody reads it is no reason to end.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
