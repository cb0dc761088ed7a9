//! Which variables a command gets: the session's, without the keys of the engine.
//!
//! A command is written by a model that reads untrusted text, so it does not get what would let
//! it act as the engine. The keys of the Messages API are always taken out; those of AWS only
//! while the engine itself uses them (`CLAUDE_CODE_USE_BEDROCK`), because otherwise they belong
//! to the user's own tools. Names in `FALCONER_SHELL_KEEP_ENV` (separated by commas) are kept.

use std::ffi::{OsStr, OsString};

use crate::environment::Variables;

const KEYS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_FOUNDRY_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_REFRESH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
];

const AWS_KEYS: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
];

/// Set for every command, so that programs know who calls them and do not open an editor.
const MARKS: &[(&str, &str)] = &[("CLAUDECODE", "1"), ("GIT_EDITOR", "true")];

pub(super) fn for_commands(variables: &Variables) -> Vec<(OsString, OsString)> {
    let text = |name: &str| {
        variables
            .get(OsStr::new(name))
            .and_then(|value| value.to_str())
    };
    let uses_aws = matches!(
        text("CLAUDE_CODE_USE_BEDROCK"),
        Some("1" | "true" | "yes" | "on")
    );
    let kept: Vec<&str> = text("FALCONER_SHELL_KEEP_ENV")
        .unwrap_or_default()
        .split(',')
        .collect();
    let is_key = |name: &OsStr| {
        name.to_str().is_some_and(|name| {
            let listed = KEYS.contains(&name) || uses_aws && AWS_KEYS.contains(&name);
            listed && !kept.iter().any(|kept| kept.trim() == name)
        })
    };
    let mark = |&(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
    let is_mark = |name: &OsStr| MARKS.iter().any(|(mark, _)| name == *mark);
    let passed = variables
        .iter()
        .filter(|(name, _)| !is_key(name) && !is_mark(name));
    let passed = passed.map(|(name, value)| (name.clone(), value.clone()));
    passed.chain(MARKS.iter().map(mark)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(variables: &[(&str, &str)]) -> Vec<String> {
        let variables = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let kept = for_commands(&variables);
        kept.into_iter()
            .map(|(name, _)| name.into_string().unwrap())
            .collect()
    }

    #[test]
    fn keys_of_the_engine_are_taken_out() {
        let own = [
            ("ANTHROPIC_API_KEY", "k"),
            ("ANTHROPIC_AUTH_TOKEN", "k"),
            ("A", "1"),
        ];
        assert_eq!(names(&own), ["A", "CLAUDECODE", "GIT_EDITOR"]);
        let aws = ("AWS_SECRET_ACCESS_KEY", "k");
        assert_eq!(
            names(&[aws]),
            ["AWS_SECRET_ACCESS_KEY", "CLAUDECODE", "GIT_EDITOR"]
        );
        let bedrock = ("CLAUDE_CODE_USE_BEDROCK", "1");
        assert_eq!(
            names(&[aws, bedrock]),
            ["CLAUDE_CODE_USE_BEDROCK", "CLAUDECODE", "GIT_EDITOR"]
        );
        let keep = ("FALCONER_SHELL_KEEP_ENV", "X, ANTHROPIC_API_KEY");
        let kept = [
            "ANTHROPIC_API_KEY",
            "FALCONER_SHELL_KEEP_ENV",
            "CLAUDECODE",
            "GIT_EDITOR",
        ];
        assert_eq!(names(&[own[0], own[1], keep]), kept);
    }
}
