//! From a value to a line.

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;

use crate::error::Error;

/// Writes a value as one line, with its newline, into one buffer.
///
/// ```
/// use falconer_protocol::{UserInput, to_line};
///
/// let line = to_line(&UserInput::text("hello"))?;
/// assert!(line.ends_with(b"\n"));
/// # Ok::<(), falconer_protocol::Error>(())
/// ```
pub fn to_line(value: &impl Serialize) -> Result<Bytes, Error> {
    let mut writer = BytesMut::with_capacity(256).writer();
    serde_json::to_writer(&mut writer, value).map_err(Error::Encode)?;
    let mut line = writer.into_inner();
    line.put_u8(b'\n');
    Ok(line.freeze())
}
