//! From a message in the store to what the agent is given.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use falconer::Prompt;
use falconer::protocol::content::{
    Base64Source, ContentBlock, DocumentBlock, ImageBlock, MediaSource, TextBlock,
};
use falconer_event::Attachment as Shown;
use falconer_session::{Delivery as Live, Message};
use falconer_store::{Attachment, Delivery, InputRecord, Store};

use crate::error::Error;

/// The message as the live session takes it, with its attachments.
pub(crate) async fn message(store: &dyn Store, input: &InputRecord) -> Result<Message, Error> {
    let mut blocks = Vec::new();
    for attachment in &input.attachments {
        blocks.push(block(store, attachment).await?);
    }
    let prompt = match blocks.is_empty() {
        true => Prompt::from(input.text.as_str()),
        false => {
            blocks.push(ContentBlock::Text(TextBlock::new(&*input.text)));
            Prompt::blocks(blocks)
        }
    };
    let id = uuid::Uuid::parse_str(input.id.as_str())
        .map_err(|_| Error::Invalid(format!("message {} has no usable id", input.id)))?;
    let shown = input
        .attachments
        .iter()
        .map(|attachment| Shown::new(&*attachment.name, &*attachment.media_type, attachment.bytes));
    let mut message = Message::new(prompt.id(id))
        .delivery(delivery(input.delivery))
        .attachments(shown);
    if let Some(by) = &input.by {
        message = message.by(by);
    }
    Ok(message)
}

fn delivery(delivery: Delivery) -> Live {
    match delivery {
        Delivery::Steer => Live::Push,
        Delivery::Interrupt => Live::Interrupt,
        _ => Live::Queue,
    }
}

async fn block(store: &dyn Store, attachment: &Attachment) -> Result<ContentBlock, Error> {
    let blob = store.blob(&attachment.id).await?;
    let bytes = store.blob_bytes(&blob.hash).await?;
    let media_type = blob.media_type.as_str();
    Ok(match media_type.split(';').next().unwrap_or_default() {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => ContentBlock::Image(Box::new(
            ImageBlock::base64(media_type, STANDARD.encode(&bytes)),
        )),
        "application/pdf" => ContentBlock::Document(Box::new(DocumentBlock {
            source: MediaSource::Base64(Base64Source {
                media_type: media_type.to_owned(),
                data: STANDARD.encode(&bytes),
                ..Base64Source::default()
            }),
            title: Some(attachment.name.clone()),
            ..DocumentBlock::default()
        })),
        _ => match String::from_utf8(bytes) {
            Ok(text) => ContentBlock::Text(TextBlock::new(format!(
                "<file name={:?}>\n{text}\n</file>",
                attachment.name
            ))),
            Err(_) => {
                return Err(Error::Invalid(format!(
                    "{} is {media_type}, which an agent cannot read; attach text, a picture or a PDF",
                    attachment.name
                )));
            }
        },
    })
}
