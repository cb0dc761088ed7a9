//! The state of a run, which is not over at the first result: turns may be queued, background tasks
//! may start turns of their own.
//!
//! The engine says `idle` when no turn runs and none is queued, and so it does while a shell
//! runs in the background: the run is over when it is idle and no task runs. A task that ends
//! may cause a turn; the engine announces its state anew then, idle or not. Engines that do
//! not send session states are judged by what they do send: results, tasks, lifecycles.
//!
//! A message that is sent again under the same id is dropped by the engine without a word, so
//! it opens nothing here. The id may be older than the connection, where a session was taken
//! up again: the engine then says that it is done with it, and there is no result.
//! Pure: no clock, no I/O.

use std::collections::HashSet;

/// An observation of the router that matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Signal<'a> {
    /// A user message with this uuid was written to the engine.
    Sent(&'a str),
    /// The engine announced that it works, or waits for an answer.
    Busy,
    /// The engine announced that nothing is left to do.
    Idle,
    /// A turn ended; these prompts are answered by it.
    Result(&'a [String]),
    /// A prompt was done with or taken back.
    PromptSettled(&'a str),
    /// A task runs in the background.
    TaskStarted(&'a str),
    /// A task ended.
    TaskEnded(&'a str),
    /// The tasks that run in the background now, all of them.
    Tasks(Vec<&'a str>),
}

/// Tracks one connection.
#[derive(Debug, Default)]
pub(crate) struct RunState {
    /// Every prompt that was sent.
    sent: HashSet<String>,
    /// Those of them that no result has named yet.
    unanswered: HashSet<String>,
    tasks: HashSet<String>,
    activity: Activity,
    /// A turn ended since the last prompt was sent, or the engine was done with all of them.
    answered: bool,
    results: u64,
}

/// The standing of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Standing {
    pub(crate) phase: RunPhase,
    /// Number of turns that have ended.
    pub(crate) results: u64,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Activity {
    /// The engine has not said anything about its state.
    #[default]
    Unannounced,
    Busy,
    Idle,
}

/// The phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum RunPhase {
    /// Something is still to come, or nothing was asked yet.
    #[default]
    Running,
    /// There was a result; the engine has not yet said that it is idle.
    Settling,
    /// There was a result and nothing is left to do.
    Over,
}

impl RunState {
    /// Takes note of one signal.
    pub(crate) fn observe(&mut self, signal: &Signal<'_>) {
        match signal {
            Signal::Sent(uuid) => self.sent(uuid),
            Signal::Busy => self.activity = Activity::Busy,
            Signal::Idle => self.activity = Activity::Idle,
            Signal::Result(uuids) => self.result(uuids),
            Signal::PromptSettled(uuid) => {
                if self.unanswered.remove(*uuid) && self.unanswered.is_empty() {
                    self.answered = true;
                }
            }
            Signal::TaskStarted(id) => drop(self.tasks.insert((*id).to_owned())),
            Signal::TaskEnded(id) => {
                if self.tasks.remove(*id) {
                    self.task_ended();
                }
            }
            Signal::Tasks(ids) => {
                let tasks = ids.iter().map(|id| (*id).to_owned()).collect();
                let before = std::mem::replace(&mut self.tasks, tasks);
                if !before.is_subset(&self.tasks) {
                    self.task_ended();
                }
            }
        }
    }

    fn sent(&mut self, uuid: &str) {
        if self.sent.insert(uuid.to_owned()) {
            self.unanswered.insert(uuid.to_owned());
            self.answered = false;
        }
    }

    /// Notes the end of a task: the engine's last announcement of its state is older.
    fn task_ended(&mut self) {
        if self.activity == Activity::Idle {
            self.activity = Activity::Busy;
        }
    }

    fn result(&mut self, uuids: &[String]) {
        self.answered = true;
        self.results += 1;
        for uuid in uuids {
            self.unanswered.remove(uuid);
        }
        if uuids.is_empty() && self.activity == Activity::Unannounced {
            // An engine that names no prompts and announces no states: the best guess is
            // that it has answered what it was given.
            self.unanswered.clear();
        }
    }

    /// Returns the standing of the run.
    pub(crate) fn standing(&self) -> Standing {
        Standing {
            phase: self.phase(),
            results: self.results,
        }
    }

    fn phase(&self) -> RunPhase {
        if !self.answered {
            return RunPhase::Running;
        }
        match self.activity {
            Activity::Idle | Activity::Unannounced
                if self.unanswered.is_empty() && self.tasks.is_empty() =>
            {
                RunPhase::Over
            }
            _ => RunPhase::Settling,
        }
    }

    /// Returns `true` if a prompt was sent that nothing has answered yet.
    pub(crate) fn has_unanswered(&self) -> bool {
        !self.unanswered.is_empty()
    }

    /// Returns `true` if nothing was ever sent, and nothing was done.
    pub(crate) fn is_untouched(&self) -> bool {
        self.sent.is_empty() && self.results == 0
    }

    /// The background tasks that are known to run.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = &str> {
        self.tasks.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Signal::{Busy, Idle, PromptSettled, Sent, TaskEnded, TaskStarted, Tasks};

    fn phases(signals: &[Signal<'_>]) -> Vec<RunPhase> {
        let mut state = RunState::default();
        signals
            .iter()
            .map(|signal| {
                state.observe(signal);
                state.phase()
            })
            .collect()
    }

    fn check(signals: &[Signal<'_>], expect: &[RunPhase]) {
        assert_eq!(phases(signals), expect, "{signals:?}");
    }

    const RUN: RunPhase = RunPhase::Running;
    const SETTLE: RunPhase = RunPhase::Settling;
    const OVER: RunPhase = RunPhase::Over;

    #[test]
    fn an_announced_run_is_over_when_the_engine_is_idle() {
        let a = ["a".to_owned()];
        let named = Signal::Result(&a);
        check(
            &[Sent("a"), Busy, named.clone(), Idle],
            &[RUN, RUN, SETTLE, OVER],
        );
        // A background task makes a turn of its own before the engine is idle.
        check(
            &[
                Sent("a"),
                Busy,
                TaskStarted("t"),
                named,
                TaskEnded("t"),
                Signal::Result(&[]),
                Idle,
            ],
            &[RUN, RUN, RUN, SETTLE, SETTLE, SETTLE, OVER],
        );
    }

    #[test]
    fn an_idle_engine_with_a_task_is_not_done_until_it_says_so_again() {
        let a = ["a".to_owned()];
        let begin = [Sent("a"), Busy, TaskStarted("t"), Signal::Result(&a), Idle];
        let with = |rest: &[Signal<'static>]| [&begin[..], rest].concat();
        // The task causes a turn.
        check(
            &with(&[
                TaskEnded("t"),
                Tasks(vec![]),
                Busy,
                Signal::Result(&[]),
                Idle,
            ]),
            &[
                RUN, RUN, RUN, SETTLE, SETTLE, SETTLE, SETTLE, SETTLE, SETTLE, OVER,
            ],
        );
        // It was stopped and causes none.
        check(
            &with(&[Tasks(vec![]), TaskEnded("t"), Idle, Tasks(vec![])]),
            &[RUN, RUN, RUN, SETTLE, SETTLE, SETTLE, SETTLE, OVER, OVER],
        );
    }

    #[test]
    fn a_prompt_sent_later_keeps_the_run_open() {
        let (a, b) = (["a".to_owned()], ["b".to_owned()]);
        check(
            &[
                Sent("a"),
                Busy,
                Signal::Result(&a),
                Sent("b"),
                Idle,
                Busy,
                Signal::Result(&b),
                Idle,
            ],
            &[RUN, RUN, SETTLE, RUN, RUN, RUN, SETTLE, OVER],
        );
    }

    #[test]
    fn folded_and_cancelled_prompts_need_no_result_of_their_own() {
        let both = ["a".to_owned(), "b".to_owned()];
        check(
            &[Sent("a"), Sent("b"), Busy, Signal::Result(&both), Idle],
            &[RUN, RUN, RUN, SETTLE, OVER],
        );
        let a = ["a".to_owned()];
        check(
            &[
                Sent("a"),
                Sent("b"),
                Busy,
                Signal::Result(&a),
                PromptSettled("b"),
                Idle,
            ],
            &[RUN, RUN, RUN, SETTLE, SETTLE, OVER],
        );
    }

    #[test]
    fn a_prompt_sent_again_opens_nothing() {
        let a = ["a".to_owned()];
        let answered = [
            Sent("a"),
            Busy,
            Signal::Result(&a),
            PromptSettled("a"),
            Idle,
        ];
        check(
            &[&answered[..], &[Sent("a"), Idle]].concat(),
            &[RUN, RUN, SETTLE, SETTLE, OVER, OVER, OVER],
        );
        check(
            &[Sent("a"), Busy, Sent("a"), Signal::Result(&a), Idle],
            &[RUN, RUN, RUN, SETTLE, OVER],
        );
    }

    #[test]
    fn a_prompt_that_is_done_with_before_any_turn_leaves_nothing_to_do() {
        // Taken back, or answered before the session was taken up again.
        check(&[Sent("a"), PromptSettled("a"), Idle], &[RUN, OVER, OVER]);
        check(
            &[Sent("a"), Sent("b"), Busy, PromptSettled("b"), Idle],
            &[RUN, RUN, RUN, RUN, RUN],
        );
    }

    #[test]
    fn an_unannounced_run_waits_for_its_tasks() {
        let none = || Signal::Result(&[]);
        check(&[Sent("a"), none()], &[RUN, OVER]);
        check(
            &[Sent("a"), TaskStarted("t"), none(), TaskEnded("t")],
            &[RUN, RUN, SETTLE, OVER],
        );
        check(
            &[Sent("a"), Tasks(vec!["t"]), none(), Tasks(vec![])],
            &[RUN, RUN, SETTLE, OVER],
        );
    }
}
