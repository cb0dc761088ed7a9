//! How the engine of a session is started: decided by whoever owns the hub.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use falconer::Options;
use falconer_event::Run;
use falconer_session::{ModelInfo, Policy, Retries};
use falconer_store::SessionRecord;
use serde_json::Value;

use crate::isolation::SessionIsolation;
use crate::limits::SessionLimits;
use crate::options::SessionOptions;

/// What is needed to start the engine of a session.
#[derive(Debug)]
#[non_exhaustive]
pub struct Launch {
    /// How the engine is started. The hub adds the permission mode, the model, the directory
    /// and what to resume.
    pub options: Options,
    /// What is known about the run; `run.started` says it.
    pub about: Run,
    /// Rules of this session that hold before anybody is asked. A hub that has rules for all
    /// sessions refuses those that have their own.
    pub policy: Option<Arc<Policy>>,
    /// What of the project is not used, because nobody trusts it; the session says so.
    pub untrusted: Option<String>,
    /// What the run may take at most, whatever the session says.
    pub limits: SessionLimits,
    /// When a turn that failed is tried again.
    pub retries: Retries,
    /// Where conversations are kept before they are compacted.
    pub archive: Option<PathBuf>,
    /// The skills that the session gets if it is kept apart.
    pub skills: Vec<PathBuf>,
    /// How long a request stays open before it is denied, if not as long as the hub says.
    pub answer_within: Option<Duration>,
    /// Options where the session says nothing.
    pub defaults: SessionOptions,
}

impl Launch {
    /// A launch without a policy of its own.
    pub fn new(options: Options, about: Run) -> Self {
        Self {
            options,
            about,
            policy: None,
            untrusted: None,
            limits: SessionLimits::default(),
            retries: Retries::default(),
            archive: None,
            skills: Vec::new(),
            answer_within: None,
            defaults: SessionOptions::default(),
        }
    }

    /// Options where the session says nothing.
    #[must_use]
    pub fn defaults(mut self, options: SessionOptions) -> Self {
        self.defaults = options;
        self
    }

    /// When a turn that failed is tried again.
    #[must_use]
    pub fn retries(mut self, retries: Retries) -> Self {
        self.retries = retries;
        self
    }

    /// The skills that the session gets if it is kept apart.
    #[must_use]
    pub fn skills(mut self, skills: Vec<PathBuf>) -> Self {
        self.skills = skills;
        self
    }

    /// How long a request stays open before it is denied.
    #[must_use]
    pub fn answer_within(mut self, time: Duration) -> Self {
        self.answer_within = Some(time);
        self
    }

    /// Where conversations are kept before they are compacted.
    #[must_use]
    pub fn archive(mut self, directory: Option<PathBuf>) -> Self {
        self.archive = directory;
        self
    }

    /// What the run may take at most, whatever the session says.
    #[must_use]
    pub fn limits(mut self, limits: SessionLimits) -> Self {
        self.limits = limits;
        self
    }

    /// What of the project is not used, because nobody trusts it.
    #[must_use]
    pub fn untrusted(mut self, text: Option<String>) -> Self {
        self.untrusted = text;
        self
    }

    /// Rules of this session that hold before anybody is asked.
    #[must_use]
    pub fn policy(mut self, policy: Arc<Policy>) -> Self {
        self.policy = Some(policy);
        self
    }
}

/// Why an engine cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
#[non_exhaustive]
pub struct LaunchError {
    /// A word a program can match.
    pub code: String,
    /// For people: what was looked for, and where.
    pub text: String,
    /// What a person can do about it.
    pub hint: String,
}

impl LaunchError {
    /// The code of an engine or a machine that cannot keep a session apart as asked.
    pub const ISOLATION: &'static str = "isolation";
    /// The code of a project whose content is not the one that was shown.
    pub const CHANGED: &'static str = "project_changed";
    /// Trust in projects is not kept here.
    pub const NO_TRUST: &'static str = "no_trust";
    /// The code of a profile that sessions may not choose.
    pub const PROFILE: &'static str = "unknown_profile";
    /// The code of an engine that does not exist.
    pub const UNKNOWN: &'static str = "unknown_engine";

    /// A fault of ours.
    pub(crate) fn broken() -> Self {
        let hint = "try again; if it stays, report it with what the log says about the panic";
        let text = "finding the engine failed inside Falconer";
        Self::new("engine_broken", text, hint)
    }

    /// An engine that cannot be started, and what a person can do about it.
    pub fn new(code: impl Into<String>, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            text: text.into(),
            hint: hint.into(),
        }
    }
}

