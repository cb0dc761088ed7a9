//! Every flag, what it takes and what it does.

use falconer_protocol::permission::PermissionMode;

use super::given::{FlagProblem, Given};
use super::{Flags, InputFormat, OutputFormat, Prompts, Show};
use crate::session::config::{Commands, Decided, Persistence, SettingSources, Thinking};
use crate::tool::registry::ToolChoice;

/// A flag of the command line.
pub(crate) struct Flag {
    /// The spelling with dashes, without the two in front.
    pub(super) name: &'static str,
    pub(super) short: Option<char>,
    pub(super) arity: Arity,
    pub(super) effect: Effect,
    /// One line for `--help`; empty for flags that only programs pass.
    help: &'static str,
}

/// How many values a flag takes. The text names them in messages.
pub(super) enum Arity {
    Switch,
    Value(&'static str),
    Optional(&'static str),
    Many(&'static str),
}

/// What a flag does.
pub(super) enum Effect {
    Set(fn(&mut Flags, Given) -> Result<(), FlagProblem>),
    Show(Show),
    /// Accepted, because nothing follows from it without a terminal.
    Nothing,
    /// Ignored with a warning that says what is missing.
    Warn(&'static str),
    /// An error, because ignoring it would give less safety or something else than was asked.
    Refuse(&'static str),
}

impl std::fmt::Debug for Flag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.usage())
    }
}

impl Flag {
    pub(super) fn long(name: &str) -> Option<&'static Self> {
        let name = match name {
            "background" => "bg",
            other => other,
        };
        FLAGS.iter().find(|flag| flag.name == name)
    }

    pub(super) fn short(short: char) -> Option<&'static Self> {
        FLAGS.iter().find(|flag| flag.short == Some(short))
    }

    /// As it is written, for messages: `--model <model>`.
    pub(super) fn usage(&self) -> String {
        let name = self.name;
        match self.arity {
            Arity::Switch => format!("--{name}"),
            Arity::Value(value) => format!("--{name} <{value}>"),
            Arity::Optional(value) => format!("--{name} [{value}]"),
            Arity::Many(value) => format!("--{name} <{value}...>"),
        }
    }
}

/// The flags for people: how they are written, and what they do.
pub(crate) fn help_lines() -> impl Iterator<Item = (String, &'static str)> {
    let shown = FLAGS.iter().filter(|flag| !flag.help.is_empty());
    shown.map(|flag| {
        let short = flag.short.map(|short| format!("-{short}, "));
        (short.unwrap_or_default() + &flag.usage(), flag.help)
    })
}

const fn flag(name: &'static str, arity: Arity, effect: Effect, help: &'static str) -> Flag {
    Flag {
        name,
        short: None,
        arity,
        effect,
        help,
    }
}

const fn short(short: char, mut flag: Flag) -> Flag {
    flag.short = Some(short);
    flag
}

use Arity::{Many, Optional, Switch, Value};
use Effect::{Nothing, Refuse, Set, Warn};

/// Agents are refused where they are asked for; what only concerns them is not.
const NO_AGENTS: &str = "there are no sub-agents";
const NO_PLUGINS: &str = "plugins are not loaded";
const NO_TERMINAL: &str = "there is no interactive mode";
const NO_CLOUD: &str = "sessions run on this machine only";

