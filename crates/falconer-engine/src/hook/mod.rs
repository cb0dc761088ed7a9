//! Hooks of the host and of settings files: who is asked at which point, and what they answer.
//!
//! All hooks that match run beside each other. Their answers are merged in the order of
//! registration; a denial wins over everything, whoever says it.

mod answer;
mod callback;
mod command;
mod fired;
mod http;
mod pattern;
mod registry;
mod report;
#[cfg(test)]
mod tests;
mod watched;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use falconer_protocol::ToolUseId;
use falconer_protocol::hook::{HookEvent, HookInput, HookMatcher};
use falconer_secret::Environment;
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::frame::Outbox;
use crate::host::Host;

use self::answer::Ran;
pub(crate) use self::fired::Fired;
#[cfg_attr(not(test), expect(unused_imports, reason = "used by the loop"))]
pub(crate) use self::fired::{Block, Decision, NoVerdict};
pub(crate) use self::registry::SettingsHooks;
use self::registry::{Handler, Hook, Registry};

/// How long a hook of a settings file may run if it does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The hooks of one session.
#[derive(Debug)]
pub(crate) struct Hooks {
    surroundings: Surroundings,
    registry: Mutex<Arc<Registry>>,
    /// Hooks that said they go on by themselves; each has a time limit.
    detached: TaskTracker,
    closing: CancellationToken,
    web: http::Web,
    told: report::Told,
}

/// Where hooks run and who hears of them.
#[derive(Debug)]
pub(crate) struct Surroundings {
    pub(crate) host: Host,
    pub(crate) outbox: Outbox,
    pub(crate) environment: Arc<Environment>,
    /// `CLAUDE_PROJECT_DIR`: where the session was started, or where its settings come from.
    pub(crate) project: PathBuf,
    pub(crate) directory: RunIn,
    pub(crate) shown: Shown,
}

/// Where programs of hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunIn {
    /// Where the session works.
    Cwd,
    /// Where its settings come from: the branch at work does not decide what runs.
    Project,
}

/// Whether `hook_started` and `hook_response` are sent (`--include-hook-events`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Yes,
    No,
}

/// One firing of an event, the same for all its hooks.
#[derive(Debug)]
struct Occasion<'a> {
    event: HookEvent,
    /// `PreToolUse:Bash`, as the frames show it.
    name: String,
    input: &'a HookInput,
    /// The call it is about, where the input does not say.
    call: Option<&'a ToolUseId>,
    /// The input as one line of JSON.
    line: bytes::Bytes,
    cancelled: &'a CancellationToken,
}

impl Hooks {
    pub(crate) fn new(surroundings: Surroundings) -> Self {
        Self {
            surroundings,
            registry: Mutex::default(),
            detached: TaskTracker::new(),
            closing: CancellationToken::new(),
            web: http::Web::default(),
            told: report::Told::default(),
        }
    }

    /// Replaces the host's callbacks, as each `initialize` does. Returns what is odd about them.
    pub(crate) fn set_host_hooks(
        &self,
        hooks: &BTreeMap<HookEvent, Vec<HookMatcher>>,
    ) -> Vec<String> {
        let (host, warnings) = registry::of_host(hooks);
        self.change(|registry| registry.host = host);
        warnings
    }

    /// Replaces the hooks of settings files. Returns what is odd about them.
    ///
    /// `disableAllHooks` turns off these only: what a host registered for its own protection
    /// cannot be switched off by a file in a project.
    pub(crate) fn set_settings_hooks(&self, settings: &SettingsHooks) -> Vec<String> {
        let (hooks, warnings) = registry::of_settings(settings);
        self.web.set_policy(settings);
        self.change(|registry| {
            registry.settings = hooks;
            registry.watched = watched::names(settings);
        });
        warnings
    }

    /// The files that hooks of settings files want to hear of, as they name them.
    pub(crate) fn watched(&self) -> Vec<String> {
        self.registry().watched.clone()
    }

    /// Whether settings files have hooks for this event.
    pub(crate) fn has_in_settings(&self, event: &HookEvent) -> bool {
        self.registry().has_in_settings(event)
    }

