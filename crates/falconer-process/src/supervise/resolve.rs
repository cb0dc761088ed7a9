//! The file that a program's name means.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::spec::Spec;
use crate::error::SpawnError;

/// Directories in which bare names are looked up if the environment has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The absolute path of the program.
///
/// A path with a slash means the same file whatever the child's working directory is. A bare
/// name is looked up in the child's `PATH`; files that may not be executed are passed over.
pub(super) fn program(spec: &Spec) -> Result<PathBuf, SpawnError> {
    if spec.program.as_os_str().as_encoded_bytes().contains(&b'/') {
        return std::path::absolute(&spec.program).map_err(|source| SpawnError::Io {
            program: spec.program.clone(),
            doing: "find the current directory",
            source,
        });
    }
    let path = search_path(&spec.env);
    let mut forbidden = None;
    for directory in std::env::split_paths(&path) {
        let file = directory.join(&spec.program);
        match check(&file) {
            Ok(()) => return Ok(std::path::absolute(&file).unwrap_or(file)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                forbidden.get_or_insert((file, error));
            }
            Err(_) => {}
        }
    }
    Err(match forbidden {
        Some((program, source)) => SpawnError::ProgramNotExecutable { program, source },
        None => SpawnError::ProgramMissing {
            program: spec.program.clone(),
            searched: Some(path.to_string_lossy().into_owned()),
        },
    })
}

fn search_path(env: &[(OsString, OsString)]) -> OsString {
    env.iter()
        .rev()
        .find(|(name, _)| name == "PATH")
        .map_or_else(
            || OsStr::new(DEFAULT_PATH).to_owned(),
            |(_, value)| value.clone(),
        )
}

fn check(file: &Path) -> io::Result<()> {
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    access(file, Access::EXEC_OK).map_err(io::Error::from)
}
