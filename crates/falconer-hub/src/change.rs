//! Making sessions and changing them; answering what they ask.

use std::path::Path;

use falconer::Bypass;
use falconer_store::{
    Decided, Guard, NewAudit, NewSession as NewRecord, RequestId, RequestRecord, RequestState,
    SessionId, SessionPatch, SessionRecord,
};
use serde_json::{Value, json};

use crate::engines::LaunchError;
use crate::error::Error;
use crate::hub::Hub;
use crate::isolation::SessionIsolation;
use crate::limits::SessionLimits;
use crate::message::{Change, NewSession};
use crate::options::SessionOptions;
use crate::order::Order;
use crate::rules::{self, Matter};
use crate::verdict::{Answerer, Verdict, check_shown};

const MODES: [&str; 6] = [
    "default",
    "acceptEdits",
    "plan",
    "dontAsk",
    "auto",
    "bypassPermissions",
];

impl Hub {
    /// Makes a session. Nothing is started.
    ///
    /// # Errors
    /// `Directory`, `Invalid`, `BypassRefused`, or the store's.
    pub async fn create(&self, new: NewSession) -> Result<SessionRecord, Error> {
        self.check_mode(&new.mode)?;
        self.check_engine(&new.engine).await?;
        let isolation = check_config(&new.config)?;
        if !isolation.is_none() {
            self.check_isolation(&new.engine, isolation).await?;
        }
        let cwd = directory(&new.cwd)?;
        let mode = self
            .shared
            .narrow_mode(&cwd, &new.config, &new.mode)
            .await?;
        let mut record = NewRecord::new(new.engine, cwd);
        if let Some(id) = new.id {
            record.id = id;
        }
        record.title = new.title;
        record.model = new.model;
        record.mode = mode;
        record.config = new.config;
        Ok(self.shared.store.create_session(record).await?)
    }

    /// Refuses to make a session of an engine nobody knows.
    async fn check_engine(&self, engine: &str) -> Result<(), Error> {
        let (engines, engine) = (self.shared.config.engines.clone(), engine.to_owned());
        let checked = tokio::task::spawn_blocking(move || engines.knows(&engine)).await;
        Ok(checked.unwrap_or_else(|_| Err(LaunchError::broken()))?)
    }

    /// Whether sessions of a profile do unasked what is asked about without it.
    ///
    /// # Errors
    /// If sessions may not choose the profile.
    pub async fn profile_asks_less(&self, profile: &str) -> Result<bool, Error> {
        let (engines, profile) = (self.shared.config.engines.clone(), profile.to_owned());
        let looking = tokio::task::spawn_blocking(move || engines.profile_asks_less(&profile));
        let looked = looking.await;
        Ok(looked.unwrap_or_else(|_| Err(LaunchError::broken()))?)
    }

    /// Refuses to make a session that could never be started as it is to be.
    async fn check_isolation(
        &self,
        engine: &str,
        isolation: SessionIsolation,
    ) -> Result<(), Error> {
        let (engines, engine) = (self.shared.config.engines.clone(), engine.to_owned());
        let checking = tokio::task::spawn_blocking(move || engines.isolates(&engine, &isolation));
        let checked = checking.await;
        Ok(checked.unwrap_or_else(|_| Err(LaunchError::broken()))?)
    }

    /// Changes a session. Mode and model are changed where the session runs: the engine is told
    /// first, and a session that another process runs is not changed from here.
    ///
    /// # Errors
    /// `Invalid`, `BypassRefused`, `Elsewhere`, what the engine said, or the store's.
    pub async fn change(&self, id: &SessionId, change: Change) -> Result<SessionRecord, Error> {
        let mut patch = SessionPatch::default();
        patch.title = change.title.map(Some);
        patch.pinned = change.pinned;
        patch.archived = change.archived;
        if let Some(mode) = &change.mode {
            self.check_mode(mode)?;
        }
        if change.mode.is_none() && change.model.is_none() {
            return Ok(self.shared.store.update_session(id, patch).await?);
        }
        let record = self.shared.store.session(id).await?;
        if let Some(mode) = &change.mode {
            let widest = self
                .shared
                .narrow_mode(&record.cwd, &record.config, mode)
                .await?;
            if widest != *mode {
                return Err(Error::Invalid(format!(
                    "the configuration allows no mode wider than `{widest}` in {}",
                    record.cwd
                )));
            }
        }
        patch.mode = change.mode;
        patch.model = change.model.map(Some);
        let patch = Box::new(patch);
        self.ask(id, |reply| Order::Change(patch, reply)).await
    }

