//! Runs the official CLI in tests: where it is, and an environment with nothing else in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;

/// The environment variable that names the executable.
const VARIABLE: &str = "FALCONER_CLAUDE_PATH";

/// The official Claude Code CLI, for tests that compare against it.
///
/// A test that needs it must fail without it, not pass:
///
/// ```no_run
/// use falconer_testkit::RealCli;
///
/// # fn main() -> Result<(), falconer_testkit::Error> {
/// let cli = RealCli::find()?; // the error says how to install it
/// let home = std::env::temp_dir();
/// let output = cli.command(&home, "http://127.0.0.1:1").arg("--version").output();
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct RealCli {
    path: PathBuf,
}

impl RealCli {
    /// Finds the executable that `FALCONER_CLAUDE_PATH` names.
    ///
    /// # Errors
    /// [`Error::NotFound`] with the way to install it.
    pub fn find() -> Result<Self, Error> {
        let Some(path) = std::env::var_os(VARIABLE).map(PathBuf::from) else {
            return Err(missing(format!("{VARIABLE} is not set")));
        };
        if path.is_file() {
            Ok(Self { path })
        } else {
            Err(missing(format!(
                "{VARIABLE} is {}, which is not a file",
                path.display()
            )))
        }
    }

    /// The executable.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A command with exactly the environment of [`clean_env`].
    pub fn command(&self, home: &Path, server_url: &str) -> Command {
        let mut command = Command::new(&self.path);
        command.env_clear().envs(clean_env(home, server_url));
        command
    }
}

fn missing(looked: String) -> Error {
    Error::NotFound {
        what: "the official Claude Code CLI",
        looked,
        hint: format!(
            "install it with `npm install @anthropic-ai/claude-code` and set {VARIABLE} to the \
             `claude` executable"
        ),
    }
}

/// The complete environment for a run that touches only `home` and the scripted server;
/// temporary files go below `home`, too.
///
/// `PATH` is the one of this process; nothing else is inherited.
pub fn clean_env(home: &Path, server_url: &str) -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let mut env: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), path),
        ("HOME".into(), home.into()),
        // The CLI leaves directories behind there.
        ("TMPDIR".into(), home.into()),
        ("ANTHROPIC_BASE_URL".into(), server_url.into()),
    ];
    let fixed = [
        ("LANG", "C.UTF-8"),
        ("ANTHROPIC_API_KEY", "sk-ant-fake-key-for-tests"),
        ("NO_PROXY", "127.0.0.1,localhost"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ];
    env.extend(fixed.map(|(name, value)| (name.into(), value.into())));
    env
}
