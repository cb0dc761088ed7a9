//! Secrets are taken out here, before an event is streamed, stored or logged.

mod pieces;

use falconer_event::{Event, ImageData};
use falconer_secret::Redactor;

pub(crate) use pieces::Pieces;

/// Returns an event without secrets.
///
/// # Errors
/// The event itself if it cannot be read any more afterwards: a secret was in a place where
/// only certain words may be.
pub(crate) fn event(redactor: &Redactor, mut event: Event) -> Result<Event, Box<Event>> {
    images(redactor, &mut event);
    let Ok(mut value) = serde_json::to_value(&event) else {
        return Err(Box::new(event));
    };
    if !redactor.value(&mut value) {
        return Ok(event);
    }
    match serde_json::from_value::<Event>(value) {
        Ok(mut clean) => {
            // Bytes are in no JSON.
            for (image, had) in clean.body.images_mut().iter_mut().zip(event.body.images()) {
                image.data.clone_from(&had.data);
            }
            Ok(clean)
        }
        Err(_) => Err(Box::new(event)),
    }
}

/// A secret cannot be cut out of an image: one that has it in its bytes, say in a comment, is
/// told without them. What can be seen in it is not looked at.
fn images(redactor: &Redactor, event: &mut Event) {
    for image in event.body.images_mut() {
        let has_secret = |data: &ImageData| redactor.text(&String::from_utf8_lossy(data)).is_some();
        if image.data.as_ref().is_some_and(has_secret) {
            image.data = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// An event of a call that returned this.
    fn returned(content: &Value) -> Event {
        let line = json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": content}]}});
        let message = serde_json::from_value(line).unwrap();
        let run = falconer_event::Run::default();
        let mut drafts = falconer_event::Normaliser::new(run).message(&message);
        let draft = drafts.pop().unwrap();
        falconer_event::Sequence::new("s").stamp(&"r".into(), "t", draft)
    }

    #[test]
    fn an_image_with_a_secret_in_its_bytes_is_told_without_them() {
        let image = |data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": data}});
        // `GIF89a`, and `GIF89a password` with a byte that is no text before it.
        let (plain, secret) = (image("R0lGODlh"), image("R0lGODlh/yBwYXNzd29yZA=="));
        let redactor = Redactor::new(["password"]);
        let text = json!({"type": "text", "text": "the password"});
        let event = event(&redactor, returned(&json!([plain, secret, text]))).unwrap();
        let data = event
            .body
            .images()
            .iter()
            .map(|image| image.data.as_deref());
        assert_eq!(data.collect::<Vec<_>>(), [Some(&b"GIF89a"[..]), None]);
        let json = serde_json::to_string(&event).unwrap();
        assert!(json.contains("the [redacted]"), "{json}");
    }
}
