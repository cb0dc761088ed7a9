//! The conversation of a run, as far as it changes.

/// The engine's conversation, its model and its mode.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// The engine's id of it, once it is known.
    session: Option<String>,
    has_started: bool,
    /// It was cleared; the next turn says under which id it goes on.
    is_reset: bool,
    /// The model and the mode of the last turn.
    model: Option<String>,
    mode: Option<String>,
}

/// What an `init` means for the conversation.
pub(super) enum Entered {
    /// The run has started.
    Started,
    /// It goes on, in another conversation if one is named.
    Reset(Option<String>),
    /// Nothing new.
    Same,
}

impl Conversation {
    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    pub(super) fn has_started(&self) -> bool {
        self.has_started
    }

    /// A turn begins in this conversation.
    pub(super) fn enter(&mut self, session: Option<String>) -> Entered {
        if !self.has_started {
            self.has_started = true;
            self.session = session;
            return Entered::Started;
        }
        if session.is_some() && session != self.session {
            self.is_reset = false;
            self.session.clone_from(&session);
            return Entered::Reset(session);
        }
        if self.take_reset() {
            Entered::Reset(None)
        } else {
            Entered::Same
        }
    }

    /// It was cleared.
    pub(super) fn clear(&mut self) {
        self.is_reset = true;
    }

    /// Returns `true` if it was cleared and nobody was told.
    pub(super) fn take_reset(&mut self) -> bool {
        std::mem::take(&mut self.is_reset)
    }

    /// The model now; returns the one before if that was another.
    pub(super) fn model_is(&mut self, now: &str) -> Option<String> {
        let before = self.model.replace(now.to_owned());
        before.filter(|before| before != now)
    }

    /// The mode now; `true` if it was another. The first one is no change.
    pub(super) fn mode_is(&mut self, now: &str) -> bool {
        let before = self.mode.replace(now.to_owned());
        before.is_some_and(|before| before != now)
    }
}
