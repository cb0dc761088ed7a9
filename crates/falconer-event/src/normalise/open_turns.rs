//! Turns without a result yet.

use std::collections::VecDeque;

use falconer_protocol::message::AssistantError;

use crate::id::TurnNumber;

/// The turns of a run that are not over. Results may be held back, so there may be several.
#[derive(Debug, Default)]
pub(super) struct OpenTurns {
    open: VecDeque<OpenTurn>,
    count: u32,
    /// The error the last message of the agent carried in the turn under way.
    error: Option<AssistantError>,
}

/// A turn without a result yet.
#[derive(Debug)]
struct OpenTurn {
    number: TurnNumber,
    /// The prompts that caused it, if the engine named them.
    prompts: Vec<String>,
    /// Whether the agent itself has said something in it.
    has_spoken: bool,
    /// The last text of the agent itself.
    said: String,
}

impl OpenTurns {
    /// Goes on counting after this many turns.
    pub(super) fn after(count: u32) -> Self {
        Self {
            count,
            ..Self::default()
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The turn under way.
    pub(super) fn current(&self) -> Option<TurnNumber> {
        self.open.back().map(|turn| turn.number)
    }

    /// The turn that the next result ends: results come in the order of their turns.
    pub(super) fn oldest(&self) -> Option<TurnNumber> {
        self.open.front().map(|turn| turn.number)
    }

    pub(super) fn begin(&mut self, prompts: Vec<String>) {
        self.count += 1;
        self.open.push_back(OpenTurn {
            number: TurnNumber(self.count),
            prompts,
            has_spoken: false,
            said: String::new(),
        });
        self.error = None;
    }

    /// Ends the oldest turn.
    pub(super) fn end(&mut self) -> Option<TurnNumber> {
        self.open.pop_front().map(|turn| turn.number)
    }

    /// Returns `true` if an `init` only repeats itself: it names the prompts of an open turn, or
    /// comes before anything was said. A turn too many would never end.
    pub(super) fn is_under_way(&self, prompts: &[String]) -> bool {
        let repeats = |turn: &OpenTurn| !prompts.is_empty() && turn.prompts == prompts;
        let is_fresh =
            |turn: &OpenTurn| !turn.has_spoken && (prompts.is_empty() || turn.prompts.is_empty());
        self.open.iter().any(repeats) || self.open.back().is_some_and(is_fresh)
    }

    /// The agent itself says something.
    pub(super) fn speaks(&mut self) {
        if let Some(turn) = self.open.back_mut() {
            turn.has_spoken = true;
        }
    }

    /// Notes the error that a message of the agent carries.
    pub(super) fn carries(&mut self, error: Option<&AssistantError>) {
        self.error = error.cloned();
    }

    pub(super) fn error(&self) -> Option<&AssistantError> {
        self.error.as_ref()
    }

    /// Notes a text of the agent itself, in the turn under way.
    pub(super) fn says(&mut self, text: &str) {
        if let Some(turn) = self.open.back_mut() {
            text.clone_into(&mut turn.said);
        }
    }

    /// Notes a text that a turn leaves behind.
    pub(super) fn said_in(&mut self, number: Option<TurnNumber>, text: String) {
        let mut open = self.open.iter_mut();
        if let Some(turn) = open.find(|turn| Some(turn.number) == number) {
            turn.said = text;
        }
    }

    /// The last text in the oldest turn.
    pub(super) fn oldest_said(&self) -> Option<&str> {
        self.open.front().map(|turn| turn.said.as_str())
    }
}
