//! From flags to the configuration of a session: files that flags name are read, values checked.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use falconer_model::Provider;
use falconer_protocol::permission::PermissionMode;
use falconer_protocol::{MessageUuid, Object, SessionId};
use falconer_secret::Environment;
use serde_json::Value;
use uuid::Uuid;

use super::failure::StartupFailure;
use super::flags::{Flags, Prompts};
use super::named_json::{self, NamedJson};
use crate::session::config::{
    Input, McpChoice, PermissionPrompt, SessionConfig, SettingsChoice, Start,
};
use crate::session::unsupported_agents;
use crate::settings::{self, Found};

/// Who the session runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Root,
    Ordinary,
}

impl User {
    pub(crate) fn current() -> Self {
        if rustix::process::geteuid().is_root() {
            Self::Root
        } else {
            Self::Ordinary
        }
    }
}

/// What is known before a provider is chosen.
#[derive(Debug)]
pub(crate) struct Draft {
    flags: Flags,
    cwd: PathBuf,
    settings: SettingsChoice,
    mcp: McpChoice,
    json_schema: Option<Value>,
    session_id: Option<SessionId>,
    start: Start,
    resume_at: Option<MessageUuid>,
}

impl Draft {
    /// Reads what the flags name and refuses what cannot be.
    pub(crate) fn of(
        mut flags: Flags,
        environment: &Environment,
        cwd: &Path,
        user: User,
    ) -> Result<Self, StartupFailure> {
        if bypass_is_asked(&flags) && user == User::Root && !environment.is_on("IS_SANDBOX") {
            return Err(StartupFailure::bypass_as_root());
        }
        check_directory(cwd)?;
        refuse_agents(flags.agents.as_deref(), cwd)?;
        read_prompts(&mut flags, cwd)?;
        let managed = settings_of(flags.managed_settings.as_deref(), cwd)?;
        let flag = settings_of(flags.settings.as_deref(), cwd)?;
        let settings = SettingsChoice {
            // No layer but the files of the administrator is above both of them.
            flag: stronger(flag, managed.as_ref()),
            sources: flags.sources,
            decided: std::mem::take(&mut flags.decided),
            project_root: config_root(flags.project_config_root.as_deref())?,
        };
        Ok(Self {
            cwd: cwd.to_owned(),
            settings,
            mcp: McpChoice {
                servers: mcp_servers(&flags.mcp_configs, cwd)?,
                strict: flags.strict_mcp,
            },
            json_schema: json_schema(flags.json_schema.as_deref())?,
            session_id: session_id(flags.session_id.as_deref())?,
            start: start(&flags)?,
            resume_at: flags.resume_at.as_deref().map(MessageUuid::from),
            flags,
        })
    }

    pub(crate) fn settings(&self) -> &SettingsChoice {
        &self.settings
    }

    /// The whole configuration.
    pub(crate) fn into_config(
        self,
        input: Input,
        environment: Arc<Environment>,
        provider: Arc<dyn Provider>,
        found: Found,
    ) -> SessionConfig {
        let flags = self.flags;
        let checkpoints = environment.is_on("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING");
        let strict_reads = environment.is_on("FALCONER_STRICT_READS");
        let mut config = SessionConfig::new(environment, self.cwd, provider);
        config.input = input;
        config.permissions.prompt = permission_prompt(&flags);
        config.permissions.bypass_available = bypass_is_asked(&flags);
        config.permissions.mode = if flags.skip_permissions {
            Some(PermissionMode::BypassPermissions)
        } else {
            flags.permissions.mode
        };
        config.permissions.allowed = flags.permissions.allowed;
        config.permissions.disallowed = flags.permissions.disallowed;
        let add_dirs = flags.permissions.add_dirs.iter();
        config.permissions.add_dirs = add_dirs.map(|dir| config.cwd.join(dir)).collect();
        config.model = flags.model;
        config.tools = flags.tools;
        config.limits = flags.limits;
        config.limits.strict_reads = strict_reads;
        config.prompt = flags.system_prompt;
        config.mcp = self.mcp;
        config.settings = found;
        config.history = flags.history;
        config.history.start = self.start;
        config.history.session_id = self.session_id;
        config.history.resume_at = self.resume_at;
        config.history.drops_turn = flags.resume_drops_turn;
        config.history.checkpoints = checkpoints;
        config.output = flags.output;
        config.commands = flags.commands;
        config.json_schema = self.json_schema;
        config
    }
}

fn bypass_is_asked(flags: &Flags) -> bool {
    flags.skip_permissions
        || flags.permissions.bypass_available
        || flags.permissions.mode == Some(PermissionMode::BypassPermissions)
}

fn permission_prompt(flags: &Flags) -> PermissionPrompt {
    match (flags.prompts, flags.prompt_tool.as_deref()) {
        (Prompts::Nobody, _) => PermissionPrompt::Off,
        (Prompts::Host, None) => PermissionPrompt::Nobody,
        (Prompts::Host, Some("stdio")) => PermissionPrompt::Host,
        (Prompts::Host, Some(tool)) => PermissionPrompt::McpTool(tool.to_owned()),
    }
}

fn check_directory(cwd: &Path) -> Result<(), StartupFailure> {
    let unavailable =
        |problem: &dyn std::fmt::Display| Err(StartupFailure::directory_unavailable(cwd, problem));
    match std::fs::metadata(cwd) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => unavailable(&"it is not a directory"),
        Err(error) => unavailable(&error),
    }
}

