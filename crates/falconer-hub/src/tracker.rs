//! What the events of a run say about the record of its session: pure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use falconer_event::{
    Body, Event, Failure, ItemContent, Outcome, PromptState, Resolution, RunCompleted,
    SessionChanged, Tokens, TurnCompleted,
};
use falconer_store::{
    Append, InputState, LastTurn, LivePatch, MessageId, NewRequest, RequestId, RequestKind,
    RequestState, SessionState, TurnOutcome,
};

/// What is known about a session from the events of its run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tracker {
    turns: u32,
    /// Messages that the agent has not been given yet, and those it has not answered yet.
    queued: BTreeSet<String>,
    sent: BTreeSet<String>,
    /// Messages that were never meant to wait.
    given: BTreeSet<MessageId>,
    open: BTreeMap<RequestId, Asked>,
    tasks: BTreeSet<String>,
    is_over: bool,
    cost_before: f64,
    tokens: Tokens,
    /// Requests whose answer was given by way of the store.
    answered: BTreeSet<RequestId>,
}

/// What is known of an open request beside its row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Asked {
    /// Where the call would start.
    pub(crate) cwd: Option<PathBuf>,
    /// No rule may allow it.
    pub(crate) needs_person: bool,
}

impl Tracker {
    /// A run of a session that has used this much before.
    pub(crate) fn new(cost_usd: f64, tokens: Tokens) -> Self {
        Self {
            cost_before: cost_usd,
            tokens,
            ..Self::default()
        }
    }

    /// Where the session stands.
    fn state(&self) -> SessionState {
        match (self.is_over, self.open.is_empty(), self.is_at_work()) {
            (true, _, _) => SessionState::Idle,
            (false, false, _) => SessionState::Waiting,
            (false, true, false) => SessionState::Ready,
            (false, true, true) => SessionState::Running,
        }
    }

    /// Whether a message would have to wait.
    pub(crate) fn is_at_work(&self) -> bool {
        self.turns > 0 || !self.queued.is_empty() || !self.sent.is_empty()
    }

    /// Whether nothing would be lost if the engine were ended.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.open.is_empty() && !self.is_at_work() && self.tasks.is_empty()
    }

    /// The agent gets this message now.
    pub(crate) fn given(&mut self, message: &str) {
        self.sent.insert(message.to_owned());
        self.given.insert(message.into());
    }

    /// Whether this message waits in a queue that outlives the run.
    pub(crate) fn is_waiting(&self, message: &MessageId) -> bool {
        !self.given.contains(message)
    }

    /// Whether the agent waits for an answer.
    pub(crate) fn is_asking(&self) -> bool {
        !self.open.is_empty()
    }

    /// What is known of an open request.
    pub(crate) fn asked(&self, request: &RequestId) -> Asked {
        self.open.get(request).cloned().unwrap_or_default()
    }

    /// The answer of this request comes by way of the store. Says whether that is news.
    pub(crate) fn answered(&mut self, request: RequestId) -> bool {
        self.answered.insert(request)
    }

    /// It does not after all.
    pub(crate) fn unanswered(&mut self, request: &RequestId) {
        self.answered.remove(request);
    }

    /// Notes what an event means for the rows of the session.
    pub(crate) fn note(&mut self, event: &Event, append: &mut Append) {
        match &event.body {
            Body::RunStarted(started) => {
                append.live.native_session = Some(started.native_session.clone());
                append.live.model.clone_from(&started.model);
                append.live.sandbox.clone_from(&started.sandbox);
            }
            Body::TurnStarted(_) => self.turns += 1,
            Body::TurnCompleted(turn) => {
                self.turns = self.turns.saturating_sub(1);
                if self.turns == 0 {
                    // Those it read along the way are not always named.
                    self.sent.clear();
                }
                self.tokens += turn.tokens;
                let cost = self.cost_before + turn.total_cost_usd;
                append.live = std::mem::take(&mut append.live).usage(self.tokens, cost);
                append.live.last_turn = Some(end_of_turn(event.seq, turn));
                let answered = turn.prompts.iter().map(|id| id.as_str().into());
                append
                    .inputs
                    .extend(answered.map(|id| (id, InputState::Done)));
            }
            Body::ItemStarted(item) => {
                if let ItemContent::Prompt(_) = &item.content {
                    self.queued.insert(item.id.to_string());
                }
            }
            Body::ItemCompleted(item) => {
                if let ItemContent::Prompt(prompt) = &item.content {
                    let state = self.note_prompt(item.id.as_str(), prompt.state);
                    let id: MessageId = item.id.as_str().into();
                    append.inputs.extend(state.map(|state| (id, state)));
                }
            }
            Body::SessionChanged(changed) => note_change(changed, &mut append.live),
            Body::RunCompleted(run) => {
                self.is_over = true;
                append.live.run = Some(None);
                if let Some(last) = end_of_run(event.seq, run) {
                    append.live.last_turn = Some(last);
                }
                let sent = std::mem::take(&mut self.sent).into_iter();
                let interrupted = |id| (MessageId::from(id), InputState::Interrupted);
                append.inputs.extend(sent.map(interrupted));
            }
            Body::TaskStarted(task) => drop(self.tasks.insert(task.id.clone())),
            Body::TaskCompleted(task) => drop(self.tasks.remove(&task.id)),
            _ => self.note_request(&event.body, append),
        }
        append.live.state = Some(self.state());
    }

    fn note_prompt(&mut self, id: &str, state: PromptState) -> Option<InputState> {
        self.queued.remove(id);
        match state {
            PromptState::Sent => {
                self.sent.insert(id.to_owned());
                Some(InputState::Sent)
            }
            PromptState::Cancelled => {
                self.sent.remove(id);
                Some(InputState::Cancelled)
            }
            _ => None,
        }
    }

    fn note_request(&mut self, body: &Body, append: &mut Append) {
        match body {
            Body::PermissionRequested(_) | Body::QuestionRequested(_) => {
                if let Some(request) = request(body) {
                    self.open.insert(request.id.clone(), asked(body));
                    append.requests.push(request);
                }
            }
            Body::PermissionResolved(resolved) => {
                self.settle(&resolved.id, resolved.resolution, append);
            }
            Body::QuestionResolved(resolved) => {
                self.settle(&resolved.id, resolved.resolution, append);
            }
            _ => {}
        }
    }

    fn settle(&mut self, id: &str, resolution: Resolution, append: &mut Append) {
        let id: RequestId = id.into();
        self.open.remove(&id);
        let state = match resolution {
            _ if self.answered.contains(&id) => RequestState::Delivered,
            Resolution::Withdrawn => RequestState::Withdrawn,
            // Nobody who can be named has decided: a limit, the end of the run.
            _ => RequestState::Expired,
        };
        append.settled.push((id, state));
    }
}

