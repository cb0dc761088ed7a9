//! Questions to the host: permissions, hook callbacks, tools of the host, elicitations.

#[cfg(test)]
pub(crate) mod lane;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use falconer_protocol::RequestId;
use falconer_protocol::control::{
    ControlCancelRequest, ControlReply, ControlRequest, ControlResponse, EngineRequest,
};
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio_util::task::TaskTracker;

use crate::frame::Outbox;

/// Asks the host and hands out its answers.
///
/// Cheap to clone; all clones are the same lane. A question is held until it is answered, taken
/// back, or the lane is closed, so there are never more of them than callers of [`Host::ask`].
#[derive(Debug, Clone)]
pub(crate) struct Host {
    shared: Arc<Shared>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HostError {
    /// The host answered with an error.
    #[error("{0}")]
    Refused(String),
    /// The host has closed its lane, so no answer can come any more.
    #[error("the host closed its input before it answered")]
    Closed,
}

/// Whether anybody had waited for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resolved {
    Delivered,
    /// It answers nothing that is still asked; such answers are normal after a cancel.
    Unasked,
}

#[derive(Debug)]
struct Shared {
    outbox: Outbox,
    state: Mutex<State>,
    /// How many questions have gone out.
    asked: watch::Sender<u64>,
    /// Cancellations that found the lane full. They end when it drains or is dropped.
    withdrawals: TaskTracker,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    pending: HashMap<RequestId, Pending>,
    /// How many questions there have been.
    asked: u64,
}

#[derive(Debug)]
struct Pending {
    answer: oneshot::Sender<Result<Value, HostError>>,
    /// Kept for questions that a person answers: a host that connects again asks for them.
    question: Option<Box<ControlRequest>>,
    /// Which question it is, counted from the start.
    number: u64,
}

impl Host {
    pub(crate) fn new(outbox: Outbox) -> Self {
        Self {
            shared: Arc::new(Shared {
                outbox,
                state: Mutex::default(),
                asked: watch::Sender::new(0),
                withdrawals: TaskTracker::new(),
            }),
        }
    }

    /// Asks and waits for the answer, however long it takes.
    ///
    /// Dropping the future takes the question back with a `control_cancel_request`. An answer
    /// without a payload is an empty object.
    pub(crate) async fn ask(&self, request: EngineRequest) -> Result<Value, HostError> {
        let id = RequestId::from(uuid::Uuid::new_v4().to_string());
        let frame = ControlRequest {
            request_id: id.clone(),
            request,
            ..ControlRequest::default()
        };
        let (sender, answer) = oneshot::channel();
        self.shared.register(&frame, sender)?;
        let mut question = Question {
            shared: &self.shared,
            id: Some(id),
            sent: Sent::No,
        };
        self.shared.outbox.send(&frame).await;
        drop(frame);
        self.shared.asked.send_modify(|count| *count += 1);
        question.sent = Sent::Yes;
        let answer = answer.await.unwrap_or(Err(HostError::Closed));
        question.id = None;
        answer
    }

    /// Hands an answer of the host to whoever asked.
    pub(crate) fn resolve(&self, response: ControlResponse) -> Resolved {
        let Some(id) = response.request_id().map(RequestId::from) else {
            return Resolved::Unasked;
        };
        let Some(pending) = self.shared.state().pending.remove(&id) else {
            return Resolved::Unasked;
        };
        match pending.answer.send(answer_of(response.response)) {
            Ok(()) => Resolved::Delivered,
            Err(_) => Resolved::Unasked,
        }
    }

    /// Says that no answer can come any more: all questions fail, now and later.
    pub(crate) fn close(&self) {
        let pending = {
            let mut state = self.shared.state();
            state.closed = true;
            std::mem::take(&mut state.pending)
        };
        // In the order in which they were asked, so that what follows is in order, too.
        let mut pending: Vec<Pending> = pending.into_values().collect();
        pending.sort_by_key(|pending| pending.number);
        for pending in pending {
            let _ = pending.answer.send(Err(HostError::Closed));
        }
    }

    #[cfg(test)]
    pub(crate) fn is_closed(&self) -> bool {
        self.shared.state().closed
    }

    /// How many questions have gone out until now.
    pub(crate) fn asked(&self) -> u64 {
        *self.shared.asked.borrow()
    }

    /// Waits until so many questions have gone out.
    pub(crate) async fn until_asked(&self, count: u64) {
        let mut asked = self.shared.asked.subscribe();
        // The sender lives as long as we do.
        let _ = asked.wait_for(|asked| *asked >= count).await;
    }

    /// The open questions that a person answers, for the reply to a repeated `initialize`.
    pub(crate) fn open_questions(&self) -> Vec<ControlRequest> {
        let state = self.shared.state();
        let questions = state.pending.values().filter_map(|it| it.question.as_ref());
        questions.map(|it| it.as_ref().clone()).collect()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(
        &self,
        frame: &ControlRequest,
        answer: oneshot::Sender<Result<Value, HostError>>,
    ) -> Result<(), HostError> {
        let question = for_a_person(&frame.request).then(|| Box::new(frame.clone()));
        let mut state = self.state();
        if state.closed {
            return Err(HostError::Closed);
        }
        state.asked += 1;
        let number = state.asked;
        let pending = Pending {
            answer,
            question,
            number,
        };
        state.pending.insert(frame.request_id.clone(), pending);
        Ok(())
    }

    /// Takes a question back without waiting: this runs while a future is dropped.
    fn withdraw(&self, id: RequestId) {
        let cancel = ControlCancelRequest::new(id);
        if self.outbox.try_send(&cancel).is_ok() {
            return;
        }
        let outbox = self.outbox.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let late = async move { outbox.send(&cancel).await };
            self.withdrawals.spawn_on(late, &runtime);
        }
    }
}

/// A question while its caller waits.
#[derive(Debug)]
struct Question<'a> {
    shared: &'a Shared,
    /// `None` once it is answered.
    id: Option<RequestId>,
    sent: Sent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    No,
    Yes,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let asked = self.shared.state().pending.remove(&id).is_some();
        if asked && self.sent == Sent::Yes {
            self.shared.withdraw(id);
        }
    }
}

fn for_a_person(request: &EngineRequest) -> bool {
    matches!(
        request,
        EngineRequest::CanUseTool(_)
            | EngineRequest::Elicitation(_)
            | EngineRequest::RequestUserDialog(_)
    )
}

fn answer_of(reply: ControlReply) -> Result<Value, HostError> {
    match reply {
        ControlReply::Success(success) => {
            let empty = || Value::Object(serde_json::Map::new());
            Ok(success.response.unwrap_or_else(empty))
        }
        ControlReply::Error(error) => Err(HostError::Refused(error.error)),
        // `Unknown`, and whatever the protocol crate adds.
        _ => Err(HostError::Refused(
            "the host's answer is neither a success nor an error".to_owned(),
        )),
    }
}
