//! What can be configured. The texts are those of the published schema and of the reference.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

/// The format of the file this version writes.
pub(crate) const VERSION: u32 = 1;

/// The configuration of `falconer`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    /// Format version of this file. Older files are rewritten with a backup beside them.
    pub(crate) version: u32,
    /// Defaults for runs; flags override them.
    pub(crate) run: RunConfig,
    /// The official Claude Code CLI.
    pub(crate) claude: ClaudeConfig,
    /// Terminal output.
    pub(crate) display: DisplayConfig,
    /// The server that `attach` and `approve` talk to.
    pub(crate) server: ServerConfig,
    /// Logging; flags and variables override it.
    pub(crate) log: LogConfig,
    /// Choices that `falconer serve` gives to others.
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
    /// Engine that runs the agent. `auto` uses `claude` if it is installed and can authenticate,
    /// else `native` if there are credentials.
    pub(crate) engine: EngineName,
    /// Model name such as `sonnet`, or a model id. The engine's default if not set.
    pub(crate) model: Option<String>,
    /// Models to try, in order, when the model is overloaded.
    pub(crate) fallback_models: Vec<String>,
    /// Reasoning effort of the model.
    pub(crate) effort: EffortLevel,
    /// Thinking: `adaptive`, `disabled`, or a token budget.
    pub(crate) thinking: Option<String>,
    /// Token budget to tell the model for the task.
    pub(crate) task_budget: Option<u64>,
    /// API betas to enable.
    pub(crate) betas: Vec<String>,
    /// Replaces the engine's system prompt.
    pub(crate) system_prompt: Option<String>,
    /// Text appended to the system prompt.
    pub(crate) append_system_prompt: Option<String>,
    /// Replaces the instructions for plan mode.
    pub(crate) plan_mode_instructions: Option<String>,
    /// Send prompts verbatim: no `@path` expansion, no slash commands.
    pub(crate) verbatim_prompts: bool,
    /// Offer only these built-in tools.
    pub(crate) tools: Option<Vec<String>>,
    /// Skills to allow without asking; `*` for all.
    pub(crate) skills: Vec<String>,
    /// Agent to run the conversation as.
    pub(crate) agent: Option<String>,
    /// A JSON file that defines agents by name.
    pub(crate) agents: Option<String>,
    /// JSON files that define MCP servers.
    pub(crate) mcp_config: Vec<String>,
    /// Use only the MCP servers from `run.mcp_config`.
    pub(crate) strict_mcp_config: bool,
    /// Plugin directories to load.
    pub(crate) plugins: Vec<String>,
    /// Account to bill: a subscription, an API key's account, or a cloud provider. `auto` uses what
    /// the environment and the machine's login provide.
    pub(crate) account: AccountName,
    /// Files to read a key from instead of searching for one, such as a copy of `~/.claude.json`.
    pub(crate) credential_files: Vec<String>,
    /// Base URL of the model's API.
    pub(crate) base_url: Option<String>,
    /// Decision for tool calls that match no rule.
    pub(crate) permission_mode: Mode,
    /// Allow these tool calls without asking, such as `Read` or `Bash(git log:*)`.
    pub(crate) allow: Vec<String>,
    /// Deny these tool calls.
    pub(crate) deny: Vec<String>,
    /// Policy file to apply to every engine; see the page on limits.
    pub(crate) policy: Option<String>,
    /// Isolation of runs from the machine.
    pub(crate) isolation: Isolation,
    /// Skills to give isolated runs: `SKILL.md` files or directories that hold one. Other runs find
    /// their skills themselves.
    pub(crate) isolated_skills: Vec<String>,
    /// Domains that a run in a sandbox may reach, such as `docs.rs` or `*.example.org`.
    pub(crate) domains: Vec<String>,
    /// Run sandboxed commands without asking, or ask as usual.
    pub(crate) sandboxed_commands: SandboxedCommands,
    /// Stop after this many turns.
    pub(crate) max_turns: Option<u64>,
    /// Stop at this cost in US dollars.
    pub(crate) max_usd: Option<f64>,
    /// Stop at this many tokens.
    pub(crate) max_tokens: Option<u64>,
    /// Stop after this many seconds. By default, runs without a terminal stop after 6 hours, runs
    /// on a server after a day, and runs on a terminal never.
    pub(crate) deadline_seconds: Option<u64>,
    /// Stop if the engine is silent for this many seconds while working.
    pub(crate) silence_seconds: Option<u64>,
    /// Deny a request after this many seconds without an answer. By default, a server waits a day,
    /// a run without a terminal does not wait, and a run on a terminal waits forever.
    pub(crate) answer_seconds: Option<u64>,
    /// Number of times to retry a turn after a temporary failure. Defaults to 2.
    pub(crate) retries: Option<u32>,
    /// Archive whole conversations in this directory before compacting them. A conversation that
    /// cannot be archived is not compacted.
    pub(crate) archive: Option<String>,
}

/// The official Claude Code CLI.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ClaudeConfig {
    /// Path of the executable. Searched for if not set.
    pub(crate) path: Option<String>,
    /// Bill an API key's account (`true`) or a subscription (`false`, keys are withheld). If not set,
    /// use what is found. `run.account` takes precedence.
    pub(crate) use_api_billing: Option<bool>,
    /// Extra arguments that have no key here: `name` or `name=value`.
    pub(crate) args: Vec<String>,
}

/// Terminal output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DisplayConfig {
    /// Colour output. `auto` colours on a terminal unless `NO_COLOR` is set.
    pub(crate) color: Color,
    /// Show an animated status line while the agent works.
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
    /// URL of the server. Defaults to `http://127.0.0.1:4780`.
    pub(crate) url: Option<String>,
    /// File that holds the server token, never the token itself. Defaults to the token file of a
    /// server on this machine.
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
    /// Log format. Defaults to `text` in files and with `-v`, and to short warnings on stderr.
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

/// Choices that `falconer serve` gives to others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServeConfig {
    /// Profiles that sessions created over HTTP may choose.
    pub(crate) profiles: Vec<String>,
}

/// Reasoning effort of the model.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[value(rename_all = "lowercase")]
#[schemars(transform = plain_enum)]
pub(crate) enum EffortLevel {
    /// Leave it to the model
    #[default]
    Default,
    Low,
    Medium,
    High,
    XHigh,
    Max,
}

/// Account to bill.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = plain_enum)]
pub(crate) enum AccountName {
    /// Use what the environment and the machine's login provide
    #[default]
    Auto,
    /// The official CLI's login or token; API keys are withheld from it
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
    /// Use `claude` if it is installed and logged in, else `native`
    #[default]
    Auto,
    /// The official Claude Code CLI; must be installed
    Claude,
    /// Falconer's own engine, in this process
    Native,
    /// Falconer's own engine on a scripted model
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
    /// Read and plan without changing anything
    Plan,
    /// Deny instead of asking
    DontAsk,
    /// Ask before anything no rule covers
    #[default]
    Default,
    /// Allow file edits without asking
    AcceptEdits,
    /// Let the official CLI decide what to ask; same as `default` on the native engine
    Auto,
    /// Ask nothing; also needs `--allow-dangerously-skip-permissions`
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
    /// No isolation
    #[default]
    None,
    /// A fresh home and environment with your credentials; commands are not sandboxed
    Home,
    /// A fresh home, chosen credentials, and a sandbox without network around commands
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
