//! The engines a server has: those the other commands have.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use falconer::sessions::{Sessions, project_key};
use falconer_choice::{ChooseError, Chosen, EngineChoice, EngineRequest, Environment, choose};
use falconer_hub::{
    Bypass, Engines, Launch, LaunchError, ProjectTrust, SessionIsolation, SessionLimits,
    TrustVerdict,
};
use falconer_session::{ModelInfo, Policy};
use falconer_store::SessionRecord;
use rustix::fs::{FlockOperation, flock};
use serde::Deserialize as _;
use serde_json::Value;

use super::settings::Settings;
use crate::config::{Config, EngineName, Isolation, Mode};
use crate::exit::Fault;
use crate::here;
use crate::run::start;
use crate::terms::{self, Terms};
use crate::trust;

/// Chooses as `falconer run` does, for each session anew.
#[derive(Debug)]
pub(crate) struct Chooser {
    environment: Environment,
    scenario: Option<PathBuf>,
    bypass: Bypass,
    /// What the user and the project of a session have configured.
    settings: Option<Settings>,
}

impl Chooser {
    pub(crate) fn new(scenario: Option<PathBuf>, bypass: Bypass) -> Self {
        Self {
            environment: here::environment().clone(),
            scenario,
            bypass,
            settings: None,
        }
    }

    /// Scripted sessions in an environment of their own.
    pub(crate) fn scripted(scenario: PathBuf, environment: Environment) -> Self {
        Self {
            environment,
            scenario: Some(scenario),
            bypass: Bypass::Forbidden,
            settings: None,
        }
    }

    /// Follows a configuration: model, engine, rules, the executable, as `falconer run` does.
    pub(crate) fn configured(mut self, settings: Settings) -> Self {
        self.settings = Some(settings);
        self
    }

    /// What counts in a directory now.
    fn config(&self, directory: &Path, profile: Option<&str>) -> Result<Config, LaunchError> {
        match &self.settings {
            None => Ok(Config::default()),
            Some(settings) => settings.within(directory, profile).map_err(unusable),
        }
    }

    /// The profile of a session: the one it was begun with in a terminal, else the one that was
    /// chosen over HTTP, as long as the owner of the server lets sessions choose it.
    fn profile(
        &self,
        session: &SessionRecord,
        terms: &Terms,
    ) -> Result<Option<String>, LaunchError> {
        if terms.profile.is_some() {
            return Ok(terms.profile.clone());
        }
        let Some(chosen) = session.config.get("profile").and_then(Value::as_str) else {
            return Ok(None);
        };
        self.check_profile(Path::new(&session.cwd), chosen)?;
        Ok(Some(chosen.to_owned()))
    }

    fn check_profile(&self, directory: &Path, name: &str) -> Result<Config, LaunchError> {
        let config = self.config(directory, None)?;
        if config.serve.profiles.iter().any(|listed| listed == name) {
            return Ok(config);
        }
        let text = format!("profile `{name}` is not available to sessions");
        let hint = "add it to `serve.profiles` in the server's configuration";
        Err(LaunchError::new(LaunchError::PROFILE, text, hint))
    }

    /// Whether what was chosen can be kept apart, as far as can be seen before it is started.
    fn check(&self, chosen: &Chosen, isolation: &SessionIsolation) -> Result<(), LaunchError> {
        let Some(config) = isolation.config() else {
            return Ok(());
        };
        let engine = &chosen.about.engine;
        if engine != "claude" {
            let text = format!(
                "the engine `{engine}` runs inside the server and cannot be isolated from it"
            );
            let hint = "use the engine `claude`, or create the session without `isolation`";
            return Err(not_apart(text, hint));
        }
        let path = self.environment.value("PATH");
        config.check_machine(path).map_err(|error| {
            let hint = "install what is missing, choose the isolation `home`, or none";
            not_apart(error.to_string(), hint)
        })
    }

    fn request(&self, engine: EngineChoice) -> EngineRequest {
        let mut request = EngineRequest::new(engine);
        request.scenario.clone_from(&self.scenario);
        request.bypass = self.bypass;
        request
    }
}

