//! From a message in the store to what the agent is given.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use falconer_event::Attachment as Shown;
use falconer_session::{Message, Part};
use falconer_store::{Attachment, InputRecord, Store};

use crate::error::Error;

/// The message as the live session takes it, with its attachments.
pub(crate) async fn message(store: &dyn Store, input: &InputRecord) -> Result<Message, Error> {
    let mut parts = Vec::new();
    for attachment in &input.attachments {
        parts.push(part(store, attachment).await?);
    }
    parts.push(Part::Text(input.text.clone()));
    let id = uuid::Uuid::parse_str(input.id.as_str())
        .map_err(|_| Error::Invalid(format!("message {} has no usable id", input.id)))?;
    let shown = input
        .attachments
        .iter()
        .map(|attachment| Shown::new(&*attachment.name, &*attachment.media_type, attachment.bytes));
    let mut message = Message::new(parts)
        .id(id)
        .delivery(input.delivery)
        .attachments(shown);
    if let Some(by) = &input.by {
        message = message.by(by);
    }
    Ok(message)
}

async fn part(store: &dyn Store, attachment: &Attachment) -> Result<Part, Error> {
    let blob = store.blob(&attachment.id).await?;
    let bytes = store.blob_bytes(&blob.hash).await?;
    let media_type = blob.media_type.as_str();
    Ok(match media_type.split(';').next().unwrap_or_default() {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => Part::Image {
            media_type: media_type.to_owned(),
            data: STANDARD.encode(&bytes),
        },
        "application/pdf" => Part::Document {
            name: attachment.name.clone(),
            media_type: media_type.to_owned(),
            data: STANDARD.encode(&bytes),
        },
        _ => match String::from_utf8(bytes) {
            Ok(text) => Part::Text(format!(
                "<file name={:?}>\n{text}\n</file>",
                attachment.name
            )),
            Err(_) => {
                return Err(Error::Invalid(format!(
                    "{} is {media_type}, which an agent cannot read; attach text, a picture or a PDF",
                    attachment.name
                )));
            }
        },
    })
}