/// Files win over texts, as in the official CLI.
fn read_prompts(flags: &mut Flags, cwd: &Path) -> Result<(), StartupFailure> {
    let read = |path: &Path, what: &str| {
        let path = cwd.join(path);
        std::fs::read_to_string(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                StartupFailure::error(format!("{what} file not found: {}", path.display()))
            }
            _ => StartupFailure::error(format!(
                "failed to read {what} file {}: {error}",
                path.display()
            )),
        })
    };
    if let Some(path) = &flags.system_prompt_file {
        flags.system_prompt.replace = Some(read(path, "System prompt")?);
    }
    if let Some(path) = &flags.append_system_prompt_file {
        flags.system_prompt.append = Some(read(path, "Append system prompt")?);
    }
    Ok(())
}

/// The directory that the project's own settings come from, if it is another one.
fn config_root(given: Option<&Path>) -> Result<Option<PathBuf>, StartupFailure> {
    let Some(root) = given else { return Ok(None) };
    if !root.is_absolute() {
        return Err(StartupFailure::error(
            "--project-config-root must be an absolute local path",
        ));
    }
    match std::fs::read_dir(root) {
        Ok(_) => Ok(Some(root.to_owned())),
        Err(error) => Err(StartupFailure::error(format!(
            "--project-config-root is not a directory that can be listed: {}: {error}",
            root.display()
        ))),
    }
}

fn settings_of(given: Option<&OsStr>, cwd: &Path) -> Result<Option<Value>, StartupFailure> {
    let Some(given) = given else { return Ok(None) };
    match named_json::read(given, cwd) {
        Ok(json) => Ok(Some(Value::Object(json))),
        Err(NamedJson::Missing(path)) => Err(StartupFailure::error(format!(
            "Settings file not found: {}",
            path.display()
        ))),
        Err(problem) => Err(StartupFailure::error(format!(
            "Error processing settings: {problem}"
        ))),
    }
}

fn stronger(base: Option<Value>, over: Option<&Value>) -> Option<Value> {
    match (base, over) {
        (Some(mut base), Some(over)) => {
            settings::merge(&mut base, over);
            Some(base)
        }
        (base, over) => base.or_else(|| over.cloned()),
    }
}

/// The servers of all files and texts; later ones win.
fn mcp_servers(configs: &[OsString], cwd: &Path) -> Result<Object, StartupFailure> {
    let mut servers = Object::default();
    let mut problems = Vec::new();
    for config in configs {
        match named_json::read(config, cwd) {
            Ok(json) => match json.get("mcpServers") {
                Some(Value::Object(found)) => {
                    servers.extend(
                        found
                            .iter()
                            .map(|(name, json)| (name.clone(), json.clone())),
                    );
                }
                _ => problems.push("mcpServers: expected an object by server name".to_owned()),
            },
            Err(NamedJson::Missing(path)) => {
                problems.push(format!("MCP config file not found: {}", path.display()));
            }
            Err(problem) => problems.push(problem.to_string()),
        }
    }
    if problems.is_empty() {
        Ok(servers)
    } else {
        Err(StartupFailure::error(format!(
            "Invalid MCP configuration:\n{}",
            problems.join("\n")
        )))
    }
}

/// Agents may restrict tools, modes and turns: without them a session would do the same work with
/// fewer restrictions. An empty list asks for nothing.
fn refuse_agents(given: Option<&OsStr>, cwd: &Path) -> Result<(), StartupFailure> {
    let Some(given) = given else { return Ok(()) };
    let agents = named_json::read(given, cwd).map_err(|problem| {
        StartupFailure::error(format!("Invalid --agents configuration:\n{problem}"))
    })?;
    match unsupported_agents(agents.keys()) {
        Some(problem) => Err(StartupFailure::error(format!("--agents: {problem}"))),
        None => Ok(()),
    }
}

fn json_schema(given: Option<&str>) -> Result<Option<Value>, StartupFailure> {
    let Some(given) = given else { return Ok(None) };
    let invalid = |text: String| StartupFailure::error(format!("--json-schema is not {text}"));
    let schema: Value =
        serde_json::from_str(given).map_err(|error| invalid(format!("valid JSON: {error}")))?;
    if !schema.is_object() {
        return Err(invalid(
            "a valid JSON Schema: it must be an object".to_owned(),
        ));
    }
    match jsonschema::validator_for(&schema) {
        Ok(_) => Ok(Some(schema)),
        Err(error) => Err(invalid(format!("a valid JSON Schema: {error}"))),
    }
}

fn session_id(given: Option<&str>) -> Result<Option<SessionId>, StartupFailure> {
    let Some(given) = given else { return Ok(None) };
    match Uuid::try_parse(given) {
        Ok(_) => Ok(Some(SessionId::from(given))),
        Err(_) => Err(StartupFailure::error(
            "Invalid session ID. Must be a valid UUID.",
        )),
    }
}

fn start(flags: &Flags) -> Result<Start, StartupFailure> {
    match flags.resume.as_deref() {
        Some(id) if Uuid::try_parse(id).is_ok() => Ok(Start::Resume(SessionId::from(id))),
        Some(given) => Err(StartupFailure::told(format!(
            "Error: --resume requires a valid session ID when used with --print. Provided value \
             \"{given}\" is not a UUID."
        ))),
        None if flags.continue_latest => Ok(Start::Continue),
        None => Ok(Start::Fresh),
    }
}
