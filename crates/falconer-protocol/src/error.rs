//! Errors between a line and a value.

/// A line could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The line does not start like a JSON object.
    #[error("expected a JSON object, got `{head}`")]
    NotAnObject {
        /// Its first bytes, at most [`Error::HEAD`].
        head: String,
    },
    /// The line starts like a JSON object but is not one.
    #[error("invalid JSON in the line `{head}`: {source}")]
    Syntax {
        /// Its first bytes, at most [`Error::HEAD`].
        head: String,
        /// Position and reason.
        source: serde_json::Error,
    },
    /// The value does not have the expected shape.
    #[error("failed to read the payload: {0}")]
    Payload(#[source] serde_json::Error),
    /// A value could not be written as JSON.
    #[error("failed to write a line: {0}")]
    Encode(#[source] serde_json::Error),
}

impl Error {
    /// Number of bytes of a bad line that are kept.
    pub const HEAD: usize = 200;

    pub(crate) fn not_an_object(line: &[u8]) -> Self {
        Self::NotAnObject { head: head(line) }
    }

    pub(crate) fn syntax(line: &[u8], source: serde_json::Error) -> Self {
        let head = head(line);
        Self::Syntax { head, source }
    }
}

fn head(line: &[u8]) -> String {
    let head = &line[..line.len().min(Error::HEAD)];
    String::from_utf8_lossy(head).into_owned()
}
