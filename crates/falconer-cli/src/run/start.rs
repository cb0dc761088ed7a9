//! From flags and configuration to a session that can be started; `run` and `chat` share it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use falconer::isolation::{IsolationConfig, Skill};
use falconer::sessions::Sessions;
use falconer::{Options, PermissionMode};
use falconer_choice::{Bypass, EngineChoice, EngineRequest, choose};
use falconer_hub::{SessionIsolation, SessionOptions};
use falconer_rule::flaw;
use falconer_session::{Limits, Policy, Resume, Retries, SessionLocks, SessionSpec};
use serde_json::{Value, json};

use crate::config::{self, Config, EngineName, Mode};
use crate::exit::{Exit, Fault, say};
use crate::here;
use crate::keep::Keeping;
use crate::places;
use crate::terms::{self, Terms};
use crate::trust::{self, Asking, TrustFlag};

use super::apart::Apart;
use super::tuning::Tuning;

/// How long a run may take that nobody watches, unless somebody says otherwise.
const UNATTENDED: Duration = Duration::from_secs(6 * 3600);

/// Flags that say what is started.
#[derive(Debug, Args, Default)]
pub(crate) struct Start {
    #[command(flatten)]
    pub(crate) tuning: Tuning,
    /// Engine that runs the agent
    #[arg(long, value_enum, value_name = "ENGINE", help_heading = "Engine")]
    pub(crate) engine: Option<EngineName>,
    /// Scripted model for `--engine script`
    #[arg(
        long,
        value_name = "FILE",
        required_if_eq("engine", "script"),
        help_heading = "Engine"
    )]
    pub(crate) scenario: Option<PathBuf>,
    /// Model name such as `sonnet`, or a model id
    #[arg(long, short, help_heading = "Engine")]
    pub(crate) model: Option<String>,
    /// Decide tool calls that match no rule
    #[arg(long, value_enum, value_name = "MODE", help_heading = "Permissions")]
    pub(crate) permission_mode: Option<Mode>,
    /// Confirm `--permission-mode bypassPermissions`
    #[arg(long, help_heading = "Permissions")]
    pub(crate) allow_dangerously_skip_permissions: bool,
    /// Allow these tool calls without asking, such as `Read` or `Bash(git log:*)`
    #[arg(
        long,
        value_name = "RULES",
        value_delimiter = ',',
        help_heading = "Permissions"
    )]
    pub(crate) allow: Vec<String>,
    /// Deny these tool calls
    #[arg(
        long,
        value_name = "RULES",
        value_delimiter = ',',
        help_heading = "Permissions"
    )]
    pub(crate) deny: Vec<String>,
    /// Apply a policy file before asking
    #[arg(long, value_name = "FILE", help_heading = "Permissions")]
    pub(crate) policy: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) apart: Apart,
    /// Trust the project's hooks, servers and rules for this run: `once`, or only if their digest
    /// matches
    #[arg(long, value_name = "DIGEST", help_heading = "Permissions")]
    pub(crate) trust_project: Option<TrustFlag>,
    /// Directory to work in; defaults to the current one
    #[arg(long, short = 'C', value_name = "DIRECTORY")]
    pub(crate) cwd: Option<PathBuf>,
    /// Let the agent work in this directory too; repeatable
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) add_dir: Vec<PathBuf>,
    /// Stop after this many turns
    #[arg(long, value_name = "NUMBER", help_heading = "Limits")]
    pub(crate) max_turns: Option<u64>,
    /// Stop at this cost
    #[arg(long, value_name = "USD", value_parser = amount, help_heading = "Limits")]
    pub(crate) max_budget_usd: Option<f64>,
    /// Stop at this many tokens
    #[arg(long, value_name = "NUMBER", help_heading = "Limits")]
    pub(crate) max_tokens: Option<u64>,
    /// Stop after this time, such as 90s, 10m or 2h
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub(crate) deadline: Option<Duration>,
    /// Stop if the engine is silent for this long while working
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub(crate) silence: Option<Duration>,
    /// Deny a request that is not answered within this time. Without a terminal, it can be answered
    /// in the browser or with `falconer approve`
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub(crate) answer_within: Option<Duration>,
    /// Continue the newest session in the directory
    #[arg(
        long = "continue",
        short = 'c',
        conflicts_with = "resume",
        help_heading = "Session"
    )]
    pub(crate) continue_latest: bool,
    /// Continue this session, by its id or the beginning of it
    #[arg(long, short, value_name = "SESSION", help_heading = "Session")]
    pub(crate) resume: Option<String>,
    /// Continue a copy of the session
    #[arg(long, help_heading = "Session")]
    pub(crate) fork: bool,
    /// Wait for a session that is in use, at most this long if given
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "8760h",
        help_heading = "Session"
    )]
    pub(crate) wait: Option<Duration>,
    /// Keep the session in this store instead of the default one
    #[arg(long, value_name = "FILE", help_heading = "Session")]
    pub(crate) store: Option<PathBuf>,
    /// Keep the session out of the store; no server will see it
    #[arg(long, conflicts_with = "store", help_heading = "Session")]
    pub(crate) no_store: bool,
}

