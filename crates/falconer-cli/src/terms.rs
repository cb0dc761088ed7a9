//! What only the owner of a machine can choose for a session: rules, directories, programs,
//! accounts. Kept with a session that was begun in a terminal, so that it holds wherever it goes on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use falconer::protocol::agent::AgentDefinition;
use falconer::{Options, Plugin};
use falconer_choice::{Account, EngineChoice, EngineRequest};
use falconer_hub::{SessionEffort, SessionOptions};
use serde::{Deserialize, Serialize};

use crate::config::{self, AccountName, Config, EffortLevel};
use crate::exit::Fault;

/// More than any file of agents.
const AGENTS_LIMIT: u64 = 8 << 20;

/// Arguments that Falconer passes itself, or that have a flag of their own. One of them twice could
/// undo what was decided about permissions.
const OWN_ARGUMENTS: &[&str] = &[
    "add-dir",
    "agent",
    "agents",
    "allow-dangerously-skip-permissions",
    "allowed-tools",
    "allowedTools",
    "append-system-prompt",
    "append-system-prompt-file",
    "bare",
    "betas",
    "continue",
    "dangerously-skip-permissions",
    "disallowed-tools",
    "disallowedTools",
    "effort",
    "fallback-model",
    "fork-session",
    "input-format",
    "json-schema",
    "managed-settings",
    "max-budget-usd",
    "max-thinking-tokens",
    "max-turns",
    "mcp-config",
    "model",
    "output-format",
    "permission-mode",
    "permission-prompt-tool",
    "permission-prompts",
    "plugin-dir",
    "plugin-dir-no-mcp",
    "plugin-url",
    "print",
    "resume",
    "session-id",
    "setting-sources",
    "settings",
    "strict-mcp-config",
    "system-prompt",
    "system-prompt-file",
    "task-budget",
    "thinking",
    "tools",
    "trust-project",
    "verbose",
];

/// The terms a session was begun under; they hold wherever it goes on. No secrets: files that may
/// hold some are only named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Terms {
    pub(crate) allow: Vec<String>,
    pub(crate) deny: Vec<String>,
    pub(crate) add_dirs: Vec<PathBuf>,
    pub(crate) policy: Option<PathBuf>,
    pub(crate) profile: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) agents: Option<PathBuf>,
    pub(crate) mcp_config: Vec<PathBuf>,
    pub(crate) strict_mcp_config: bool,
    pub(crate) plugins: Vec<PathBuf>,
    pub(crate) engine_args: Vec<String>,
    pub(crate) account: AccountName,
    pub(crate) credential_files: Vec<PathBuf>,
    pub(crate) base_url: Option<String>,
}

impl Terms {
    /// What a configuration says, for an engine that is still to be chosen.
    pub(crate) fn of(config: &Config) -> Result<Self, Fault> {
        let run = &config.run;
        Ok(Self {
            allow: run.allow.clone(),
            deny: run.deny.clone(),
            add_dirs: Vec::new(),
            policy: run.policy.as_ref().map(absolute).transpose()?,
            profile: None,
            agent: run.agent.clone(),
            agents: run.agents.as_ref().map(absolute).transpose()?,
            mcp_config: all_absolute(&run.mcp_config)?,
            strict_mcp_config: run.strict_mcp_config,
            plugins: all_absolute(&run.plugins)?,
            engine_args: config.claude.args.clone(),
            account: run.account,
            credential_files: all_absolute(&run.credential_files)?,
            base_url: run.base_url.clone(),
        })
    }

    /// These, and where they say nothing, others. Lists are put together, but for credentials:
    /// those are used instead.
    pub(crate) fn or(self, others: Self) -> Self {
        Self {
            allow: joined(others.allow, self.allow),
            deny: joined(others.deny, self.deny),
            add_dirs: joined(others.add_dirs, self.add_dirs),
            policy: self.policy.or(others.policy),
            profile: self.profile.or(others.profile),
            agent: self.agent.or(others.agent),
            agents: self.agents.or(others.agents),
            mcp_config: joined(others.mcp_config, self.mcp_config),
            strict_mcp_config: self.strict_mcp_config || others.strict_mcp_config,
            plugins: joined(others.plugins, self.plugins),
            engine_args: joined(others.engine_args, self.engine_args),
            account: match self.account {
                AccountName::Auto => others.account,
                chosen => chosen,
            },
            credential_files: if self.credential_files.is_empty() {
                others.credential_files
            } else {
                self.credential_files
            },
            base_url: self.base_url.or(others.base_url),
        }
    }

