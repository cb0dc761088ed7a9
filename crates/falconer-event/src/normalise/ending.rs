//! The end of a run: nothing stays open, and nothing comes after.

use falconer_protocol::ToolUseId;

use super::items::action_item;
use super::turns::INTERRUPTED;
use super::{Normaliser, Open};
use crate::action::ActionStatus;
use crate::body::{Body, Outcome, RunCompleted, TaskEnd};
use crate::envelope::{Draft, Source};
use crate::id::TurnNumber;
use crate::turn::Failure;

/// The end of a run, as far as its messages do not tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct End {
    /// Somebody stopped it.
    pub cancelled: bool,
    /// Reason for a failure: the engine crashed, a limit was reached, the transport broke.
    pub failure: Option<Failure>,
    /// The end of what the engine wrote to stderr.
    pub stderr: Vec<String>,
}

impl Normaliser {
    /// Closes what is open and ends the run. Further calls, and messages, give nothing.
    pub fn end(&mut self, end: End) -> Vec<Draft> {
        let mut out = Vec::new();
        if self.has_ended {
            return out;
        }
        if self.is_reset {
            self.reset(None, &mut out);
        }
        self.end_all_writing(&mut out);
        self.abort_actions(&mut out);
        self.abort_tasks(&mut out);
        let completed = Body::RunCompleted(Box::new(self.completed_run(end)));
        out.push(Draft::new(Source::Falconer, completed));
        self.has_ended = true;
        out
    }

    fn abort_actions(&mut self, out: &mut Vec<Draft>) {
        for (id, open) in std::mem::take(&mut self.actions) {
            out.push(aborted(&id, open));
        }
    }

    /// Ends the actions of a turn that is over: calls of the agent itself, and of sub-agents it
    /// waited for, get no result any more. Others go on in the background.
    pub(super) fn abort_actions_of(&mut self, turn: Option<TurnNumber>, out: &mut Vec<Draft>) {
        let is_left = |open: &Open| open.turn == turn && open.parent.is_none();
        let mut left: Vec<ToolUseId> = (self.actions.iter())
            .filter(|(_, open)| is_left(open))
            .map(|(id, _)| id.clone())
            .collect();
        while let Some(id) = left.pop() {
            if let Some(open) = self.actions.remove(&id) {
                self.done.insert(&id);
                out.push(aborted(&id, open));
            }
            let of_it = (self.actions.iter()).filter(|(_, open)| open.parent.as_ref() == Some(&id));
            left.extend(of_it.map(|(id, _)| id.clone()));
        }
    }

    fn abort_tasks(&mut self, out: &mut Vec<Draft>) {
        for (_, mut task) in std::mem::take(&mut self.tasks) {
            task.end = Some(TaskEnd::Aborted);
            out.push(Draft::new(
                Source::Falconer,
                Body::TaskCompleted(Box::new(task)),
            ));
        }
    }

    fn completed_run(&self, end: End) -> RunCompleted {
        let last = self.last.as_ref();
        let unfinished = || Failure::new("no_result", "the engine ended before its turn was over");
        let failure = end
            .failure
            .or_else(|| (!self.open_turns.is_empty()).then(unfinished))
            .or_else(|| last.and_then(|turn| turn.failure.clone()));
        let is_interrupted = failure.as_ref().is_some_and(|it| it.class == INTERRUPTED);
        let outcome = match (end.cancelled || is_interrupted, &failure) {
            (true, _) => Outcome::Cancelled,
            (false, Some(_)) => Outcome::Failed,
            (false, None) => Outcome::Ok,
        };
        RunCompleted {
            outcome,
            stderr: match outcome {
                Outcome::Ok => Vec::new(),
                Outcome::Failed | Outcome::Cancelled => end.stderr,
            },
            failure,
            text: match self.open_turns.back() {
                None => last.map(|turn| turn.text.clone()).unwrap_or_default(),
                Some(unfinished) => unfinished.said.clone(),
            },
            structured_output: last.and_then(|turn| turn.structured_output.clone()),
            native_session: self.session.clone(),
            turns: self.turns,
            tokens: self.tokens,
            cost_usd: self.spending.usd(),
        }
    }
}

fn aborted(id: &ToolUseId, open: Open) -> Draft {
    let mut action = open.action;
    action.status = ActionStatus::Aborted;
    let item = action_item(id, action);
    Draft {
        turn: open.turn,
        parent: open.parent,
        ..Draft::new(Source::Falconer, Body::ItemCompleted(Box::new(item)))
    }
}