#[rustfmt::skip]
static FLAGS: &[Flag] = &[
    short('p', flag("print", Switch, Set(|f, _| { f.print = true; Ok(()) }),
        "Answer and end (the default when stdout is not a terminal)")),
    short('h', flag("help", Switch, Effect::Show(Show::Help), "Show this")),
    short('v', flag("version", Switch, Effect::Show(Show::Version), "Show the version")),

    // What comes in and goes out.
    flag("output-format", Value("format"), Set(output_format),
        "text (default), json (the result) or stream-json (every frame; needs --verbose)"),
    flag("input-format", Value("format"), Set(input_format),
        "text (default) or stream-json (a conversation on stdin)"),
    flag("verbose", Switch, Set(|f, _| { f.verbose = true; Ok(()) }), "Every frame, not only the result"),
    flag("include-partial-messages", Switch, Set(|f, _| { f.output.partial = true; Ok(()) }),
        "Stream answers while they are written"),
    flag("include-hook-events", Switch, Set(|f, _| { f.output.hook_events = true; Ok(()) }),
        "Report the life of hooks"),
    flag("replay-user-messages", Switch, Set(|f, _| { f.output.replay = true; Ok(()) }),
        "Repeat the messages of stdin on stdout"),
    flag("forward-subagent-text", Switch, Warn(NO_AGENTS), ""),
    flag("await-initialize", Switch, Set(|f, _| { f.await_initialize = true; Ok(()) }), ""),
    flag("json-schema", Value("schema"), Set(|f, g| { f.json_schema = Some(g.text()?); Ok(()) }),
        "Answer with JSON that fits this schema"),
    flag("prompt-suggestions", Optional("value"), Set(prompt_suggestions), ""),

    // The model and what it is told.
    flag("model", Value("model"), Set(|f, g| { f.model.model = Some(g.text()?); Ok(()) }),
        "The model: a name such as sonnet, or an id"),
    flag("fallback-model", Value("models"), Set(|f, g| { f.model.fallbacks = g.names()?; Ok(()) }),
        "Models to use, in order, when the model is overloaded"),
    flag("thinking", Value("mode"), Set(thinking), "adaptive or disabled"),
    flag("max-thinking-tokens", Value("tokens"), Set(thinking_tokens), "Tokens to think with; 0 for none"),
    flag("thinking-display", Value("display"), Set(|f, g| { f.model.thinking_display = Some(g.text()?); Ok(()) }), ""),
    flag("effort", Value("level"), Set(effort), "low, medium, high, xhigh or max"),
    flag("betas", Many("betas"), Set(|f, g| { f.model.betas.extend(g.names()?); Ok(()) }),
        "Beta features of the API"),
    flag("system-prompt", Value("prompt"), Set(|f, g| { f.system_prompt.replace = Some(g.text()?); Ok(()) }),
        "Instead of the usual system prompt"),
    flag("system-prompt-file", Value("file"), Set(|f, g| { f.system_prompt_file = Some(g.path()?); Ok(()) }),
        "The same from a file"),
    flag("append-system-prompt", Value("prompt"), Set(|f, g| { f.system_prompt.append = Some(g.text()?); Ok(()) }),
        "After the usual system prompt"),
    flag("append-system-prompt-file", Value("file"), Set(|f, g| { f.append_system_prompt_file = Some(g.path()?); Ok(()) }),
        "The same from a file"),
    flag("exclude-dynamic-system-prompt-sections", Switch,
        Set(|f, _| { f.system_prompt.exclude_dynamic_sections = true; Ok(()) }), ""),
    flag("system-prompt-snapshot", Value("on|off"), Set(prompt_snapshot), ""),

    // When to stop.
    flag("max-turns", Value("turns"), Set(|f, g| { f.limits.max_turns = Some(g.limit()?); Ok(()) }),
        "Stop after so many rounds of tools; 0 for no limit"),
    flag("max-budget-usd", Value("amount"), Set(|f, g| { f.limits.max_budget_usd = Some(g.positive_amount()?); Ok(()) }),
        "Stop when it has cost so much"),
    flag("task-budget", Value("tokens"), Set(task_budget), ""),

    // Who may do what.
    flag("permission-mode", Value("mode"), Set(permission_mode),
        "default, acceptEdits, plan, dontAsk, auto or bypassPermissions"),
    flag("allowed-tools", Many("rules"), Set(|f, g| { f.permissions.allowed.extend(g.rules()?); Ok(()) }),
        "What may be done unasked, for example 'Bash(git log:*),Edit'"),
    flag("disallowed-tools", Many("rules"), Set(|f, g| { f.permissions.disallowed.extend(g.rules()?); Ok(()) }),
        "What must not be done"),
    flag("tools", Many("tools"), Set(tools), "The built-in tools there are; '' for none"),
    flag("add-dir", Many("directories"), Set(|f, g| { f.permissions.add_dirs.extend(g.paths()); Ok(()) }),
        "More directories to work in"),
    flag("permission-prompt-tool", Value("tool"), Set(|f, g| { f.prompt_tool = Some(g.text()?); Ok(()) }), ""),
    flag("permission-prompts", Value("target"), Set(permission_prompts),
        "host (default), or none: what would be asked is denied"),
    flag("dangerously-skip-permissions", Switch, Set(|f, _| { f.skip_permissions = true; Ok(()) }),
        "Ask nobody about anything"),
    flag("allow-dangerously-skip-permissions", Switch,
        Set(|f, _| { f.permissions.bypass_available = true; Ok(()) }), "Let the host switch to that later"),
    flag("restricted", Switch, Refuse("use --tools, --disallowed-tools and --setting-sources= instead"), ""),
    flag("safe-mode", Switch, Refuse("use --setting-sources= and --strict-mcp-config instead"), ""),
    flag("bare", Switch, Refuse("use --setting-sources= and --strict-mcp-config instead"), ""),

    // Settings and servers.
    flag("settings", Value("file-or-json"), Set(|f, g| { f.settings = Some(g.raw()?); Ok(()) }),
        "More settings"),
    flag("setting-sources", Value("sources"), Set(setting_sources), "user, project, local; '' for none"),
    flag("trust-project", Value("digest"), Set(trust_project),
        "Use the project's hooks, servers and rules if their digest is this one"),
    flag("managed-settings", Value("file-or-json"), Set(|f, g| { f.managed_settings = Some(g.raw()?); Ok(()) }), ""),
    flag("managed-settings-in-initialize", Switch, Refuse("pass --managed-settings instead"), ""),
    flag("project-config-root", Value("directory"), Set(|f, g| { f.project_config_root = Some(g.path()?); Ok(()) }), ""),
    flag("mcp-config", Many("files-or-json"), Set(|f, g| { f.mcp_configs.extend(g.values); Ok(()) }),
        "MCP servers"),
    flag("strict-mcp-config", Switch, Set(|f, _| { f.strict_mcp = true; Ok(()) }), "No other MCP servers"),
    flag("agents", Value("file-or-json"), Set(|f, g| { f.agents = Some(g.raw()?); Ok(()) }), ""),
    flag("agent", Value("agent"),
        Refuse("there are no agents; pass its prompt with --system-prompt and its tools with --tools"), ""),
    flag("plugin-dir", Value("path"), Warn(NO_PLUGINS), ""),
    flag("plugin-dir-no-mcp", Value("path"), Warn(NO_PLUGINS), ""),
    flag("plugin-url", Value("url"), Warn(NO_PLUGINS), ""),
    flag("disable-slash-commands", Switch, Set(|f, _| { f.commands = Commands::Disabled; Ok(()) }), ""),

    // Which conversation.
    short('c', flag("continue", Switch, Set(|f, _| { f.continue_latest = true; Ok(()) }),
        "Go on with the newest conversation of this directory")),
    short('r', flag("resume", Optional("id"), Set(resume), "Go on with this conversation")),
    flag("fork-session", Switch, Set(|f, _| { f.history.fork = true; Ok(()) }),
        "Go on under a new id, leaving the old conversation as it is"),
    flag("resume-session-at", Value("message"), Set(|f, g| { f.resume_at = Some(g.text()?); Ok(()) }), ""),
    flag("resume-drops-turn", Value("message"), Set(|f, g| { f.resume_drops_turn = Some(g.text()?); Ok(()) }), ""),
    flag("session-id", Value("uuid"), Set(|f, g| { f.session_id = Some(g.text()?); Ok(()) }),
        "The id of the conversation"),
    flag("no-session-persistence", Switch, Set(|f, _| { f.history.persistence = Persistence::None; Ok(()) }),
        "Do not save the conversation"),
    flag("session-mirror", Switch, Set(|f, _| { f.history.mirror = true; Ok(()) }), ""),
    short('n', flag("name", Value("name"), Set(|f, g| { f.history.name = title(&g.text()?); Ok(()) }),
        "The name of the conversation")),

    // For finding faults.
    short('d', flag("debug", Optional("filter"), Set(|f, _| { f.debug.on = true; Ok(()) }),
        "Write a debug log to ~/.claude/debug; the filter is ignored")),
    flag("debug-to-stderr", Switch, Set(|f, _| { f.debug.to_stderr = true; Ok(()) }),
        "Write it to stderr"),
    flag("debug-file", Value("path"), Set(|f, g| { f.debug.file = Some(g.path()?); Ok(()) }),
        "Write it to this file"),
    flag("hard-fail", Switch, Nothing, ""),

    // Nothing without a terminal.
    flag("ide", Switch, Nothing, ""),
    flag("chrome", Switch, Nothing, ""),
    flag("no-chrome", Switch, Nothing, ""),
    flag("brief", Switch, Nothing, ""),
    flag("ax-screen-reader", Switch, Nothing, ""),
    flag("autocompact", Value("auto|tokens"), Warn("conversations are not compacted"), ""),
    flag("channels", Many("channels"), Warn("there are no channels"), ""),
    flag("file", Many("specs"), Refuse("files are not downloaded"), ""),
    flag("bg", Switch, Refuse(NO_TERMINAL), ""),
    flag("desktop", Switch, Refuse(NO_TERMINAL), ""),
    flag("tmux", Optional("kind"), Refuse(NO_TERMINAL), ""),
    short('w', flag("worktree", Optional("name"), Refuse("make the worktree with git and start there"), "")),
    flag("from-pr", Optional("value"), Refuse(NO_CLOUD), ""),
    flag("teleport", Optional("session"), Refuse(NO_CLOUD), ""),
    flag("cloud", Optional("description"), Refuse(NO_CLOUD), ""),
    flag("environment", Value("environment"), Refuse(NO_CLOUD), ""),
    flag("remote-control", Optional("name"), Refuse(NO_CLOUD), ""),
    flag("sdk-url", Value("url"), Refuse(NO_CLOUD), ""),
];

