//! Puts a session together and starts it.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use falconer_model::{ConnectError, PriceTable, QuickModel};
use falconer_protocol::SessionId;
use falconer_protocol::mcp::McpServerConfig;
use falconer_protocol::permission::PermissionMode;
use falconer_rule::{Call, Voice};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::mpsc;

use super::actor::Actor;
use super::config::{self, History, PermissionPrompt, SessionConfig};
use super::control::set_schema;
use super::core::{Core, Options, State};
use super::elicitation::Witness;
use super::ledger::Ledger;
use super::preferences::settings_hooks;
use super::queue::Queue;
use super::record::Record;
use super::stop::{Exit, Stop};
use crate::conversation::Conversation;
use crate::frame::{Outbox, Speaker, StateEvents};
use crate::hook::{Hooks, RunIn, Shown, Surroundings};
use crate::host::Host;
use crate::mcp::{Declared, Elicitation, Origin, Servers, Wiring};
use crate::permission::{
    Bypass, Effect, Locks, ModeRefused, Permissions, RuleSource, Start, WrittenRule,
};
use crate::settings::{Found, Settings, Sources, UserConfig, Watch};
use crate::task::Tasks;
use crate::workbench::{ToolLimits, Workbench, Workshop};
use falconer_transcript::{
    Beginning, Checkpoints, Fork, OpenError, OpenRequest, Opened, Persistence, SessionPlace, Stamp,
    Transcript, config_dir,
};

/// How many lines of a host may wait for a session that is busy. Then the host waits, too.
const INPUT_LANE: usize = 16;

/// The model for quick questions, unless the environment names another.
const SMALL_MODEL: &str = "claude-haiku-4-5";

/// A session that runs.
pub(crate) struct SessionHandle {
    /// Whole lines of the host. Dropping it ends the input.
    pub(crate) input: mpsc::Sender<Bytes>,
    /// Lines for the host, each with its newline. Closed when nothing more comes.
    pub(crate) output: mpsc::Receiver<Bytes>,
    pub(crate) stop: Stop,
    /// What people should know.
    pub(crate) warnings: Vec<String>,
    /// Resolves when nothing is left of the session.
    pub(crate) ended: BoxFuture<'static, Exit>,
}

impl std::fmt::Debug for SessionHandle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("SessionHandle")
            .finish_non_exhaustive()
    }
}

