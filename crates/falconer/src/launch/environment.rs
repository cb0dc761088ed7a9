//! The environment of the engine: inherited, set by us, chosen by the caller, in this order.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use secrecy::ExposeSecret;

use crate::options::{
    API_CREDENTIALS, Auth, Billing, EnvironmentChange, LaunchOptions, PROVIDER_SWITCHES,
};

use super::{LaunchWarning, SettingsVariable, Surroundings};

/// Not inherited unless asked for: they would make the engine think it runs inside itself,
/// or change how it runs.
const NOT_INHERITED: &[&str] = &[
    "CLAUDECODE",
    "NODE_OPTIONS",
    "DEBUG",
    "CLAUDE_AGENT_SDK_DERIVED_CLIENT_APP",
];

/// Name of the host; shows in the engine's user agent.
const ENTRYPOINT: &str = "sdk-rs";

/// A planned environment.
#[derive(Debug)]
pub(super) struct Environment {
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) billing: Billing,
    pub(super) warnings: Vec<LaunchWarning>,
}

type Variables = BTreeMap<OsString, OsString>;

/// The environment for these options over the given one.
pub(super) fn environment(
    options: &LaunchOptions,
    inherited: &[(OsString, OsString)],
) -> Environment {
    let mut variables = inherited_variables(options, inherited);
    set_defaults(&mut variables, options);
    let mut warnings = Vec::new();
    authenticate(&mut variables, options, &mut warnings);
    apply_changes(&mut variables, options, inherited);
    Environment {
        billing: billing(&options.auth.auth, &variables),
        variables: variables.into_iter().collect(),
        warnings,
    }
}

fn inherited_variables(options: &LaunchOptions, inherited: &[(OsString, OsString)]) -> Variables {
    if options.environment.cleared {
        return Variables::new();
    }
    let kept = inherited
        .iter()
        .filter(|(name, _)| !NOT_INHERITED.iter().any(|other| name == other));
    kept.cloned().collect()
}

fn set_defaults(variables: &mut Variables, options: &LaunchOptions) {
    let environment = &options.environment;
    let mut set = |name: &str, value: &OsStr| {
        variables.insert(name.into(), value.to_owned());
    };
    set("CLAUDE_CODE_ENTRYPOINT", ENTRYPOINT.as_ref());
    set(
        "CLAUDE_AGENT_SDK_VERSION",
        env!("CARGO_PKG_VERSION").as_ref(),
    );
    set("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1".as_ref());
    set("CLAUDE_CODE_STARTUP_FAILURE_RESULTS", "1".as_ref());
    if options.session.checkpoint_files {
        set("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true".as_ref());
    }
    if let Some(format) = options.tools.preview_format {
        set(
            "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT",
            format.as_str().as_ref(),
        );
    }
    if let Some(app) = &environment.client_app {
        set("CLAUDE_AGENT_SDK_CLIENT_APP", app.as_ref());
    }
    if let Some(cwd) = &environment.cwd {
        set("PWD", cwd.as_os_str());
    }
    if let Some(url) = &options.auth.base_url {
        set("ANTHROPIC_BASE_URL", url.as_ref());
    }
    if let Some(trace) = &environment.trace {
        set("TRACEPARENT", trace.parent.as_ref());
        match &trace.state {
            Some(state) => set("TRACESTATE", state.as_ref()),
            // The state of another trace must not be paired with this parent.
            None => drop(variables.remove(OsStr::new("TRACESTATE"))),
        }
    }
}

/// Sets the credentials chosen and removes all others.
fn authenticate(
    variables: &mut Variables,
    options: &LaunchOptions,
    warnings: &mut Vec<LaunchWarning>,
) {
    let auth = &options.auth.auth;
    let kept: &[&str] = match auth {
        Auth::Inherit => return,
        Auth::AnthropicFromEnvironment => &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        Auth::SubscriptionLogin => &["CLAUDE_CODE_OAUTH_TOKEN"],
        Auth::Bedrock { .. } => &["AWS_BEARER_TOKEN_BEDROCK", "CLAUDE_CODE_USE_BEDROCK"],
        Auth::Vertex { .. } => &["CLAUDE_CODE_USE_VERTEX"],
        Auth::ApiKey(_) | Auth::BearerToken(_) | Auth::SubscriptionToken(_) => &[],
    };
    let others = API_CREDENTIALS.iter().chain(PROVIDER_SWITCHES);
    for name in others.chain(&["CLAUDE_CODE_OAUTH_TOKEN"]) {
        if !kept.contains(name) && variables.remove(OsStr::new(name)).is_some() {
            let name = (*name).to_owned();
            warnings.push(LaunchWarning::CredentialRemoved { name });
        }
    }
    for (name, value) in credentials(auth) {
        variables.insert(name.into(), value.into());
    }
}

/// Variables to repeat in the settings, because settings files would win over the environment.
#[derive(Debug, Default)]
pub(super) struct Pins {
    pub(super) variables: Vec<(String, String)>,
    /// `true` if there are secrets among them, which must not show on a command line.
    pub(super) is_secret: bool,
}

