//! Where files of ours are: the configuration, the state.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

use crate::exit::Fault;

/// The directory of the configuration: `$FALCONER_CONFIG_DIR`, else that of the platform.
pub(crate) fn config_directory() -> Result<PathBuf, Fault> {
    if let Some(named) = variable("FALCONER_CONFIG_DIR") {
        return Ok(named);
    }
    if cfg!(target_os = "macos") {
        return Ok(home()?.join("Library/Application Support/falconer"));
    }
    if cfg!(windows) {
        return variable("APPDATA")
            .map(|data| data.join("falconer"))
            .ok_or_else(no_home);
    }
    let base = variable("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    Ok(base
        .map_or_else(|| home().map(|home| home.join(".config")), Ok)?
        .join("falconer"))
}

/// The directory of what a machine keeps: locks, the server's store, history, trust.
pub(crate) fn state_directory() -> Result<PathBuf, Fault> {
    falconer_engine::state_directory(|name| std::env::var_os(name)).ok_or_else(no_home)
}

/// Where the locks of sessions are. Every command of a user uses the same.
pub(crate) fn locks_directory() -> Result<PathBuf, Fault> {
    Ok(private_state()?.join("locks"))
}

/// Makes the state directory if it is missing, and refuses one that others could have prepared.
pub(crate) fn private_state() -> Result<PathBuf, Fault> {
    let state = state_directory()?;
    let hint = "set FALCONER_STATE_DIR to a directory you own";
    let refuse = |why: &str| {
        let text = format!("cannot keep state in {}: {why}", state.display());
        Err(Fault::setup(text, hint))
    };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&state);
    let found = made.and_then(|()| std::fs::metadata(&state));
    let found = match found {
        Ok(found) => found,
        Err(error) => return refuse(&error.to_string()),
    };
    if found.uid() != rustix::process::geteuid().as_raw() {
        return refuse("it belongs to another user");
    }
    if found.mode() & 0o022 != 0 {
        return refuse("other users can write to it; run `chmod go-rwx` on it");
    }
    if found.mode() & 0o077 != 0 {
        let private = std::fs::Permissions::from_mode(0o700);
        if let Err(error) = std::fs::set_permissions(&state, private) {
            return refuse(&error.to_string());
        }
    }
    Ok(state)
}

/// The store of the server, unless it is told otherwise.
pub(crate) fn store_file() -> Result<PathBuf, Fault> {
    Ok(state_directory()?.join("falconer.db"))
}

fn home() -> Result<PathBuf, Fault> {
    variable("HOME").ok_or_else(no_home)
}

fn no_home() -> Fault {
    Fault::setup(
        "no home directory: HOME is not set",
        "set HOME, or FALCONER_CONFIG_DIR and FALCONER_STATE_DIR",
    )
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}