/// Why a session cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error(transparent)]
    Transcript(#[from] OpenError),
    #[error(transparent)]
    Mode(#[from] ModeRefused),
    #[error(transparent)]
    Prices(#[from] ConnectError),
    #[error("{0}")]
    Schema(String),
}

/// Starts a session. Must be called on a runtime.
pub(crate) fn open(config: SessionConfig) -> Result<SessionHandle, Refused> {
    let (outbox, output) = Outbox::new();
    let (input, lines) = mpsc::channel(INPUT_LANE);
    let how = config.input.clone();
    let (core, warnings) = build(config, &outbox)?;
    let stop = Stop::default();
    let actor = Actor::new(core, lines, stop.clone(), &how);
    let running = tokio::spawn(actor.run());
    let ended = running.map(|ended| {
        ended.unwrap_or_else(|error| Exit {
            code: 1,
            stderr: vec![format!("the session broke down: {error}")],
        })
    });
    Ok(SessionHandle {
        input,
        output,
        stop,
        warnings,
        ended: ended.boxed(),
    })
}

/// What a session with this configuration would do with a call, by rules and mode alone.
pub(crate) fn explain(config: &SessionConfig, call: &Call<'_>) -> Result<Voice, ModeRefused> {
    Ok(permissions(config, &config.settings.settings)?.explain(call))
}

/// Reads what is there, then makes the parts.
fn build(mut config: SessionConfig, outbox: &Outbox) -> Result<(Arc<Core>, Vec<String>), Refused> {
    let Found {
        sources,
        user,
        settings,
    } = std::mem::take(&mut config.settings);
    let watch = sources.clone().map_or_else(Watch::default, Watch::new);
    let nowhere = || Sources::new(&config.environment, config.cwd.clone());
    let sources = sources.unwrap_or_else(nowhere);
    let mut warnings = settings.warnings().to_vec();
    let place = config_dir(&config.environment).map(|dir| SessionPlace::new(&dir, &config.cwd));
    let opened = open_transcript(&config, place.as_ref())?;
    warnings.extend_from_slice(&opened.loaded.warnings);
    let mut permissions = permissions(&config, &settings)?;
    warnings.extend_from_slice(permissions.problems());
    let prices = PriceTable::from_environment(&config.environment)?;
    let host = Host::new(outbox.clone());
    let states = StateEvents::of(&config.environment);
    let speaker = Speaker::new(outbox.clone(), opened.session.clone(), states);
    let hooks = hooks(&config, &sources, &settings, &host, outbox, &mut warnings);
    let witness = Arc::<Witness>::default();
    let asked = (&host, Arc::clone(&witness));
    let servers = servers(&config, &sources, &user, &settings, asked, &mut warnings);
    let workbench = workbench(&config, &settings, &opened, place.as_ref());
    if let Some(file) = &workbench.plan_file {
        permissions.set_plan_file(file);
    }
    let task_events = workbench.shop.tasks.subscribe();
    let mut ledger = Ledger::new(prices.clone());
    if let Some(cost) = &opened.loaded.cost {
        ledger.carry(cost.total_cost_usd, &cost.model_usage);
    }
    let mut state = state(&config, &settings, &opened.loaded.messages);
    state.title = config.history.name.clone().or(opened.loaded.title);
    let core = Core {
        options: options(&config, &settings, &state.model),
        speaker,
        host,
        provider: config.provider,
        workbench: Arc::new(workbench),
        hooks,
        servers,
        record: Record::new(opened.transcript, place, config.history.name.clone()),
        files: sources.files(),
        prices,
        watch: Mutex::new(watch),
        lookout: Mutex::default(),
        permissions: Mutex::new(permissions),
        settings: Mutex::new(settings),
        queue: Mutex::new(Queue::after(opened.loaded.prompts)),
        ledger: Mutex::new(ledger),
        state: Mutex::new(state),
        task_events: Mutex::new(task_events),
        schemas_told: AtomicBool::new(false),
    };
    if let Some(schema) = &config.json_schema {
        set_schema(&core, schema).map_err(Refused::Schema)?;
    }
    let core = Arc::new(core);
    witness.attend(&core);
    Ok((core, warnings))
}

fn open_transcript(
    config: &SessionConfig,
    place: Option<&SessionPlace>,
) -> Result<Opened, OpenError> {
    let history: &History = &config.history;
    let origin = match &history.start {
        config::Start::Fresh => Beginning::New,
        config::Start::Continue => Beginning::Continue,
        config::Start::Resume(id) => Beginning::Resume(id.clone()),
    };
    let request = OpenRequest {
        origin,
        session_id: history.session_id.clone(),
        fork: if history.fork { Fork::On } else { Fork::Off },
        resume_at: history.resume_at.clone(),
        drops_turn: history.drops_turn.clone(),
        persistence: match history.persistence {
            config::Persistence::OnDisk => Persistence::Kept,
            config::Persistence::None => Persistence::Off,
        },
        mirrored: history.mirror,
    };
    let stamp = Stamp::new(&config.version, &config.environment, &config.cwd);
    Transcript::open(&request, place, stamp)
}

fn permissions(config: &SessionConfig, settings: &Settings) -> Result<Permissions, ModeRefused> {
    let choice = &config.permissions;
    let mut rules = settings.permission_rules();
    let written = |behavior: Effect| {
        move |text: &String| WrittenRule {
            text: text.clone(),
            behavior,
            source: RuleSource::CliArg,
        }
    };
    rules.extend(choice.disallowed.iter().map(written(Effect::Deny)));
    rules.extend(choice.allowed.iter().map(written(Effect::Allow)));
    let mut directories = choice.add_dirs.clone();
    let more = settings.additional_directories();
    directories.extend(more.into_iter().map(|dir| config.cwd.join(dir)));
    let unlocked = choice.bypass_available && !settings.bypass_is_disabled();
    // The mode of a file may not open what the start did not.
    let from_files = settings
        .default_mode()
        .filter(|mode| unlocked || *mode != PermissionMode::BypassPermissions);
    let mode = choice.mode.clone().or(from_files);
    let mut permissions = Permissions::new(Start {
        rules,
        mode: mode.unwrap_or_default(),
        cwd: config.cwd.clone(),
        home: config.environment.home(),
        path: config.environment.text("PATH").map(Into::into),
        additional_directories: directories,
        readable: vec![overflow(config)],
        bypass: if unlocked {
            Bypass::Unlocked
        } else {
            Bypass::Locked
        },
        locks: match config.confinement {
            Ok(_) => Locks::Both,
            Err(_) => Locks::JudgementOnly,
        },
    })?;
    permissions.guard(&settings.seals().files);
    Ok(permissions)
}

fn hooks(
    config: &SessionConfig,
    sources: &Sources,
    settings: &Settings,
    host: &Host,
    outbox: &Outbox,
    warnings: &mut Vec<String>,
) -> Hooks {
    let hooks = Hooks::new(Surroundings {
        host: host.clone(),
        outbox: outbox.clone(),
        environment: Arc::clone(&config.environment),
        project: sources.project.clone(),
        directory: if sources.project == config.cwd {
            RunIn::Cwd
        } else {
            RunIn::Project
        },
        shown: if config.output.hook_events {
            Shown::Yes
        } else {
            Shown::No
        },
    });
    warnings.extend(hooks.set_settings_hooks(&settings_hooks(settings)));
    hooks
}

fn servers(
    config: &SessionConfig,
    sources: &Sources,
    user: &UserConfig,
    settings: &Settings,
    (host, witness): (&Host, Arc<Witness>),
    warnings: &mut Vec<String>,
) -> Servers {
    let mut declared: Vec<Declared> = Vec::new();
    for (name, value) in &config.mcp.servers {
        declare(&mut declared, warnings, name, value.clone(), Origin::Flag);
    }
    if !config.mcp.strict {
        for server in user.mcp_servers(sources, settings.project_servers()) {
            if is_enabled(settings, &server) {
                let origin = Origin::File(server.scope.name().to_owned());
                declare(&mut declared, warnings, &server.name, server.config, origin);
            }
        }
    }
    // A host that cannot be asked about tools may still answer, and so may hooks.
    let elicitation = match config.permissions.prompt {
        PermissionPrompt::Off => Elicitation::Decline,
        PermissionPrompt::Nobody | PermissionPrompt::Host | PermissionPrompt::McpTool(_) => {
            Elicitation::AskHost
        }
    };
    let wiring = Wiring {
        host: host.clone(),
        environment: Arc::clone(&config.environment),
        cwd: config.cwd.clone(),
        elicitation,
        listener: Some(witness),
        version: config.version.clone(),
        seals: settings.seals().trusted.clone(),
    };
    Servers::connect(declared, wiring)
}

/// Servers of the project are here only if somebody trusts them or the host has decided; without
/// trust in the content a setting has to enable them.
fn is_enabled(settings: &Settings, server: &crate::settings::McpServer) -> bool {
    if settings.mcp_disabled().contains(&server.name) {
        return false;
    }
    match server.scope {
        crate::settings::McpScope::Project => {
            settings.project_servers().trusted
                || settings.mcp_enable_all()
                || settings.mcp_enabled().contains(&server.name)
        }
        crate::settings::McpScope::Local | crate::settings::McpScope::User => true,
    }
}

fn declare(
    declared: &mut Vec<Declared>,
    warnings: &mut Vec<String>,
    name: &str,
    value: Value,
    origin: Origin,
) {
    match falconer_protocol::from_value::<McpServerConfig>(value) {
        Ok(config) => declared.push(Declared {
            name: name.to_owned(),
            config,
            origin,
            manifest: None,
        }),
        Err(error) => warnings.push(format!("MCP server `{name}` is left out: {error}")),
    }
}

fn workbench(
    config: &SessionConfig,
    settings: &Settings,
    opened: &Opened,
    place: Option<&SessionPlace>,
) -> Workbench {
    let checkpoints = place.map_or_else(Checkpoints::default, |place| {
        let directory = Checkpoints::directory(place, &opened.session);
        Checkpoints::open(&config.environment, directory)
    });
    if let (Some(place), Some(from)) = (place, &opened.forked_from)
        && let Err(error) = checkpoints.inherit(&Checkpoints::directory(place, from))
    {
        tracing::warn!(%error, "checkpoints of the forked session cannot be used");
    }
    let small = config.environment.text("ANTHROPIC_SMALL_FAST_MODEL");
    let small = small.unwrap_or_else(|| SMALL_MODEL.to_owned());
    let shell_output = settings.bash_output_max_chars();
    let shop = Workshop {
        additional_dirs: config.permissions.add_dirs.clone(),
        environment: Arc::clone(&config.environment),
        checkpoints,
        tasks: Tasks::default(),
        side_model: Arc::new(QuickModel::new(Arc::clone(&config.provider), small)),
        overflow: overflow(config).join(opened.session.as_str()),
        limits: ToolLimits {
            shell_output: shell_output
                .and_then(|it| it.try_into().ok())
                .unwrap_or(30_000),
            strict_reads: config.limits.strict_reads,
        },
        confinement: config.confinement.clone().ok(),
    };
    let plan = config_dir(&config.environment).map(|dir| plan_file(&dir, &opened.session));
    Workbench::new(config.cwd.clone(), plan, Arc::new(shop))
}

/// Where outputs go that are too large for the conversation, as the CLI has it.
fn overflow(config: &SessionConfig) -> PathBuf {
    let base = config.environment.text("CLAUDE_CODE_TMPDIR");
    let base = base.or_else(|| config.environment.text("TMPDIR"));
    let base = base.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    let user = rustix::process::getuid().as_raw();
    base.join(format!("claude-{user}")).join(slug(&config.cwd))
}

/// Where the plan of a session is kept: the same for a session that is resumed.
fn plan_file(config_dir: &Path, session: &SessionId) -> PathBuf {
    let hash = blake3::hash(session.as_str().as_bytes());
    let letters = hash.as_bytes().iter().take(12);
    let name: String = letters.map(|byte| char::from(b'a' + byte % 26)).collect();
    config_dir.join("plans").join(format!("plan-{name}.md"))
}

fn slug(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    text.chars().map(plain).collect()
}

fn state(config: &SessionConfig, settings: &Settings, messages: &[Value]) -> State {
    let named = config.model.model.clone();
    let named = named.or_else(|| config.environment.text("ANTHROPIC_MODEL"));
    let named = named.or_else(|| settings.model().map(str::to_owned));
    let model = falconer_model::resolve_model(&named.unwrap_or_default());
    let effort = config.model.effort.clone();
    let effort = effort.or_else(|| settings.effort_level(&model).map(str::to_owned));
    State {
        model,
        thinking: config.model.thinking,
        effort,
        prompt: config.prompt.clone(),
        notices: config.notices.clone(),
        conversation: Conversation::resumed(messages),
        ..State::default()
    }
}

fn options(config: &SessionConfig, settings: &Settings, model: &str) -> Options {
    let mut fallbacks = config.model.fallbacks.clone();
    if fallbacks.is_empty() {
        fallbacks = settings.fallback_models();
    }
    let fallbacks = fallbacks.iter().map(|it| falconer_model::resolve_model(it));
    Options {
        version: config.version.clone(),
        output: config.output,
        limits: config.limits,
        permission_prompt: config.permissions.prompt.clone(),
        fallbacks: fallbacks.filter(|it| it != model).collect(),
        betas: config.model.betas.clone(),
        thinking_display: config.model.thinking_display.clone(),
        tools: config.tools.clone(),
        commands: config.commands,
        default_model: model.to_owned(),
    }
}