/// The class of a turn that was stopped.
const STOPPED: &str = "interrupted";
/// The longest text of a failure in the record of a session; the whole one is in its event.
const FAILURE_CHARS: usize = 500;

fn end_of_turn(seq: u64, turn: &TurnCompleted) -> LastTurn {
    match &turn.failure {
        None => LastTurn::done(seq),
        Some(failure) => {
            let outcome = match failure.class.as_str() {
                STOPPED => TurnOutcome::Stopped,
                _ => TurnOutcome::Failed,
            };
            LastTurn::without_answer(seq, outcome, short(failure))
        }
    }
}

/// A run that failed has failed its last turn, also one that never began.
fn end_of_run(seq: u64, run: &RunCompleted) -> Option<LastTurn> {
    let failure = run.failure.as_ref()?;
    (run.outcome == Outcome::Failed)
        .then(|| LastTurn::without_answer(seq, TurnOutcome::Failed, short(failure)))
}

fn short(failure: &Failure) -> Failure {
    let mut short = failure.clone();
    if let Some((end, _)) = short.text.char_indices().nth(FAILURE_CHARS) {
        short.text.truncate(end);
        short.text.push('…');
    }
    short
}

fn note_change(changed: &SessionChanged, live: &mut LivePatch) {
    match changed {
        SessionChanged::Model { to, .. } => live.model = Some(to.clone()),
        SessionChanged::Mode { to } => live.mode = Some(to.clone()),
        SessionChanged::Reset {
            native_session: Some(native),
        }
        | SessionChanged::Forked {
            native_session: native,
        } => live.native_session = Some(native.clone()),
        _ => {}
    }
}

fn asked(body: &Body) -> Asked {
    match body {
        Body::PermissionRequested(asked) => Asked {
            cwd: asked.cwd.as_ref().map(PathBuf::from),
            needs_person: asked.needs_person,
        },
        _ => Asked::default(),
    }
}

/// The row of a permission or a question.
fn request(body: &Body) -> Option<NewRequest> {
    match body {
        Body::PermissionRequested(asked) => {
            let kind = RequestKind::Permission;
            let mut new = NewRequest::new(&*asked.id, kind, asked.input.clone(), &*asked.digest);
            new.tool = Some(asked.tool.clone());
            new.tool_use_id = Some(asked.tool_use_id.clone());
            new.title.clone_from(&asked.title);
            new.description.clone_from(&asked.description);
            new.blocked_path.clone_from(&asked.blocked_path);
            new.reason.clone_from(&asked.reason);
            new.cwd.clone_from(&asked.cwd);
            new.suggestions.clone_from(&asked.suggestions);
            new.agent.clone_from(&asked.agent);
            new.expires_at = asked.expires_at.as_ref().and_then(|at| at.parse().ok());
            Some(new)
        }
        Body::QuestionRequested(asked) => {
            let kind = question_kind(asked.kind)?;
            let mut new = NewRequest::new(&*asked.id, kind, asked.form.clone(), &*asked.digest);
            new.tool_use_id.clone_from(&asked.tool_use_id);
            new.expires_at = asked.expires_at.as_ref().and_then(|at| at.parse().ok());
            Some(new)
        }
        _ => None,
    }
}

fn question_kind(kind: falconer_event::QuestionKind) -> Option<RequestKind> {
    use falconer_event::QuestionKind;
    match kind {
        QuestionKind::Choice => Some(RequestKind::Choice),
        QuestionKind::Plan => Some(RequestKind::Plan),
        QuestionKind::Elicitation => Some(RequestKind::Elicitation),
        // A kind this version does not know stays in the events; nobody can answer it.
        _ => None,
    }
}
