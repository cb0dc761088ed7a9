//! An engine that does what a script says, as a process of its own.
//!
//! The executable is `falconer-fake-engine`; this module writes its scripts and finds it.

mod dump;
mod path;
mod script;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::error::Error;

pub use dump::Dump;
pub use path::fake_engine_path;
pub use script::{
    AwaitedMessage, EngineScript, EngineStep, GrandchildOutput, InitializeReply, Turn,
};

/// A scripted engine that is ready to be started by the program under test.
///
/// It owns the files of the script; keep it until the engine has ended.
///
/// ```no_run
/// use falconer_testkit::{EngineScript, FakeEngine};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = FakeEngine::script(&EngineScript::new().initialize().on_user().turn("hello"))?;
/// let child = std::process::Command::new(engine.program())
///     .envs(engine.env().iter().cloned())
///     .spawn()?;
/// // ... talk to it ...
/// let input = engine.dump()?.input;
/// # drop((child, input));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FakeEngine {
    program: PathBuf,
    folder: TempDir,
    env: Vec<(OsString, OsString)>,
}

impl FakeEngine {
    /// Environment variable: the script to play.
    pub const SCRIPT: &str = "FALCONER_FAKE_SCRIPT";
    /// Environment variable: the cassette to play instead of a script.
    pub const CASSETTE: &str = "FALCONER_FAKE_CASSETTE";
    /// Environment variable: where to write arguments, environment and every line of input.
    pub const DUMP: &str = "FALCONER_FAKE_DUMP";
    /// Environment variable: where to write what was measured.
    pub const REPORT: &str = "FALCONER_FAKE_REPORT";

    /// An engine that plays a script.
    ///
    /// # Errors
    /// When the executable is missing or the script cannot be written.
    pub fn script(script: &EngineScript) -> Result<Self, Error> {
        let (program, folder) = (fake_engine_path()?, folder()?);
        let path = folder.path().join("script.json");
        let written = serde_json::to_vec_pretty(script)
            .map_err(std::io::Error::other)
            .and_then(|json| std::fs::write(&path, json));
        written.map_err(|source| Error::Write {
            path: path.clone(),
            source,
        })?;
        Ok(Self::new(program, folder, (Self::SCRIPT, path)))
    }

    /// An engine that plays a cassette.
    ///
    /// # Errors
    /// When the executable is missing.
    pub fn cassette(cassette: impl Into<PathBuf>) -> Result<Self, Error> {
        let played = (Self::CASSETTE, cassette.into());
        Ok(Self::new(fake_engine_path()?, folder()?, played))
    }

    fn new(program: PathBuf, folder: TempDir, played: (&str, PathBuf)) -> Self {
        let file = |name: &str| folder.path().join(name).into_os_string();
        let env = vec![
            (played.0.into(), played.1.into()),
            (Self::DUMP.into(), file("dump.jsonl")),
            (Self::REPORT.into(), file("report.jsonl")),
        ];
        Self {
            program,
            env,
            folder,
        }
    }

    /// The executable to start.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns the variables that must be in its environment.
    pub fn env(&self) -> &[(OsString, OsString)] {
        &self.env
    }

    /// Reads its start and its input so far.
    ///
    /// # Errors
    /// [`Error::Read`] when it was never started.
    pub fn dump(&self) -> Result<Dump, Error> {
        Dump::load(self.folder.path().join("dump.jsonl"))
    }

    /// Reads its measurements so far, one value for each measuring step.
    ///
    /// # Errors
    /// [`Error::Read`] when nothing was measured.
    pub fn report(&self) -> Result<Vec<Value>, Error> {
        dump::load_lines(&self.folder.path().join("report.jsonl"))
    }
}

fn folder() -> Result<TempDir, Error> {
    TempDir::new().map_err(|source| Error::Write {
        path: std::env::temp_dir(),
        source,
    })
}
