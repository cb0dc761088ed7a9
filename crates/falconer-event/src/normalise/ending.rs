//! The end of a run: nothing stays open, and nothing comes after.

use super::Normaliser;
use super::items::action_item;
use super::turns::INTERRUPTED;
use crate::action::ActionStatus;
use crate::body::{Body, Outcome, RunCompleted, TaskEnd};
use crate::envelope::{Draft, Source};
use crate::turn::Failure;

/// How a run ended, as far as its messages do not say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct End {
    /// Somebody stopped it.
    pub cancelled: bool,
    /// Why it failed: the engine crashed, a limit was reached, the transport broke.
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
            let mut action = open.action;
            action.status = ActionStatus::Aborted;
            let item = action_item(&id, action);
            out.push(Draft {
                turn: open.turn,
                parent: open.parent,
                ..Draft::new(Source::Falconer, Body::ItemCompleted(Box::new(item)))
            });
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
        let partial = || self.said.clone();
        RunCompleted {
            outcome,
            stderr: match outcome {
                Outcome::Ok => Vec::new(),
                Outcome::Failed | Outcome::Cancelled => end.stderr,
            },
            failure,
            text: match self.open_turns.is_empty() {
                true => last.map(|turn| turn.text.clone()).unwrap_or_default(),
                false => partial(),
            },
            structured_output: last.and_then(|turn| turn.structured_output.clone()),
            native_session: self.session.clone(),
            turns: self.turns,
            tokens: self.tokens,
            cost_usd: last.map_or(0.0, |turn| turn.total_cost_usd),
        }
    }
}
