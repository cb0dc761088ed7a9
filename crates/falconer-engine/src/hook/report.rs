//! What the host and the user are told of hooks.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use falconer_protocol::hook::HookEvent;
use falconer_protocol::system::{HookOutcome, HookResponse, HookStarted, Informational, Level};
use falconer_protocol::{HookCallbackId, MessageUuid, SessionId};

use super::answer::Ran;
use super::registry::Policy;
use super::{Hooks, Occasion, Shown};

/// What was said already and is not said again.
#[derive(Debug, Default)]
pub(super) struct Told {
    kinds: Mutex<HashSet<String>>,
}

/// What a hook of a settings file wrote and how it ended.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) exit_code: Option<i64>,
}

/// Waits until the limit is over and returns it; for ever without one.
pub(super) async fn past(limit: Option<Duration>) -> Duration {
    match limit {
        Some(limit) => {
            tokio::time::sleep(limit).await;
            limit
        }
        None => std::future::pending().await,
    }
}

impl Hooks {
    /// The start of a session is shown to everybody: it may take long, and nothing else is
    /// heard of the session until then. Its end is shown to nobody: who listens has heard all.
    /// Nor is what happens beside the conversation.
    fn is_shown(&self, occasion: &Occasion<'_>) -> bool {
        match occasion.event {
            HookEvent::SessionStart => true,
            HookEvent::SessionEnd | HookEvent::FileChanged | HookEvent::DirectoryAdded => false,
            _ => self.surroundings.shown == Shown::Yes,
        }
    }

    /// Says that a hook of a settings file starts. Returns its id for the end.
    pub(super) async fn tell_started(&self, occasion: &Occasion<'_>) -> String {
        let hook_id = uuid::Uuid::new_v4().to_string();
        if self.is_shown(occasion) {
            let frame = HookStarted {
                hook_id: hook_id.clone(),
                hook_name: Some(occasion.name.clone()),
                hook_event: Some(occasion.event.to_string()),
                uuid: Some(new_uuid()),
                session_id: session(occasion),
                ..HookStarted::default()
            };
            self.surroundings.outbox.send(&frame).await;
        }
        hook_id
    }

    pub(super) async fn tell_ended(
        &self,
        occasion: &Occasion<'_>,
        hook_id: String,
        written: Written,
        ran: &Ran,
    ) {
        if !self.is_shown(occasion) {
            return;
        }
        let outcome = match ran {
            Ran::Cancelled => HookOutcome::Cancelled,
            Ran::Blocked(_) | Ran::Failed(_) | Ran::TimedOut(_) | Ran::HostClosed => {
                HookOutcome::Error
            }
            Ran::Answered(_) | Ran::Said(_) | Ran::Detached | Ran::NoOpinion => {
                HookOutcome::Success
            }
        };
        let frame = HookResponse {
            hook_id,
            hook_name: Some(occasion.name.clone()),
            hook_event: Some(occasion.event.to_string()),
            output: Some(format!("{}{}", written.stdout, written.stderr)),
            stdout: Some(written.stdout),
            stderr: Some(written.stderr),
            exit_code: written.exit_code,
            outcome: Some(outcome),
            uuid: Some(new_uuid()),
            session_id: session(occasion),
            ..HookResponse::default()
        };
        self.surroundings.outbox.send(&frame).await;
    }

    pub(super) async fn tell_failed(
        &self,
        occasion: &Occasion<'_>,
        id: &HookCallbackId,
        on_failure: Policy,
        why: &str,
    ) {
        let taken = match on_failure {
            Policy::Continue => "It counts as no opinion.",
            Policy::Block => "It counts as a refusal, as its `onFailure` says.",
        };
        let event = &occasion.event;
        let id = id.as_str();
        let content = format!("{event}: Hook callback {id} failed: {why}. {taken}");
        self.warn(occasion, content, Some("hook_callback_failed"))
            .await;
    }

    pub(super) async fn tell_late(&self, occasion: &Occasion<'_>, limit: Duration) {
        let event = &occasion.event;
        let millis = limit.as_millis();
        let content = format!("{event} hook callback did not answer within {millis} ms.");
        self.warn(occasion, content, None).await;
    }

    /// A kind of hook that this engine cannot run: a failure, told once for each kind.
    pub(super) async fn refuse(&self, kind: &str, occasion: &Occasion<'_>) -> Ran {
        let why = format!("hooks of type `{kind}` are not supported");
        let first = {
            let kinds = self.told.kinds.lock();
            let mut kinds = kinds.unwrap_or_else(PoisonError::into_inner);
            kinds.insert(kind.to_owned())
        };
        if first {
            let content = format!(
                "{}: {why}. Use `command` or `http`, or set `onFailure` to `block`.",
                occasion.event
            );
            self.warn(occasion, content, Some("hook_unsupported")).await;
        }
        Ran::Failed(why)
    }

    async fn warn(&self, occasion: &Occasion<'_>, content: String, tag: Option<&str>) {
        let frame = Informational {
            content,
            level: Some(Level::Warning),
            tag: tag.map(str::to_owned),
            uuid: Some(new_uuid()),
            session_id: session(occasion),
            ..Informational::default()
        };
        self.surroundings.outbox.send(&frame).await;
    }
}

fn session(occasion: &Occasion<'_>) -> Option<SessionId> {
    occasion.input.session_id().map(SessionId::from)
}

fn new_uuid() -> MessageUuid {
    MessageUuid::from(uuid::Uuid::new_v4().to_string())
}
