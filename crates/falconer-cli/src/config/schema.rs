//! What can be configured. The texts are those of the published schema and of the reference.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

/// The format of the file this version writes.
pub(crate) const VERSION: u32 = 1;

/// The configuration of `falconer`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// The format of this file. Older files are rewritten, with a backup beside them.
    pub(crate) version: u32,
    /// What runs are started with, unless a flag says otherwise.
    pub(crate) run: RunConfig,
    /// The official Claude Code CLI.
    pub(crate) claude: ClaudeConfig,
    /// What is shown on a terminal.
    pub(crate) display: DisplayConfig,
    /// The server that `attach` and `approve` talk to.
    pub(crate) server: ServerConfig,
    /// What is logged, unless a flag or its variable says otherwise.
    pub(crate) log: LogConfig,
    /// What `falconer serve` lets others choose.
    pub(crate) serve: ServeConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            version: VERSION,
            run: RunConfig::default(),
            claude: ClaudeConfig::default(),
            display: DisplayConfig::default(),
            server: ServerConfig::default(),
            log: LogConfig::default(),
            serve: ServeConfig::default(),
        }
    }
}

/// What runs are started with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RunConfig {
    /// Which engine runs the agent. `auto` takes `claude` if it is installed and can authenticate,
    /// else `native` if there are credentials.
    pub(crate) engine: EngineName,
    /// The model: a name such as `sonnet`, or an id. The engine's default if not set.
    pub(crate) model: Option<String>,
    /// Models to try, in order, when the model is overloaded.
    pub(crate) fallback_models: Vec<String>,
    /// How much effort the model spends.
    pub(crate) effort: EffortLevel,
    /// How the model thinks: `adaptive`, `disabled`, or a number of tokens.
    pub(crate) thinking: Option<String>,
    /// Tokens the model is told it has for the task.
    pub(crate) task_budget: Option<u64>,
    /// Betas of the API.
    pub(crate) betas: Vec<String>,
    /// Replaces the engine's system prompt.
    pub(crate) system_prompt: Option<String>,
    /// Follows the system prompt.
    pub(crate) append_system_prompt: Option<String>,
    /// Replaces the description of the work to do in plan mode.
    pub(crate) plan_mode_instructions: Option<String>,
    /// Whether prompts are sent as they are: no files for `@path`, no slash commands.
    pub(crate) verbatim_prompts: bool,
    /// The built-in tools there are, and no others.
    pub(crate) tools: Option<Vec<String>>,
    /// Skills that run unasked; `*` for all.
    pub(crate) skills: Vec<String>,
    /// The agent that leads the conversation.
    pub(crate) agent: Option<String>,
    /// A JSON file of agents, by name.
    pub(crate) agents: Option<String>,
    /// JSON files of MCP servers.
    pub(crate) mcp_config: Vec<String>,
    /// Whether other MCP servers than those of `run.mcp_config` are left out.
    pub(crate) strict_mcp_config: bool,
    /// Directories of plugins to load.
    pub(crate) plugins: Vec<String>,
    /// Who pays: a subscription, the account of an API key, or a cloud provider. `auto` leaves it to
    /// the environment and the login of the machine.
    pub(crate) account: AccountName,
    /// Files to take a key from instead of looking for one, such as `~/.claude.json` under another
    /// name.
    pub(crate) credential_files: Vec<String>,
    /// The address of the model's service.
    pub(crate) base_url: Option<String>,
    /// What happens to calls that no rule decides.
    pub(crate) permission_mode: Mode,
    /// Rules for what may be done unasked, such as `Read` or `Bash(git log:*)`.
    pub(crate) allow: Vec<String>,
    /// Rules for what must not be done.
    pub(crate) deny: Vec<String>,
    /// A policy file: what is allowed, asked and denied for every engine; see the page on limits.
    pub(crate) policy: Option<String>,
    /// Whether a run sees the machine as it is, or only what it is given.
    pub(crate) isolation: Isolation,
    /// Skills that isolated runs get: directories with a `SKILL.md`, or such files. Runs that are not
    /// isolated find their skills themselves.
    pub(crate) isolated_skills: Vec<String>,
    /// Domains that a run in a sandbox may reach, such as `docs.rs` or `*.example.org`.
    pub(crate) domains: Vec<String>,
    /// Whether commands in the sandbox run unasked.
    pub(crate) sandboxed_commands: SandboxedCommands,
    /// Stop after so many rounds of tools.
    pub(crate) max_turns: Option<u64>,
    /// Stop when it has cost so much, in US dollars.
    pub(crate) max_usd: Option<f64>,
    /// Stop when so many tokens were used.
    pub(crate) max_tokens: Option<u64>,
    /// Stop after so many seconds. If not set, runs without a terminal stop after 6 hours, those of
    /// a server after a day, and those on a terminal never.
    pub(crate) deadline_seconds: Option<u64>,
    /// Stop when the engine has said nothing for so many seconds while it was at work.
    pub(crate) silence_seconds: Option<u64>,
    /// Deny what is asked after so many seconds without an answer. If not set, a server waits a day,
    /// a run without a terminal not at all, and one on a terminal for ever.
    pub(crate) answer_seconds: Option<u64>,
    /// How often a turn that failed for a passing reason is sent again; 2 if not set, 0 is never.
    pub(crate) retries: Option<u32>,
    /// Keep whole conversations in this directory before they are compacted. What cannot be kept
    /// there is not compacted.
    pub(crate) archive: Option<String>,
}

