//! Starting the engine of a session, and ending it for good.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use falconer::Options;
use falconer::PermissionMode;
use falconer_event::RunId;
use falconer_session::{Holder, LockError, OnMissing, Resume, Session, SessionSpec};
use falconer_store::{Claim, Fence, Guard, LivePatch, SessionRecord, SessionState};

use tokio::time::Instant;

use super::{Ending, ImageAllowance, Keeper, LiveRun};
use crate::denials::Denials;
use crate::engines::{Launch, LaunchError};
use crate::error::Error;
use crate::fork;
use crate::isolation::SessionIsolation;
use crate::last_exchange::last_exchange;
use crate::limits::SessionLimits;
use crate::options::SessionOptions;
use crate::recovery;
use crate::tracker::Tracker;

/// How often a session that another process runs is tried again.
const CLAIM_AGAIN: Duration = Duration::from_millis(100);
/// More than this is for ever.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);

impl Keeper {
    /// Starts the engine, unless it runs.
    pub(super) async fn ensure_run(&mut self) -> Result<(), Error> {
        if self.run.is_some() {
            return Ok(());
        }
        let fence = self.claim_to_run().await?;
        self.start_claimed(fence).await
    }

    /// Claims the session for a run. A process that lost the session and cannot know it yet, because
    /// it was stopped, may still hold the conversation: then nothing is changed.
    pub(super) async fn claim_to_run(&self) -> Result<Fence, Error> {
        let fence = self.claim().await?;
        let is_free = self.check_conversation().await;
        self.or_let_go(fence, is_free).await?;
        Ok(fence)
    }

    async fn check_conversation(&self) -> Result<(), Error> {
        let record = self.shared.store.session(&self.session).await?;
        let Some(conversation) = record.native_session.clone() else {
            return Ok(());
        };
        // The run takes it again.
        drop(self.shared.locks.try_lock(&conversation)?);
        let engines = self.shared.config.engines.clone();
        let looking = tokio::task::spawn_blocking(move || engines.is_conversation_open(&record));
        // What cannot be looked at is refused by the engine.
        if !looking.await.unwrap_or_default() {
            return Ok(());
        }
        let holder = Holder::Other(None);
        let session = conversation;
        Err(LockError::Held { session, holder }.into())
    }

    /// Starts the engine of a session that was claimed for it.
    pub(super) async fn start_claimed(&mut self, fence: Fence) -> Result<(), Error> {
        let started = self.start(fence).await;
        self.run = Some(self.or_let_go(fence, started).await?);
        self.deliver_queued().await
    }

    /// A session that did not start is let go.
    pub(super) async fn or_let_go<T>(
        &self,
        fence: Fence,
        started: Result<T, Error>,
    ) -> Result<T, Error> {
        if started.is_err() {
            self.attempt("let a session go that did not start", async {
                self.shared.store.release(&self.session, fence).await
            })
            .await;
        }
        started
    }

    pub(super) async fn claim(&self) -> Result<Fence, Error> {
        let shared = &self.shared;
        let (node, lease) = (&shared.node.id, shared.config.lease);
        loop {
            // Somebody who is dead is not just replaced: what he left is seen to first.
            shared.not_elsewhere(&self.session).await?;
            match shared.store.claim(&self.session, node, lease).await? {
                Claim::Claimed(lease) => return Ok(lease.fence),
                // Somebody was faster; the next look says who.
                _ => tokio::task::yield_now().await,
            }
        }
    }

    /// Claims a session, and waits for whoever runs it.
    pub(super) async fn claim_within(&self, wait: Duration) -> Result<Fence, Error> {
        let deadline = Instant::now() + wait.min(LONGEST_WAIT);
        loop {
            match self.claim().await {
                Err(Error::Elsewhere { .. }) if Instant::now() < deadline => {
                    tokio::time::sleep(CLAIM_AGAIN).await;
                }
                claimed => return claimed,
            }
        }
    }

    async fn start(&self, fence: Fence) -> Result<LiveRun, Error> {
        let mut record = self.settled(fence).await?;
        // What may be done here may have become less since the session was made.
        let narrowed = self
            .shared
            .narrow_mode(&record.cwd, &record.config, &record.mode);
        record.mode = narrowed.await?;
        let launch = self.launch(&record).await?;
        let run: RunId = uuid::Uuid::new_v4().to_string().into();
        let spec = self.spec(&record, launch, run.clone())?;
        let started = LivePatch::default().run(Some(run)).mode(&record.mode);
        self.begin(fence, record, started, spec).await
    }

    /// The session, with nothing left open by a run that died.
    pub(super) async fn settled(&self, fence: Fence) -> Result<SessionRecord, Error> {
        let store = &self.shared.store;
        let record = store.session(&self.session).await?;
        if record.run.is_none() {
            return Ok(record);
        }
        recovery::tie_loose_ends(&self.shared, &self.session, fence).await?;
        Ok(store.session(&self.session).await?)
    }

    /// Says that the session runs, then starts it.
    pub(super) async fn begin(
        &self,
        fence: Fence,
        record: SessionRecord,
        started: LivePatch,
        spec: SessionSpec,
    ) -> Result<LiveRun, Error> {
        let store = &self.shared.store;
        let spec = self.outliving_its_conversation(&record, spec);
        let started = started.state(SessionState::Running);
        store.update_live(&self.session, fence, started).await?;
        let (handle, events) = match Session::start(spec).await {
            Ok(started) => started,
            Err(error) => {
                let stopped = LivePatch::default().run(None).state(record.state);
                store.update_live(&self.session, fence, stopped).await?;
                return Err(error.into());
            }
        };
        Ok(LiveRun {
            handle,
            events,
            fence,
            engine: record.engine,
            tracker: Tracker::new(record.cost_usd, record.tokens),
            mode: Some(record.mode),
            resting: None,
            ending: Ending::default(),
            images: ImageAllowance::default(),
            starter: None,
        })
    }

