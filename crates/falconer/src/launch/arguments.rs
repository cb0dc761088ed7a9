//! The command line, each flag and its value in one argument.
//!
//! One argument per flag keeps values that begin with a dash from being read as flags, and
//! flags that take several values from swallowing what follows. The prompt is never here.

use std::ffi::{OsStr, OsString};

use serde_json::Value;

use crate::options::{
    BuiltinTools, Bypass, LaunchOptions, ModeChoice, PluginDelivery, PromptBase, Settings, Skills,
    Thinking,
};

use super::HostFeatures;

/// The arguments; `settings` is what `--settings` shall say.
pub(super) fn arguments(
    options: &LaunchOptions,
    host: &HostFeatures,
    settings: Option<&Settings>,
) -> Vec<OsString> {
    let mut args = Arguments::default();
    args.switch("output-format=stream-json");
    args.switch("verbose");
    args.switch("input-format=stream-json");
    prompt(&mut args, options);
    model(&mut args, options);
    caps(&mut args, options);
    tools(&mut args, options);
    extensions(&mut args, options);
    permissions(&mut args, options, host);
    mcp(&mut args, options);
    session(&mut args, options, host);
    directories(&mut args, options);
    settings_flags(&mut args, options, settings);
    process(&mut args, options);
    args.0
}

#[derive(Default)]
struct Arguments(Vec<OsString>);

impl Arguments {
    fn switch(&mut self, name: &str) {
        self.0.push(format!("--{name}").into());
    }

    fn switch_if(&mut self, condition: bool, name: &str) {
        if condition {
            self.switch(name);
        }
    }

    fn value(&mut self, name: &str, value: impl AsRef<OsStr>) {
        let mut argument = OsString::from(format!("--{name}="));
        argument.push(value);
        self.0.push(argument);
    }

    fn optional(&mut self, name: &str, value: Option<impl AsRef<OsStr>>) {
        if let Some(value) = value {
            self.value(name, value);
        }
    }

    /// A comma-separated list, if there is anything in it.
    fn list(&mut self, name: &str, values: &[String]) {
        if !values.is_empty() {
            self.value(name, values.join(","));
        }
    }
}

fn prompt(args: &mut Arguments, options: &LaunchOptions) {
    if let PromptBase::File(path) = &options.prompt.system.base {
        args.value("system-prompt-file", path);
    }
    let schema = options.prompt.output_schema.as_ref();
    args.optional("json-schema", schema.map(Value::to_string));
}

fn model(args: &mut Arguments, options: &LaunchOptions) {
    let model = &options.model;
    args.optional("model", model.model.as_ref());
    args.list("fallback-model", &model.fallbacks);
    match model.thinking {
        Some(Thinking::Adaptive) => args.value("thinking", "adaptive"),
        Some(Thinking::Disabled | Thinking::Budget(0)) => args.value("thinking", "disabled"),
        Some(Thinking::Budget(tokens)) => args.value("max-thinking-tokens", tokens.to_string()),
        None => {}
    }
    let display = model.thinking_display.map(|display| display.as_str());
    args.optional("thinking-display", display);
    args.optional("effort", model.effort.map(|effort| effort.as_str()));
    args.list("betas", &model.betas);
}

fn caps(args: &mut Arguments, options: &LaunchOptions) {
    let caps = &options.caps;
    args.optional("max-turns", caps.turns.map(|turns| turns.to_string()));
    args.optional("max-budget-usd", caps.budget_usd.map(|usd| usd.to_string()));
    let tokens = caps.task_tokens.map(|tokens| tokens.to_string());
    args.optional("task-budget", tokens);
}

fn tools(args: &mut Arguments, options: &LaunchOptions) {
    match &options.tools.builtin {
        Some(BuiltinTools::Preset) => args.value("tools", "default"),
        Some(BuiltinTools::None) => args.value("tools", ""),
        Some(BuiltinTools::Only(names)) => args.value("tools", names.join(",")),
        None => {}
    }
    args.list("allowedTools", &allowed(options));
    args.list("disallowedTools", &options.tools.disallowed);
}

