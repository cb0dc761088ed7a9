//! The value of `--settings`: the caller's settings, the sandbox and pinned variables in one.

use serde_json::{Map, Value};

use crate::options::{SandboxFallback, Settings};

use super::{OptionProblem, Surroundings};

/// The recorded settings options.
type SettingsOptions = crate::options::SettingsOptions;

/// The settings to pass, with `pins` in their `env` section, or why they cannot be put together.
pub(super) fn value(
    options: &SettingsOptions,
    pins: &[(String, String)],
    surroundings: &Surroundings,
) -> Result<Option<Settings>, OptionProblem> {
    let sandbox = sandbox(options);
    if sandbox.is_none() && pins.is_empty() {
        return Ok(options.settings.clone());
    }
    let mut settings = match &options.settings {
        None => Map::new(),
        Some(Settings::Inline(json)) => object(json.clone(), "the settings")?,
        Some(Settings::File(path)) => {
            let what = format!("settings file {}", path.display());
            let text = match &surroundings.settings_file {
                Some(Ok(text)) => text,
                Some(Err(reason)) => return Err(invalid(&what, reason)),
                None => return Err(invalid(&what, &"it was not read")),
            };
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            let json = serde_json::from_str(text);
            object(json.map_err(|error| invalid(&what, &error))?, &what)?
        }
    };
    if let Some(sandbox) = sandbox {
        settings.insert("sandbox".to_owned(), sandbox);
    }
    if !pins.is_empty() {
        let env = settings
            .entry("env")
            .or_insert_with(|| Value::Object(Map::new()));
        for (name, value) in pins {
            env[name] = Value::from(value.clone());
        }
    }
    Ok(Some(Settings::Inline(Value::Object(settings))))
}

/// The sandbox settings; an enabled sandbox must not silently be none.
fn sandbox(options: &SettingsOptions) -> Option<Value> {
    let sandbox = options.sandbox.as_ref()?;
    let mut json = serde_json::to_value(sandbox).unwrap_or_default();
    let enabled = json.get("enabled") == Some(&Value::Bool(true));
    if enabled && options.sandbox_fallback == SandboxFallback::Refuse {
        json["failIfUnavailable"] = Value::Bool(true);
    }
    Some(json)
}

fn object(json: Value, what: &str) -> Result<Map<String, Value>, OptionProblem> {
    match json {
        Value::Object(map) => Ok(map),
        _ => Err(invalid(what, &"it is not a JSON object")),
    }
}

fn invalid(what: &str, reason: &dyn std::fmt::Display) -> OptionProblem {
    OptionProblem::UnusableSettings {
        what: what.to_owned(),
        reason: reason.to_string(),
    }
}