/// The official Claude Code CLI.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ClaudeConfig {
    /// The executable, if it is not to be searched for.
    pub(crate) path: Option<String>,
    /// Whether the account of an API key pays (`true`), or a subscription, from which keys are kept
    /// (`false`). If not set, whatever is found is used. `run.account` counts more.
    pub(crate) use_api_billing: Option<bool>,
    /// Arguments for it that have no key here: `name`, or `name=value`.
    pub(crate) args: Vec<String>,
}

/// What is shown on a terminal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DisplayConfig {
    /// Whether text has colours. `auto` means: on a terminal, unless `NO_COLOR` is set.
    pub(crate) color: Color,
    /// Whether the last line moves while the agent works.
    pub(crate) motion: bool,
}

impl Default for DisplayConfig {
    fn default() -> Self {
        Self {
            color: Color::default(),
            motion: true,
        }
    }
}

/// The server that `attach` and `approve` talk to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServerConfig {
    /// Its address. `http://127.0.0.1:4780` if not set.
    pub(crate) url: Option<String>,
    /// The file that holds the token for it, never the token itself. If not set, the one in which
    /// a server on this machine keeps its token.
    pub(crate) token_file: Option<String>,
}

/// What is logged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LogConfig {
    /// A level (`error`, `warn`, `info`, `debug`, `trace`, `off`), or levels by target such as
    /// `warn,falconer_engine=debug`.
    pub(crate) filter: Option<String>,
    /// Log to this file instead of stderr.
    pub(crate) file: Option<String>,
    /// How lines are written. `text` in files and with `-v`, short warnings on stderr, if not set.
    pub(crate) format: Option<LogFormat>,
}

/// How log lines are written.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_enum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// What `falconer serve` lets others choose.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServeConfig {
    /// Profiles that sessions made over HTTP may choose.
    pub(crate) profiles: Vec<String>,
}

/// How much effort the model spends.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lowercase")]
#[schemars(transform = plain_enum)]
pub(crate) enum EffortLevel {
    /// What the model does by itself
    #[default]
    Default,
    Low,
    Medium,
    High,
    XHigh,
    Max,
}

/// Who pays.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_enum)]
pub(crate) enum AccountName {
    /// Whoever the environment and the login of the machine name
    #[default]
    Auto,
    /// The login of the official CLI, or its token; keys are kept from it
    Subscription,
    /// An API key or token, never a cloud provider
    Api,
    /// Amazon Bedrock
    Bedrock,
    /// Google Vertex AI
    Vertex,
}

/// The engines there are.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_enum)]
pub(crate) enum EngineName {
    /// `claude` if it is installed and can authenticate, else `native`
    #[default]
    Auto,
    /// The official Claude Code CLI, which must be installed
    Claude,
    /// Falconer's own, in this process
    Native,
    /// Falconer's own, on a scripted model
    Script,
}

/// Permission modes, from the narrowest to the widest.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    clap::ValueEnum,
)]
#[serde(rename_all = "camelCase")]
#[value(rename_all = "camelCase")]
#[schemars(transform = plain_enum)]
pub(crate) enum Mode {
    /// The agent reads and plans, and changes nothing
    Plan,
    /// What would be asked is denied
    DontAsk,
    /// What no rule decides is asked
    #[default]
    Default,
    /// Edits of files are not asked
    AcceptEdits,
    /// Let the official CLI decide what to ask; the native engine asks as in `default`
    Auto,
    /// Nothing is asked; needs a second switch
    BypassPermissions,
}

/// How much of the machine a run sees, from most to least.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_enum)]
pub(crate) enum Isolation {
    /// The machine as it is
    #[default]
    None,
    /// A fresh home and environment with the credentials of this one; commands run unprotected
    Home,
    /// A fresh home, chosen credentials, a sandbox around commands with its network closed
    Sandbox,
}

/// Whether commands in the sandbox are asked about.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_enum)]
pub(crate) enum SandboxedCommands {
    /// They run unasked
    #[default]
    Run,
    /// Rules and modes decide, else somebody is asked
    Ask,
}

/// Whether text has colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_enum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl Mode {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::DontAsk => "dontAsk",
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Auto => "auto",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}

/// One list of words instead of a branch for each.
fn plain_enum(schema: &mut Schema) {
    let Some(branches) = schema.get("oneOf").and_then(|branches| branches.as_array()) else {
        return;
    };
    let words: Vec<serde_json::Value> = branches
        .iter()
        .flat_map(|branch| match branch.get("const") {
            Some(word) => vec![word.clone()],
            None => branch
                .get("enum")
                .and_then(|all| all.as_array())
                .cloned()
                .unwrap_or_default(),
        })
        .collect();
    schema.remove("oneOf");
    schema.insert("type".to_owned(), "string".into());
    schema.insert("enum".to_owned(), words.into());
}

/// The published schema.
pub(crate) fn json_schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<Config>();
    schema.to_value()
}
