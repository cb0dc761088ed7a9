//! Environments without keys.
//!
//! Commands, hooks, helpers and MCP servers run for the agent or its user, not for the engine:
//! none of them gets a key that authenticates the engine, or Falconer itself, unless somebody gave
//! it to them by name.

use std::ffi::{OsStr, OsString};

use crate::name::ends_like_a_secret;

/// The variable that lists, separated by commas, the keys that child processes keep.
///
/// It counts only in the environment that Falconer was started with: a settings file cannot set it.
pub const KEEP_VARIABLE: &str = "FALCONER_SHELL_KEEP_ENV";

/// Variables that begin like this and end like a secret authenticate the engine or Falconer.
const OWN_PREFIXES: &[&str] = &["ANTHROPIC_", "CLAUDE_", "FALCONER_"];

/// Keys of the engine whatever they look like.
const OWN_KEYS: &[&str] = &["AWS_BEARER_TOKEN_BEDROCK"];

/// Keys that belong to the user's tools, unless the engine itself uses them.
const AWS_KEYS: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
];

/// The variable that makes the engine use the keys of AWS.
const BEDROCK: &str = "CLAUDE_CODE_USE_BEDROCK";

/// Names of keys that child processes keep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept(Vec<String>);

impl Kept {
    /// Reads the names from the environment the process was started with.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>) -> Self {
        let mut variables = variables.into_iter();
        let list = variables.find(|(name, _)| *name == KEEP_VARIABLE);
        let list = list.and_then(|(_, value)| value.to_str());
        let names = list.unwrap_or_default().split(',').map(str::trim);
        Self(
            names
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
        )
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|kept| kept == name)
    }
}

/// Returns whether a variable authenticates the engine or Falconer itself.
///
/// The keys of AWS are not among them: see [`without_keys`].
pub fn is_key(name: &OsStr, value: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let is_own = OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let ends_in_url = name.ends_with("_URL");
    OWN_KEYS.contains(&name)
        || is_own && ends_like_a_secret(name)
        || is_own && ends_in_url && value.as_encoded_bytes().contains(&b'@')
}

/// Returns whether a variable carries a secret, of the engine or of anybody else.
///
/// A process that holds keys moves these out of its own environment.
pub fn carries_secret(name: &OsStr, value: &OsStr) -> bool {
    is_key(name, value) || name.to_str().is_some_and(ends_like_a_secret)
}

/// Returns the variables that a child process may have.
pub fn without_keys<'a, I>(variables: I, kept: &Kept) -> Vec<(OsString, OsString)>
where
    I: IntoIterator<Item = (&'a OsStr, &'a OsStr)>,
    I::IntoIter: Clone,
{
    let variables = variables.into_iter();
    let uses_aws = variables
        .clone()
        .any(|(name, value)| name == BEDROCK && is_on(value));
    let may_have = |(name, value): &(&OsStr, &OsStr)| {
        let text = name.to_str().unwrap_or_default();
        let is_key = is_key(name, value) || uses_aws && AWS_KEYS.contains(&text);
        !is_key || kept.has(text)
    };
    let passed = variables.filter(may_have);
    passed
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Anything that does not say no: a switch that is misread must not give a key away.
fn is_on(value: &OsStr) -> bool {
    let value = value.to_string_lossy().to_ascii_lowercase();
    !matches!(value.as_str(), "" | "0" | "false" | "no" | "off")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(variables: &[(&str, &str)]) -> Vec<String> {
        let variables = variables
            .iter()
            .map(|(name, value)| (OsStr::new(*name), OsStr::new(*value)));
        let kept = Kept::of(variables.clone());
        let left = without_keys(variables, &kept);
        left.into_iter()
            .map(|(name, _)| name.into_string().unwrap())
            .collect()
    }

    #[test]
    fn keys_of_the_engine_are_left_out() {
        for key in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_CUSTOM_HEADERS",
            "ANTHROPIC_FOUNDRY_API_KEY",
            "ANTHROPIC_ADMIN_KEY",
            "CLAUDE_API_KEY",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_REFRESH_TOKEN",
            "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
            "AWS_BEARER_TOKEN_BEDROCK",
            "FALCONER_TOKEN",
        ] {
            assert_eq!(names(&[(key, "k"), ("A", "1")]), ["A"], "{key}");
            let keep = (KEEP_VARIABLE, &*format!("X, {key}"));
            assert_eq!(names(&[(key, "k"), keep]), [key, KEEP_VARIABLE]);
        }
        for plain in [
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            "CLAUDE_CONFIG_DIR",
            "ANTHROPIC_MODEL",
            "ANTHROPIC_BASE_URL",
            "GITHUB_TOKEN",
            "FALCONER_STATE_DIR",
        ] {
            assert_eq!(names(&[(plain, "https://x")]), [plain]);
        }
        assert!(names(&[("ANTHROPIC_BASE_URL", "https://u:p@x")]).is_empty());
    }

    #[test]
    fn keys_of_aws_are_left_out_while_the_engine_uses_them() {
        let aws = ("AWS_SECRET_ACCESS_KEY", "k");
        assert_eq!(names(&[aws]), ["AWS_SECRET_ACCESS_KEY"]);
        for on in ["1", "true", "TRUE", "enabled"] {
            assert_eq!(names(&[aws, (BEDROCK, on)]), [BEDROCK], "{on}");
        }
        assert_eq!(names(&[aws, (BEDROCK, "0")]).len(), 2);
    }
}
