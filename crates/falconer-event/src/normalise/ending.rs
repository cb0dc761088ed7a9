//! Actions that a turn leaves behind.

use falconer_protocol::ToolUseId;

use super::items::action_item;
use super::{Normaliser, Open};
use crate::action::ActionStatus;
use crate::body::Body;
use crate::envelope::{Draft, Source};
use crate::id::TurnNumber;

impl Normaliser {
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
