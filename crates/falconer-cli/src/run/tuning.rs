//! Flags that say how the agent works, who pays, and which programs it is given.

use std::path::PathBuf;

use clap::Args;
use falconer_hub::{SessionOptions, SessionThinking};

use crate::config::{self, AccountName, Config, EffortLevel};
use crate::exit::Fault;
use crate::terms::{self, Terms};

/// Flags that shape the agent.
#[derive(Debug, Args, Default)]
pub(crate) struct Tuning {
    /// Use a profile from `profiles` in your configuration directory
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Models to fall back to, in order, when the model is overloaded
    #[arg(
        long,
        value_name = "MODELS",
        value_delimiter = ',',
        help_heading = "Agent"
    )]
    fallback_model: Vec<String>,
    /// Reasoning effort of the model
    #[arg(long, value_enum, value_name = "LEVEL", help_heading = "Agent")]
    effort: Option<EffortLevel>,
    /// Thinking: `adaptive`, `disabled`, or a token budget
    #[arg(long, value_name = "HOW", value_parser = config::thinking, help_heading = "Agent")]
    thinking: Option<SessionThinking>,
    /// Token budget to tell the model for the task
    #[arg(long, value_name = "TOKENS", help_heading = "Agent")]
    task_budget: Option<u64>,
    /// API betas to enable
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Agent"
    )]
    betas: Vec<String>,
    /// Replace the engine's system prompt
    #[arg(long, value_name = "TEXT", help_heading = "Agent")]
    system_prompt: Option<String>,
    /// Replace the engine's system prompt with this file
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "system_prompt",
        help_heading = "Agent"
    )]
    system_prompt_file: Option<PathBuf>,
    /// Append text to the system prompt
    #[arg(long, value_name = "TEXT", help_heading = "Agent")]
    append_system_prompt: Option<String>,
    /// Replace the instructions for plan mode
    #[arg(long, value_name = "TEXT", help_heading = "Agent")]
    plan_mode_instructions: Option<String>,
    /// Send prompts verbatim: no `@path` expansion, no slash commands
    #[arg(long, help_heading = "Agent")]
    verbatim_prompts: bool,
    /// Offer only these built-in tools; '' for none
    #[arg(
        long,
        value_name = "TOOLS",
        value_delimiter = ',',
        help_heading = "Agent"
    )]
    tools: Option<Vec<String>>,
    /// Skills to allow without asking; `*` for all
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Agent"
    )]
    skills: Vec<String>,
    /// Agent to run the conversation as
    #[arg(long, value_name = "NAME", help_heading = "Agent")]
    agent: Option<String>,
    /// Define agents in a JSON file
    #[arg(long, value_name = "FILE", help_heading = "Agent")]
    agents: Option<PathBuf>,
    /// Add MCP servers from a JSON file; repeatable
    #[arg(long, value_name = "FILE", help_heading = "Agent")]
    mcp_config: Vec<PathBuf>,
    /// Use only the MCP servers from `--mcp-config`
    #[arg(long, help_heading = "Agent")]
    strict_mcp_config: bool,
    /// Load a plugin from a directory; repeatable
    #[arg(long, value_name = "DIRECTORY", help_heading = "Agent")]
    plugin_dir: Vec<PathBuf>,
    /// Pass an argument to the official CLI that has no flag here; repeatable
    #[arg(long, value_name = "NAME[=VALUE]", help_heading = "Engine")]
    engine_arg: Vec<String>,
    /// Account to bill
    #[arg(long, value_enum, value_name = "ACCOUNT", help_heading = "Engine")]
    account: Option<AccountName>,
    /// Read the key from this file instead of searching for one; repeatable
    #[arg(long, value_name = "FILE", help_heading = "Engine")]
    credential_file: Vec<PathBuf>,
    /// Base URL of the model's API
    #[arg(long, value_name = "URL", help_heading = "Engine")]
    base_url: Option<String>,
}

impl Tuning {
    /// How the agent works: flags, and where they say nothing, the configuration.
    pub(crate) fn options(&self, config: &Config) -> Result<SessionOptions, Fault> {
        let mut configured = terms::options_of(config);
        let mut options = SessionOptions::default();
        options.fallback_models.clone_from(&self.fallback_model);
        options.effort = self.effort.and_then(terms::effort);
        if self.effort.is_some() {
            configured.effort = None;
        }
        options.thinking = self.thinking;
        options.task_budget = self.task_budget;
        options.betas.clone_from(&self.betas);
        options.system_prompt = self.prompt()?;
        options
            .append_system_prompt
            .clone_from(&self.append_system_prompt);
        options
            .plan_mode_instructions
            .clone_from(&self.plan_mode_instructions);
        options.verbatim_prompts = self.verbatim_prompts;
        options.skills.clone_from(&self.skills);
        if let Some(tools) = &self.tools {
            let tools = tools.iter().filter(|tool| !tool.is_empty());
            options.tools = Some(tools.cloned().collect());
            configured.tools = None;
        }
        Ok(options.or(&configured))
    }

    fn prompt(&self) -> Result<Option<String>, Fault> {
        let Some(file) = &self.system_prompt_file else {
            return Ok(self.system_prompt.clone());
        };
        match std::fs::read_to_string(file) {
            Ok(text) => Ok(Some(text)),
            Err(error) => Err(Fault::usage(
                format!("failed to read the prompt {}: {error}", file.display()),
                "choose a text file with `--system-prompt-file`",
            )),
        }
    }

    /// What only the owner of the machine can choose.
    pub(crate) fn terms(&self) -> Result<Terms, Fault> {
        Ok(Terms {
            profile: self.profile.clone(),
            agent: self.agent.clone(),
            agents: self.agents.as_ref().map(terms::absolute).transpose()?,
            mcp_config: terms::all_absolute(&self.mcp_config)?,
            strict_mcp_config: self.strict_mcp_config,
            plugins: terms::all_absolute(&self.plugin_dir)?,
            engine_args: self.engine_arg.clone(),
            account: self.account.unwrap_or_default(),
            credential_files: terms::all_absolute(&self.credential_file)?,
            base_url: self.base_url.clone(),
            ..Terms::default()
        })
    }
}
