//! From an isolation config to ordinary launch options, and what has to be written for them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use falconer_protocol::sandbox::SandboxSettings;
use serde_json::Value;

use super::config::Credentials;
use super::credentials::{self, Chosen};
use super::settings::{self, Places};
use super::skill::{self, LoadedSkill};
use super::{IsolationConfig, IsolationError, NetworkPolicy, confine, environment, sandbox};
use crate::account::Sources;
use crate::error::Error;
use crate::launch::{OptionProblem, Surroundings};
use crate::options::{Auth, EnvironmentChange, LaunchOptions, SandboxFallback, SettingSource};

/// Placeholder for the home in a plan for which none was made.
const NO_HOME_YET: &str = "/fresh-home-of-the-run";

/// The setup of an isolated run; part of a launch plan.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct IsolationPlan {
    /// The home of the run; a stand-in if it is not made yet.
    pub home: PathBuf,
    /// The `settings.json` in it.
    pub settings: Value,
    /// The names of the skills in it.
    pub skills: Vec<String>,
    /// Hosts that tools may reach.
    pub network: NetworkPolicy,
    /// The words for how commands are confined.
    pub sandbox: &'static str,
}

/// Facts about the machine that an isolated run needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) home: Option<PathBuf>,
    pub(super) chosen: Option<Chosen>,
    pub(super) skills: Vec<LoadedSkill>,
    cwd: Option<PathBuf>,
}

impl Facts {
    /// Looks at programs, credentials, skills and directories; starts and writes nothing.
    pub(crate) fn gather(
        config: &IsolationConfig,
        options: &LaunchOptions,
        env: &[(OsString, OsString)],
    ) -> Result<Self, IsolationError> {
        let path = child_path(config, options, env);
        sandbox::check(&config.sandbox, path.as_deref())?;
        let sources = Sources::new().env(env.to_vec()).home_of_env();
        Ok(Self {
            home: None,
            chosen: Some(credentials::choose(config, &options.auth.auth, &sources)?),
            skills: skill::load(&config.skills)?,
            cwd: Some(confined_directory(config, options)?),
        })
    }
}

/// The working directory, resolved, if it and every other directory are inside the root.
fn confined_directory(
    config: &IsolationConfig,
    options: &LaunchOptions,
) -> Result<PathBuf, IsolationError> {
    let directories = &options.environment;
    let cwd = directories
        .cwd
        .clone()
        .unwrap_or_else(|| PathBuf::from("."));
    let here = std::env::current_dir().unwrap_or_default().join(cwd);
    let Some(root) = &config.root else {
        let root = Path::new("/");
        return Ok(confine(root, here)?);
    };
    let others = directories.additional_directories.iter();
    for other in others.chain(&directories.project_config_root) {
        confine(root, here.join(other))?;
    }
    Ok(confine(root, here)?)
}

/// The `PATH` that the engine and the sandbox will have.
pub(super) fn child_path(
    config: &IsolationConfig,
    options: &LaunchOptions,
    env: &[(OsString, OsString)],
) -> Option<OsString> {
    let changes = config.changes.iter().chain(&options.environment.changes);
    let changes: Vec<_> = changes.cloned().collect();
    environment::path(&changes, env)
}

/// The options of the isolated run in the words of ordinary ones.
pub(crate) fn apply(
    options: &LaunchOptions,
    config: &IsolationConfig,
    surroundings: &Surroundings,
) -> Result<(LaunchOptions, IsolationPlan), Error> {
    let problems = contradictions(options, config);
    if !problems.is_empty() {
        return Err(Error::InvalidOptions {
            problems: problems.into(),
        });
    }
    let facts = surroundings.isolation.clone().unwrap_or_default();
    let sources = Sources::new().env(surroundings.env.clone());
    let chosen = match facts.chosen {
        Some(chosen) => chosen,
        None => credentials::choose(config, &options.auth.auth, &sources)?,
    };
    let home = facts.home.unwrap_or_else(|| PathBuf::from(NO_HOME_YET));
    let mut isolated = options.clone();
    isolated.environment.cwd = facts.cwd.or(isolated.environment.cwd);
    let path = child_path(config, options, &surroundings.env);
    let host_home = sources.value("HOME").map(Path::new);
    let places = Places {
        home: &home,
        host_home: host_home.filter(|home| home.parent().is_some()),
        cwd: isolated.environment.cwd.as_deref(),
        program: &surroundings.program,
        path: path.as_deref().map(OsStr::new),
    };
    let document = settings::document(config, &places);
    let section = settings::sandbox(config, &places);
    adapt(&mut isolated, config, &chosen, section, &home);
    let plan = IsolationPlan {
        settings: document,
        skills: facts
            .skills
            .iter()
            .map(|skill| skill.name.clone())
            .collect(),
        network: config.network.clone(),
        sandbox: match &config.sandbox {
            super::Sandbox::Required(_) => "required",
            super::Sandbox::OffByChoice => "off by choice",
        },
        home,
    };
    Ok((isolated, plan))
}

fn adapt(
    isolated: &mut LaunchOptions,
    config: &IsolationConfig,
    chosen: &Chosen,
    section: SandboxSettings,
    home: &Path,
) {
    let environment = &mut isolated.environment;
    environment.cleared = true;
    let mut changes = environment::changes(config, chosen, home);
    // Set last, but an address of the options must not lose to one of the host.
    if isolated.auth.base_url.is_some() {
        changes.retain(|change| {
            !matches!(change, EnvironmentChange::Set(name, _) if name == "ANTHROPIC_BASE_URL")
        });
    }
    changes.append(&mut environment.changes);
    environment.changes = changes;
    isolated.auth.auth = chosen.auth.clone();
    isolated.settings.sandbox = Some(section);
    let sources = isolated.settings.sources.get_or_insert_default();
    if !sources.contains(&SettingSource::User) {
        sources.push(SettingSource::User);
    }
}

fn contradictions(options: &LaunchOptions, config: &IsolationConfig) -> Vec<OptionProblem> {
    let mut problems = Vec::new();
    let mut exclusive = |condition: bool, first, advice| {
        if condition {
            problems.push(OptionProblem::Exclusive {
                first,
                second: "isolation",
                advice,
            });
        }
    };
    exclusive(
        options.settings.sandbox.is_some(),
        "sandbox",
        "describe the sandbox in the isolation",
    );
    exclusive(
        options.settings.sandbox_fallback == SandboxFallback::RunUnsandboxed,
        "allow_unsandboxed_fallback",
        "choose `Sandbox::OffByChoice` instead",
    );
    let auth_chosen = !matches!(options.auth.auth, Auth::Inherit);
    exclusive(
        auth_chosen && !matches!(config.credentials, Credentials::Host),
        "auth",
        "choose the credentials in one place",
    );
    let changes = config.changes.iter().chain(&options.environment.changes);
    let sets = |wanted: &str| {
        changes.clone().any(|change| {
            matches!(change, EnvironmentChange::Set(name, _) | EnvironmentChange::Keep(name)
                if name == wanted)
        })
    };
    exclusive(
        sets("HOME"),
        "a HOME of the caller",
        "an isolated run has a home of its own",
    );
    // The CLI would read its settings there, and the rules of the isolation would not count.
    exclusive(
        sets("CLAUDE_CONFIG_DIR"),
        "a CLAUDE_CONFIG_DIR of the caller",
        "an isolated run has settings of its own",
    );
    problems
}