impl Engines for Chooser {
    /// The native engine keeps its transcript locked while it runs.
    fn is_conversation_open(&self, session: &SessionRecord) -> bool {
        let (Some(directory), Some(conversation)) =
            (self.environment.claude_directory(), &session.native_session)
        else {
            return false;
        };
        let project = Sessions::open(directory)
            .projects_dir()
            .join(project_key(&session.cwd));
        let transcript = File::open(project.join(format!("{conversation}.jsonl")));
        // Shared: it is only asked whether somebody writes.
        let asked = FlockOperation::NonBlockingLockShared;
        transcript.is_ok_and(|file| flock(&file, asked) == Err(rustix::io::Errno::WOULDBLOCK))
    }

    fn launch(&self, session: &SessionRecord) -> Result<Launch, LaunchError> {
        let isolation = SessionIsolation::of(&session.config).map_err(|text| {
            not_apart(
                text,
                "create a new session: this one's isolation settings are unreadable",
            )
        })?;
        let terms = terms(session)?;
        let profile = self.profile(session, &terms)?;
        let config = self.config(Path::new(&session.cwd), profile.as_deref())?;
        let own_policy = own_policy(&terms, &config)?;
        let terms = terms.or(Terms::of(&config).map_err(unusable)?);
        check_configured(&config, &isolation)?;
        let mut request = self.request(configured_engine(engine(&session.engine)?, &config));
        request.executable = config.claude.path.as_deref().map(PathBuf::from);
        request.model = session.model.clone().or_else(|| config.run.model.clone());
        request.cwd = Some(PathBuf::from(&session.cwd));
        request.mode = Some(session.mode.as_str().into());
        terms.request(&mut request, &config);
        let chosen = choose(&request, &self.environment).map_err(|error| refusal(&error))?;
        self.check(&chosen, &isolation)?;
        let (cwd, engine) = (Path::new(&session.cwd), &chosen.about.engine);
        let options = terms.apply(engine, chosen.options).map_err(unusable)?;
        let (settled, untrusted) =
            trust::without_asking(cwd, &terms.add_dirs, engine).map_err(fault)?;
        let options = settled.apply(engine, options);
        let launch = Launch::new(options, chosen.about)
            .untrusted(untrusted)
            .defaults(terms::options_of(&config))
            .limits(limits(&config))
            .retries(start::retries(&config))
            .answer_within(answer_within(&config))
            .archive(start::archive(&config).map_err(|error| unusable(error.into()))?)
            .skills(start::skills(&config).map_err(|error| unusable(error.into()))?);
        Ok(match own_policy {
            Some(policy) => launch.policy(Arc::new(policy)),
            None => launch,
        })
    }

    /// What the user or the project has set is the widest there is; whoever makes a session may
    /// ask for less.
    fn narrow_mode(&self, cwd: &Path, config: &Value, mode: &str) -> Result<String, LaunchError> {
        let Some(settings) = &self.settings else {
            return Ok(mode.to_owned());
        };
        let mut narrowed = self::mode(mode)?;
        let profile = config.get("profile").and_then(Value::as_str);
        for profile in [None, profile] {
            let widest = settings.widest_mode(cwd, profile).map_err(unusable)?;
            narrowed = widest.map_or(narrowed, |widest| narrowed.min(widest));
        }
        Ok(narrowed.as_str().to_owned())
    }

    fn profile_asks_less(&self, name: &str) -> Result<bool, LaunchError> {
        let nowhere = Path::new("/");
        let base = self.check_profile(nowhere, name)?.run;
        let run = self.config(nowhere, Some(name))?.run;
        let allows_more = run.allow.iter().any(|rule| !base.allow.contains(rule));
        let is_less_apart = run.isolation < base.isolation;
        let has_other_rules = base.policy.is_some() && run.policy != base.policy;
        Ok(allows_more
            || is_less_apart
            || has_other_rules
            || run.skills.iter().any(|skill| !base.skills.contains(skill)))
    }

    fn knows(&self, name: &str) -> Result<(), LaunchError> {
        engine(name).map(drop)
    }

    fn isolates(&self, name: &str, isolation: &SessionIsolation) -> Result<(), LaunchError> {
        let request = self.request(engine(name)?);
        let chosen = choose(&request, &self.environment).map_err(|error| refusal(&error))?;
        self.check(&chosen, isolation)
    }

    fn inspect_project(&self, project: &Path) -> Result<ProjectTrust, LaunchError> {
        trust::look(project).map(trust::described).map_err(fault)
    }

