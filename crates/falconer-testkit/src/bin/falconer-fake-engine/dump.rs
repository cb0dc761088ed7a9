//! Writes down how the engine was started and what it reads.

use std::fs::File;
use std::io::{self, Write};

use falconer_testkit::FakeEngine;
use serde_json::{Map, Value, json};

use crate::misbehave::RESTARTED;

/// The dump file, if one is wanted.
pub(crate) struct Dump {
    file: Option<File>,
}

impl Dump {
    /// Begins the file with arguments, environment and working directory.
    pub(crate) fn start(argv: &[String]) -> io::Result<Self> {
        let Some(path) = std::env::var_os(FakeEngine::DUMP) else {
            return Ok(Self { file: None });
        };
        let mut dump = Self {
            file: Some(File::options().append(true).create(true).open(path)?),
        };
        dump.add(&json!({"argv": argv}))?;
        dump.add(&json!({"env": environment()}))?;
        let cwd = std::env::current_dir().unwrap_or_default();
        dump.add(&json!({"cwd": cwd.to_string_lossy()}))?;
        Ok(dump)
    }

    pub(crate) fn line(&mut self, line: &[u8]) -> io::Result<()> {
        match self.file {
            Some(_) => self.add(&json!({"in": String::from_utf8_lossy(line)})),
            None => Ok(()),
        }
    }

    pub(crate) fn eof(&mut self) -> io::Result<()> {
        self.add(&json!({"eof": true}))
    }

    pub(crate) fn grandchild(&mut self, pid: u32) -> io::Result<()> {
        self.add(&json!({"grandchild": pid}))
    }

    fn add(&mut self, entry: &Value) -> io::Result<()> {
        match &mut self.file {
            // One write, so that a reader finds whole lines.
            Some(file) => file.write_all(format!("{entry}\n").as_bytes()),
            None => Ok(()),
        }
    }
}

fn environment() -> Map<String, Value> {
    let all = std::env::vars_os().map(|(name, value)| {
        let name = name.to_string_lossy().into_owned();
        let shown = if is_secret(&name) {
            "[masked]".into()
        } else {
            value.to_string_lossy()
        };
        (name, Value::String(shown.into_owned()))
    });
    all.filter(|(name, _)| name != RESTARTED).collect()
}

fn is_secret(name: &str) -> bool {
    let words = ["KEY", "TOKEN", "SECRET", "PASSWORD"];
    words
        .iter()
        .any(|word| name.to_ascii_uppercase().contains(word))
}