/// The rules given, and one for each skill chosen.
fn allowed(options: &LaunchOptions) -> Vec<String> {
    let skills: Vec<String> = match &options.extensions.skills {
        Some(Skills::All) => vec!["Skill".to_owned()],
        Some(Skills::Only(names)) => names.iter().map(|name| format!("Skill({name})")).collect(),
        None => Vec::new(),
    };
    let mut rules = options.tools.allowed.clone();
    for rule in skills {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

fn extensions(args: &mut Arguments, options: &LaunchOptions) {
    let extensions = &options.extensions;
    args.optional("agent", extensions.main_agent.as_ref());
    if extensions.plugins.is_empty() {
        return;
    }
    match extensions.plugin_delivery {
        PluginDelivery::Initialize => args.switch("await-initialize"),
        PluginDelivery::Arguments => {
            for plugin in &extensions.plugins {
                let flag = if plugin.skip_mcp {
                    "plugin-dir-no-mcp"
                } else {
                    "plugin-dir"
                };
                args.value(flag, &plugin.path);
            }
        }
    }
}

fn permissions(args: &mut Arguments, options: &LaunchOptions, host: &HostFeatures) {
    let permissions = &options.permissions;
    match &permissions.mode {
        ModeChoice::Ask => args.value("permission-mode", "default"),
        ModeChoice::Mode(mode) => args.value("permission-mode", mode.as_str()),
        ModeChoice::FromSettings => {}
    }
    let accepted = permissions.bypass == Bypass::Accepted;
    args.switch_if(accepted, "allow-dangerously-skip-permissions");
    let asks_us = host.prompts_permissions.then_some("stdio");
    let tool = permissions.prompt_tool.as_deref().or(asks_us);
    args.optional("permission-prompt-tool", tool);
    let prompts = permissions.prompts.map(|prompts| prompts.as_str());
    args.optional("permission-prompts", prompts);
}

fn mcp(args: &mut Arguments, options: &LaunchOptions) {
    let mcp = &options.mcp;
    if !mcp.servers.is_empty() {
        let servers = mcp.servers.iter().map(|(name, server)| {
            (
                name.clone(),
                serde_json::to_value(server).unwrap_or_default(),
            )
        });
        let servers: serde_json::Map<_, _> = servers.collect();
        args.value(
            "mcp-config",
            serde_json::json!({ "mcpServers": servers }).to_string(),
        );
    }
    for file in &mcp.config_files {
        args.value("mcp-config", file);
    }
    args.switch_if(mcp.strict, "strict-mcp-config");
}

fn session(args: &mut Arguments, options: &LaunchOptions, host: &HostFeatures) {
    let session = &options.session;
    args.switch_if(session.start.continue_latest, "continue");
    args.optional("resume", session.start.resume.as_ref());
    args.optional("resume-session-at", session.start.resume_at.as_ref());
    args.optional(
        "resume-drops-turn",
        session.start.resume_drops_turn.as_ref(),
    );
    args.switch_if(session.start.fork, "fork-session");
    args.optional("session-id", session.id.as_ref());
    args.switch_if(session.unsaved, "no-session-persistence");
    args.switch_if(host.mirrors_session, "session-mirror");
}

fn directories(args: &mut Arguments, options: &LaunchOptions) {
    for directory in &options.environment.additional_directories {
        args.value("add-dir", directory);
    }
    let root = options.environment.project_config_root.as_ref();
    args.optional("project-config-root", root);
}

fn settings_flags(args: &mut Arguments, options: &LaunchOptions, settings: Option<&Settings>) {
    match settings {
        Some(Settings::File(path)) => args.value("settings", path),
        Some(Settings::Inline(json)) => args.value("settings", json.to_string()),
        None => {}
    }
    let managed = options.settings.managed.as_ref();
    args.optional("managed-settings", managed.map(Value::to_string));
    if let Some(sources) = &options.settings.sources {
        let names: Vec<_> = sources.iter().map(|source| source.as_str()).collect();
        args.value("setting-sources", names.join(","));
    }
}

fn process(args: &mut Arguments, options: &LaunchOptions) {
    let process = &options.process;
    args.switch_if(process.partial_messages, "include-partial-messages");
    args.switch_if(process.hook_events, "include-hook-events");
    args.switch_if(process.replay_user_messages, "replay-user-messages");
    args.switch_if(process.debug, "debug");
    args.optional("debug-file", process.debug_file.as_ref());
    for (name, value) in &process.extra_args {
        match value {
            Some(value) => args.value(name, value),
            None => args.switch(name),
        }
    }
}