    /// Answers a permission or a question, and keeps how it was shown. The answer is kept first;
    /// of several the first one counts, and everybody learns which it was.
    ///
    /// # Errors
    /// `WrongAnswer`, `BadRule`, or the store's.
    pub async fn answer(
        &self,
        id: &RequestId,
        digest: &str,
        verdict: Verdict,
        by: impl Into<Answerer<'_>>,
    ) -> Result<Decided, Error> {
        let Answerer { name: by, shown } = by.into();
        let store = &self.shared.store;
        let request = store.request(id).await?;
        self.check_answer(&request, &verdict).await?;
        check_shown(&request, &verdict, Some(shown))?;
        let mut decision = verdict.decision(by);
        decision.shown = Some(shown);
        let decided = store.decide(id, digest, decision).await?;
        let Decided::Won(request) = decided else {
            return Ok(decided);
        };
        self.audit(&request, by).await?;
        if let Verdict::AllowAlways { rule } = &verdict {
            rules::add(&**store, &request, rule, by).await?;
        }
        let session = store.session(&request.session).await?;
        match &session.owner {
            // Another process runs the session, finds the answer in the store and delivers it.
            Some(owner) if *owner != self.shared.node.id => return Ok(Decided::Won(request)),
            _ => {}
        }
        let boxed = Box::new(request);
        match self
            .ask(&session.id, |reply| Order::Deliver(boxed, reply))
            .await
        {
            Ok(()) => Ok(Decided::Won(store.request(id).await?)),
            // The agent no longer wants to know, or is gone: the answer did not count.
            Err(Error::NotRunning(_) | Error::Session(_)) => {
                let (expired, guard) = (RequestState::Expired, Guard::Anyone);
                let settled = store.settle_request(id, expired, guard).await?;
                Ok(Decided::Gone(settled.into_record()))
            }
            Err(error) => Err(error),
        }
    }

    async fn check_answer(&self, request: &RequestRecord, verdict: &Verdict) -> Result<(), Error> {
        if !verdict.fits(request.kind) {
            return Err(Error::WrongAnswer(format!(
                "request {} is a {} and cannot be answered like this",
                request.id, request.kind
            )));
        }
        verdict.for_session().map_err(Error::WrongAnswer)?;
        if let Verdict::AllowAlways { rule } = verdict {
            let session = self.shared.store.session(&request.session).await?;
            rules::check(rule, Matter::of(request, &session, None)).await?;
        }
        if let Verdict::AllowEdited { input } = verdict {
            let store = &self.shared.store;
            let session = store.session(&request.session).await?;
            let records = store.rules(rules::covering(&session)).await?;
            let matter = Matter::of(request, &session, None);
            rules::check_edit(records, matter, input.clone()).await?;
        }
        Ok(())
    }

    /// Who decided what about which input.
    pub(crate) async fn audit(&self, request: &RequestRecord, by: &str) -> Result<(), Error> {
        let detail = json!({
            "request": request.id,
            "tool": request.tool,
            "digest": request.digest,
            "input": request.input,
            "decision": request.decision,
        });
        let audit = NewAudit::new(by, "request.answered")
            .session(request.session.clone())
            .detail(detail);
        self.shared.store.audit(audit).await?;
        Ok(())
    }

    /// Whether sessions may run in this mode here.
    pub(crate) fn check_mode(&self, mode: &str) -> Result<(), Error> {
        if !MODES.contains(&mode) {
            return Err(Error::Invalid(format!(
                "`{mode}` is no permission mode; there are {}",
                MODES.join(", ")
            )));
        }
        if mode != "bypassPermissions" {
            return Ok(());
        }
        if rustix::process::geteuid().is_root() {
            return Err(Error::BypassRefused(
                "a session of root never runs without asking; run as another user, or use mode default \
                 or acceptEdits",
            ));
        }
        match self.shared.config.bypass {
            Bypass::Accepted => Ok(()),
            Bypass::Forbidden => Err(Error::BypassRefused(
                "sessions may not run without asking here; start the server with --allow-bypass",
            )),
        }
    }
}

fn check_config(config: &Value) -> Result<SessionIsolation, Error> {
    let limits = SessionLimits::of(config).map_err(Error::Invalid)?;
    limits.for_session().map_err(Error::Invalid)?;
    SessionOptions::of(config).map_err(Error::Invalid)?;
    SessionIsolation::of(config).map_err(Error::Invalid)
}

/// The directory as it is, without links.
fn directory(path: &Path) -> Result<String, Error> {
    let wrong = |why: String| Error::Directory {
        path: path.to_owned(),
        why,
    };
    if !path.is_absolute() {
        return Err(wrong("it has to be an absolute path".to_owned()));
    }
    let real = path
        .canonicalize()
        .map_err(|error| wrong(error.to_string()))?;
    if !real.is_dir() {
        return Err(wrong("it is not a directory".to_owned()));
    }
    let text = real.to_str().map(str::to_owned);
    text.ok_or_else(|| wrong("its name is not valid UTF-8".to_owned()))
}
