//! A message to the agent, with everything the record wants to know about it.

use falconer::Prompt;
use falconer::protocol::content::{Content, ContentBlock, MediaSource};
use falconer_event::{Attachment, Prompt as Shown, PromptDelivery};

/// Names a message that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MessageId(pub(crate) String);

impl MessageId {
    /// The id as text; `turn.started`, `turn.completed` and the item of the message name it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for MessageId {
    fn from(id: T) -> Self {
        Self(id.into())
    }
}

impl std::fmt::Display for MessageId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What happens to a message while the agent is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Delivery {
    /// It waits until the turns before it are over.
    #[default]
    Queue,
    /// The agent reads it along the way.
    Push,
    /// The turn under way is ended for it.
    Interrupt,
}

/// What became of the wish to take a message back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cancelled {
    /// The agent will not see it.
    Yes,
    /// It was too late, or there is no such message.
    TooLate,
}

/// A message to the agent.
///
/// Its id is that of the prompt, if it has one; a message with an id that was accepted before is
/// accepted without being sent again.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Message {
    pub(crate) prompt: Prompt,
    pub(crate) delivery: Delivery,
    pub(crate) by: Option<String>,
    pub(crate) attachments: Option<Vec<Attachment>>,
}

impl Message {
    /// A message that waits for its turn.
    pub fn new(prompt: impl Into<Prompt>) -> Self {
        Self {
            prompt: prompt.into(),
            delivery: Delivery::default(),
            by: None,
            attachments: None,
        }
    }

    /// What happens to it while the agent is at work.
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Who sends it; for the record.
    pub fn by(mut self, who: impl Into<String>) -> Self {
        self.by = Some(who.into());
        self
    }

    /// What comes with it, by the names people gave; otherwise the pictures and documents of
    /// the prompt are counted.
    pub fn attachments(mut self, attachments: impl IntoIterator<Item = Attachment>) -> Self {
        self.attachments = Some(attachments.into_iter().collect());
        self
    }

    /// As its item shows it.
    pub(crate) fn shown(&self) -> Shown {
        let content = &self.prompt.input().message.content;
        let mut shown = Shown::queued(text_of(content), delivery_of(self.delivery));
        shown.by.clone_from(&self.by);
        shown.attachments = match &self.attachments {
            Some(named) => named.clone(),
            None => media_of(content),
        };
        shown
    }
}

fn delivery_of(delivery: Delivery) -> PromptDelivery {
    match delivery {
        Delivery::Queue => PromptDelivery::Queue,
        Delivery::Push => PromptDelivery::Steer,
        Delivery::Interrupt => PromptDelivery::Interrupt,
    }
}

fn text_of(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Blocks(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                ContentBlock::Text(block) => Some(block.text.as_str()),
                _ => None,
            });
            texts.collect::<Vec<&str>>().join("\n")
        }
    }
}

fn media_of(content: &Content) -> Vec<Attachment> {
    let Content::Blocks(blocks) = content else {
        return Vec::new();
    };
    let media = blocks.iter().filter_map(|block| match block {
        ContentBlock::Image(image) => Some(medium("image", &image.source)),
        ContentBlock::Document(document) => {
            let name = document.title.as_deref().unwrap_or("document");
            Some(medium(name, &document.source))
        }
        _ => None,
    });
    media.collect()
}

fn medium(name: &str, source: &MediaSource) -> Attachment {
    match source {
        MediaSource::Base64(source) => {
            // Four letters are three bytes, less what is filled up.
            let filled = source.data.bytes().rev().take_while(|byte| *byte == b'=');
            let bytes = (source.data.len() / 4 * 3).saturating_sub(filled.count());
            Attachment::new(name, &*source.media_type, bytes as u64)
        }
        _ => Attachment::new(name, "", 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use falconer::protocol::content::{ImageBlock, TextBlock};

    #[test]
    fn a_message_shows_its_text_and_names_its_media() {
        let blocks = vec![
            ContentBlock::Text(TextBlock::new("look at")),
            ContentBlock::Image(Box::new(ImageBlock::base64("image/png", "aGVsbG8="))),
            ContentBlock::Text(TextBlock::new("this")),
        ];
        let message = Message::new(blocks).delivery(Delivery::Push).by("anna");
        let shown = message.shown();
        assert_eq!(shown.text, "look at\nthis");
        assert_eq!(shown.delivery, PromptDelivery::Steer);
        assert_eq!(shown.by.as_deref(), Some("anna"));
        assert_eq!(
            shown.attachments,
            [Attachment::new("image", "image/png", 5)]
        );
        let named = message.attachments([Attachment::new("cat.png", "image/png", 5)]);
        assert_eq!(named.shown().attachments[0].name, "cat.png");
    }
}
