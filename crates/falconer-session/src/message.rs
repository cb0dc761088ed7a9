//! A message to the agent, with everything the record wants to know about it.

use falconer_event::{Attachment, Delivery, Prompt as Shown};
use uuid::Uuid;

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
/// A message with an id that was accepted before is accepted without being sent again. Anything
/// that reads like a message is one: `"text"`, a `String`, a list of [parts](Part).
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Message {
    pub(crate) id: Option<Uuid>,
    pub(crate) parts: Vec<Part>,
    pub(crate) delivery: Delivery,
    pub(crate) by: Option<String>,
    pub(crate) attachments: Option<Vec<Attachment>>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Text. A message that is one text may be a command of the engine.
    Text(String),
    /// A picture.
    Image {
        /// What it is.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A document.
    Document {
        /// The name people gave it.
        name: String,
        /// What it is.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
}

impl Message {
    /// A message that waits for its turn.
    pub fn new(content: impl Into<Self>) -> Self {
        content.into()
    }

    /// A message of several parts.
    pub fn parts(parts: Vec<Part>) -> Self {
        Self {
            id: None,
            parts,
            delivery: Delivery::default(),
            by: None,
            attachments: None,
        }
    }

    /// Gives it an id of the caller's choice; sending the same id twice sends once.
    pub fn id(mut self, id: Uuid) -> Self {
        self.id = Some(id);
        self
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
    /// the message are counted.
    pub fn attachments(mut self, attachments: impl IntoIterator<Item = Attachment>) -> Self {
        self.attachments = Some(attachments.into_iter().collect());
        self
    }

    /// As its item shows it.
    pub(crate) fn shown(&self) -> Shown {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Image { .. } | Part::Document { .. } => None,
        });
        let text = texts.collect::<Vec<&str>>().join("\n");
        let mut shown = Shown::queued(text, self.delivery);
        shown.by.clone_from(&self.by);
        shown.attachments = match &self.attachments {
            Some(named) => named.clone(),
            None => self.parts.iter().filter_map(Part::attachment).collect(),
        };
        shown
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<&String> for Message {
    fn from(text: &String) -> Self {
        Self::from(text.clone())
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::parts(vec![Part::Text(text)])
    }
}

impl From<Vec<Part>> for Message {
    fn from(parts: Vec<Part>) -> Self {
        Self::parts(parts)
    }
}

impl Part {
    /// The part as something that came with the message.
    fn attachment(&self) -> Option<Attachment> {
        match self {
            Self::Text(_) => None,
            Self::Image { media_type, data } => {
                Some(Attachment::new("image", media_type, length(data)))
            }
            Self::Document {
                name,
                media_type,
                data,
            } => Some(Attachment::new(name, media_type, length(data))),
        }
    }
}

/// Returns the bytes that base64 stands for: four letters are three, less what is filled up.
fn length(data: &str) -> u64 {
    let filled = data.bytes().rev().take_while(|byte| *byte == b'=').count();
    (data.len() / 4 * 3).saturating_sub(filled) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_its_text_and_names_its_media() {
        let parts = vec![
            Part::Text("look at".to_owned()),
            Part::Image {
                media_type: "image/png".to_owned(),
                data: "aGVsbG8=".to_owned(),
            },
            Part::Text("this".to_owned()),
        ];
        let message = Message::new(parts).delivery(Delivery::Steer).by("anna");
        let shown = message.shown();
        assert_eq!(shown.text, "look at\nthis");
        assert_eq!(shown.delivery, Delivery::Steer);
        assert_eq!(shown.by.as_deref(), Some("anna"));
        assert_eq!(
            shown.attachments,
            [Attachment::new("image", "image/png", 5)]
        );
        let named = message.attachments([Attachment::new("cat.png", "image/png", 5)]);
        assert_eq!(named.shown().attachments[0].name, "cat.png");
    }
}
