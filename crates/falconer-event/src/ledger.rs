//! The books of a run: what is open in it and what it has used, read off its events.

use std::collections::{BTreeMap, VecDeque};

use falconer_protocol::ToolUseId;

use crate::action::{Action, ActionStatus};
use crate::body::{Body, Item, ItemContent, Outcome, RunCompleted, SessionChanged, Task, TaskEnd};
use crate::envelope::{Draft, Source};
use crate::id::{ItemId, TurnNumber};
use crate::turn::{Failure, INTERRUPTED, Tokens, TurnCompleted};

/// How a run ended, as far as its events do not say.
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

/// Follows the events of one run and ends it.
///
/// Whatever an engine leaves open is closed: every action and text that began is completed, every
/// task ended, and `run.completed` comes exactly once, last.
#[derive(Debug, Default)]
pub struct Ledger {
    /// The engine's id of the session, once it is known.
    native_session: Option<String>,
    /// Turns without a result yet; results may be held back, so there may be several.
    open_turns: VecDeque<OpenTurn>,
    turns: u32,
    last: Option<TurnCompleted>,
    tokens: Tokens,
    /// Actions, texts and thoughts that are not complete.
    items: BTreeMap<ItemId, Open>,
    tasks: BTreeMap<String, Task>,
    has_ended: bool,
}

/// A turn without a result yet.
#[derive(Debug)]
struct OpenTurn {
    number: TurnNumber,
    /// The last text of the agent itself.
    said: String,
}

/// An item that is not complete.
#[derive(Debug)]
struct Open {
    content: OpenContent,
    turn: Option<TurnNumber>,
    parent: Option<ToolUseId>,
}

#[derive(Debug)]
enum OpenContent {
    Action(Box<Action>),
    Message(String),
    Thought(String),
}

impl Ledger {
    /// Takes note of an event.
    pub fn observe(&mut self, draft: &Draft) {
        match &draft.body {
            Body::RunStarted(started) => self.names(Some(&started.native_session)),
            Body::SessionChanged(SessionChanged::Reset { native_session }) => {
                self.names(native_session.as_ref());
            }
            Body::TurnStarted(_) => self.turn_started(draft.turn),
            Body::TurnCompleted(turn) => self.turn_completed(draft.turn, turn),
            Body::ItemStarted(item) => self.item_started(item, draft),
            Body::ItemDelta { id, text, .. } => self.item_grows(id, text),
            Body::ItemCompleted(item) => self.item_completed(item, draft),
            Body::TaskStarted(task) => drop(self.tasks.insert(task.id.clone(), (**task).clone())),
            Body::TaskProgress(task) => {
                if let Some(known) = self.tasks.get_mut(&task.id) {
                    known.in_background = task.in_background;
                }
            }
            Body::TaskCompleted(task) => drop(self.tasks.remove(&task.id)),
            _ => {}
        }
    }

    /// Returns the turn under way, if there is one.
    pub fn turn(&self) -> Option<TurnNumber> {
        self.open_turns.back().map(|turn| turn.number)
    }

    /// Returns the number of turns that have begun.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Closes what is open and ends the run. Further calls give nothing.
    pub fn end(&mut self, end: End) -> Vec<Draft> {
        let mut out = Vec::new();
        if std::mem::replace(&mut self.has_ended, true) {
            return out;
        }
        self.close_items(&mut out);
        for (_, mut task) in std::mem::take(&mut self.tasks) {
            task.end = Some(TaskEnd::Aborted);
            let ended = Body::TaskCompleted(Box::new(task));
            out.push(Draft::new(Source::Falconer, ended));
        }
        let completed = Body::RunCompleted(Box::new(self.completed(end)));
        out.push(Draft::new(Source::Falconer, completed));
        out
    }

    fn names(&mut self, native_session: Option<&String>) {
        let named = native_session.filter(|session| !session.is_empty());
        self.native_session = named.cloned().or(self.native_session.take());
    }

    fn turn_started(&mut self, number: Option<TurnNumber>) {
        self.turns += 1;
        self.open_turns.push_back(OpenTurn {
            number: number.unwrap_or(TurnNumber(self.turns)),
            said: String::new(),
        });
    }

    fn turn_completed(&mut self, number: Option<TurnNumber>, completed: &TurnCompleted) {
        self.open_turns.retain(|turn| Some(turn.number) != number);
        self.tokens += completed.tokens;
        self.last = Some(completed.clone());
    }

    fn item_started(&mut self, item: &Item, draft: &Draft) {
        let content = match &item.content {
            ItemContent::Action(action) => OpenContent::Action(action.clone()),
            ItemContent::Message { text } => OpenContent::Message(text.clone()),
            ItemContent::Thought { text } => OpenContent::Thought(text.clone()),
            _ => return,
        };
        let open = Open {
            content,
            turn: draft.turn,
            parent: draft.parent.clone(),
        };
        self.items.insert(item.id.clone(), open);
    }

    fn item_grows(&mut self, id: &ItemId, piece: &str) {
        if let Some(open) = self.items.get_mut(id)
            && let OpenContent::Message(text) | OpenContent::Thought(text) = &mut open.content
        {
            text.push_str(piece);
        }
    }

    fn item_completed(&mut self, item: &Item, draft: &Draft) {
        self.items.remove(&item.id);
        if let (ItemContent::Message { text }, None) = (&item.content, &draft.parent) {
            self.said(draft.turn, text);
        }
    }

    fn said(&mut self, turn: Option<TurnNumber>, text: &str) {
        let mut open = self.open_turns.iter_mut();
        if let Some(open) = open.find(|open| Some(open.number) == turn) {
            text.clone_into(&mut open.said);
        }
    }

    /// Texts first, those of the turn under way before others; then actions.
    fn close_items(&mut self, out: &mut Vec<Draft>) {
        let turn = self.turn();
        let items: Vec<(ItemId, Open)> = std::mem::take(&mut self.items).into_iter().collect();
        let (actions, texts): (Vec<_>, Vec<_>) = items
            .into_iter()
            .partition(|(_, open)| matches!(open.content, OpenContent::Action(_)));
        let (ours, others): (Vec<_>, Vec<_>) = texts
            .into_iter()
            .partition(|(_, open)| open.turn == turn && open.parent.is_none());
        for (_, open) in &ours {
            if let OpenContent::Message(text) = &open.content
                && !text.is_empty()
            {
                self.said(turn, text);
            }
        }
        let all = ours.into_iter().chain(others).chain(actions);
        out.extend(all.map(|(id, open)| cut_off(id, open)));
    }

    fn completed(&self, end: End) -> RunCompleted {
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
            native_session: self.native_session.clone(),
            turns: self.turns,
            tokens: self.tokens,
            cost_usd: last.map_or(0.0, |turn| turn.total_cost_usd),
        }
    }
}

/// Completes an item as far as it came.
fn cut_off(id: ItemId, open: Open) -> Draft {
    let content = match open.content {
        OpenContent::Action(mut action) => {
            action.status = ActionStatus::Aborted;
            ItemContent::Action(action)
        }
        OpenContent::Message(text) => ItemContent::Message { text },
        OpenContent::Thought(text) => ItemContent::Thought { text },
    };
    Draft {
        turn: open.turn,
        parent: open.parent,
        ..Draft::new(
            Source::Falconer,
            Body::ItemCompleted(Box::new(Item { id, content })),
        )
    }
}
