//! Which engine runs a session: `auto`, `claude`, `native` or `script`.
//!
//! `auto` takes the official CLI if it is found and a way to authenticate was found for it, else the
//! native engine if there are credentials it can use. Otherwise it fails and says what was looked
//! for, and where. Nothing falls back silently: what was asked for by name is used or refused,
//! and the choice and its reason are in `run.started`.
//!
//! ```
//! use falconer_choice::{EngineChoice, EngineRequest, Environment, choose};
//!
//! let environment = Environment::new([("ANTHROPIC_API_KEY".into(), "sk-ant-example".into())]);
//! let mut request = EngineRequest::new(EngineChoice::Native);
//! request.model = Some("sonnet".to_owned());
//! let chosen = choose(&request, &environment)?;
//! assert_eq!(chosen.about.engine, "native");
//! assert_eq!(chosen.about.auth.as_deref(), Some("variable ANTHROPIC_API_KEY"));
//! # Ok::<(), falconer_choice::ChooseError>(())
//! ```

mod account;
mod credential;
mod environment;
mod error;

use std::path::{Path, PathBuf};

use falconer::{Options, PermissionMode, SystemPrompt, find_cli};
use falconer_event::Run;
use falconer_native::NativeEngine;
use falconer_scenario::Scenario;

pub use account::Account;
pub use credential::{Credential, Credentials, Serves};
pub use environment::Environment;
pub use error::{ChooseError, UnknownEngine};
pub use falconer::Bypass;

/// The engine that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum EngineChoice {
    /// Whichever can run here.
    #[default]
    Auto,
    /// The official CLI.
    Claude,
    /// Falconer's own, in this process.
    Native,
    /// Falconer's own, on a scripted model.
    Script,
}

/// What a session is to be run with.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct EngineRequest {
    /// The engine.
    pub engine: EngineChoice,
    /// The model; the engine's default if not given.
    pub model: Option<String>,
    /// Where to work; the directory of the process if not given.
    pub cwd: Option<PathBuf>,
    /// The permission mode; ask if not given.
    pub mode: Option<PermissionMode>,
    /// Whether the mode `bypassPermissions` may be used.
    pub bypass: Bypass,
    /// The scripted model of [`EngineChoice::Script`].
    pub scenario: Option<PathBuf>,
    /// Who pays.
    pub account: Account,
    /// Files to take a key from instead of looking for one.
    pub credential_files: Vec<PathBuf>,
    /// The address of the model's service, if it is not the usual one.
    pub base_url: Option<String>,
    /// The executable of the official CLI, if it is not to be searched for.
    pub executable: Option<PathBuf>,
}

/// An engine, ready to be started.
#[derive(Debug)]
#[non_exhaustive]
pub struct Chosen {
    /// What it is started with; more can be added.
    pub options: Options,
    /// What `run.started` says about the choice.
    pub about: Run,
}

impl EngineRequest {
    /// This engine, with its defaults.
    #[must_use]
    pub fn new(engine: EngineChoice) -> Self {
        Self {
            engine,
            ..Self::default()
        }
    }
}

impl EngineChoice {
    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Claude => "claude",
            Self::Native => "native",
            Self::Script => "script",
        }
    }
}

impl std::fmt::Display for EngineChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for EngineChoice {
    type Err = UnknownEngine;

    fn from_str(text: &str) -> Result<Self, UnknownEngine> {
        let all = [Self::Auto, Self::Claude, Self::Native, Self::Script];
        let mut all = all.into_iter();
        let found = all.find(|engine| engine.as_str() == text);
        found.ok_or_else(|| UnknownEngine(text.to_owned()))
    }
}

/// Chooses an engine. It only looks: nothing is started, nothing is sent.
///
/// # Errors
///
/// [`ChooseError`], with what was looked for and what to do.
pub fn choose(request: &EngineRequest, environment: &Environment) -> Result<Chosen, ChooseError> {
    let looked = || match request.credential_files.as_slice() {
        [] => Credentials::look(environment, request.cwd.as_deref()),
        files => Credentials::in_files(environment, files),
    };
    let pick = |looked: &Credentials, serves| request.account.pick(looked, environment, serves);
    let is_free = request.account == Account::Auto && request.credential_files.is_empty();
    match request.engine {
        EngineChoice::Script => script(request, environment),
        EngineChoice::Native => {
            let looked = looked();
            match pick(&looked, Serves::native) {
                Some(credential) => Ok(native(request, environment, &credential, "asked for")),
                None if is_free => Err(ChooseError::NoCredentials(Box::new(looked))),
                None => Err(no_account(request, "the native engine", looked)),
            }
        }
        EngineChoice::Claude => {
            let executable = find_cli(request.executable.as_deref(), environment.variables())?;
            // A login may be where only the CLI can see it, so that none is needed here.
            let looked = looked();
            let credential = pick(&looked, Serves::claude);
            if credential.is_none() && !is_free {
                return Err(no_account(request, "the engine claude", looked));
            }
            let reason = format!("asked for; found at {}", executable.display());
            let credential = credential.as_ref();
            Ok(claude(
                request,
                environment,
                &executable,
                credential,
                reason,
            ))
        }
        EngineChoice::Auto => auto(request, environment, looked()),
    }
}