/// The name of a session, on one line; none if there is nothing in it.
fn title(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

fn output_format(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    flags.output_format = given.choice(&[
        ("text", OutputFormat::Text),
        ("json", OutputFormat::Json),
        ("stream-json", OutputFormat::StreamJson),
    ])?;
    Ok(())
}

fn input_format(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    flags.input_format = given.choice(&[
        ("text", InputFormat::Text),
        ("stream-json", InputFormat::StreamJson),
    ])?;
    Ok(())
}

fn thinking(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    flags.model.thinking = given.choice(&[
        ("enabled", Thinking::Adaptive),
        ("adaptive", Thinking::Adaptive),
        ("disabled", Thinking::Disabled),
    ])?;
    Ok(())
}

fn thinking_tokens(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    flags.model.thinking = match given.count()? {
        0 => Thinking::Disabled,
        tokens => Thinking::Budget(tokens),
    };
    Ok(())
}

/// `false` asks for nothing.
fn prompt_suggestions(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    let flag = given.flag;
    if !matches!(
        given.optional_text()?.as_deref(),
        Some("false" | "off" | "0")
    ) {
        flags.ignored(flag, "the next prompt is not guessed");
    }
    Ok(())
}

/// The prompt is made for each request, which is what `off` says.
fn prompt_snapshot(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    let flag = given.flag;
    if given.choice(&[("on", true), ("off", false)])? {
        flags.ignored(flag, "the system prompt is made for each request");
    }
    Ok(())
}

fn task_budget(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    let flag = given.flag;
    given.positive_count()?;
    flags.ignored(
        flag,
        "the model is not told; --max-budget-usd and --max-turns limit it",
    );
    Ok(())
}

/// An unknown level is no reason to stop, says the official CLI.
fn effort(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    const LEVELS: &[&str] = &["low", "medium", "high", "xhigh", "max"];
    let level = given.text()?;
    if LEVELS.contains(&level.as_str()) {
        flags.model.effort = Some(level);
    } else {
        let levels = LEVELS.join(", ");
        flags.warnings.push(format!(
            "unknown effort '{level}' is ignored; choose one of {levels}"
        ));
    }
    Ok(())
}

fn permission_mode(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    const MODES: &[&str] = &[
        "acceptEdits",
        "auto",
        "bypassPermissions",
        "manual",
        "default",
        "dontAsk",
        "plan",
    ];
    let names: Vec<_> = MODES.iter().map(|name| (*name, *name)).collect();
    let mode = match given.choice(&names)? {
        "manual" => "default",
        other => other,
    };
    flags.permissions.mode = Some(PermissionMode::from(mode));
    Ok(())
}

fn permission_prompts(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    flags.prompts = given.choice(&[("host", Prompts::Host), ("none", Prompts::Nobody)])?;
    Ok(())
}

fn tools(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    let names = given.rules()?;
    flags.tools = if names.iter().any(|name| name == "default") {
        ToolChoice::Default
    } else {
        ToolChoice::Only(names)
    };
    Ok(())
}

fn setting_sources(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    let flag = given.flag;
    let mut sources = SettingSources {
        user: false,
        project: false,
        local: false,
    };
    for name in given.names()? {
        match name.as_str() {
            "user" => sources.user = true,
            "project" => sources.project = true,
            "local" => sources.local = true,
            _ => {
                let wanted = "Valid options are: user, project, local".to_owned();
                return Err(flag.refuse(name, wanted));
            }
        }
    }
    // Who names the project's files has decided about them; a default has decided nothing.
    if (sources.project || sources.local) && flags.decided == Decided::Nothing {
        flags.decided = Decided::Sources;
    }
    flags.sources = sources;
    Ok(())
}

fn trust_project(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    flags.decided = Decided::Content(given.text()?);
    Ok(())
}

fn resume(flags: &mut Flags, given: Given) -> Result<(), FlagProblem> {
    flags.resume = Some(given.optional_text()?.unwrap_or_default());
    Ok(())
}
