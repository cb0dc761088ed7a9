//! The confinement of commands, and the machine's ability to do it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::IsolationError;

/// The choice of a sandbox for commands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sandbox {
    /// They do, and the run does not start if that cannot be had.
    Required(SandboxConfig),
    /// They run unprotected. Somebody chose that by name.
    OffByChoice,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::Required(SandboxConfig::default())
    }
}

/// The required strength of the sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Nesting {
    /// As strong as can be.
    #[default]
    Strict,
    /// Weaker, for containers that do not let a sandbox mount its own `/proc`.
    WeakerByChoice,
}

/// The exceptions of the sandbox around commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct SandboxConfig {
    pub(super) writable: Vec<PathBuf>,
    pub(super) unwritable: Vec<PathBuf>,
    pub(super) readable: Vec<PathBuf>,
    pub(super) unreadable: Vec<PathBuf>,
    pub(super) excluded_commands: Vec<String>,
    pub(super) asks_for_commands: bool,
    pub(super) nesting: Nesting,
}

impl SandboxConfig {
    /// Commands write in the working directory and a temporary one only, read what is not in
    /// the host's home, run without being asked about and cannot leave the sandbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets commands write below this path, too.
    pub fn writable_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.writable.push(path.into());
        self
    }

    /// Never lets commands write below this path.
    pub fn deny_write(mut self, path: impl Into<PathBuf>) -> Self {
        self.unwritable.push(path.into());
        self
    }

    /// Lets commands read below this path although a parent is hidden.
    pub fn readable_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.readable.push(path.into());
        self
    }

    /// Hides what is below this path from commands.
    pub fn deny_read(mut self, path: impl Into<PathBuf>) -> Self {
        self.unreadable.push(path.into());
        self
    }

    /// Runs commands that fit this pattern outside the sandbox.
    pub fn exclude_command(mut self, pattern: impl Into<String>) -> Self {
        self.excluded_commands.push(pattern.into());
        self
    }

    /// Sends commands through the same permissions as everything else. Default: a command
    /// that runs in the sandbox is not asked about.
    pub fn ask_for_commands(mut self) -> Self {
        self.asks_for_commands = true;
        self
    }

    /// Accepts a weaker sandbox.
    pub fn nesting(mut self, nesting: Nesting) -> Self {
        self.nesting = nesting;
        self
    }
}

/// Refuses a machine on which no sandbox can be had.
pub(super) fn check(sandbox: &Sandbox, path: Option<&OsStr>) -> Result<(), IsolationError> {
    match sandbox {
        Sandbox::OffByChoice => Ok(()),
        Sandbox::Required(_) if cfg!(target_os = "macos") => Ok(()),
        Sandbox::Required(_) if cfg!(target_os = "linux") => {
            let mut programs = ["bwrap", "socat"].into_iter();
            match programs.find(|program| !is_in(path, program)) {
                Some(program) => Err(IsolationError::MissingProgram { program }),
                None => Ok(()),
            }
        }
        Sandbox::Required(_) => Err(IsolationError::Unsupported {
            system: std::env::consts::OS,
        }),
    }
}

fn is_in(path: Option<&OsStr>, program: &str) -> bool {
    let Some(path) = path else { return false };
    std::env::split_paths(path).any(|directory| is_executable(&directory.join(program)))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file()
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{IsolationError, Sandbox, check};

    #[test]
    fn a_missing_program_is_an_error_unless_the_sandbox_is_off_by_choice() {
        let directory = tempfile::tempdir().unwrap();
        let add = |name: &str, mode: u32| {
            let path = directory.path().join(name);
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        let path = directory.path().as_os_str();
        let missing = || match check(&Sandbox::default(), Some(path)) {
            Err(IsolationError::MissingProgram { program }) => program,
            other => panic!("{other:?}"),
        };
        assert_eq!(missing(), "bwrap");
        add("bwrap", 0o755);
        assert_eq!(missing(), "socat");
        add("socat", 0o644);
        assert_eq!(missing(), "socat");
        assert!(check(&Sandbox::OffByChoice, Some(path)).is_ok());
        add("socat", 0o755);
        assert!(check(&Sandbox::default(), Some(path)).is_ok());
        assert!(check(&Sandbox::default(), None).is_err());
    }
}
