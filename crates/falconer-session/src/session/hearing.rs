//! What the engine says.

use falconer::{CliVersion, Failure as TurnFailure, FailureClass, LaunchWarning};
use falconer_event::{Body, Draft, Failure, ItemContent, SessionChanged, Source};
use falconer_protocol::Message;
use falconer_protocol::message::ResultMessage;
use falconer_protocol::system::SystemMessage;
use tokio::time::Instant;

use super::driving::{Engine, Step};
use super::live::{Live, Streamed};
use super::turns::Message as Sent;
use crate::failure::RunFailure;
use crate::limits::{is_side_effect, wanted_wait};
use crate::lock::LockError;

impl Live {
    pub(super) fn message(&mut self, engine: &Engine, message: &Message) -> Step {
        self.watch.heard(Instant::now());
        if let Err(failure) = self.identify(message) {
            return self.end(Some(failure));
        }
        self.meter.observe(message);
        if self.streamed == Streamed::Hidden && matches!(message, Message::StreamEvent(_)) {
            return self.judged(engine, message);
        }
        let mut drafts = self.recorder.drafts(message);
        self.tell_of_the_copy(&mut drafts);
        self.look_at(&mut drafts);
        if let Message::Result(result) = message {
            let answered = self.turns.answered(result);
            self.recorder.record_message(drafts, message);
            self.result(result, answered);
        } else {
            self.recorder.record_message(drafts, message);
        }
        match message {
            Message::CommandLifecycle(step) => self.prompt_step(step),
            Message::System(SystemMessage::Init(init)) => {
                self.compare_version(init.claude_code_version.as_deref());
            }
            _ => {}
        }
        self.judged(engine, message)
    }

    /// Whether a message uses up a limit, or is the last one.
    fn judged(&mut self, engine: &Engine, message: &Message) -> Step {
        match self.meter.reached(&self.limits) {
            Some(kind) if self.ending.is_none() => self.trip(engine, kind),
            _ => self.ending_step(message),
        }
    }

    /// A run that winds down ends with its turn.
    fn ending_step(&self, message: &Message) -> Step {
        match (&self.ending, message) {
            (Some(_), Message::Result(_)) => Step::End,
            _ => Step::GoOn,
        }
    }

    /// The engine names its session: is it the right one, and is it ours?
    fn identify(&mut self, message: &Message) -> Result<(), Failure> {
        let Some(named) = self.named_by(message) else {
            return Ok(());
        };
        if self.session.as_ref() == Some(&named) {
            return Ok(());
        }
        let expected = self.resume.as_ref().filter(|resume| !resume.fork);
        if self.session.is_none()
            && let Some(expected) = expected
            && expected.session != named
        {
            return Err(RunFailure::SessionMismatch.with(format!(
                "session {} was to be resumed, but the engine answers for {named}",
                expected.session
            )));
        }
        self.take_over(&named)?;
        self.session = Some(named);
        Ok(())
    }

    /// Warns once if the official CLI is not of the version that is tested.
    fn compare_version(&mut self, named: Option<&str>) {
        let version = named.and_then(|named| named.parse::<CliVersion>().ok());
        let Some(version) = version.filter(|_| std::mem::take(&mut self.version_unseen)) else {
            return;
        };
        if let Some(warning) = LaunchWarning::of_version(&version) {
            tracing::warn!("{warning}");
            self.warn("cli_version", &warning.to_string());
        }
    }

    /// A copy is told as one, with its own id, right after the run has started.
    fn tell_of_the_copy(&self, drafts: &mut Vec<Draft>) {
        let is_copy = self.resume.as_ref().is_some_and(|resume| resume.fork);
        let started = drafts
            .iter()
            .position(|draft| matches!(draft.body, Body::RunStarted(_)));
        if let (true, Some(at), Some(session)) = (is_copy, started, &self.session) {
            let native_session = session.clone();
            let change = Body::SessionChanged(SessionChanged::Forked { native_session });
            drafts.insert(at + 1, Draft::new(Source::Falconer, change));
        }
    }

    /// The session a message begins. Without an `init` an answer names it.
    fn named_by(&mut self, message: &Message) -> Option<String> {
        let id = match message {
            Message::System(SystemMessage::Init(init)) => {
                self.cwd = Some(init.cwd.clone()).filter(|cwd| !cwd.is_empty());
                init.session_id.as_ref()
            }
            Message::Result(result) if self.session.is_none() && !result.is_error => {
                result.session_id.as_ref()
            }
            _ => None,
        };
        id.map(|id| id.as_str().to_owned())
    }

    /// Locks the session, unless it is locked already; the lock of another one is given back.
    fn take_over(&mut self, named: &str) -> Result<(), Failure> {
        let is_ours = |lock: &crate::SessionLock| lock.session() == named;
        if self.lock.as_ref().is_some_and(is_ours) {
            return Ok(());
        }
        let lock = self.locks.try_lock(named).map_err(|error| {
            let kind = match &error {
                LockError::Held { .. } => RunFailure::SessionBusy,
                LockError::Io { .. } => RunFailure::LockFailed,
            };
            kind.with(error.to_string())
        })?;
        self.lock = Some(lock);
        Ok(())
    }

    /// Notes what the events of a message mean for the session itself.
    pub(super) fn look_at(&mut self, drafts: &mut [Draft]) {
        for draft in drafts {
            self.watch.observe(&draft.body);
            let now = || self.recorder.now().parse().ok();
            if let Body::Retry(_) = &draft.body {
                self.engine_retries += 1;
            }
            if let Body::Retry(_) | Body::Limit(_) = &draft.body {
                self.wanted_wait = wanted_wait(&draft.body, now());
            }
            match &mut draft.body {
                Body::ItemStarted(item) | Body::ItemCompleted(item) => {
                    if let ItemContent::Action(action) = &item.content {
                        self.had_side_effect |= is_side_effect(action);
                    }
                }
                Body::TurnStarted(turn) => self.name_prompts(&mut turn.prompts),
                Body::TurnCompleted(turn) => self.name_prompts(&mut turn.prompts),
                _ => {}
            }
        }
    }

    /// A turn names its prompts: the engine has them, and they get the names they have outside.
    fn name_prompts(&mut self, prompts: &mut [String]) {
        for prompt in prompts {
            self.prompt_sent(prompt);
            if let Some(id) = self.turns.name_of(prompt) {
                id.as_str().clone_into(prompt);
            }
        }
    }

    pub(super) fn note_missing(&mut self, result: &ResultMessage) {
        let failure = TurnFailure::of(result);
        self.not_found |= self.session.is_none()
            && failure.is_some_and(|failure| failure.class == FailureClass::SessionNotFound);
    }

    fn result(&mut self, result: &ResultMessage, answered: Vec<Sent>) {
        self.note_missing(result);
        if self.not_found {
            self.unanswered.extend(answered);
            return;
        }
        let failure = TurnFailure::of(result);
        if let Some(failure) = failure.filter(TurnFailure::is_retryable)
            && self.ending.is_none()
        {
            self.try_again(&failure, answered);
        }
        self.had_side_effect = false;
        self.wanted_wait = None;
        self.engine_retries = 0;
    }
}