fn auto(
    request: &EngineRequest,
    environment: &Environment,
    looked: Credentials,
) -> Result<Chosen, ChooseError> {
    let cli = match find_cli(request.executable.as_deref(), environment.variables()) {
        // A path that somebody named is not to be passed over.
        Err(error @ falconer::Error::CliUnusable { .. }) => return Err(error.into()),
        found => found,
    };
    let pick = |serves| request.account.pick(&looked, environment, serves);
    if let (Ok(executable), Some(credential)) = (&cli, pick(Serves::claude)) {
        let reason = format!(
            "auto: claude was found at {} and can authenticate by {}",
            executable.display(),
            credential.source
        );
        return Ok(claude(
            request,
            environment,
            executable,
            Some(&credential),
            reason,
        ));
    }
    let Some(credential) = pick(Serves::native) else {
        let is_free = request.account == Account::Auto && request.credential_files.is_empty();
        if !is_free {
            return Err(no_account(request, "any engine that is here", looked));
        }
        let cli = cli.map_err(Box::new);
        return Err(ChooseError::NothingUsable {
            cli,
            looked: Box::new(looked),
        });
    };
    let why = match cli {
        Ok(_) => "claude is installed, but cannot authenticate",
        Err(_) => "claude is not installed",
    };
    let reason = format!("auto: {why}; credentials: {}", credential.source);
    Ok(native(request, environment, &credential, &reason))
}

fn no_account(request: &EngineRequest, engine: &'static str, looked: Credentials) -> ChooseError {
    ChooseError::NoAccount {
        account: request.account,
        engine,
        looked: Box::new(looked),
    }
}

fn script(request: &EngineRequest, environment: &Environment) -> Result<Chosen, ChooseError> {
    let file = request.scenario.as_deref().ok_or(ChooseError::NoScenario)?;
    let scenario = Scenario::load(file)?;
    let mut about = Run::default();
    about.engine = "script".to_owned();
    about.engine_reason = Some(format!("asked for; plays {}", file.display()));
    about.auth = Some("none needed".to_owned());
    let engine = NativeEngine::scripted(scenario).redactor(environment.redactor().clone());
    let options = base(request, environment).engine(engine);
    Ok(Chosen { options, about })
}

fn native(
    request: &EngineRequest,
    environment: &Environment,
    credential: &Credential,
    reason: &str,
) -> Chosen {
    let mut about = Run::default();
    about.engine = "native".to_owned();
    about.engine_reason = Some(reason.to_owned());
    about.auth = Some(credential.source.clone());
    about.billing = Some(credential.billing.to_string());
    about.confinement = Some(match falconer_engine::confinement() {
        Ok(_) => "in force".to_owned(),
        Err(reason) => format!("not in force: {reason}"),
    });
    let options = base(request, environment)
        .engine(NativeEngine::new().redactor(environment.redactor().clone()))
        .auth(credential.auth.clone());
    Chosen { options, about }
}

fn claude(
    request: &EngineRequest,
    environment: &Environment,
    executable: &Path,
    credential: Option<&Credential>,
    reason: String,
) -> Chosen {
    let mut about = Run::default();
    about.engine = "claude".to_owned();
    about.engine_reason = Some(reason);
    let mut options = base(request, environment).executable(executable);
    if let Some(credential) = credential {
        about.auth = Some(credential.source.clone());
        about.billing = Some(credential.billing.to_string());
        options = options.auth(credential.auth.clone());
    }
    Chosen { options, about }
}

/// What is the same for every engine.
fn base(request: &EngineRequest, environment: &Environment) -> Options {
    // The engine's own prompt, unless somebody chooses another.
    let options = Options::new().system_prompt(SystemPrompt::claude_code());
    let mut options = environment.apply(options);
    if let Some(model) = &request.model {
        options = options.model(model);
    }
    if let Some(cwd) = &request.cwd {
        options = options.cwd(cwd);
    }
    if let Some(url) = &request.base_url {
        options = options.base_url(url);
    }
    if let Some(mode) = &request.mode {
        options = options.permission_mode(mode.clone());
    }
    match request.bypass {
        Bypass::Forbidden => options,
        Bypass::Accepted => options.allow_dangerously_skip_permissions(),
    }
}

#[cfg(test)]
mod tests;
