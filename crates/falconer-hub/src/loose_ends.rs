//! What a run that nobody saw end has left open in the log: pure.

use std::collections::BTreeMap;

use falconer_event::{
    ActionStatus, Body, Draft, Event, Failure, Item, ItemContent, Outcome, PermissionResolved,
    QuestionResolved, Resolution, RunCompleted, RunId, Source, Task, TaskEnd, Tokens,
};

/// Why a run ended that nobody saw end.
pub(crate) const SERVER_DIED: &str = "server_died";

/// Follows the events of a session and knows what the last run has not finished.
#[derive(Debug, Default)]
pub(crate) struct LooseEnds {
    run: Option<RunId>,
    items: BTreeMap<String, Item>,
    permissions: BTreeMap<String, ()>,
    questions: BTreeMap<String, ()>,
    tasks: BTreeMap<String, Task>,
    native_session: Option<String>,
    text: String,
    turns: u32,
    /// Turns that began and did not end.
    open_turns: u32,
    tokens: Tokens,
    cost_usd: f64,
}

impl LooseEnds {
    /// Takes the next event of the log into account.
    pub(crate) fn note(&mut self, event: Event) {
        if self.run.as_ref() != Some(&event.run) {
            *self = Self {
                run: Some(event.run.clone()),
                ..Self::default()
            };
        }
        match event.body {
            Body::RunStarted(started) => self.native_session = Some(started.native_session),
            Body::TurnStarted(_) => self.open_turns += 1,
            Body::TurnCompleted(turn) => {
                self.turns += 1;
                self.open_turns = self.open_turns.saturating_sub(1);
                self.tokens += turn.tokens;
                self.cost_usd = turn.total_cost_usd;
                self.text = turn.text;
            }
            Body::ItemStarted(item) => drop(self.items.insert(item.id.to_string(), *item)),
            Body::ItemCompleted(item) => drop(self.items.remove(item.id.as_str())),
            Body::PermissionRequested(asked) => drop(self.permissions.insert(asked.id, ())),
            Body::PermissionResolved(resolved) => drop(self.permissions.remove(&resolved.id)),
            Body::QuestionRequested(asked) => drop(self.questions.insert(asked.id, ())),
            Body::QuestionResolved(resolved) => drop(self.questions.remove(&resolved.id)),
            Body::TaskStarted(task) => drop(self.tasks.insert(task.id.clone(), *task)),
            Body::TaskCompleted(task) => drop(self.tasks.remove(&task.id)),
            Body::RunCompleted(_) => *self = Self::default(),
            _ => {}
        }
    }

    /// The run that is open, if one is.
    pub(crate) fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// Whether the run was in the middle of something. One that waited for a message has lost
    /// nothing.
    pub(crate) fn is_in_the_middle(&self) -> bool {
        let is_work = |item: &Item| !matches!(item.content, ItemContent::Prompt(_));
        self.open_turns > 0
            || !self.permissions.is_empty()
            || !self.questions.is_empty()
            || !self.tasks.is_empty()
            || self.items.values().any(is_work)
    }

    /// The events that close everything, the end of the run last.
    pub(crate) fn tie(self, failure: Option<Failure>) -> Vec<Draft> {
        let why = failure.as_ref().map(|failure| failure.text.clone());
        let mut bodies: Vec<Body> = Vec::new();
        for id in self.permissions.into_keys() {
            let mut resolved = PermissionResolved::new(id, Resolution::Expired, "falconer");
            resolved.message.clone_from(&why);
            bodies.push(Body::PermissionResolved(Box::new(resolved)));
        }
        for id in self.questions.into_keys() {
            let mut resolved = QuestionResolved::new(id, Resolution::Expired, "falconer");
            resolved.message.clone_from(&why);
            bodies.push(Body::QuestionResolved(Box::new(resolved)));
        }
        let items = self.items.into_values().filter_map(closed);
        bodies.extend(items.map(|item| Body::ItemCompleted(Box::new(item))));
        for mut task in self.tasks.into_values() {
            task.end = Some(TaskEnd::Aborted);
            bodies.push(Body::TaskCompleted(Box::new(task)));
        }
        let mut completed = RunCompleted::new(match failure {
            Some(_) => Outcome::Failed,
            None => Outcome::Ok,
        });
        completed.failure = failure;
        completed.text = self.text;
        completed.native_session = self.native_session;
        (completed.turns, completed.tokens) = (self.turns, self.tokens);
        completed.cost_usd = self.cost_usd;
        bodies.push(Body::RunCompleted(Box::new(completed)));
        let draft = |body| Draft::new(Source::Falconer, body);
        bodies.into_iter().map(draft).collect()
    }
}

/// An item nobody saw the end of. A message of the user that was never sent still waits.
fn closed(mut item: Item) -> Option<Item> {
    match &mut item.content {
        ItemContent::Prompt(_) => return None,
        ItemContent::Action(action) => action.status = ActionStatus::Unknown,
        _ => {}
    }
    Some(item)
}
