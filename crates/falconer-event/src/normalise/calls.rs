//! Calls of tools, from the first sign of them to their result.

use std::collections::BTreeMap;

use falconer_protocol::ToolUseId;

use super::items::action_item;
use super::recent::Finished;
use crate::action::{Action, ActionStatus};
use crate::body::Body;
use crate::envelope::{Draft, Source};
use crate::id::TurnNumber;

/// The calls of a run.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: BTreeMap<ToolUseId, Open>,
    done: Finished,
}

/// A call without a result yet.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) action: Action,
    pub(super) turn: Option<TurnNumber>,
    pub(super) parent: Option<ToolUseId>,
}

impl Calls {
    pub(super) fn is_open(&self, id: &ToolUseId) -> bool {
        self.open.contains_key(id)
    }

    /// Begins a call; `false` if it has begun before.
    pub(super) fn begin(&mut self, id: &ToolUseId, begun: Open) -> bool {
        if self.done.contains(id) {
            return false;
        }
        if let Some(open) = self.open.get_mut(id) {
            // Progress was reported before the call itself.
            open.action = begun.action;
            return false;
        }
        self.open.insert(id.clone(), begun);
        true
    }

    /// Ends a call; `None` if it is over already. A result nobody asked for ends a call that
    /// nobody saw.
    pub(super) fn end(&mut self, id: &ToolUseId, turn: Option<TurnNumber>) -> Option<Open> {
        if !self.done.insert(id) {
            return None;
        }
        let unseen = || Open {
            action: Action::unseen(),
            turn,
            parent: None,
        };
        Some(self.open.remove(id).unwrap_or_else(unseen))
    }

    /// Aborts what a turn that is over leaves behind. What the agent itself called gets no result
    /// any more, and neither does what a sub-agent called that it waited for. Others go on in the
    /// background.
    pub(super) fn abort_of(&mut self, turn: Option<TurnNumber>) -> Vec<Draft> {
        let is_left = |open: &Open| open.turn == turn && open.parent.is_none();
        let mut left: Vec<ToolUseId> = (self.open.iter())
            .filter(|(_, open)| is_left(open))
            .map(|(id, _)| id.clone())
            .collect();
        let mut aborts = Vec::new();
        while let Some(id) = left.pop() {
            if let Some(open) = self.open.remove(&id) {
                self.done.insert(&id);
                aborts.push(aborted(&id, open));
            }
            let of_it = (self.open.iter()).filter(|(_, open)| open.parent.as_ref() == Some(&id));
            left.extend(of_it.map(|(id, _)| id.clone()));
        }
        aborts
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
