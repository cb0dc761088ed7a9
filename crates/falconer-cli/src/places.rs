//! Where files of ours are: the configuration, the state.

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

/// The directory of what a machine keeps: locks, the server's store, history.
pub(crate) fn state_directory() -> Result<PathBuf, Fault> {
    if let Some(named) = variable("FALCONER_STATE_DIR") {
        return Ok(named);
    }
    if cfg!(target_os = "macos") {
        return Ok(home()?.join("Library/Application Support/falconer/state"));
    }
    if cfg!(windows) {
        let data = variable("LOCALAPPDATA");
        return data.map(|data| data.join("falconer")).ok_or_else(no_home);
    }
    let base = variable("XDG_STATE_HOME").filter(|path| path.is_absolute());
    Ok(base
        .map_or_else(|| home().map(|home| home.join(".local/state")), Ok)?
        .join("falconer"))
}

/// Where the locks of sessions are. Every command of a user uses the same.
pub(crate) fn locks_directory() -> Result<PathBuf, Fault> {
    Ok(state_directory()?.join("locks"))
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
        "there is no home directory: HOME is not set",
        "set HOME, or FALCONER_CONFIG_DIR and FALCONER_STATE_DIR",
    )
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}
