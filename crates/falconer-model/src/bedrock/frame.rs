//! Amazon's event stream: binary frames, each with headers, a payload and checksums.

use std::collections::VecDeque;

use aws_smithy_eventstream::frame::{DecodedFrame, MessageFrameDecoder};
use aws_smithy_types::event_stream::Message;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use serde_json::{Value, json};

use super::super::ApiFailure;
use super::super::events::Framing;

/// The largest frame Amazon sends is 16 MB.
const FRAME_LIMIT: usize = 24 << 20;

/// Reads events out of frames.
pub(super) struct Frames {
    decoder: MessageFrameDecoder,
    buffer: BytesMut,
}

impl Frames {
    pub(super) fn new() -> Self {
        Self {
            decoder: MessageFrameDecoder::new(),
            buffer: BytesMut::new(),
        }
    }
}

impl Framing for Frames {
    fn push(&mut self, chunk: Bytes, events: &mut VecDeque<Bytes>) -> Result<(), ApiFailure> {
        self.buffer.extend_from_slice(&chunk);
        if self.buffer.len() > FRAME_LIMIT {
            return Err(ApiFailure::malformed("a frame of the stream is too large"));
        }
        loop {
            match self.decoder.decode_frame(&mut self.buffer) {
                Ok(DecodedFrame::Incomplete) => return Ok(()),
                Ok(DecodedFrame::Complete(message)) => events.push_back(event(&message)?),
                Err(error) => {
                    let text = format!("a frame of the stream is damaged: {error}");
                    return Err(ApiFailure::malformed(text));
                }
            }
        }
    }

    fn finish(&mut self, _: &mut VecDeque<Bytes>) {}
}

/// The event in a frame: of the Messages API, or Amazon's own trouble in its words.
fn event(message: &Message) -> Result<Bytes, ApiFailure> {
    let payload: Value = serde_json::from_slice(message.payload()).unwrap_or(Value::Null);
    match header(message, ":message-type") {
        Some("event") => {
            let bytes = payload["bytes"].as_str().unwrap_or_default();
            let decoded = STANDARD.decode(bytes).map_err(|error| {
                ApiFailure::malformed(format!("a frame of the stream holds no base64: {error}"))
            })?;
            Ok(Bytes::from(decoded))
        }
        _ => Ok(trouble(message, &payload)),
    }
}

/// An exception as an `error` event, which everything after us understands.
fn trouble(message: &Message, payload: &Value) -> Bytes {
    let name = header(message, ":exception-type").or_else(|| header(message, ":error-code"));
    let name = name.unwrap_or("exception without a name");
    let kind = match name {
        "throttlingException" => "rate_limit_error",
        "serviceUnavailableException" => "overloaded_error",
        "validationException" => "invalid_request_error",
        "modelTimeoutException" => "timeout_error",
        "accessDeniedException" => "permission_error",
        _ => "api_error",
    };
    let text = payload["message"].as_str().unwrap_or(name);
    let event = json!({"type": "error", "error": {"type": kind, "message": text}});
    Bytes::from(event.to_string())
}

fn header<'a>(message: &'a Message, name: &str) -> Option<&'a str> {
    let headers = message.headers().iter();
    let mut found = headers.filter(|header| header.name().as_str() == name);
    let value = found.next()?.value().as_string().ok()?;
    Some(value.as_str())
}
