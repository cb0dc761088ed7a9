//! A line of the engine that is decoded on demand.

use bytes::Bytes;

use crate::decode::{Decoded, decode};
use crate::error::Error;
use crate::inbound::Message;
use crate::kind::{MessageKind, peek_kind};

/// A line as it came, with its kind.
///
/// Making one costs a few nanoseconds, so a reader can route lines by kind and leave decoding to
/// the code that needs the content.
///
/// ```
/// use falconer_protocol::{Message, MessageKind, RawMessage};
///
/// let line = r#"{"type":"keep_alive","since":3}"#;
/// let raw = RawMessage::new(line.into())?;
/// assert_eq!(raw.kind(), MessageKind::KeepAlive);
/// assert!(matches!(raw.decode()?, Message::KeepAlive(_)));
/// # Ok::<(), falconer_protocol::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawMessage {
    bytes: Bytes,
    kind: MessageKind,
}

impl RawMessage {
    /// Looks at the beginning of a line.
    ///
    /// Fails only if the line does not start like a JSON object.
    pub fn new(bytes: Bytes) -> Result<Self, Error> {
        let kind = match peek_kind(&bytes) {
            Some(kind) => kind,
            None if bytes.trim_ascii_start().starts_with(b"{") => MessageKind::Other,
            None => return Err(Error::not_an_object(&bytes)),
        };
        Ok(Self { bytes, kind })
    }

    /// Returns the `type` of the line.
    pub fn kind(&self) -> MessageKind {
        self.kind
    }

    /// Returns the line as it came.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the line as it came.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// Reads the whole line.
    ///
    /// Fails only if the line is not a JSON object. Unknown or misfit parts are kept raw;
    /// [`RawMessage::decode_with_notes`] reports if that was necessary.
    pub fn decode(&self) -> Result<Message, Error> {
        self.decode_with_notes().map(|decoded| decoded.message)
    }

    /// Reads the whole line and notes what did not fit.
    pub fn decode_with_notes(&self) -> Result<Decoded<Message>, Error> {
        let tag_is_first = self.bytes.starts_with(br#"{"type":"#);
        let tag = if tag_is_first {
            None
        } else {
            self.kind.as_str()
        };
        decode(&self.bytes, tag)
    }
}
