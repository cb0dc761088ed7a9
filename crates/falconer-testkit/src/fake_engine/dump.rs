//! The fake engine's record of its start and its input.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Error;

/// The start and the input of a fake engine.
///
/// In the file one JSON object a line: `argv`, `env`, `cwd`, then `in` for each line of input,
/// `eof`, and `grandchild` for each process it started.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Dump {
    /// The arguments, the program left out.
    pub argv: Vec<String>,
    /// The environment; values of keys and tokens are masked.
    pub env: BTreeMap<String, String>,
    /// The working directory.
    pub cwd: PathBuf,
    /// The lines of input, without their newlines.
    pub input: Vec<String>,
    /// `true` if the end of input was seen.
    pub eof: bool,
    /// Process ids of its children.
    pub grandchildren: Vec<u32>,
}

impl Dump {
    /// Reads a dump file.
    ///
    /// # Errors
    /// [`Error::Read`] or [`Error::Format`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let mut dump = Self::default();
        for line in load_lines(path.as_ref())? {
            dump.add(&line);
        }
        Ok(dump)
    }

    /// The lines of input read as JSON; what is not JSON is left out.
    pub fn messages(&self) -> Vec<Value> {
        let lines = self.input.iter();
        lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    fn add(&mut self, line: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for (key, value) in line.as_object().into_iter().flatten() {
            match key.as_str() {
                "argv" => {
                    let arguments = value.as_array().into_iter().flatten();
                    self.argv = arguments.map(text).collect();
                }
                "env" => {
                    let variables = value.as_object().into_iter().flatten();
                    self.env = variables.map(|(k, v)| (k.clone(), text(v))).collect();
                }
                "cwd" => self.cwd = text(value).into(),
                "in" => self.input.push(text(value)),
                "eof" => self.eof = true,
                "grandchild" => self
                    .grandchildren
                    .extend(value.as_u64().and_then(|pid| u32::try_from(pid).ok())),
                _ => {}
            }
        }
    }
}

/// A file of JSON lines; a last line that is still being written is left out.
pub(super) fn load_lines(path: &Path) -> Result<Vec<Value>, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = whole.lines().map(|line| {
        serde_json::from_str(line).map_err(|source| Error::Format {
            what: path.display().to_string(),
            source,
        })
    });
    lines.collect()
}
