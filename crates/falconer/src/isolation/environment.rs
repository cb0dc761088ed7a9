//! The environment of an isolated run: an allowlist, and nothing else of the host.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::IsolationConfig;
use super::credentials::Chosen;
use crate::options::EnvironmentChange;

/// Variables of the host that every run gets: where programs are, and language and time.
const ALLOWED: &[&str] = &[
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
    "TERM",
    "SHELL",
    "USER",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];

/// The directory for temporary files, in the home.
pub(super) const TEMPORARY: &str = "tmp";

/// Returns the changes that turn an empty environment into that of the run.
pub(super) fn changes(
    config: &IsolationConfig,
    chosen: &Chosen,
    home: &Path,
) -> Vec<EnvironmentChange> {
    let set = |name: &str, value: &OsStr| EnvironmentChange::Set(name.into(), value.to_owned());
    let temporary = home.join(TEMPORARY);
    let allowed = ALLOWED.iter();
    let mut changes: Vec<_> = allowed
        .map(|name| EnvironmentChange::Keep(name.into()))
        .collect();
    changes.extend([
        set("HOME", home.as_os_str()),
        set("TMPDIR", temporary.as_os_str()),
        // The CLI leaves files there that nobody deletes.
        set("CLAUDE_CODE_TMPDIR", temporary.as_os_str()),
        set("DISABLE_AUTOUPDATER", "1".as_ref()),
    ]);
    let variables = chosen.variables.iter().cloned();
    changes.extend(variables.map(|(name, value)| EnvironmentChange::Set(name, value)));
    changes.extend(config.changes.iter().cloned());
    changes
}

/// The `PATH` the run will have.
pub(super) fn path(
    changes: &[EnvironmentChange],
    env: &[(OsString, OsString)],
) -> Option<OsString> {
    let host = || {
        let found = env.iter().find(|(name, _)| name == "PATH");
        found.map(|(_, value)| value.clone())
    };
    let of_change = |change: &EnvironmentChange| match change {
        EnvironmentChange::Set(name, value) if name == "PATH" => Some(Some(value.clone())),
        EnvironmentChange::Remove(name) if name == "PATH" => Some(None),
        EnvironmentChange::Keep(name) if name == "PATH" => Some(host()),
        EnvironmentChange::Set(..) | EnvironmentChange::Remove(_) | EnvironmentChange::Keep(_) => {
            None
        }
    };
    changes
        .iter()
        .rev()
        .find_map(of_change)
        .unwrap_or_else(host)
}