    /// Says who pays, and where the model is.
    pub(crate) fn request(&self, request: &mut EngineRequest, config: &Config) {
        let billing = match request.engine {
            EngineChoice::Auto | EngineChoice::Claude => config.claude.use_api_billing,
            _ => None,
        };
        request.account = match (self.account, billing) {
            (AccountName::Auto, None) => Account::Auto,
            (AccountName::Auto, Some(true)) | (AccountName::Api, _) => Account::Api,
            (AccountName::Auto, Some(false)) | (AccountName::Subscription, _) => {
                Account::Subscription
            }
            (AccountName::Bedrock, _) => Account::Bedrock,
            (AccountName::Vertex, _) => Account::Vertex,
        };
        request.credential_files.clone_from(&self.credential_files);
        request.base_url.clone_from(&self.base_url);
    }

    /// The options an engine is started with. The files of agents are read here.
    pub(crate) fn apply(&self, engine: &str, options: Options) -> Result<Options, Fault> {
        let mut options = options
            .allow_tools(self.allow.iter().cloned())
            .disallow_tools(self.deny.iter().cloned());
        for directory in &self.add_dirs {
            options = options.additional_directory(directory);
        }
        for file in &self.mcp_config {
            options = options.mcp_config_file(file);
        }
        if self.strict_mcp_config {
            options = options.strict_mcp_config();
        }
        for (name, agent) in self
            .agents
            .as_deref()
            .map(agents)
            .transpose()?
            .unwrap_or_default()
        {
            options = options.agent(name, agent);
        }
        if let Some(name) = &self.agent {
            options = options.main_agent(name);
        }
        for directory in &self.plugins {
            options = options.plugin(Plugin::new(directory));
        }
        if engine != "claude" && !self.engine_args.is_empty() {
            let text = format!("the engine `{engine}` takes no extra arguments");
            let hint = "remove `--engine-arg` and `claude.args`, or use the engine `claude`";
            return Err(Fault::usage(text, hint));
        }
        let mut arguments = self.engine_args.iter().map(String::as_str);
        arguments.try_fold(options, argument)
    }
}

/// Passes `name` or `name=value` on.
fn argument(options: Options, text: &str) -> Result<Options, Fault> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let name = name.trim_start_matches('-');
    if name.is_empty() || OWN_ARGUMENTS.contains(&name) {
        let text = format!("`--{name}` cannot be passed through to the engine");
        let hint = "use falconer's own flag or key; docs/options.md lists them";
        return Err(Fault::usage(text, hint));
    }
    Ok(match value {
        Some(value) => options.extra_arg(name, value),
        None => options.extra_switch(name),
    })
}

/// What a configuration says about how the agent works.
pub(crate) fn options_of(config: &Config) -> SessionOptions {
    let run = &config.run;
    let mut options = SessionOptions::default();
    options.system_prompt.clone_from(&run.system_prompt);
    options
        .append_system_prompt
        .clone_from(&run.append_system_prompt);
    options
        .plan_mode_instructions
        .clone_from(&run.plan_mode_instructions);
    options.fallback_models.clone_from(&run.fallback_models);
    options.effort = effort(run.effort);
    // Checked when the configuration was read.
    options.thinking = run
        .thinking
        .as_deref()
        .and_then(|text| config::thinking(text).ok());
    options.task_budget = run.task_budget;
    options.betas.clone_from(&run.betas);
    options.tools.clone_from(&run.tools);
    options.skills.clone_from(&run.skills);
    options.verbatim_prompts = run.verbatim_prompts;
    options
}

pub(crate) fn effort(level: EffortLevel) -> Option<SessionEffort> {
    match level {
        EffortLevel::Default => None,
        EffortLevel::Low => Some(SessionEffort::Low),
        EffortLevel::Medium => Some(SessionEffort::Medium),
        EffortLevel::High => Some(SessionEffort::High),
        EffortLevel::XHigh => Some(SessionEffort::XHigh),
        EffortLevel::Max => Some(SessionEffort::Max),
    }
}

fn agents(file: &Path) -> Result<BTreeMap<String, AgentDefinition>, Fault> {
    let hint = "write an object that maps names to definitions with `description` and `prompt`";
    let fault = |problem: String| {
        Fault::usage(
            format!("failed to read agents from {}: {problem}", file.display()),
            hint,
        )
    };
    let size = std::fs::metadata(file)
        .map_err(|error| fault(error.to_string()))?
        .len();
    if size > AGENTS_LIMIT {
        return Err(fault(format!("it is larger than {AGENTS_LIMIT} bytes")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| fault(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| fault(error.to_string()))
}

fn joined<T: PartialEq>(mut first: Vec<T>, more: Vec<T>) -> Vec<T> {
    for item in more {
        if !first.contains(&item) {
            first.push(item);
        }
    }
    first
}

pub(crate) fn absolute(path: impl AsRef<Path>) -> Result<PathBuf, Fault> {
    Ok(std::path::absolute(path)?)
}

pub(crate) fn all_absolute(paths: &[impl AsRef<Path>]) -> Result<Vec<PathBuf>, Fault> {
    paths.iter().map(absolute).collect()
}