/// Everything that is needed to start.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) cwd: PathBuf,
    pub(crate) config: Box<Config>,
    pub(crate) options: Options,
    about: falconer_event::Run,
    limits: Limits,
    retries: Retries,
    archive: Option<PathBuf>,
    policy: Option<Policy>,
    /// How long a request stays open, if somebody has said so.
    pub(crate) answer_within: Option<Duration>,
    /// How long to wait for a session that another run works on.
    pub(crate) wait: Option<Duration>,
    pub(crate) resume: Option<Resume>,
    pub(crate) model: Option<String>,
    pub(crate) mode: Mode,
    pub(crate) bypass: Bypass,
    pub(crate) keeping: Keeping,
    /// Where everything that happens is written down besides.
    pub(crate) transcript: Option<PathBuf>,
    isolation: SessionIsolation,
    terms: Box<Terms>,
    chosen: Box<SessionOptions>,
}

impl Prepared {
    /// What has to hold wherever the session goes on.
    pub(crate) fn kept_config(&self) -> Value {
        let mut config = json!({ "terms": self.terms });
        if !self.chosen.is_empty() {
            config["options"] = json!(self.chosen);
        }
        if !self.isolation.is_none() {
            config["isolation"] = json!(self.isolation);
        }
        config
    }

    /// The engine that was chosen.
    pub(crate) fn engine(&self) -> &str {
        &self.about.engine
    }

    /// The session, with the locks all commands share.
    pub(crate) fn into_spec(self) -> Result<SessionSpec, Fault> {
        let locks = SessionLocks::new(places::locks_directory()?);
        let mut spec = SessionSpec::new(locks)
            .options(self.options.include_partial_messages())
            .about(self.about)
            .limits(self.limits)
            .retries(self.retries)
            .wait(self.wait.unwrap_or_default())
            .redactor(here::redactor().clone())
            // A person may be at lunch; a program is never asked.
            .answer_within(self.answer_within.unwrap_or(Duration::MAX));
        if let Some(directory) = self.archive {
            spec = spec.archive(directory);
        }
        if let Some(policy) = self.policy {
            spec = spec.policy(Arc::new(policy));
        }
        if let Some(resume) = self.resume {
            spec = spec.resume(resume);
        }
        if let Some(file) = self.transcript {
            spec = spec.transcript(file);
        }
        Ok(spec)
    }
}

