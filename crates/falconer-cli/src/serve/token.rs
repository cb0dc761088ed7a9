//! The token for programs on this machine: made at the first start, in a file only its owner reads.

use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use falconer_server::{Scope, Server};

use crate::exit::Fault;
use crate::here;

/// The file with a token the server knows. One that it does not know is replaced: it belongs to
/// another store, or was revoked.
pub(crate) async fn keep(server: &Server, file: &Path) -> Result<PathBuf, Fault> {
    let failed = |error: falconer_server::Error| Fault::setup(&error, error.advice());
    if let Ok(found) = std::fs::read_to_string(file)
        && server.knows_token(found.trim()).await.map_err(failed)?
    {
        private(file)?;
        here::redactor().learn([found.trim()]);
        return Ok(file.to_owned());
    }
    let token = server
        .make_token("local", Scope::ALL)
        .await
        .map_err(failed)?;
    here::redactor().learn([token.reveal()]);
    write(file, token.reveal()).map_err(|error| {
        let text = format!("failed to write the token to {}: {error}", file.display());
        Fault::setup(text, "set FALCONER_STATE_DIR to a directory you own")
    })?;
    Ok(file.to_owned())
}

/// Written beside and moved into place, so that nobody ever reads half a token.
fn write(file: &Path, token: &str) -> std::io::Result<()> {
    let beside = file.with_extension("new");
    let _ = std::fs::remove_file(&beside);
    let mut options = std::fs::OpenOptions::new();
    let mut out = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)?;
    writeln!(out, "{token}")?;
    out.sync_all()?;
    std::fs::rename(&beside, file)
}

/// Refuses a file that others can read: they may have read it.
fn private(file: &Path) -> Result<(), Fault> {
    let mode = std::fs::metadata(file)?.permissions().mode();
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(Fault::setup(
            format!("other users can read the token in {}", file.display()),
            format!(
                "remove it (`rm {}`) to create a new one, and revoke the old one",
                file.display()
            ),
        )),
    }
}
