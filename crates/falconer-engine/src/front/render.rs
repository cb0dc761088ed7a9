//! What of the frames is written to stdout, by format.

use bytes::Bytes;
use falconer_protocol::message::{ResultMessage, ResultSubtype};
use falconer_protocol::{Message, MessageKind, RawMessage};

use super::flags::{Flags, OutputFormat};

/// Turns frames into output.
#[derive(Debug)]
pub(crate) enum Renderer {
    /// Each frame as it is.
    Frames,
    /// The last result, as JSON.
    LastResult(Option<Bytes>),
    /// All frames, as one JSON array.
    All(Vec<Bytes>),
    /// The text of the last result.
    Text(Option<Bytes>),
}

impl Renderer {
    pub(crate) fn of(flags: &Flags) -> Self {
        match (flags.output_format, flags.verbose) {
            (OutputFormat::StreamJson, _) => Self::Frames,
            (OutputFormat::Json, false) => Self::LastResult(None),
            (OutputFormat::Json, true) => Self::All(Vec::new()),
            (OutputFormat::Text, _) => Self::Text(None),
        }
    }

    /// Takes a frame; returns what is to be written now.
    pub(crate) fn frame(&mut self, line: Bytes) -> Option<Bytes> {
        match self {
            Self::Frames => return Some(line),
            Self::All(lines) => lines.push(line),
            Self::LastResult(last) | Self::Text(last) => {
                if falconer_protocol::peek_kind(&line) == Some(MessageKind::Result) {
                    *last = Some(line);
                }
            }
        }
        None
    }

    /// What is to be written after the last frame.
    pub(crate) fn finish(self) -> Option<Bytes> {
        match self {
            Self::Frames => None,
            Self::LastResult(line) => Some(alone(line?)),
            Self::All(lines) => Some(array(lines)),
            Self::Text(line) => text(line?),
        }
    }
}

/// A result that stands alone needs no account of what was used since the one before.
fn alone(line: Bytes) -> Bytes {
    let Ok(mut result) = serde_json::from_slice::<serde_json::Map<_, serde_json::Value>>(&line)
    else {
        return line;
    };
    result.shift_remove("model_usage_since_last_result");
    falconer_protocol::to_line(&result).unwrap_or(line)
}

fn array(lines: Vec<Bytes>) -> Bytes {
    let mut array = vec![b'['];
    for (index, line) in lines.into_iter().enumerate() {
        if index > 0 {
            array.push(b',');
        }
        let line = match falconer_protocol::peek_kind(&line) {
            Some(MessageKind::Result) => alone(line),
            _ => line,
        };
        array.extend_from_slice(line.trim_ascii_end());
    }
    array.extend_from_slice(b"]\n");
    array.into()
}

fn text(line: Bytes) -> Option<Bytes> {
    let message = RawMessage::new(line).ok()?.decode().ok()?;
    let Message::Result(result) = message else {
        return None;
    };
    let mut text = words(&result);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Some(text.into())
}

fn words(result: &ResultMessage) -> String {
    match &result.subtype {
        ResultSubtype::Success => result.text(),
        ResultSubtype::ErrorDuringExecution if result.errors.is_empty() => {
            "Execution error".to_owned()
        }
        _ => format!("Error: {}", result.errors.join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INIT: &str = "{\"type\":\"system\",\"subtype\":\"init\"}\n";
    const GOOD: &str =
        "{\"is_error\":false,\"subtype\":\"success\",\"type\":\"result\",\"result\":\"42\"}\n";
    const BAD: &str = "{\"type\":\"result\",\"subtype\":\"error_max_turns\",\"is_error\":true,\
                       \"errors\":[\"Reached maximum number of turns (1)\"]}\n";

    fn render(mut renderer: Renderer, lines: &[&'static str]) -> String {
        let mut output = Vec::new();
        for line in lines {
            output.extend(renderer.frame(Bytes::from_static(line.as_bytes())));
        }
        output.extend(renderer.finish());
        String::from_utf8(output.concat()).unwrap()
    }

    #[test]
    fn each_format_writes_what_it_promises() {
        let table = [
            (Renderer::Frames, vec![INIT, GOOD], format!("{INIT}{GOOD}")),
            (
                Renderer::LastResult(None),
                vec![INIT, BAD, GOOD],
                GOOD.to_owned(),
            ),
            (Renderer::LastResult(None), vec![INIT], String::new()),
            (
                Renderer::All(Vec::new()),
                vec![INIT, GOOD],
                format!("[{},{}]\n", INIT.trim_end(), GOOD.trim_end()),
            ),
            (Renderer::Text(None), vec![INIT, GOOD], "42\n".to_owned()),
            (
                Renderer::Text(None),
                vec![BAD],
                "Error: Reached maximum number of turns (1)\n".to_owned(),
            ),
            (Renderer::Text(None), vec![], String::new()),
        ];
        for (renderer, lines, expected) in table {
            assert_eq!(render(renderer, &lines), expected);
        }
    }
}
