//! What a session is started with: flags already read, files already found.
//!
//! The front fills this in; nothing in here is checked again, and nothing reads flags elsewhere.

use std::path::PathBuf;
use std::sync::Arc;

use falconer_model::Provider;
use falconer_process::{Confinement, Unconfined};
use falconer_protocol::permission::PermissionMode;
use falconer_protocol::{MessageUuid, Object, SessionId};
use falconer_secret::Environment;
use serde_json::Value;

use crate::settings::Found;
use crate::tool::registry::ToolChoice;

/// Everything a session needs. [`SessionConfig::new`] takes what is required.
#[derive(Debug)]
pub(crate) struct SessionConfig {
    pub(crate) environment: Arc<Environment>,
    /// Where the session works; absolute.
    pub(crate) cwd: PathBuf,
    pub(crate) provider: Arc<dyn Provider>,
    /// What `claude_code_version` says.
    pub(crate) version: String,
    /// How prompts come in.
    pub(crate) input: Input,
    pub(crate) model: ModelChoice,
    pub(crate) permissions: PermissionChoice,
    pub(crate) tools: ToolChoice,
    pub(crate) limits: Limits,
    pub(crate) prompt: PromptChoice,
    pub(crate) mcp: McpChoice,
    pub(crate) settings: Found,
    pub(crate) history: History,
    pub(crate) output: Output,
    /// `--disable-slash-commands`.
    pub(crate) commands: Commands,
    /// What the host is told when the first turn begins.
    pub(crate) notices: Vec<String>,
    /// `--json-schema`, already checked to be a schema.
    pub(crate) json_schema: Option<Value>,
    /// Whether commands that only read can be kept from doing anything else.
    pub(crate) confinement: Result<Confinement, Unconfined>,
}

impl SessionConfig {
    pub(crate) fn new(
        environment: Arc<Environment>,
        cwd: PathBuf,
        provider: Arc<dyn Provider>,
    ) -> Self {
        Self {
            environment,
            cwd,
            provider,
            version: super::version::REPORTED.to_owned(),
            input: Input::Lines {
                await_initialize: false,
            },
            model: ModelChoice::default(),
            permissions: PermissionChoice::default(),
            tools: ToolChoice::default(),
            limits: Limits::default(),
            prompt: PromptChoice::default(),
            mcp: McpChoice::default(),
            settings: Found::default(),
            history: History::default(),
            output: Output::default(),
            commands: Commands::default(),
            notices: Vec::new(),
            json_schema: None,
            confinement: falconer_process::confinement(),
        }
    }
}

/// How prompts come in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// One prompt of the command line; the input lane is not read.
    OneShot(String),
    /// JSON lines (`--input-format stream-json`).
    Lines {
        /// `--await-initialize`: the first line has to be `initialize`.
        await_initialize: bool,
    },
}

/// Whether there are commands; where there are none, they are said to be unavailable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Commands {
    #[default]
    Enabled,
    Disabled,
}

/// Which model, and how it is to think.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelChoice {
    /// `--model`: an id or an alias. Without one, settings decide, then the default.
    pub(crate) model: Option<String>,
    /// `--fallback-model`, in order.
    pub(crate) fallbacks: Vec<String>,
    pub(crate) thinking: Thinking,
    /// `--thinking-display`.
    pub(crate) thinking_display: Option<String>,
    /// `--effort`.
    pub(crate) effort: Option<String>,
    /// `--betas`.
    pub(crate) betas: Vec<String>,
}

/// `--thinking` and `--max-thinking-tokens`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// What the model does best.
    #[default]
    Unsaid,
    Adaptive,
    Budget(u64),
    Disabled,
}

/// Who may do what, from the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct PermissionChoice {
    /// `--permission-mode`; without one, settings decide, then `default`.
    pub(crate) mode: Option<PermissionMode>,
    /// `--allowedTools`: rules.
    pub(crate) allowed: Vec<String>,
    /// `--disallowedTools`: rules.
    pub(crate) disallowed: Vec<String>,
    /// Whether the mode may become `bypassPermissions` while running
    /// (`--dangerously-skip-permissions`, `--allow-dangerously-skip-permissions`, or that mode).
    pub(crate) bypass_available: bool,
    /// `--add-dir`; absolute.
    pub(crate) add_dirs: Vec<PathBuf>,
    pub(crate) prompt: PermissionPrompt,
}