    fn trust_project(
        &self,
        project: &Path,
        digest: &str,
        verdict: TrustVerdict,
    ) -> Result<ProjectTrust, LaunchError> {
        match verdict {
            TrustVerdict::Grant => {
                let inspection = trust::look(project).map_err(fault)?;
                if inspection.digest.as_deref() != Some(digest) {
                    return Err(changed());
                }
                trust::remember(&inspection, digest).map_err(fault)?;
            }
            // Taking trust back is always possible.
            _ => {
                trust::forget(project).map_err(fault)?;
            }
        }
        self.inspect_project(project)
    }

    /// The engines know the same short names; one that was started says more.
    fn models(&self, _: &str) -> Vec<ModelInfo> {
        let known = falconer_engine::KNOWN_MODELS.iter();
        let model = |known: &falconer_engine::KnownModel| {
            let mut model = ModelInfo::default();
            known.alias.clone_into(&mut model.id);
            known.display.clone_into(&mut model.name);
            known.about.clone_into(&mut model.description);
            model
        };
        known.map(model).collect()
    }

    fn names(&self) -> Vec<falconer_hub::EngineName> {
        let all = [
            EngineChoice::Auto,
            EngineChoice::Claude,
            EngineChoice::Native,
            EngineChoice::Script,
        ];
        all.into_iter()
            .map(
                |engine| match choose(&self.request(engine), &self.environment) {
                    Ok(chosen) => {
                        let reason = chosen.about.engine_reason.unwrap_or_default();
                        falconer_hub::EngineName::available(engine.as_str(), reason)
                    }
                    Err(error) => {
                        falconer_hub::EngineName::missing(engine.as_str(), error.to_string())
                    }
                },
            )
            .collect()
    }
}

/// What a session that was begun in a terminal was begun with.
fn terms(session: &SessionRecord) -> Result<Terms, LaunchError> {
    match session.config.get("terms") {
        None => Ok(Terms::default()),
        // Without them it would be allowed more than it was.
        Some(terms) => Terms::deserialize(terms).map_err(|error| {
            let text = format!("failed to read the options the session was started with: {error}");
            let hint = "update `falconer`, or continue in a terminal with `falconer run --resume`";
            LaunchError::new("terms", text, hint)
        }),
    }
}

/// The policy a session was begun with, unless the server has the same.
fn own_policy(terms: &Terms, config: &Config) -> Result<Option<Policy>, LaunchError> {
    let configured = config.run.policy.as_deref();
    let configured = configured.and_then(|file| std::path::absolute(file).ok());
    match &terms.policy {
        Some(file) if Some(file) != configured.as_ref() => start::read_policy(file)
            .map(Some)
            .map_err(|fault| LaunchError::new("policy", fault.text, fault.hint)),
        _ => Ok(None),
    }
}

/// If somebody, or the project, wants every run in a sandbox, this one has to be.
fn check_configured(config: &Config, isolation: &SessionIsolation) -> Result<(), LaunchError> {
    let (what, kind) = match (config.run.isolation, isolation) {
        (Isolation::None, _)
        | (_, SessionIsolation::Sandbox { .. })
        | (Isolation::Home, SessionIsolation::Home {}) => return Ok(()),
        (Isolation::Home, _) => ("a fresh home", "home"),
        (Isolation::Sandbox, _) => ("a sandbox", "sandbox"),
    };
    Err(not_apart(
        format!("the configuration requires {what} for every run"),
        format!("create the session with `isolation`: {{\"type\": \"{kind}\"}}"),
    ))
}

/// How long a run of a server may take, and how long it waits for answers, unless configured.
const DAY: Duration = Duration::from_secs(24 * 3600);

fn answer_within(config: &Config) -> Duration {
    config.run.answer_seconds.map_or(DAY, Duration::from_secs)
}

/// The limits of the configuration, which every run of a session keeps.
fn limits(config: &Config) -> SessionLimits {
    let run = &config.run;
    let seconds = |seconds: Option<u64>| seconds.map(|seconds| seconds as f64);
    let mut limits = SessionLimits::default();
    limits.deadline_seconds = seconds(run.deadline_seconds).or(Some(DAY.as_secs_f64()));
    limits.silence_seconds = seconds(run.silence_seconds);
    limits.turns = run.max_turns;
    limits.usd = run.max_usd;
    limits.total_tokens = run.max_tokens;
    limits
}

fn unusable(fault: Fault) -> LaunchError {
    LaunchError::new("configuration", fault.text, fault.hint)
}

