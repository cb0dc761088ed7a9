//! Who is registered for which event.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use falconer_protocol::hook::{HookEvent, HookMatcher, OnFailure};
use falconer_protocol::{HookCallbackId, Number};
use serde_json::Value;

use super::DEFAULT_TIMEOUT;
use super::pattern::Pattern;
use crate::trust::Seal;

/// The hooks of settings files, and what else the files say about them.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingsHooks {
    /// The `hooks` object of each file with the file's name for people, in order of precedence.
    pub(crate) layers: Vec<(String, Value)>,
    /// `disableAllHooks`.
    pub(crate) disabled: bool,
    /// `allowedHttpHookUrls`: everything if `None`.
    pub(crate) allowed_urls: Option<Vec<String>>,
    /// `httpHookAllowedEnvVars`: everything a hook asks for if `None`.
    pub(crate) allowed_variables: Option<Vec<String>>,
    /// What of the project was trusted.
    pub(crate) seals: Vec<Arc<Seal>>,
}

/// All registrations at one moment.
#[derive(Debug, Clone, Default)]
pub(super) struct Registry {
    pub(super) host: ByEvent,
    pub(super) settings: ByEvent,
    /// The names of files in matchers of `FileChanged`.
    pub(super) watched: Vec<String>,
}

type ByEvent = BTreeMap<HookEvent, Vec<Arc<Hook>>>;

/// One handler with its conditions.
#[derive(Debug)]
pub(super) struct Hook {
    pattern: Pattern,
    pub(super) handler: Handler,
    /// None for a callback of the host that named none: the host may take its time.
    pub(super) timeout: Option<Duration>,
    pub(super) on_failure: Policy,
    pub(super) waiting: Waiting,
    /// What was trusted, for one of the project.
    pub(super) seal: Option<Arc<Seal>>,
    /// For hooks that run once: whether they did.
    spent: Option<AtomicBool>,
}

/// What a failure counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    Continue,
    Block,
}

/// Whether the engine waits for a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    ForAnswer,
    /// `async: true` in the settings.
    Never,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Handler {
    Callback(HookCallbackId),
    Command(Command),
    Http(Request),
    /// A kind of settings files that this engine cannot run.
    Unsupported(String),
}

/// A program of a settings file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Command {
    pub(super) command: String,
    /// With these, `command` is a program; without, a line for the shell.
    pub(super) args: Option<Vec<String>>,
}

/// A request of a settings file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) url: String,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) variables: Vec<String>,
}

impl Registry {
    pub(super) fn has(&self, event: &HookEvent) -> bool {
        any(&self.host, event) || self.has_in_settings(event)
    }

    pub(super) fn has_in_settings(&self, event: &HookEvent) -> bool {
        any(&self.settings, event)
    }

    /// The hooks to run; the same command or request only once.
    pub(super) fn matching(&self, event: &HookEvent, subject: Option<&str>) -> Vec<Arc<Hook>> {
        let settings = self.settings.get(event).into_iter().flatten();
        let host = self.host.get(event).into_iter().flatten();
        let mut seen = HashSet::new();
        settings
            .chain(host)
            .filter(|hook| hook.pattern.matches(subject))
            .filter(|hook| seen.insert(&hook.handler))
            .map(Arc::clone)
            .collect()
    }
}

fn any(hooks: &ByEvent, event: &HookEvent) -> bool {
    hooks.get(event).is_some_and(|hooks| !hooks.is_empty())
}

impl Hook {
    /// Whether it may run now: hooks that run once may not run again.
    pub(super) fn take_turn(&self) -> bool {
        let spent = self.spent.as_ref();
        spent.is_none_or(|spent| !spent.swap(true, Ordering::Relaxed))
    }

    /// Who speaks, as people and models read it.
    pub(super) fn source(&self) -> &str {
        match &self.handler {
            Handler::Callback(_) => "callback",
            Handler::Command(command) => &command.command,
            Handler::Http(request) => &request.url,
            Handler::Unsupported(kind) => kind,
        }
    }
}

pub(super) fn of_host(hooks: &BTreeMap<HookEvent, Vec<HookMatcher>>) -> (ByEvent, Vec<String>) {
    let mut registered = ByEvent::new();
    let mut warnings = Vec::new();
    for (event, matchers) in hooks {
        warn_of_unknown(event, "the host", &mut warnings);
        let here = registered.entry(event.clone()).or_default();
        for matcher in matchers {
            let on_failure = policy(matcher.on_failure.as_ref());
            let pattern = pattern(matcher.matcher.as_deref(), on_failure, &mut warnings);
            let timeout = matcher.timeout.as_ref().map(Number::as_f64);
            here.extend(matcher.hook_callback_ids.iter().map(|id| {
                Arc::new(Hook {
                    pattern: pattern.clone(),
                    handler: Handler::Callback(id.clone()),
                    timeout: timeout.and_then(seconds),
                    on_failure,
                    waiting: Waiting::ForAnswer,
                    seal: None,
                    spent: None,
                })
            }));
        }
    }
    (registered, warnings)
}

