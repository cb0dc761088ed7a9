//! Messages to the agent, and the tickets that results name.

use falconer_protocol::content::ContentBlock;
use falconer_protocol::message::ResultMessage;
use falconer_protocol::{Priority, UserInput};
use uuid::Uuid;

/// A message to the agent: text, or text with images and documents.
///
/// Anything that reads like one is one: `"text"`, a `String`, a list of content blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt(UserInput);

impl Prompt {
    /// A message of content blocks.
    pub fn blocks(blocks: impl Into<Vec<ContentBlock>>) -> Self {
        Self(UserInput::new(blocks.into()))
    }

    /// Takes the text as it is: no slash commands, no `@path`.
    #[must_use]
    pub fn verbatim(mut self) -> Self {
        self.0.client_composed = Some(true);
        self
    }

    /// Says what happens when the agent is at work: wait, be read along the way, or stop it.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.0.priority = Some(priority);
        self
    }

    /// Only adds to the conversation, without an answer.
    #[must_use]
    pub fn without_query(mut self) -> Self {
        self.0.should_query = Some(false);
        self
    }

    /// Gives the message an id of the caller's choice; sending the same id twice sends once.
    #[must_use]
    pub fn id(mut self, id: Uuid) -> Self {
        self.0.uuid = Some(id.to_string().into());
        self
    }

    /// Returns the line to send; a message without an id gets one when it is sent.
    pub fn input(&self) -> &UserInput {
        &self.0
    }

    /// The line to send and the ticket for its results.
    pub(crate) fn into_input(self) -> (UserInput, Ticket) {
        let mut input = self.0;
        let uuid = input
            .uuid
            .get_or_insert_with(|| Uuid::new_v4().to_string().into());
        let ticket = Ticket(uuid.as_str().to_owned());
        (input, ticket)
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self(UserInput::text(text))
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self(UserInput::text(text))
    }
}

impl From<&String> for Prompt {
    fn from(text: &String) -> Self {
        Self(UserInput::text(text.as_str()))
    }
}

impl From<Vec<ContentBlock>> for Prompt {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::blocks(blocks)
    }
}

impl From<UserInput> for Prompt {
    fn from(input: UserInput) -> Self {
        Self(input)
    }
}

/// Names one sent message.
///
/// Messages sent while the agent works may be answered together, so one result can answer
/// several tickets; and background tasks cause results that answer none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ticket(String);

impl Ticket {
    /// The message's uuid, as rewinding and cancelling want it.
    pub fn uuid(&self) -> &str {
        &self.0
    }

    /// Returns `true` if this result answers the message.
    pub fn is_answered_by(&self, result: &ResultMessage) -> bool {
        let listed = result.user_message_uuids.iter().flatten();
        listed
            .chain(&result.user_message_uuid)
            .any(|uuid| uuid.as_str() == self.0)
    }
}