/// The engines there are.
pub trait Engines: Send + Sync + 'static {
    /// How the engine of this session is started. Called before each run, off the async
    /// threads: it may look at files.
    ///
    /// # Errors
    /// If the engine is unknown, missing or has no credentials.
    fn launch(&self, session: &SessionRecord) -> Result<Launch, LaunchError>;

    /// Returns `true` if a process still writes the conversation of this session, such as an owner
    /// that was stopped and lost it. Called before a run, off the async threads: it may look at
    /// files.
    fn is_conversation_open(&self, session: &SessionRecord) -> bool {
        let _ = session;
        false
    }

    /// The widest permission mode that is not wider than `mode` and that sessions in this
    /// directory with this `config` may have. Called off the async threads: it may look at files.
    ///
    /// # Errors
    /// If it cannot be known.
    fn narrow_mode(&self, cwd: &Path, config: &Value, mode: &str) -> Result<String, LaunchError> {
        let _ = (cwd, config);
        Ok(mode.to_owned())
    }

    /// Whether sessions of this profile do unasked what is asked about without it. Called off the
    /// async threads: it may look at files.
    ///
    /// # Errors
    /// If sessions may not choose the profile; the code is [`LaunchError::PROFILE`].
    fn profile_asks_less(&self, profile: &str) -> Result<bool, LaunchError> {
        let text = format!("there is no profile `{profile}` that sessions may choose");
        let hint = "leave `profile` out";
        Err(LaunchError::new(LaunchError::PROFILE, text, hint))
    }

    /// Whether there is an engine of this name, installed or not.
    ///
    /// # Errors
    /// If there is none; the code is [`LaunchError::UNKNOWN`].
    fn knows(&self, engine: &str) -> Result<(), LaunchError> {
        let names = self.names();
        if names.iter().any(|known| known.name == engine) {
            return Ok(());
        }
        let known: Vec<&str> = names.iter().map(|known| known.name.as_str()).collect();
        let text = format!("unknown engine `{engine}`");
        let hint = format!("use one of {}", known.join(", "));
        Err(LaunchError::new(LaunchError::UNKNOWN, text, hint))
    }

    /// Whether sessions of this engine can be kept apart like this, as far as can be seen without
    /// starting it. Engines that say nothing cannot.
    ///
    /// # Errors
    /// If they cannot; the code is [`LaunchError::ISOLATION`].
    fn isolates(&self, engine: &str, isolation: &SessionIsolation) -> Result<(), LaunchError> {
        let _ = isolation;
        let text = format!("the engine `{engine}` cannot be kept apart");
        let hint = "choose another engine, or make the session without `isolation`";
        Err(LaunchError::new(LaunchError::ISOLATION, text, hint))
    }

    /// The models of an engine that nobody has started yet; what an engine says itself counts
    /// more.
    fn models(&self, engine: &str) -> Vec<ModelInfo> {
        let _ = engine;
        Vec::new()
    }

    /// What a project wants beyond narrowing, and whether it is trusted. Looks at files.
    ///
    /// # Errors
    /// If the project cannot be looked at.
    fn inspect_project(&self, project: &Path) -> Result<ProjectTrust, LaunchError> {
        let _ = project;
        Ok(ProjectTrust::default())
    }

    /// Trusts the content of a project with this digest, or takes all trust in it back.
    ///
    /// # Errors
    /// If the content has another digest ([`LaunchError::CHANGED`]), or nothing can be kept.
    fn trust_project(
        &self,
        project: &Path,
        digest: &str,
        verdict: TrustVerdict,
    ) -> Result<ProjectTrust, LaunchError> {
        let _ = (project, digest, verdict);
        let text = "trust in projects is not kept here";
        let hint = "decide with `falconer trust` on the machine of the project";
        Err(LaunchError::new(LaunchError::NO_TRUST, text, hint))
    }

    /// The engines that can be asked for, best first.
    fn names(&self) -> Vec<EngineName>;
}

/// What is said about the content of a project.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TrustVerdict {
    /// Use this content, until it changes.
    Grant,
    /// Use nothing that needs trust.
    Revoke,
}

/// What a project wants beyond narrowing, and whether somebody trusts it.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct ProjectTrust {
    /// The real path of the project.
    pub project: String,
    /// `not_needed`, `trusted`, `changed` or `untrusted`.
    pub standing: String,
    /// The digest of everything that needs trust; empty if nothing does.
    pub digest: String,
    /// What needs trust.
    pub items: Vec<TrustItem>,
    /// What was trusted and is gone or changed.
    pub gone: Vec<String>,
    /// Keys that no project may set; they are ignored, trusted or not.
    pub ignored: Vec<String>,
}

/// Something of a project that needs trust, exactly as it would be used.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct TrustItem {
    /// What the project wants, for people.
    pub wish: String,
    /// The file of the project that it is in.
    pub file: String,
    /// Its key there.
    pub key: String,
    /// Its value, as JSON.
    pub text: String,
    /// Files of the project that it names.
    pub scripts: Vec<TrustScript>,
    /// Whether it was not in the content that was trusted before.
    pub is_new: bool,
}

/// A file of the project that an item names.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct TrustScript {
    /// Its path in the project.
    pub path: String,
    /// The digest of its bytes.
    pub digest: String,
    /// Its text, unless it is binary or long.
    pub text: Option<String>,
}

/// An engine that can be asked for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct EngineName {
    /// `auto`, `claude`, `native`, `script`.
    pub name: String,
    /// Whether it could be started now.
    pub available: bool,
    /// Why, or why not.
    pub reason: String,
}

impl EngineName {
    /// An engine that could be started now.
    pub fn available(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            available: true,
            reason: reason.into(),
        }
    }

    /// An engine that could not be started now.
    pub fn missing(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            available: false,
            reason: reason.into(),
        }
    }
}
