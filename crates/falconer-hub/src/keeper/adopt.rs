//! A session that somebody started himself: he has its handle, the keeper writes down what
//! happens and tells him when it is kept.

use falconer_event::{Body, Draft, Event, ItemContent, RunId, Sequence, Source, Warning};
use falconer_session::{Answer, EventStream, Outlet, SessionHandle};
use falconer_store::{Decided, Error as StoreError, Fence, LivePatch, RequestState};

use super::record::warning;
use super::{Keeper, LiveRun, Starter};
use crate::error::Error;
use crate::order::Adoption;
use crate::verdict::{Verdict, check_shown};

/// Events that may wait for the starter before no more are read.
const TOLD: usize = 128;

impl Keeper {
    pub(super) async fn adopt(
        &mut self,
        adoption: Adoption,
    ) -> Result<(SessionHandle, EventStream), Error> {
        if self.run.is_some() {
            let text = format!("session {} runs already; send it a message", self.session);
            return Err(Error::Invalid(text));
        }
        let fence = self.claim_within(adoption.spec.waits()).await?;
        let started = Box::pin(self.start_adopted(fence, adoption)).await;
        let mut run = self.or_let_go(fence, started).await?;
        let (told, events) = Outlet::new(TOLD);
        let handle = run.handle.clone();
        let record = self.shared.store.session(&self.session).await;
        let is_unnamed = record.is_ok_and(|record| record.title.is_none());
        run.starter = Some(Starter { told, is_unnamed });
        self.run = Some(run);
        Ok((handle, events))
    }

    async fn start_adopted(&self, fence: Fence, adoption: Adoption) -> Result<LiveRun, Error> {
        let record = self.settled(fence).await?;
        let run: RunId = uuid::Uuid::new_v4().to_string().into();
        let spec = adoption.spec.name(record.id.as_str(), record.head);
        let mut started = LivePatch::default()
            .run(Some(run.clone()))
            .mode(adoption.mode);
        started.model = adoption.model;
        let mut live = self.begin(fence, record, started, spec.run(run)).await?;
        // Its mode is his who started it.
        live.mode = None;
        Ok(live)
    }

    /// An answer of the starter: kept first, unless somebody else was faster.
    pub(super) async fn answer_adopted(&mut self, answer: Answer) -> Result<Decided, Error> {
        self.check_lease().await;
        let store = self.shared.store.clone();
        let id = answer.id.as_str().into();
        let request = store.request(&id).await?;
        let verdict = Verdict::of_session(&answer.verdict, &request.suggestions);
        check_shown(&request, &verdict, answer.shown)?;
        self.check_edit(&request, &verdict).await?;
        let mut decision = verdict.decision(&answer.by);
        decision.shown = answer.shown;
        let decided = store.decide(&id, &answer.digest, decision).await?;
        let Decided::Won(_) = decided else {
            return Ok(decided);
        };
        let Some(run) = &mut self.run else {
            return Err(Error::NotRunning(self.session.clone()));
        };
        run.tracker.answered(id.clone());
        if let Err(error) = run.handle.answer(answer).await {
            run.tracker.unanswered(&id);
            self.settle(&id, RequestState::Withdrawn).await;
            return Err(error.into());
        }
        Ok(decided)
    }

    pub(super) fn tell_starter(&self, events: impl IntoIterator<Item = Event>) {
        let starter = self.run.as_ref().and_then(|run| run.starter.as_ref());
        if let Some(starter) = starter {
            events.into_iter().for_each(|event| starter.told.put(event));
        }
    }

    /// Events that could not be kept are not told; why, is.
    pub(super) fn warn_starter(&self, events: &[Event], error: &StoreError) {
        let text = format!("the run is ended because its events cannot be kept: {error}");
        let instead = events.first();
        self.tell_starter(instead.map(|event| warning(event, "store_failed", text)));
    }

    /// Another process took the session: this is the last event the starter gets.
    pub(super) fn tell_starter_of_loss(&self) {
        let mut lost = Warning::default();
        lost.kind = "session_taken".to_owned();
        lost.text = "another process took the session over, because this one was not heard of for \
             too long; what happened here since is not kept"
            .to_owned();
        let draft = Draft::new(Source::Falconer, Body::Warning(lost));
        let now = falconer_store::Timestamp::now().to_string();
        let mut sequence = Sequence::new(self.session.as_str());
        self.tell_starter([sequence.stamp(&RunId::default(), now, draft)]);
    }

    /// A session without a name is called by how it began.
    pub(super) async fn name_by_first(&mut self, events: &[Event]) {
        let starter = self.run.as_mut().and_then(|run| run.starter.as_mut());
        let Some(starter) = starter.filter(|starter| starter.is_unnamed) else {
            return;
        };
        let mut prompts = events.iter().filter_map(|event| match &event.body {
            Body::ItemStarted(item) => match &item.content {
                ItemContent::Prompt(prompt) => Some(prompt.text.as_str()),
                _ => None,
            },
            _ => None,
        });
        if let Some(text) = prompts.next() {
            starter.is_unnamed = false;
            self.name_after(text).await;
        }
    }
}
