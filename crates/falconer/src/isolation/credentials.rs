//! From the credentials chosen to what the run is given of them.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use super::config::{Credentials, IsolationConfig};
use super::{IsolationError, skill};
use crate::account::{
    BEDROCK_VARIABLES, Discovery, HostVariables, NoAccount, Sources, VERTEX_VARIABLES,
};
use crate::options::Auth;

/// The credentials of one run.
#[derive(Clone, Default)]
pub(crate) struct Chosen {
    pub(super) auth: Auth,
    /// Variables that go with them.
    pub(super) variables: Vec<(OsString, OsString)>,
    /// A login of the CLI, to be copied.
    pub(super) login: Option<PathBuf>,
    /// Files of the AWS directory, to be written.
    pub(super) aws: Vec<(PathBuf, Vec<u8>)>,
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.variables.iter().map(|(name, _)| name).collect();
        f.debug_struct("Chosen")
            .field("auth", &self.auth)
            .field("variables", &names)
            .field("login", &self.login)
            .finish_non_exhaustive()
    }
}

/// Finds what was chosen. Files are looked at only if `sources` has a home.
pub(super) fn choose(
    config: &IsolationConfig,
    of_options: &Auth,
    sources: &Sources,
) -> Result<Chosen, IsolationError> {
    let host = HostVariables::of(sources);
    match (&config.credentials, of_options) {
        (Credentials::Given(auth), _) => given(auth, config, sources, &host),
        (Credentials::AnthropicOfHost, _) => anthropic(sources, &host),
        (Credentials::Host, auth) => given(auth, config, sources, &host),
    }
}

fn given(
    auth: &Auth,
    config: &IsolationConfig,
    sources: &Sources,
    host: &HostVariables,
) -> Result<Chosen, IsolationError> {
    let chosen = |variables| Chosen {
        auth: auth.clone(),
        variables,
        ..Chosen::default()
    };
    match auth {
        Auth::Inherit => of_host(config, sources, host),
        Auth::AnthropicFromEnvironment => anthropic(sources, host),
        Auth::ApiKey(_) | Auth::BearerToken(_) | Auth::SubscriptionToken(_) => {
            Ok(chosen(Vec::new()))
        }
        Auth::SubscriptionLogin => login(sources),
        Auth::Bedrock { .. } => Ok(Chosen {
            aws: aws_files(config, sources)?,
            ..chosen(variables(host, BEDROCK_VARIABLES))
        }),
        Auth::Vertex { .. } => Ok(chosen(variables(host, VERTEX_VARIABLES))),
    }
}

/// As the host would authenticate: a cloud provider that is switched on, else Anthropic.
fn of_host(
    config: &IsolationConfig,
    sources: &Sources,
    host: &HostVariables,
) -> Result<Chosen, IsolationError> {
    let is_on = |name: &str| host.get(name) == Some(OsStr::new("1"));
    if is_on("CLAUDE_CODE_USE_BEDROCK") && host.get("AWS_REGION").is_some() {
        let bedrock = Auth::Bedrock { region: None };
        return given(&bedrock, config, sources, host);
    }
    if is_on("CLAUDE_CODE_USE_VERTEX") {
        let vertex = Auth::Vertex {
            project: None,
            region: None,
        };
        return given(&vertex, config, sources, host);
    }
    match anthropic(sources, host) {
        Err(IsolationError::NoHostAuth(nothing)) => {
            login(sources).map_err(|_| IsolationError::NoHostAuth(nothing))
        }
        other => other,
    }
}

/// A key or token for the API, and the address it is for.
fn anthropic(sources: &Sources, host: &HostVariables) -> Result<Chosen, IsolationError> {
    let text = |name: &str| host.get(name)?.to_str().map(str::to_owned);
    let address = variables(host, &["ANTHROPIC_BASE_URL"]);
    let chosen = |auth| Chosen {
        auth,
        variables: address.clone(),
        ..Chosen::default()
    };
    // With an address of its own, a key need not be one of Anthropic's.
    if let (Some(key), false) = (text("ANTHROPIC_API_KEY"), address.is_empty()) {
        return Ok(chosen(Auth::ApiKey(key.into())));
    }
    let discovery = Discovery::of(sources);
    let found = discovery.auth();
    if let Ok(key @ Auth::ApiKey(_)) = found {
        return Ok(chosen(key));
    }
    if let Some(token) = text("ANTHROPIC_AUTH_TOKEN") {
        return Ok(chosen(Auth::BearerToken(token.into())));
    }
    if let Some(token) = text("CLAUDE_CODE_OAUTH_TOKEN") {
        return Ok(chosen(Auth::SubscriptionToken(token.into())));
    }
    Err(none(&discovery))
}

/// The login of the CLI, which is copied for the CLI and not looked into.
fn login(sources: &Sources) -> Result<Chosen, IsolationError> {
    let files = [
        sources.in_config(".credentials.json"),
        sources.in_home(".claude-oauth-credentials.json"),
    ];
    let file = files.into_iter().flatten().find(|file| file.is_file());
    let Some(file) = file else {
        return Err(none(&Discovery::of(sources)));
    };
    Ok(Chosen {
        auth: Auth::SubscriptionLogin,
        login: Some(file),
        ..Chosen::default()
    })
}

fn none(discovery: &Discovery) -> IsolationError {
    let candidates = discovery.candidates().to_vec();
    IsolationError::NoHostAuth(NoAccount { candidates })
}

fn variables(host: &HostVariables, names: &[&str]) -> Vec<(OsString, OsString)> {
    let set = names.iter().filter_map(|name| {
        let value = host.get(name)?.to_owned();
        Some((OsString::from(name), value))
    });
    set.collect()
}

/// The AWS configuration: the directory chosen must be there, the default one may be missing.
fn aws_files(
    config: &IsolationConfig,
    sources: &Sources,
) -> Result<Vec<(PathBuf, Vec<u8>)>, IsolationError> {
    let default = sources.in_home(".aws").filter(|path| path.is_dir());
    let Some(path) = config.aws_directory.clone().or(default) else {
        return Ok(Vec::new());
    };
    let failed = |reason: String| IsolationError::AwsDirectory {
        path: path.clone(),
        reason,
    };
    let real = path
        .canonicalize()
        .map_err(|error| failed(error.to_string()))?;
    read(&real).map_err(failed)
}

fn read(directory: &Path) -> Result<Vec<(PathBuf, Vec<u8>)>, String> {
    if !directory.is_dir() {
        return Err("it is not a directory".to_owned());
    }
    skill::read_tree(directory).map_err(|problem| problem.to_string())
}

#[cfg(test)]
mod tests;