    /// Whether anybody is asked at this event.
    pub(crate) fn has(&self, event: &HookEvent) -> bool {
        self.registry().has(event)
    }

    /// Asks all hooks that match and merges what they say.
    ///
    /// `subject` is what matchers look at: the name of a tool, the source of a session start.
    /// Ends soon after `cancelled`, leaving no process and no open question.
    pub(crate) async fn fire(
        &self,
        input: &HookInput,
        subject: Option<&str>,
        cancelled: &CancellationToken,
    ) -> Fired {
        self.fire_about(input, subject, None, cancelled).await
    }

    /// The same for a call that the input does not name.
    pub(crate) async fn fire_about(
        &self,
        input: &HookInput,
        subject: Option<&str>,
        call: Option<&ToolUseId>,
        cancelled: &CancellationToken,
    ) -> Fired {
        let hooks = self.registry().matching(&input.event(), subject);
        self.run_all(&hooks, input, subject, call, cancelled).await
    }

    /// Asks the hooks of settings files only: the host hears of these events in other ways.
    pub(crate) async fn fire_in_settings(
        &self,
        input: &HookInput,
        subject: Option<&str>,
        cancelled: &CancellationToken,
    ) -> Fired {
        let mut hooks = self.registry().matching(&input.event(), subject);
        hooks.retain(|hook| !matches!(hook.handler, Handler::Callback(_)));
        self.run_all(&hooks, input, subject, None, cancelled).await
    }

    async fn run_all(
        &self,
        hooks: &[Arc<Hook>],
        input: &HookInput,
        subject: Option<&str>,
        call: Option<&ToolUseId>,
        cancelled: &CancellationToken,
    ) -> Fired {
        if hooks.is_empty() {
            return Fired::default();
        }
        let event = input.event();
        let name = subject.map_or_else(|| event.to_string(), |on| format!("{event}:{on}"));
        let line = falconer_protocol::to_line(input).unwrap_or_default();
        let occasion = Occasion {
            event,
            name,
            input,
            call,
            line,
            cancelled,
        };
        let runs = hooks.iter().map(|hook| self.run(hook, &occasion));
        let answers = join_all(runs).await;
        let mut fired = Fired::default();
        for (hook, ran) in hooks.iter().zip(answers) {
            fired.take(&occasion.event, hook, ran);
        }
        fired
    }

    /// Cancelled when the session ends, for hooks outside of turns.
    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// Ends hooks that went on by themselves.
    pub(crate) async fn close(&self) {
        self.closing.cancel();
        self.detached.close();
        self.detached.wait().await;
    }

    async fn run(&self, hook: &Hook, occasion: &Occasion<'_>) -> Ran {
        if !hook.take_turn() {
            return Ran::NoOpinion;
        }
        if let Some(why) = self.unsealed(hook, occasion) {
            // Without its guard a call must not go on.
            return match occasion.event {
                HookEvent::PreToolUse => Ran::Blocked(why),
                _ => Ran::Failed(why),
            };
        }
        match &hook.handler {
            Handler::Callback(id) => self.call_back(id, hook, occasion).await,
            Handler::Command(command) => Box::pin(self.run_command(command, hook, occasion)).await,
            Handler::Http(request) => Box::pin(self.post(request, hook, occasion)).await,
            Handler::Unsupported(kind) => self.refuse(kind, occasion).await,
        }
    }

    /// Why a hook of the project is not what somebody trusted any more.
    fn unsealed(&self, hook: &Hook, occasion: &Occasion<'_>) -> Option<String> {
        let cwd = match self.surroundings.directory {
            RunIn::Cwd => occasion.input.cwd().map(PathBuf::from),
            RunIn::Project => None,
        };
        let cwd = cwd.unwrap_or_else(|| self.surroundings.project.clone());
        let why = hook.seal.as_ref()?.broken(&cwd)?;
        Some(format!(
            "the hook `{}` of the project was not run: {why}; run `falconer trust` and start a \
             new session",
            hook.source()
        ))
    }

    fn registry(&self) -> Arc<Registry> {
        let registry = self.registry.lock();
        Arc::clone(&registry.unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, change: impl FnOnce(&mut Registry)) {
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut registry));
    }
}