/// Who is asked when rules and modes do not decide.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum PermissionPrompt {
    /// Nobody: such calls are denied.
    #[default]
    Nobody,
    /// `--permission-prompts none`: nobody, and the host wants it so.
    Off,
    /// `--permission-prompt-tool stdio`: the host, by `can_use_tool`.
    Host,
    /// `--permission-prompt-tool mcp__server__tool`.
    McpTool(String),
}

/// When to stop.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limits {
    /// `--max-turns`; 0 means no limit.
    pub(crate) max_turns: Option<u64>,
    /// `--max-budget-usd`.
    pub(crate) max_budget_usd: Option<f64>,
    /// Refuse to edit or overwrite files that were not read.
    pub(crate) strict_reads: bool,
}

/// What the model is told first.
#[derive(Debug, Clone, Default)]
pub(crate) struct PromptChoice {
    /// `--system-prompt`: instead of ours. Empty means an almost empty one.
    pub(crate) replace: Option<String>,
    /// `--append-system-prompt`.
    pub(crate) append: Option<String>,
    /// `--exclude-dynamic-system-prompt-sections`.
    pub(crate) exclude_dynamic_sections: bool,
}

/// MCP servers of the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct McpChoice {
    /// The `mcpServers` of all `--mcp-config`, merged: name to configuration.
    pub(crate) servers: Object,
    /// `--strict-mcp-config`: no servers from settings.
    pub(crate) strict: bool,
}

/// Which settings are read.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingsChoice {
    /// `--settings`, read.
    pub(crate) flag: Option<Value>,
    pub(crate) sources: SettingSources,
    pub(crate) decided: Decided,
    /// `--project-config-root`: where the files of the project are instead.
    pub(crate) project_root: Option<PathBuf>,
}

/// What the start has decided about the project's own files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Decided {
    /// Defaults have decided nothing.
    #[default]
    Nothing,
    /// `--setting-sources` names the project's files.
    Sources,
    /// `--trust-project`: the content with this digest is trusted in this session.
    Content(String),
}

/// `--setting-sources`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SettingSources {
    pub(crate) user: bool,
    pub(crate) project: bool,
    pub(crate) local: bool,
}

impl Default for SettingSources {
    fn default() -> Self {
        Self {
            user: true,
            project: true,
            local: true,
        }
    }
}

/// Which conversation, and where it is kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    pub(crate) start: Start,
    /// `--fork-session`.
    pub(crate) fork: bool,
    /// `--session-id`, already checked to be a UUID.
    pub(crate) session_id: Option<SessionId>,
    /// `--resume-session-at`.
    pub(crate) resume_at: Option<MessageUuid>,
    /// `--resume-drops-turn`: the only turn that may be after it.
    pub(crate) drops_turn: Option<String>,
    /// `--name`.
    pub(crate) name: Option<String>,
    pub(crate) persistence: Persistence,
    /// `--session-mirror`.
    pub(crate) mirror: bool,
    /// Copies of files before changes (`CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING`).
    pub(crate) checkpoints: bool,
}

/// What the conversation begins with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Start {
    #[default]
    Fresh,
    /// `--continue`: the newest of this directory, if any.
    Continue,
    /// `--resume`.
    Resume(SessionId),
}

/// Whether the conversation is written to disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Persistence {
    #[default]
    OnDisk,
    /// `--no-session-persistence`.
    None,
}

/// Which frames the host wants beyond the usual ones.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Output {
    /// `--include-partial-messages`.
    pub(crate) partial: bool,
    /// `--include-hook-events`.
    pub(crate) hook_events: bool,
    /// `--replay-user-messages`.
    pub(crate) replay: bool,
    /// Whether the first `init` tells what the tools take; the official CLI never does.
    pub(crate) tool_schemas: bool,
}