/// Puts flags and configuration together, chooses an engine, asks about the project if it has to,
/// starts nothing.
pub(crate) fn prepare(start: &Start, asking: Asking) -> Result<Prepared, Fault> {
    let cwd = directory(start.cwd.as_deref())?;
    let config = config::load(&cwd, start.tuning.profile.as_deref())?.config;
    let terms = terms(start, &config)?;
    let tuned = start.tuning.options(&config)?;
    let mut request = request(start, &config, &cwd);
    terms.request(&mut request, &config);
    let chosen = choose(&request, here::environment())?;
    let engine = &chosen.about.engine;
    let settled = trust::settle(
        &cwd,
        &terms.add_dirs,
        engine,
        start.trust_project.as_ref(),
        asking,
    )?;
    let options = tuned.apply(terms.apply(engine, chosen.options)?);
    let mut options = settled.apply(engine, options);
    let isolation = start.apart.isolation(&config)?;
    if let Some(isolated) = isolation.config() {
        let skills = skills(&config)?.into_iter().map(Skill::new);
        options = options.isolation(skills.fold(isolated, IsolationConfig::skill));
    }
    Ok(Prepared {
        options,
        about: chosen.about,
        limits: limits(start, &config, asking),
        retries: retries(&config),
        archive: archive(&config)?,
        answer_within: start
            .answer_within
            .or(config.run.answer_seconds.map(Duration::from_secs)),
        wait: start.wait,
        policy: policy(start, &config)?,
        resume: resume(start, &cwd)?,
        model: request.model,
        mode: start.permission_mode.unwrap_or(config.run.permission_mode),
        bypass: request.bypass,
        keeping: keeping(start),
        transcript: None,
        isolation,
        terms: Box::new(terms),
        chosen: Box::new(tuned),
        cwd,
        config: Box::new(config),
    })
}

/// The rules of flags and configuration, and where the agent may work besides.
fn terms(start: &Start, config: &Config) -> Result<Terms, Fault> {
    check_rules(start)?;
    let flags = Terms {
        allow: start.allow.clone(),
        deny: start.deny.clone(),
        add_dirs: terms::all_absolute(&start.add_dir)?,
        policy: start.policy.as_ref().map(terms::absolute).transpose()?,
        ..start.tuning.terms()?
    };
    Ok(flags.or(Terms::of(config)?))
}

/// A denial that guards nothing is an error; a rule that allows nothing is only pointed out.
fn check_rules(start: &Start) -> Result<(), Fault> {
    if let Some(flaw) = start.deny.iter().find_map(|rule| flaw(rule)) {
        let hint = "fix the `--deny` rule; MCP tools are written `mcp__server__tool`";
        return Err(Fault::usage(flaw, hint));
    }
    for flaw in start.allow.iter().filter_map(|rule| flaw(rule)) {
        say("warning:", format!("{flaw}; it allows nothing"));
    }
    Ok(())
}

fn keeping(start: &Start) -> Keeping {
    match (&start.store, start.no_store) {
        (_, true) => Keeping::Nowhere,
        (Some(file), false) => Keeping::In(file.clone()),
        (None, false) => Keeping::Usual,
    }
}

/// Only what decides about calls, for an engine that is never started.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) cwd: PathBuf,
    pub(crate) options: Options,
    pub(crate) policy: Option<Policy>,
}

/// Puts the rules of flags and configuration together; needs no account.
pub(crate) fn rules(start: &Start) -> Result<Rules, Fault> {
    let cwd = directory(start.cwd.as_deref())?;
    let config = config::load(&cwd, start.tuning.profile.as_deref())?.config;
    let mode = start.permission_mode.unwrap_or(config.run.permission_mode);
    let options = Options::new()
        .engine(falconer_native::NativeEngine::new())
        .cwd(&cwd)
        .permission_mode(PermissionMode::from(mode.as_str()));
    let terms = terms(start, &config)?;
    let about_calls = Terms {
        allow: terms.allow,
        deny: terms.deny,
        add_dirs: terms.add_dirs,
        ..Terms::default()
    };
    let mut options = about_calls.apply("native", options)?;
    if start.trust_project.is_some() {
        let flag = start.trust_project.as_ref();
        let settled = trust::settle(&cwd, &[], "native", flag, Asking::Nobody)?;
        options = settled.apply("native", options);
    }
    if start.allow_dangerously_skip_permissions {
        options = options.allow_dangerously_skip_permissions();
    }
    Ok(Rules {
        policy: policy(start, &config)?,
        options,
        cwd,
    })
}

