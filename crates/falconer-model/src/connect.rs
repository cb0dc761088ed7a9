//! Chooses the provider of a session from its variables and settings.

use std::path::PathBuf;
use std::sync::Arc;

use falconer_secret::Environment;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::anthropic::{Anthropic, Endpoint};
use crate::credential::Credentials;
use crate::endpoint;
use crate::helper::KeyHelper;
use crate::http::Route;
use crate::no_key::NoKey;
use crate::record::Recording;
use crate::scripted::Scripted;
use crate::timeouts::Timeouts;
use crate::{Capabilities, Provider};

const DEFAULT_BASE: &str = "https://api.anthropic.com";

/// What the settings say about the provider.
#[derive(Clone, Default)]
pub struct ProviderSettings {
    /// `apiKeyHelper`: a command that prints a key.
    pub api_key_helper: Option<String>,
    /// Where the helper runs.
    pub cwd: PathBuf,
    /// What the endpoint understands: the name of a kind, or an object; a variable wins.
    pub capabilities: Option<Value>,
    /// Who we say we are.
    pub user_agent: Option<String>,
}

impl std::fmt::Debug for ProviderSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderSettings")
            // The command may hold a secret.
            .field("api_key_helper", &self.api_key_helper.is_some())
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}

/// A session that cannot have a provider.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("the scenario of `FALCONER_SCENARIO` cannot be played: {0}")]
    Scenario(#[from] falconer_scenario::Error),
    #[error("`{variable}` is not a URL with http or https")]
    BaseUrl { variable: &'static str },
    #[error("line {line} of `ANTHROPIC_CUSTOM_HEADERS` is not `Name: value`")]
    CustomHeader { line: usize },
    #[error("`{variable}` is not the URL of a proxy (http, https or socks5)")]
    Proxy { variable: &'static str },
    #[error("`FALCONER_ENDPOINT_CAPABILITIES`, or the setting for it, is not usable: {0}")]
    Capabilities(String),
    #[error("the price table is not usable: {0}")]
    Prices(String),
    #[cfg(feature = "bedrock")]
    #[error("`{0}` is needed for Amazon Bedrock and is not set")]
    BedrockNeeds(&'static str),
    #[cfg(not(feature = "bedrock"))]
    #[error(
        "`CLAUDE_CODE_USE_BEDROCK` is set, but this build has no support for Amazon Bedrock (feature `bedrock`)"
    )]
    NoBedrock,
}

/// The provider of a session. Nothing is sent, and no certificate is read, before it is used.
///
/// Without any key it is one whose requests fail with a text that says what to do.
pub fn connect(
    environment: &Environment,
    settings: &ProviderSettings,
) -> Result<Arc<dyn Provider>, ConnectError> {
    let provider = choose(environment, settings)?;
    Ok(match environment.text("FALCONER_RECORD_SCENARIO") {
        Some(path) => Arc::new(Recording::new(
            provider,
            path.into(),
            environment.redactor().clone(),
        )),
        None => provider,
    })
}

fn choose(
    environment: &Environment,
    settings: &ProviderSettings,
) -> Result<Arc<dyn Provider>, ConnectError> {
    if let Some(path) = environment.text("FALCONER_SCENARIO") {
        let timeouts = Timeouts::from_environment(environment);
        let scripted = Scripted::load(path.as_ref())?;
        return Ok(Arc::new(scripted.with_timeouts(timeouts)));
    }
    if environment.is_on("CLAUDE_CODE_USE_BEDROCK") {
        return bedrock(environment, settings);
    }
    let helper = settings.api_key_helper.clone();
    let helper = helper.map(|command| KeyHelper::new(command, settings.cwd.clone(), environment));
    match Credentials::find(environment, helper) {
        Some(credentials) => {
            let endpoint = anthropic(environment, settings, credentials)?;
            Ok(Arc::new(Anthropic::new(endpoint)))
        }
        None => Ok(Arc::new(NoKey)),
    }
}

#[cfg(feature = "bedrock")]
fn bedrock(
    environment: &Environment,
    settings: &ProviderSettings,
) -> Result<Arc<dyn Provider>, ConnectError> {
    let bedrock = crate::bedrock::Bedrock::from_environment(environment, settings)?;
    Ok(Arc::new(bedrock))
}

#[cfg(not(feature = "bedrock"))]
fn bedrock(_: &Environment, _: &ProviderSettings) -> Result<Arc<dyn Provider>, ConnectError> {
    Err(ConnectError::NoBedrock)
}

fn anthropic(
    environment: &Environment,
    settings: &ProviderSettings,
    credentials: Credentials,
) -> Result<Endpoint, ConnectError> {
    let base = environment.text("ANTHROPIC_BASE_URL");
    let base = base_url(
        base.as_deref().unwrap_or(DEFAULT_BASE),
        "ANTHROPIC_BASE_URL",
    )?;
    Ok(Endpoint {
        route: Route::to(&base, environment)?,
        credentials,
        custom_headers: custom_headers(environment)?,
        user_agent: settings.user_agent(),
        timeouts: Timeouts::from_environment(environment),
        capabilities: capabilities(&base, environment, settings)?,
        base,
    })
}

impl ProviderSettings {
    pub(crate) fn user_agent(&self) -> HeaderValue {
        let name = self.user_agent.as_deref();
        let value = name.and_then(|name| HeaderValue::from_str(name).ok());
        let ours = concat!("falconer/", env!("CARGO_PKG_VERSION"));
        value.unwrap_or(HeaderValue::from_static(ours))
    }
}

/// A base URL that ends with a slash, so that paths can be joined to it.
pub(crate) fn base_url(text: &str, variable: &'static str) -> Result<Url, ConnectError> {
    let bad = || ConnectError::BaseUrl { variable };
    let mut url: Url = text.trim().parse().map_err(|_| bad())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad());
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

fn capabilities(
    base: &Url,
    environment: &Environment,
    settings: &ProviderSettings,
) -> Result<Capabilities, ConnectError> {
    let host = base.host_str().unwrap_or_default();
    let host = match base.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    let variable = environment.text(endpoint::VARIABLE);
    // An object, or else a name.
    let variable = variable.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text)));
    endpoint::capabilities(&host, variable.as_ref().or(settings.capabilities.as_ref()))
}

