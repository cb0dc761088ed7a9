//! From the bytes of a line to a typed value, losing as little as possible.

use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;

use crate::error::Error;
use crate::json;
use crate::repair::repaired;
use crate::wire::{Held, Mode, Tagged, Wire, read_preset};

/// A line that was read, with notes on what did not fit.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Decoded<T> {
    /// The value.
    pub message: T,
    /// `true` if invalid UTF-8 or lone surrogates were replaced by U+FFFD.
    pub repaired: bool,
    /// Reason a part of the line, or all of it, is not typed although its tag is known.
    ///
    /// That part is kept: in `extra`, or as the `Unknown` of the nearest enum.
    pub misfit: Option<String>,
}

/// Reads a line as `T`; `tag` is the value of its tag if that is not the first key.
pub(crate) fn decode<T>(line: &[u8], tag: Option<&str>) -> Result<Decoded<T>, Error>
where
    T: Tagged + Wire,
{
    match read_strict(line, tag) {
        Ok(message) => Ok(Decoded {
            message,
            repaired: false,
            misfit: None,
        }),
        Err(error) => decode_again(line, &error),
    }
}

fn read_strict<T>(line: &[u8], tag: Option<&str>) -> serde_json::Result<T>
where
    T: Tagged + Wire,
{
    // Checking the whole line at once is cheaper than checking each of its strings.
    let text = std::str::from_utf8(line).map_err(serde_json::Error::custom)?;
    json::read(text, |reader| match tag {
        Some(tag) => read_preset(tag, reader),
        None => T::read(reader),
    })
}

/// Reads a line that has to fit.
pub(crate) fn read_line<T: Wire>(line: &[u8]) -> serde_json::Result<T> {
    let text = std::str::from_utf8(line).map_err(serde_json::Error::custom)?;
    json::read(text, T::read)
}

#[cold]
fn decode_again<T>(line: &[u8], first: &serde_json::Error) -> Result<Decoded<T>, Error>
where
    T: Tagged + Wire,
{
    let (object, is_repaired) = match serde_json::from_slice(line) {
        Ok(value) => (value, false),
        Err(error) => match repaired(line).map(|text| serde_json::from_str(&text)) {
            Some(Ok(value)) => (value, true),
            Some(Err(_)) | None => return Err(Error::syntax(line, error)),
        },
    };
    if !matches!(object, Value::Object(_)) {
        return Err(Error::not_an_object(line));
    }
    from_object(object, is_repaired, first, line)
}

fn from_object<T>(
    object: Value,
    is_repaired: bool,
    first: &serde_json::Error,
    line: &[u8],
) -> Result<Decoded<T>, Error>
where
    T: Tagged + Wire,
{
    // A line that only had to be repaired may fit perfectly well.
    if is_repaired && let Ok(message) = T::take(object.clone(), Mode::Strict) {
        return Ok(Decoded {
            message,
            repaired: true,
            misfit: None,
        });
    }
    let message = T::take(object, Mode::Lenient).map_err(|error| Error::syntax(line, error))?;
    Ok(Decoded {
        message,
        repaired: is_repaired,
        misfit: Some(first.to_string()),
    })
}

/// Reads a type of this crate from a `Value`, such as a tool's input or a reply's payload.
///
/// An optional field that does not fit is kept in `extra`; a required one fails the read.
///
/// ```
/// use falconer_protocol::tool::BashInput;
///
/// let input = serde_json::json!({"command": "ls", "timeout": 5000});
/// let input: BashInput = falconer_protocol::from_value(input)?;
/// assert_eq!(input.command, "ls");
/// # Ok::<(), falconer_protocol::Error>(())
/// ```
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, Error> {
    T::deserialize(Held::<serde_json::Error>::new(value, Mode::Lenient)).map_err(Error::Payload)
}
