//! The variables for authentication that a host has: its shell's, else its settings'.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use serde_json::Value;

use super::{Sources, document};

/// Variables that a run with Bedrock may need.
pub(crate) const BEDROCK_VARIABLES: &[&str] = &[
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_BEARER_TOKEN_BEDROCK",
    "CLAUDE_CODE_USE_BEDROCK",
];

/// Variables that a run with Vertex may need.
pub(crate) const VERTEX_VARIABLES: &[&str] = &[
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "CLOUD_ML_REGION",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "CLAUDE_CODE_USE_VERTEX",
];

const ANTHROPIC_VARIABLES: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "CLAUDE_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_USE_BEDROCK",
];

/// Everything that decides who is asked, and who pays.
pub(crate) const AUTH_VARIABLES: [&[&str]; 3] =
    [ANTHROPIC_VARIABLES, BEDROCK_VARIABLES, VERTEX_VARIABLES];

/// Variables for authentication, a shell's value before one of the user's settings.
///
/// The CLI itself prefers its settings; whoever exports a variable in a shell means it for what
/// is started there.
pub(crate) struct HostVariables {
    values: BTreeMap<&'static str, OsString>,
}

impl HostVariables {
    pub(crate) fn of(sources: &Sources) -> Self {
        let settings = settings_env(sources);
        let found = AUTH_VARIABLES.into_iter().flatten().filter_map(|name| {
            let shell = sources.value(name).map(OsStr::to_owned);
            let fallback = || settings.get(*name).map(OsString::from);
            Some((*name, shell.or_else(fallback)?))
        });
        Self {
            values: found.collect(),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&OsStr> {
        self.values.get(name).map(OsString::as_os_str)
    }
}

/// The texts in the `env` section of the user's settings; none if the file is of no use.
pub(super) fn settings_env(sources: &Sources) -> BTreeMap<String, String> {
    let Some(file) = sources.in_config("settings.json") else {
        return BTreeMap::new();
    };
    let Ok(Value::Object(env)) =
        document::object(&file).map(|mut settings| settings.remove("env").unwrap_or_default())
    else {
        return BTreeMap::new();
    };
    let texts = env.into_iter().filter_map(|(name, value)| match value {
        Value::String(text) if !text.is_empty() => Some((name, text)),
        Value::Number(number) => Some((name, number.to_string())),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::{HostVariables, Sources};

    #[test]
    fn the_shell_beats_the_settings_and_the_settings_beat_nothing() {
        let home = tempfile::tempdir().unwrap();
        let config = home.path().join(".claude");
        std::fs::create_dir(&config).unwrap();
        let env = r#"{"env": {"AWS_REGION": "eu-west-1", "ANTHROPIC_API_KEY": "sk-ant-file",
            "CLAUDE_CODE_USE_BEDROCK": 1, "AWS_PROFILE": "", "PATH": "/evil"}}"#;
        std::fs::write(config.join("settings.json"), env).unwrap();
        let sources = Sources::new()
            .home(home.path())
            .variable("AWS_REGION", "us-east-1")
            .variable("ANTHROPIC_API_KEY", "");
        let host = HostVariables::of(&sources);
        let table = [
            ("AWS_REGION", Some("us-east-1")),
            ("ANTHROPIC_API_KEY", Some("sk-ant-file")),
            ("CLAUDE_CODE_USE_BEDROCK", Some("1")),
            ("AWS_PROFILE", None),
            ("PATH", None),
        ];
        for (name, value) in table {
            assert_eq!(host.get(name), value.map(AsRef::as_ref), "{name}");
        }
    }
}