    /// A session goes on even if the engine has lost its conversation: a new one is told the last
    /// exchange.
    fn outliving_its_conversation(&self, record: &SessionRecord, spec: SessionSpec) -> SessionSpec {
        let resumed = spec.resumed().filter(|resume| !resume.is_fork());
        let is_its_own = resumed.map(Resume::id) == record.native_session.as_deref();
        if resumed.is_none() || !is_its_own {
            return spec;
        }
        let last = last_exchange(self.shared.store.clone(), self.session.clone());
        spec.on_missing(OnMissing::StartAnew(Box::pin(last)))
    }

    async fn launch(&self, record: &SessionRecord) -> Result<Launch, Error> {
        let (engines, record) = (self.shared.config.engines.clone(), record.clone());
        let launching = tokio::task::spawn_blocking(move || engines.launch(&record));
        let launched = launching.await;
        Ok(launched.unwrap_or_else(|_| Err(LaunchError::broken()))?)
    }

    fn spec(
        &self,
        record: &SessionRecord,
        launch: Launch,
        run: RunId,
    ) -> Result<SessionSpec, Error> {
        let config = &self.shared.config;
        let limits = SessionLimits::of(&record.config)
            .and_then(|limits| limits.within(&launch.limits).for_session());
        let mut spec = SessionSpec::new(self.shared.locks.clone())
            .name(record.id.as_str(), record.head)
            .run(run)
            .options(self.options(launch.options, &launch.defaults, record, launch.skills)?)
            .about(launch.about)
            .limits(limits.map_err(Error::Invalid)?)
            .retries(launch.retries)
            .answer_within(launch.answer_within.unwrap_or(config.answer_within))
            .restrictions(Arc::new(Denials {
                store: Arc::clone(&self.shared.store),
                session: record.id.clone(),
            }))
            .redactor(config.redactor.clone());
        let policy = match (&config.policy, launch.policy) {
            (Some(_), Some(_)) => {
                let text = "the session has a policy of its own, and so has this hub";
                let hint = "go on with it in the terminal, or start the server with the same \
                            `run.policy` or with none";
                return Err(LaunchError::new("two_policies", text, hint).into());
            }
            (Some(policy), None) => Some(policy.clone()),
            (None, own) => own,
        };
        if let Some(policy) = policy {
            spec = spec.policy(policy);
        }
        if let Some(directory) = launch.archive {
            spec = spec.archive(directory);
        }
        if let Some(text) = launch.untrusted {
            spec = spec.warning("untrusted_project", text);
        }
        if let Some(resume) = resume(record) {
            spec = spec.resume(resume);
        }
        Ok(spec)
    }

    /// What every session of a hub is started with, and how this one is kept apart.
    fn options(
        &self,
        launched: Options,
        defaults: &SessionOptions,
        record: &SessionRecord,
        skills: Vec<PathBuf>,
    ) -> Result<Options, Error> {
        let isolation = SessionIsolation::of(&record.config).map_err(Error::Invalid)?;
        let own = SessionOptions::of(&record.config).map_err(Error::Invalid)?;
        let options = own.or(defaults).apply(options(launched, record));
        let conversations = &self.shared.conversations;
        Ok(conversations.isolate(options, &isolation, skills))
    }

    /// Opens the session again if it was closed, and starts its engine.
    pub(super) async fn resume(&mut self) -> Result<SessionRecord, Error> {
        self.ensure_run().await?;
        Ok(self.shared.store.session(&self.session).await?)
    }

    /// Ends the engine; the session takes no messages until it is resumed.
    pub(super) async fn close(&mut self) -> Result<SessionRecord, Error> {
        if self.run.is_some() {
            self.end_run(Ending::Closed).await;
        } else {
            let fence = self.claim().await?;
            let closed = LivePatch::default().state(SessionState::Closed);
            let store = &self.shared.store;
            let marked = store.update_live(&self.session, fence, closed).await;
            store.release(&self.session, fence).await?;
            marked?;
        }
        Ok(self.shared.store.session(&self.session).await?)
    }

    /// Ends the engine and deletes the session.
    pub(super) async fn delete(&mut self) -> Result<(), Error> {
        let record = self.shared.store.session(&self.session).await?;
        fork::refuse_if_needed(self.shared.store.as_ref(), &record).await?;
        self.end_run(Ending::Closed).await;
        let fence = self.claim().await?;
        // It may have begun while it ended.
        let record = self.shared.store.session(&self.session).await?;
        let guard = Guard::Holder(fence);
        (self.shared.store)
            .delete_session(&self.session, guard)
            .await?;
        if let Err(error) = self.shared.conversations.forget(&record).await {
            tracing::warn!(session = %self.session, %error, "failed to delete a conversation");
        }
        Ok(())
    }
}

/// What every session of a hub is started with.
fn options(options: Options, record: &SessionRecord) -> Options {
    let mode: PermissionMode = record.mode.as_str().into();
    let mut options = options
        .cwd(&record.cwd)
        .include_partial_messages()
        .permission_mode(mode.clone());
    if mode == PermissionMode::BypassPermissions {
        // Agreed to by the owner of the hub when the mode was set.
        options = options.allow_dangerously_skip_permissions();
    }
    match &record.model {
        Some(model) => options.model(model),
        None => options,
    }
}

fn resume(record: &SessionRecord) -> Option<Resume> {
    match &record.native_session {
        Some(native) => Some(Resume::session(native)),
        None => fork::origin(&record.config).map(|native| Resume::session(native).fork()),
    }
}
