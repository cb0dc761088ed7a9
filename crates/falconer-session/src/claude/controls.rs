//! Commands to an engine that speaks the Claude protocol.

use falconer::protocol::content::{
    Base64Source, Content, ContentBlock, DocumentBlock, ImageBlock, MediaSource, TextBlock,
};
use falconer::protocol::control::{CancelAsyncMessage, CancelAsyncMessageResponse};
use falconer::{Client, Error, PermissionMode, Priority};
use falconer_event::Delivery;
use falconer_protocol::UserInput;
use futures_util::future::BoxFuture;

use super::failure;
use crate::engine::{Controls, Obeyed, Prompt};
use crate::message::Part;

/// A connection, as far as commands go.
pub(super) struct ClaudeControls {
    pub(super) client: Client,
}

impl ClaudeControls {
    fn obey<T, Asked>(&self, ask: impl FnOnce(Client) -> Asked) -> Obeyed<T>
    where
        Asked: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let asked = ask(self.client.clone());
        Box::pin(async move { asked.await.map_err(failure::command) })
    }
}

impl Controls for ClaudeControls {
    fn send(&self, prompt: Prompt) -> Obeyed {
        self.obey(|client| async move { client.send(input(prompt)).await.map(drop) })
    }

    fn take_back(&self, prompt: String) -> Obeyed<bool> {
        let request = CancelAsyncMessage {
            message_uuid: prompt.into(),
            ..CancelAsyncMessage::default()
        };
        self.obey(|client| async move {
            let answer = client.request(request.into()).await?;
            // An answer without a word about it is no promise.
            let answer: CancelAsyncMessageResponse =
                serde_json::from_value(answer).unwrap_or_default();
            Ok(answer.cancelled)
        })
    }

    fn interrupt(&self) -> Obeyed {
        self.obey(|client| async move { client.interrupt().await.map(drop) })
    }

    fn stop(&self) -> Obeyed {
        self.obey(|client| async move { client.interrupt_all().await.map(drop) })
    }

    fn set_model(&self, model: String) -> Obeyed {
        self.obey(|client| async move { client.set_model(model).await.map(drop) })
    }

    fn set_mode(&self, mode: PermissionMode) -> Obeyed {
        self.obey(|client| async move { client.set_permission_mode(mode).await })
    }

    fn stop_task(&self, task: String) -> Obeyed {
        self.obey(|client| async move { client.stop_task(task).await })
    }

    fn idle(&self) -> BoxFuture<'static, ()> {
        let client = self.client.clone();
        Box::pin(async move { client.idle().await })
    }

    fn close(&self) -> BoxFuture<'static, Vec<String>> {
        let client = self.client.clone();
        Box::pin(async move {
            let closed = client.close().await;
            closed.map(|closed| closed.stderr).unwrap_or_default()
        })
    }
}

/// A prompt in the words of the protocol. A text alone stays a text, so that commands work.
fn input(prompt: Prompt) -> UserInput {
    let content = match prompt.parts.as_slice() {
        [Part::Text(text)] => Content::Text(text.clone()),
        _ => Content::Blocks(prompt.parts.into_iter().map(block).collect()),
    };
    let mut input = UserInput::new(content);
    input.uuid = Some(prompt.id.into());
    input.priority = priority(prompt.delivery);
    input
}

/// The one place where our word for the delivery becomes that of the wire.
fn priority(delivery: Delivery) -> Option<Priority> {
    match delivery {
        Delivery::Steer => Some(Priority::Next),
        Delivery::Interrupt => Some(Priority::Now),
        // The session holds it back until its turn has come.
        _ => None,
    }
}

fn block(part: Part) -> ContentBlock {
    match part {
        Part::Text(text) => ContentBlock::Text(TextBlock::new(text)),
        Part::Image { media_type, data } => {
            ContentBlock::Image(Box::new(ImageBlock::base64(media_type, data)))
        }
        Part::Document {
            name,
            media_type,
            data,
        } => ContentBlock::Document(Box::new(DocumentBlock {
            source: MediaSource::Base64(Base64Source {
                media_type,
                data,
                ..Base64Source::default()
            }),
            title: Some(name),
            ..DocumentBlock::default()
        })),
    }
}