fn fault(fault: Fault) -> LaunchError {
    LaunchError::new("trust", fault.text, fault.hint)
}

fn mode(name: &str) -> Result<Mode, LaunchError> {
    <Mode as clap::ValueEnum>::from_str(name, false).map_err(|error| {
        let hint = "use plan, dontAsk, default, acceptEdits, auto or bypassPermissions";
        LaunchError::new("mode", error, hint)
    })
}

fn changed() -> LaunchError {
    let text = "the project's content has changed since it was shown";
    let hint = "review the content again with GET /v1/trust";
    LaunchError::new(LaunchError::CHANGED, text, hint)
}

fn engine(name: &str) -> Result<EngineChoice, LaunchError> {
    let engine = name.parse::<EngineChoice>();
    engine.map_err(|error| {
        let hint = "`falconer doctor` lists the engines that can run here";
        LaunchError::new(LaunchError::UNKNOWN, error.to_string(), hint)
    })
}

fn not_apart(text: impl Into<String>, hint: impl Into<String>) -> LaunchError {
    LaunchError::new(LaunchError::ISOLATION, text, hint)
}

/// `auto` is what the user has configured.
fn configured_engine(asked: EngineChoice, config: &Config) -> EngineChoice {
    match (asked, config.run.engine) {
        (EngineChoice::Auto, EngineName::Claude) => EngineChoice::Claude,
        (EngineChoice::Auto, EngineName::Native) => EngineChoice::Native,
        (asked, _) => asked,
    }
}

fn refusal(error: &ChooseError) -> LaunchError {
    LaunchError::new("engine_not_usable", error.to_string(), error.advice())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn session(change: impl FnOnce(&mut serde_json::Value)) -> SessionRecord {
        let mut record = json!({
            "id": "s", "engine": "script", "mode": "default", "cwd": "/", "state": "idle", "head": 0,
            "config": {}, "tokens": falconer_event::Tokens::default(), "cost_usd": 0.0, "pinned": false, "archived": false,
            "pending": 0, "fence": 0, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        });
        change(&mut record);
        serde_json::from_value(record).unwrap()
    }

    /// Whatever keeps a session from starting, a person reads what to do.
    #[test]
    fn every_refusal_says_what_to_do() {
        let chooser = Chooser {
            environment: Environment::new([]),
            scenario: None,
            bypass: Bypass::Forbidden,
            settings: None,
        };
        let launch =
            |change: &dyn Fn(&mut serde_json::Value)| chooser.launch(&session(change)).unwrap_err();
        let sandbox = SessionIsolation::of(&json!({"isolation": {"type": "sandbox"}})).unwrap();
        let mut config = Config::default();
        config.run.isolation = Isolation::Sandbox;
        let refusals = [
            ("unknown_engine", chooser.knows("teapot").unwrap_err()),
            (
                "unknown_engine",
                launch(&|it| it["engine"] = json!("teapot")),
            ),
            ("engine_not_usable", launch(&|_| {})),
            (
                "engine_not_usable",
                launch(&|it| it["engine"] = json!("native")),
            ),
            (
                "isolation",
                launch(&|it| it["config"] = json!({"isolation": 1})),
            ),
            (
                "isolation",
                check_configured(&config, &SessionIsolation::default()).unwrap_err(),
            ),
            (
                "engine_not_usable",
                chooser.isolates("auto", &sandbox).unwrap_err(),
            ),
            (
                "terms",
                terms(&session(|it| it["config"] = json!({"terms": 1}))).unwrap_err(),
            ),
            ("project_changed", changed()),
            ("mode", mode("loud").unwrap_err()),
        ];
        for (code, refusal) in refusals {
            assert_eq!(refusal.code, code, "{refusal:?}");
            assert!(refusal.hint.split(' ').count() > 2, "{refusal:?}");
        }
    }

    #[test]
    fn a_server_ends_runs_and_requests_after_a_day_unless_configured() {
        let mut config = Config::default();
        assert_eq!(limits(&config).deadline_seconds, Some(86_400.0));
        assert_eq!(answer_within(&config), DAY);
        config.run.deadline_seconds = Some(200_000);
        config.run.answer_seconds = Some(60);
        assert_eq!(limits(&config).deadline_seconds, Some(200_000.0));
        assert_eq!(answer_within(&config), Duration::from_secs(60));
    }
}
