//! Ways to authenticate that lack something.

use std::ffi::OsStr;

use secrecy::ExposeSecret;

use crate::options::{API_CREDENTIALS, Auth, LaunchOptions};

use super::super::environment::environment;
use super::super::{OptionProblem, Surroundings};

pub(super) fn check(
    options: &LaunchOptions,
    surroundings: &Surroundings,
    problems: &mut Vec<OptionProblem>,
) {
    let planned = environment(options, &surroundings.env).variables;
    let has = |name: &str| {
        let mut variables = planned.iter();
        variables.any(|(other, value)| other == OsStr::new(name) && !value.is_empty())
    };
    if let Some(url) = &options.auth.base_url
        && !(url.starts_with("http://") || url.starts_with("https://"))
    {
        problems.push(OptionProblem::InvalidValue {
            option: "base_url",
            value: super::super::redact::masked_text(url),
            reason: "it must begin with http:// or https://",
        });
    }
    let secrets = API_CREDENTIALS.iter().chain(&["CLAUDE_CODE_OAUTH_TOKEN"]);
    let secrets: Vec<&str> = secrets.copied().collect();
    let overriding = surroundings.settings_variables.iter();
    let overriding = overriding.filter(|variable| secrets.contains(&variable.name.as_str()));
    if !matches!(options.auth.auth, Auth::Inherit) {
        problems.extend(
            overriding.map(|variable| OptionProblem::SettingsOverrideAuth {
                file: variable.file.clone(),
                name: variable.name.clone(),
            }),
        );
    }
    if let Some((auth, missing)) = missing(&options.auth.auth, &has) {
        problems.push(OptionProblem::IncompleteAuth { auth, missing });
    }
}

/// Returns what the chosen way to authenticate lacks.
fn missing(auth: &Auth, has: &dyn Fn(&str) -> bool) -> Option<(&'static str, &'static str)> {
    match auth {
        Auth::Inherit | Auth::SubscriptionLogin => None,
        Auth::ApiKey(key) => {
            let fits = key.expose_secret().starts_with("sk-ant-") || has("ANTHROPIC_BASE_URL");
            let empty = key.expose_secret().trim().is_empty();
            (empty || !fits).then_some((
                "api key",
                "the key given does not begin with sk-ant-; set `base_url` if it is for another \
                 service",
            ))
        }
        Auth::BearerToken(token) => {
            let empty = token.expose_secret().trim().is_empty();
            empty.then_some(("bearer token", "the token given is empty"))
        }
        Auth::SubscriptionToken(token) => {
            let empty = token.expose_secret().trim().is_empty();
            let missing = "the token given is empty; make one with `claude setup-token`";
            empty.then_some(("subscription token", missing))
        }
        Auth::AnthropicFromEnvironment => {
            let names = [
                "ANTHROPIC_API_KEY",
                "ANTHROPIC_AUTH_TOKEN",
                "CLAUDE_CODE_OAUTH_TOKEN",
            ];
            let found = names.iter().any(|name| has(name));
            let missing = "set ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or CLAUDE_CODE_OAUTH_TOKEN";
            (!found).then_some(("the environment", missing))
        }
        Auth::Bedrock { .. } => {
            let missing = "no region; give one or set AWS_REGION";
            (!has("AWS_REGION")).then_some(("bedrock", missing))
        }
        Auth::Vertex { .. } => {
            let complete = has("ANTHROPIC_VERTEX_PROJECT_ID") && has("CLOUD_ML_REGION");
            let missing = "project and region are needed; give them or set \
                           ANTHROPIC_VERTEX_PROJECT_ID and CLOUD_ML_REGION";
            (!complete).then_some(("vertex", missing))
        }
    }
}