/// `Name: value` on each line.
pub(crate) fn custom_headers(environment: &Environment) -> Result<HeaderMap, ConnectError> {
    let text = environment.text("ANTHROPIC_CUSTOM_HEADERS");
    let mut headers = HeaderMap::new();
    for (position, line) in text.unwrap_or_default().lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let header = read_header(line).ok_or(ConnectError::CustomHeader { line: position + 1 })?;
        headers.insert(header.0, header.1);
    }
    Ok(headers)
}

fn read_header(line: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = line.split_once(':')?;
    let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
    let mut value = HeaderValue::from_str(value.trim()).ok()?;
    // Gateways are given keys this way.
    value.set_sensitive(true);
    Some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connected(variables: &[(&str, &str)]) -> Result<Arc<dyn Provider>, ConnectError> {
        let variables = variables.iter().map(|(n, v)| ((*n).into(), (*v).into()));
        connect(&Environment::new(variables), &ProviderSettings::default())
    }

    #[test]
    fn a_mistake_is_named_and_no_secret_with_it() {
        let key = ("ANTHROPIC_API_KEY", "sk-geheim");
        let table: &[(&[(&str, &str)], &str)] = &[
            (
                &[key, ("ANTHROPIC_BASE_URL", "nonsense")],
                "ANTHROPIC_BASE_URL",
            ),
            (
                &[key, ("ANTHROPIC_BASE_URL", "ftp://x")],
                "ANTHROPIC_BASE_URL",
            ),
            (
                &[key, ("ANTHROPIC_CUSTOM_HEADERS", "A: b\n\nno colon geheim")],
                "line 3",
            ),
            (&[key, ("HTTPS_PROXY", "http://u:geheim@[")], "HTTPS_PROXY"),
            (
                &[key, (endpoint::VARIABLE, "none of them")],
                endpoint::VARIABLE,
            ),
            (
                &[("FALCONER_SCENARIO", "/nonexistent.json")],
                "/nonexistent.json",
            ),
        ];
        for (variables, said) in table {
            let error = connected(variables).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
            assert!(
                !format!("{error} {error:?}").contains("geheim"),
                "{error:?}"
            );
        }
    }

    #[test]
    fn the_source_of_the_key_is_told_as_the_cli_tells_it() {
        let table: &[(&[(&str, &str)], &str)] = &[
            (&[], "none"),
            (&[("ANTHROPIC_API_KEY", "")], "none"),
            (&[("ANTHROPIC_API_KEY", "k")], "ANTHROPIC_API_KEY"),
            (&[("ANTHROPIC_AUTH_TOKEN", "t")], "none"),
            (
                &[("ANTHROPIC_AUTH_TOKEN", "t"), ("ANTHROPIC_API_KEY", "k")],
                "ANTHROPIC_API_KEY",
            ),
        ];
        for (variables, source) in table {
            assert_eq!(
                connected(variables).unwrap().key_source(),
                *source,
                "{variables:?}"
            );
        }
        let settings = ProviderSettings {
            api_key_helper: Some("x".to_owned()),
            ..ProviderSettings::default()
        };
        let helped = connect(&Environment::default(), &settings).unwrap();
        assert_eq!(helped.key_source(), "apiKeyHelper");
    }

    #[test]
    fn a_provider_is_small_and_shows_no_secret() {
        let provider = connected(&[
            (
                "ANTHROPIC_BASE_URL",
                "https://user:geheim@gateway.example.org",
            ),
            ("ANTHROPIC_API_KEY", "sk-geheim"),
            ("ANTHROPIC_AUTH_TOKEN", "geheim"),
            ("ANTHROPIC_CUSTOM_HEADERS", "X-Gateway-Key: geheim"),
            ("HTTPS_PROXY", "http://u:geheim@p:1"),
        ]);
        let shown = format!("{:?}", provider.unwrap());
        assert!(!shown.contains("geheim"), "{shown}");
        let settings = ProviderSettings {
            api_key_helper: Some("echo geheim".to_owned()),
            ..ProviderSettings::default()
        };
        assert!(!format!("{settings:?}").contains("geheim"));
        assert!(size_of::<Anthropic>() <= 8);
        assert!(size_of::<Endpoint>() <= 700, "{}", size_of::<Endpoint>());
    }
}
