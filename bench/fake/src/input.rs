//! Reading what the SDK writes, and answering what must be answered.

use std::io::{self, BufRead as _, BufReader, Stdin, Write};

/// The SDK's side of the conversation.
pub(crate) struct Input {
    lines: BufReader<Stdin>,
    /// The `initialize` request as it came, for hook and server names.
    pub(crate) initialize: String,
}

impl Input {
    pub(crate) fn new() -> Input {
        Input {
            lines: BufReader::new(io::stdin()),
            initialize: String::new(),
        }
    }

    /// The next line, or nothing at the end.
    pub(crate) fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        Ok((self.lines.read_line(&mut line)? > 0).then_some(line))
    }

    /// Answers requests until a user message arrives.
    pub(crate) fn wait_for_prompt(&mut self, output: &mut impl Write) -> io::Result<()> {
        while let Some(line) = self.line()? {
            if line.contains("\"type\":\"user\"") || line.contains("\"type\": \"user\"") {
                return Ok(());
            }
            self.answer(&line, output)?;
        }
        std::process::exit(0);
    }

    /// Answers requests until stdin is closed.
    pub(crate) fn wait_for_end(&mut self, output: &mut impl Write) -> io::Result<()> {
        while let Some(line) = self.line()? {
            self.answer(&line, output)?;
        }
        Ok(())
    }

    fn answer(&mut self, line: &str, output: &mut impl Write) -> io::Result<()> {
        if !line.contains("control_request") {
            return Ok(());
        }
        let Some(id) = text_after(line, "request_id") else {
            return Ok(());
        };
        let body = if text_after(line, "subtype") == Some("initialize") {
            line.clone_into(&mut self.initialize);
            INITIALIZED
        } else {
            "{}"
        };
        writeln!(
            output,
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{body}}}}}"#
        )?;
        output.flush()
    }
}

const INITIALIZED: &str = r#"{"commands":[],"agents":[],"output_style":"default","available_output_styles":["default"],"models":[],"account":{"tokenSource":"none"},"pid":1}"#;

/// The first string that follows `"key":`, good enough for ids and names.
pub(crate) fn text_after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let start = line.find(&format!("\"{key}\""))? + key.len() + 2;
    let rest = line.get(start..)?.trim_start_matches([':', ' ', '[']);
    let rest = rest.strip_prefix('"')?;
    // A quote inside the string is escaped, and stays so when it is sent back.
    let end = rest
        .match_indices('"')
        .find(|&(place, _)| !rest[..place].ends_with('\\'))?
        .0;
    rest.get(..end)
}