pub(super) fn of_settings(settings: &SettingsHooks) -> (ByEvent, Vec<String>) {
    let mut registered = ByEvent::new();
    let mut warnings = Vec::new();
    if settings.disabled {
        return (registered, warnings);
    }
    for (source, hooks) in &settings.layers {
        let Some(events) = hooks.as_object() else {
            warnings.push(format!("ignored `hooks` of {source}: it is not an object"));
            continue;
        };
        for (name, groups) in events {
            let event = HookEvent::from(name.as_str());
            warn_of_unknown(&event, source, &mut warnings);
            let here = registered.entry(event).or_default();
            for group in groups.as_array().into_iter().flatten() {
                let mut seals = settings.seals.iter();
                let seal = seals.find(|seal| seal.value() == group);
                read_group(group, name, (source, seal), here, &mut warnings);
            }
        }
    }
    (registered, warnings)
}

fn read_group(
    group: &Value,
    event: &str,
    (source, seal): (&str, Option<&Arc<Seal>>),
    here: &mut Vec<Arc<Hook>>,
    warnings: &mut Vec<String>,
) {
    let Some(hooks) = group.get("hooks").and_then(Value::as_array) else {
        warnings.push(format!(
            "ignored a hook for {event} in {source}: it has no list `hooks`"
        ));
        return;
    };
    let matcher = group.get("matcher").and_then(Value::as_str);
    for hook in hooks {
        match read_handler(hook) {
            Ok(handler) => {
                let mut hook = read_hook(hook, matcher, handler, warnings);
                hook.seal = seal.cloned();
                here.push(Arc::new(hook));
            }
            Err(why) => warnings.push(format!("ignored a hook for {event} in {source}: {why}")),
        }
    }
}

fn read_hook(
    hook: &Value,
    matcher: Option<&str>,
    handler: Handler,
    warnings: &mut Vec<String>,
) -> Hook {
    let says = |field: &str| hook.get(field).and_then(Value::as_bool).unwrap_or_default();
    let stated = hook.get("onFailure").and_then(Value::as_str);
    let on_failure = policy(stated.map(OnFailure::from).as_ref());
    let timeout = hook.get("timeout").and_then(Value::as_f64);
    Hook {
        pattern: pattern(matcher, on_failure, warnings),
        handler,
        timeout: Some(timeout.and_then(seconds).unwrap_or(DEFAULT_TIMEOUT)),
        on_failure,
        waiting: if says("async") || says("asyncRewake") {
            Waiting::Never
        } else {
            Waiting::ForAnswer
        },
        seal: None,
        spent: says("once").then(AtomicBool::default),
    }
}

fn read_handler(hook: &Value) -> Result<Handler, String> {
    let text = |field: &str| hook.get(field).and_then(Value::as_str).map(str::to_owned);
    match text("type").as_deref() {
        Some("command") => Ok(Handler::Command(Command {
            command: text("command").ok_or("it has no `command`")?,
            args: hook.get("args").and_then(Value::as_array).map(texts),
        })),
        Some("http") => Ok(Handler::Http(Request {
            url: text("url").ok_or("it has no `url`")?,
            headers: hook.get("headers").map(text_map).unwrap_or_default(),
            variables: hook
                .get("allowedEnvVars")
                .and_then(Value::as_array)
                .map(texts)
                .unwrap_or_default(),
        })),
        Some(kind) => Ok(Handler::Unsupported(kind.to_owned())),
        None => Err("it has no `type`".to_owned()),
    }
}

#[expect(clippy::ptr_arg, reason = "passed to `Option::map` of an array")]
fn texts(list: &Vec<Value>) -> Vec<String> {
    let texts = list.iter().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

fn text_map(value: &Value) -> BTreeMap<String, String> {
    let entries = value.as_object().into_iter().flatten();
    entries
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect()
}

fn policy(on_failure: Option<&OnFailure>) -> Policy {
    match on_failure {
        Some(OnFailure::Block) => Policy::Block,
        _ => Policy::Continue,
    }
}

/// A matcher that cannot be read matches nothing, except where a failure has to block.
fn pattern(matcher: Option<&str>, on_failure: Policy, warnings: &mut Vec<String>) -> Pattern {
    Pattern::read(matcher).unwrap_or_else(|why| {
        warnings.push(why);
        match on_failure {
            Policy::Continue => Pattern::Nothing,
            Policy::Block => Pattern::Everything,
        }
    })
}

fn seconds(seconds: f64) -> Option<Duration> {
    let positive = seconds.is_finite() && seconds > 0.0;
    positive.then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

fn warn_of_unknown(event: &HookEvent, source: &str, warnings: &mut Vec<String>) {
    if let HookEvent::Other(name) = event {
        warnings.push(format!(
            "{source} has hooks for the unknown event `{name}`; they never run"
        ));
    }
}
