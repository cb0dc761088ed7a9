//! A conversation that is lost is begun anew, once.

use falconer::Prompt;
use falconer::protocol::content::{Content, ContentBlock, TextBlock};
use falconer_event::End;

use super::Connecting;
use super::live::Live;
use crate::exchange::Exchange;
use crate::failure::RunFailure;
use crate::spec::LastExchange;

/// How the engine is started once more, without the conversation that is gone.
pub(super) struct Renewal {
    pub(super) connect: Box<dyn FnOnce() -> Connecting + Send>,
    pub(super) last: LastExchange,
}

impl Live {
    /// Whether a run that ended like this is to begin anew; only before it began.
    pub(super) async fn renewal(&mut self, end: &End) -> Option<Connecting> {
        let class = end.failure.as_ref().map(|failure| failure.class.as_str());
        if class != Some(RunFailure::SessionNotFound.class()) || self.session.is_some() {
            return None;
        }
        let renewal = self.renewal.take()?;
        let last = renewal.last.await;
        self.forget_conversation(last);
        Some((renewal.connect)())
    }

    fn forget_conversation(&mut self, last: Option<Exchange>) {
        let gone = self.resume.take().map(|resume| resume.session);
        self.lock = None;
        self.not_found = false;
        let what = match &last {
            Some(_) => "a new one is started with a summary of the last exchange",
            None => "a new one is started",
        };
        let gone = gone.unwrap_or_default();
        let text = format!("the conversation {gone} does not exist any more; {what}");
        self.warn("session_not_found", &text);
        let unanswered = std::mem::take(&mut self.unanswered);
        self.turns.again(unanswered, last);
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
