//! Login and settings for a configuration directory that exists for one resume.

use std::path::Path;

use serde_json::{Map, Value};

use crate::error::SessionError;
use crate::private_file::{read_if_present, write_private};

/// Copies what the CLI needs to run from one configuration directory into another.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), SessionError> {
    // The default directory keeps this file beside itself, any other inside.
    let state = ".claude.json";
    let inside = from.join(state);
    let beside = from.parent().map(|parent| parent.join(state));
    let is_default = from.file_name().is_some_and(|name| name == ".claude");
    let state_file = match beside.filter(|_| is_default && !inside.exists()) {
        Some(beside) => beside,
        None => inside,
    };
    copy_file(&state_file, &to.join(state), |_| ())?;
    copy_file(
        &from.join(".credentials.json"),
        &to.join(".credentials.json"),
        without_refresh_token,
    )?;
    for name in ["settings.json", "cowork_settings.json"] {
        copy_file(&from.join(name), &to.join(name), without_plugins)?;
    }
    Ok(())
}

/// Copies a file if it is there, changed if it is a JSON object.
fn copy_file(
    from: &Path,
    to: &Path,
    change: impl FnOnce(&mut Map<String, Value>),
) -> Result<(), SessionError> {
    let Some(mut text) = read_if_present(from)? else {
        return Ok(());
    };
    let without_mark = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    if let Ok(Value::Object(mut fields)) = serde_json::from_slice(without_mark) {
        change(&mut fields);
        text = Value::Object(fields).to_string().into_bytes();
    }
    write_private(to, &mut |out| out.write_all(&text))
}

/// Copies a login of the CLI without what can be used once only.
pub fn copy_login(from: &Path, to: &Path) -> Result<(), SessionError> {
    copy_file(from, to, without_refresh_token)
}

fn without_refresh_token(credentials: &mut Map<String, Value>) {
    if let Some(Value::Object(login)) = credentials.get_mut("claudeAiOauth") {
        login.shift_remove("refreshToken");
    }
}

fn without_plugins(settings: &mut Map<String, Value>) {
    settings.shift_remove("enabledPlugins");
    settings.shift_remove("extraKnownMarketplaces");
    if let Some(Value::Object(env)) = settings.get_mut("env") {
        env.shift_remove("CLAUDE_CONFIG_DIR");
    }
}