fn policy(start: &Start, config: &Config) -> Result<Option<Policy>, Fault> {
    let file = policy_file(start, config);
    file.as_deref().map(read_policy).transpose()
}

fn policy_file(start: &Start, config: &Config) -> Option<PathBuf> {
    let configured = config.run.policy.as_deref().map(PathBuf::from);
    start.policy.clone().or(configured)
}

fn request(start: &Start, config: &Config, cwd: &Path) -> EngineRequest {
    let engine = match start.engine.unwrap_or(config.run.engine) {
        EngineName::Auto => EngineChoice::Auto,
        EngineName::Claude => EngineChoice::Claude,
        EngineName::Native => EngineChoice::Native,
        EngineName::Script => EngineChoice::Script,
    };
    let mode = start.permission_mode.unwrap_or(config.run.permission_mode);
    let mut request = EngineRequest::new(engine);
    request.model = start.model.clone().or_else(|| config.run.model.clone());
    request.cwd = Some(cwd.to_owned());
    request.mode = Some(PermissionMode::from(mode.as_str()));
    request.bypass = if start.allow_dangerously_skip_permissions {
        Bypass::Accepted
    } else {
        Bypass::Forbidden
    };
    request.scenario.clone_from(&start.scenario);
    request.executable = config.claude.path.as_deref().map(PathBuf::from);
    request
}

/// The directory to work in, by its full name.
pub(crate) fn directory(named: Option<&Path>) -> Result<PathBuf, Fault> {
    let wanted = match named {
        Some(path) => std::path::absolute(path)?,
        None => std::env::current_dir()?,
    };
    match std::fs::metadata(&wanted) {
        Ok(metadata) if metadata.is_dir() => Ok(wanted),
        Ok(_) => Err(no_directory(&wanted, "not a directory")),
        Err(error) => Err(no_directory(&wanted, &error.to_string())),
    }
}

fn no_directory(path: &Path, problem: &str) -> Fault {
    let text = format!("cannot work in {}: {problem}", path.display());
    Fault::setup(text, "choose an existing directory that you can enter")
}

fn limits(start: &Start, config: &Config, asking: Asking) -> Limits {
    let run = &config.run;
    let seconds = |seconds: Option<u64>| seconds.map(Duration::from_secs);
    let unattended = match asking {
        Asking::Person => None,
        Asking::Nobody => Some(UNATTENDED),
    };
    let mut limits = Limits::default();
    limits.deadline = start
        .deadline
        .or(seconds(run.deadline_seconds))
        .or(unattended);
    limits.silence = start.silence.or(seconds(run.silence_seconds));
    limits.turns = start.max_turns.or(run.max_turns);
    limits.usd = start.max_budget_usd.or(run.max_usd);
    limits.total_tokens = start.max_tokens.or(run.max_tokens);
    limits
}

/// When a turn that failed is sent again.
pub(crate) fn retries(config: &Config) -> Retries {
    let mut retries = Retries::default();
    if let Some(again) = config.run.retries {
        retries.attempts = again.saturating_add(1);
    }
    retries
}

/// The skills of isolated runs.
pub(crate) fn skills(config: &Config) -> io::Result<Vec<PathBuf>> {
    let skills = config.run.isolated_skills.iter();
    skills.map(std::path::absolute).collect()
}

/// Where conversations are kept before they are compacted.
pub(crate) fn archive(config: &Config) -> io::Result<Option<PathBuf>> {
    config
        .run
        .archive
        .as_deref()
        .map(std::path::absolute)
        .transpose()
}

