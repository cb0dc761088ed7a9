//! Answers on their way to the agent: kept first, then given.

use falconer_session::{Answer, AnswerError};
use falconer_store::{
    Decided, Guard, RequestId, RequestQuery, RequestRecord, RequestState, RuleEffect,
};

use super::Keeper;
use crate::error::Error;
use crate::rules::{self, Matter};
use crate::verdict::Verdict;

impl Keeper {
    /// Brings an answer that is kept to the agent.
    pub(super) async fn deliver(&mut self, request: &RequestRecord) -> Result<(), Error> {
        let verdict = request
            .decision
            .as_ref()
            .and_then(|decision| serde_json::from_value::<Verdict>(decision.verdict.clone()).ok());
        let (Some(decision), Some(verdict)) = (&request.decision, verdict) else {
            return Err(Error::WrongAnswer(format!(
                "the answer to request {} cannot be read",
                request.id
            )));
        };
        let mut live = verdict.for_session().map_err(Error::WrongAnswer)?;
        let checked = self.check_edit(request, &verdict).await;
        if let Err(why) = &checked {
            // It was decided already: what must not run is denied.
            live = falconer_session::Verdict::Deny(why.to_string());
        }
        // Who slept while his session was taken must not act on what was decided before.
        self.check_lease().await;
        let Some(run) = &mut self.run else {
            return Err(Error::NotRunning(self.session.clone()));
        };
        let mut answer = Answer::new(request.id.as_str(), &*request.digest, &*decision.by, live)
            .shown(decision.shown);
        if let Some(rule) = &decision.rule {
            answer = answer.rule(rule.as_str());
        }
        // Told before the answer, so that the event that follows it is understood.
        if !run.tracker.answered(request.id.clone()) {
            // It was found in the store before.
            return Ok(());
        }
        match run.handle.answer(answer).await {
            Ok(()) => checked,
            Err(falconer_session::Error::Answer(AnswerError::Refused { id, reason })) => {
                let denial = Answer::deny(id, &*request.digest, &*decision.by, reason.clone());
                run.handle.answer(denial).await?;
                Err(Error::WrongAnswer(format!(
                    "the edited input is refused: {reason}"
                )))
            }
            Err(error) => {
                run.tracker.unanswered(&request.id);
                if let falconer_session::Error::Answer(AnswerError::NotOpen(_)) = error {
                    self.settle(&request.id, RequestState::Withdrawn).await;
                }
                Err(error.into())
            }
        }
    }

    /// Whether the input that comes with an answer may run, in the directory of the shell.
    pub(super) async fn check_edit(
        &self,
        request: &RequestRecord,
        verdict: &Verdict,
    ) -> Result<(), Error> {
        let (Verdict::AllowEdited { input }, Some(run)) = (verdict, &self.run) else {
            return Ok(());
        };
        let store = &self.shared.store;
        let session = store.session(&self.session).await?;
        let records = store.rules(rules::covering(&session)).await?;
        let matter = Matter::of(request, &session, run.tracker.asked(&request.id).cwd);
        rules::check_edit(records, matter, input.clone()).await
    }

    pub(super) async fn settle(&self, id: &RequestId, state: RequestState) {
        self.attempt("settle a request", async {
            let store = &self.shared.store;
            let settled = store.settle_request(id, state, Guard::Anyone).await;
            settled.map(drop)
        })
        .await;
    }

    /// Answers that another process has left in the store.
    pub(super) async fn look(&mut self) {
        let is_asking = |run: &super::LiveRun| run.tracker.is_asking();
        if !self.run.as_ref().is_some_and(is_asking) {
            return;
        }
        if let Err(error) = self.look_for_answers().await {
            tracing::warn!(session = %self.session, %error, "failed to deliver an answer");
        }
    }

    async fn look_for_answers(&mut self) -> Result<(), Error> {
        let answered = RequestQuery::default()
            .session(self.session.clone())
            .states([RequestState::Answered]);
        for request in self.shared.store.requests(answered).await? {
            self.deliver(&request).await?;
        }
        Ok(())
    }

    /// Lets the rules answer a permission that was just asked, if they do.
    pub(super) async fn consult_rules(&mut self, id: &RequestId) {
        if let Err(error) = self.try_rules(id).await {
            // It stays open for a person.
            tracing::warn!(session = %self.session, %error, "failed to ask the rules");
        }
    }

    async fn try_rules(&mut self, id: &RequestId) -> Result<(), Error> {
        let store = &self.shared.store;
        let record = store.session(&self.session).await?;
        let rules = store.rules(rules::covering(&record)).await?;
        if rules.is_empty() {
            return Ok(());
        }
        let request = store.request(id).await?;
        let asked = match &self.run {
            Some(run) => run.tracker.asked(id),
            None => return Ok(()),
        };
        let matter = Matter::of(&request, &record, asked.cwd);
        let judged = rules::off_the_workers(move || rules::judge(&rules, &matter)).await?;
        let Some(rule) = judged.rule else {
            return Ok(());
        };
        let verdict = match judged.effect {
            RuleEffect::Allow if !asked.needs_person => Verdict::Allow,
            RuleEffect::Deny => Verdict::Deny {
                message: judged.because,
            },
            _ => return Ok(()),
        };
        // A rule that was removed meanwhile must not answer.
        let rule = store.use_rule(&rule).await?;
        let mut decision = verdict.decision(&format!("rule:{}", rule.id));
        decision.rule = Some(rule.text);
        match store.decide(id, &request.digest, decision).await? {
            Decided::Won(request) => self.deliver(&request).await,
            _ => Ok(()),
        }
    }
}