/// The address, and nothing for every way to authenticate that was not chosen. If none was, what
/// the shell says about it and a settings file says, too.
pub(super) fn pins(
    options: &LaunchOptions,
    environment: &Environment,
    surroundings: &Surroundings,
) -> Pins {
    let auth = &options.auth.auth;
    let mut pins = Pins::default();
    if let Some(url) = &options.auth.base_url {
        let name = "ANTHROPIC_BASE_URL".to_owned();
        pins.variables.push((name, url.clone()));
    }
    if matches!(auth, Auth::Inherit) {
        for SettingsVariable { name, .. } in &surroundings.settings_variables {
            let is_pinned = pins.variables.iter().any(|(other, _)| other == name);
            let value = environment.value(name).filter(|value| !value.is_empty());
            if let (false, Some(value)) = (is_pinned, value) {
                pins.is_secret |= falconer_secret::is_secret_name(name) || value.contains('@');
                pins.variables.push((name.clone(), value.to_owned()));
            }
        }
        return pins;
    }
    for name in PROVIDER_SWITCHES {
        let chosen = credentials(auth)
            .into_iter()
            .find(|(other, _)| other == name);
        let value = chosen.map_or_else(String::new, |(_, value)| value);
        pins.variables.push(((*name).to_owned(), value));
    }
    pins
}

impl Environment {
    fn value(&self, name: &str) -> Option<&str> {
        let mut variables = self.variables.iter();
        let (_, value) = variables.find(|(other, _)| other == name)?;
        value.to_str()
    }

    /// Returns `true` if requests go to Amazon Bedrock.
    pub(super) fn uses_bedrock(&self) -> bool {
        let switch = self.value("CLAUDE_CODE_USE_BEDROCK");
        switch.is_some_and(|switch| !matches!(switch, "" | "0" | "false" | "no" | "off"))
    }
}

/// The variables that carry the credentials chosen.
fn credentials(auth: &Auth) -> Vec<(&'static str, String)> {
    match auth {
        Auth::Inherit | Auth::AnthropicFromEnvironment | Auth::SubscriptionLogin => Vec::new(),
        Auth::ApiKey(key) => vec![("ANTHROPIC_API_KEY", key.expose_secret().to_owned())],
        Auth::BearerToken(token) => {
            vec![("ANTHROPIC_AUTH_TOKEN", token.expose_secret().to_owned())]
        }
        Auth::SubscriptionToken(token) => {
            vec![("CLAUDE_CODE_OAUTH_TOKEN", token.expose_secret().to_owned())]
        }
        Auth::Bedrock { region } => {
            let region = region.iter().map(|region| ("AWS_REGION", region.clone()));
            std::iter::once(("CLAUDE_CODE_USE_BEDROCK", "1".to_owned()))
                .chain(region)
                .collect()
        }
        Auth::Vertex { project, region } => {
            let project = project
                .iter()
                .map(|id| ("ANTHROPIC_VERTEX_PROJECT_ID", id.clone()));
            let region = region
                .iter()
                .map(|region| ("CLOUD_ML_REGION", region.clone()));
            std::iter::once(("CLAUDE_CODE_USE_VERTEX", "1".to_owned()))
                .chain(project)
                .chain(region)
                .collect()
        }
    }
}

fn apply_changes(
    variables: &mut Variables,
    options: &LaunchOptions,
    inherited: &[(OsString, OsString)],
) {
    for change in &options.environment.changes {
        match change {
            EnvironmentChange::Set(name, value) => {
                variables.insert(name.clone(), value.clone());
            }
            EnvironmentChange::Remove(name) => {
                variables.remove(name);
            }
            EnvironmentChange::Keep(name) => {
                let found = inherited.iter().find(|(other, _)| other == name);
                if let Some((name, value)) = found {
                    variables.insert(name.clone(), value.clone());
                }
            }
        }
    }
}

/// Returns the payer, as far as the environment decides it.
fn billing(auth: &Auth, variables: &Variables) -> Billing {
    let is_set = |name: &&str| {
        variables
            .get(OsStr::new(name))
            .is_some_and(|v| !v.is_empty())
    };
    match auth {
        Auth::ApiKey(_) | Auth::BearerToken(_) => Billing::Api,
        Auth::SubscriptionToken(_) | Auth::SubscriptionLogin => Billing::Subscription,
        Auth::Bedrock { .. } | Auth::Vertex { .. } => Billing::Cloud,
        Auth::Inherit | Auth::AnthropicFromEnvironment => {
            if PROVIDER_SWITCHES.iter().any(is_set) {
                Billing::Cloud
            } else if is_set(&"ANTHROPIC_API_KEY") || is_set(&"ANTHROPIC_AUTH_TOKEN") {
                Billing::Api
            } else if is_set(&"CLAUDE_CODE_OAUTH_TOKEN") {
                Billing::Subscription
            } else {
                Billing::Undetermined
            }
        }
    }
}
