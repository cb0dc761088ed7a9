//! Who talks to this session is remembered, and a conversation that is lost is begun anew.

use falconer::Prompt;
use falconer::protocol::content::{Content, ContentBlock, TextBlock};
use falconer_event::{Body, Draft, End};

use super::Connecting;
use super::live::Live;
use super::turns::Message;
use crate::failure::RunFailure;
use crate::memory::{Exchange, Remembered};

/// Starts the engine once more, without the conversation that is gone.
pub(super) type Renewal = Box<dyn FnOnce() -> Connecting + Send>;

impl Live {
    /// The engine has named its session: whoever asks for it later finds it.
    pub(super) fn remember_session(&mut self, session: &str) {
        let Some((memory, key)) = &self.memory else {
            return;
        };
        let known = memory.recall(key).ok().flatten();
        let mut remembered = Remembered::new(session);
        remembered.last = known.and_then(|known| known.last);
        if let Err(error) = memory.remember(key, &remembered) {
            let text = format!("failed to remember the session for a later start: {error}");
            self.warn("memory", &text);
        }
    }

    /// A turn went well: it is what a new conversation would be told, should this one be lost.
    pub(super) fn remember_exchange(&mut self, drafts: &[Draft], answered: &[Message]) {
        let (Some((memory, key)), Some(session)) = (&self.memory, &self.session) else {
            return;
        };
        let completed = drafts.iter().find_map(|draft| match &draft.body {
            Body::TurnCompleted(turn) if turn.ok => Some(turn),
            _ => None,
        });
        let (Some(turn), Some(asked)) = (completed, answered.last()) else {
            return;
        };
        let clean = |text: &str| self.recorder.redacted(text);
        let mut remembered = Remembered::new(session);
        remembered.last = Some(Exchange::new(&clean(&asked.shown.text), &clean(&turn.text)));
        if let Err(error) = memory.remember(key, &remembered) {
            let text = format!("failed to remember the last exchange: {error}");
            self.warn("memory", &text);
        }
    }

    /// Whether a run that ended like this is to begin anew; once, and only before it began.
    pub(super) fn renewal(&mut self, end: &End) -> Option<Connecting> {
        let class = end.failure.as_ref().map(|failure| failure.class.as_str());
        if class != Some(RunFailure::SessionNotFound.class()) || self.session.is_some() {
            return None;
        }
        let renewal = self.renewal.take()?;
        self.forget_conversation();
        Some(renewal())
    }

    fn forget_conversation(&mut self) {
        let gone = self.resume.take().map(|resume| resume.session);
        self.lock = None;
        self.not_found = false;
        let last = self.memory.as_ref().and_then(|(memory, key)| {
            let known = memory.recall(key).ok().flatten();
            known.and_then(|known| known.last)
        });
        let what = match last {
            Some(_) => "a new one is started with a summary of the last exchange",
            None => "a new one is started",
        };
        let gone = gone.unwrap_or_default();
        let text = format!("the conversation {gone} does not exist any more; {what}");
        self.warn("session_not_found", &text);
        let unanswered = std::mem::take(&mut self.unanswered);
        self.turns.again(unanswered, last.as_ref());
    }
}

/// A prompt for a model that does not know what was said before. A command stays a command.
pub(super) fn with_context(prompt: &Prompt, last: &Exchange) -> Prompt {
    let mut input = prompt.input().clone();
    match &mut input.message.content {
        Content::Text(text) if text.starts_with('/') => {}
        Content::Text(text) => text.insert_str(0, &last.told()),
        Content::Blocks(blocks) => {
            let context = TextBlock::new(last.told());
            blocks.insert(0, ContentBlock::Text(context));
        }
    }
    Prompt::from(input)
}