pub(crate) fn read_policy(path: &Path) -> Result<Policy, Fault> {
    let hint = "see the section on the policy file in docs/limits.md";
    let text = std::fs::read_to_string(path).map_err(|error| {
        Fault::setup(
            format!("failed to read the policy {}: {error}", path.display()),
            hint,
        )
    })?;
    let policy: Policy = text
        .parse()
        .map_err(|error| Fault::usage(format!("{}: {error}", path.display()), hint))?;
    for warning in policy.warnings() {
        say("warning:", format!("{}: {warning}", path.display()));
    }
    Ok(policy)
}

fn resume(start: &Start, cwd: &Path) -> Result<Option<Resume>, Fault> {
    let session = match (&start.resume, start.continue_latest) {
        (Some(session), _) => session.clone(),
        (None, true) => newest(cwd)?,
        (None, false) if start.fork => {
            return Err(Fault::usage(
                "`--fork` needs a session to copy",
                "add `--resume SESSION` or `--continue`",
            ));
        }
        (None, false) if start.wait.is_some() => {
            return Err(Fault::usage(
                "`--wait` needs a session to wait for",
                "add `--resume SESSION` or `--continue`",
            ));
        }
        (None, false) => return Ok(None),
    };
    let resume = Resume::session(session);
    Ok(Some(if start.fork { resume.fork() } else { resume }))
}

fn newest(cwd: &Path) -> Result<String, Fault> {
    let sessions = Sessions::from_env()?;
    let newest = sessions.of_directory(cwd).newest();
    let newest = newest.map(|info| info.session_id.as_str().to_owned());
    newest.ok_or_else(|| {
        Fault::new(
            Exit::Session,
            format!("no session to continue in {}", cwd.display()),
            "omit `--continue` to start one; `falconer sessions list --all` lists others",
        )
    })
}

/// `90`, `90s`, `10m`, `2h`.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        other => return Err(format!("invalid time unit `{other}`: use s, m or h")),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("invalid duration `{text}`: use a form such as 90s or 10m"))?;
    match number.checked_mul(factor) {
        Some(seconds @ 1..) => Ok(Duration::from_secs(seconds)),
        _ => Err(format!("invalid duration `{text}`: out of range")),
    }
}

fn amount(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(usd) if usd.is_finite() && usd > 0.0 => Ok(usd),
        _ => Err(format!("invalid amount `{text}`: use a form such as 0.50")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_amounts_are_read_or_refused() {
        let table = [("90", 90), ("90s", 90), ("10m", 600), ("2h", 7200)];
        for (text, seconds) in table {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "0", "m", "-1", "1d", "1.5h", "99999999999999999999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(amount("$1.5"), Ok(1.5));
        for text in ["0", "-1", "NaN", "inf", "much"] {
            assert!(amount(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_run_that_nobody_watches_has_a_deadline_unless_told_otherwise() {
        let hours = |hours: u64| Some(Duration::from_secs(hours * 3600));
        let of = |start: &Start, config: &Config, asking| limits(start, config, asking).deadline;
        let (mut start, mut config) = (Start::default(), Config::default());
        assert_eq!(of(&start, &config, Asking::Nobody), hours(6));
        assert_eq!(of(&start, &config, Asking::Person), None);
        config.run.deadline_seconds = Some(36_000);
        assert_eq!(of(&start, &config, Asking::Nobody), hours(10));
        start.deadline = hours(20);
        assert_eq!(of(&start, &config, Asking::Nobody), hours(20));
    }

    #[test]
    fn retries_are_counted_without_the_first_attempt() {
        let mut config = Config::default();
        assert_eq!(retries(&config), Retries::default());
        config.run.retries = Some(0);
        assert_eq!(retries(&config), Retries::never());
        config.run.retries = Some(4);
        assert_eq!(retries(&config).attempts, 5);
    }
}
