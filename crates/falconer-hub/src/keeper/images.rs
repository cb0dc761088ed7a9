//! Images that tools returned: in the store before the event that names them.

use falconer_event::Event;
use falconer_store::NewBlob;

use super::Keeper;

/// How many bytes of images a run may still put into the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ImageAllowance(u64);

impl Default for ImageAllowance {
    fn default() -> Self {
        Self(256 << 20)
    }
}

impl ImageAllowance {
    /// Takes so many, or nothing if there are not enough.
    fn take(&mut self, bytes: u64) -> bool {
        let left = self.0.checked_sub(bytes);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

impl Keeper {
    /// Keeps the images of an event. One that cannot be kept is told without an id: it must not
    /// hold up the run, and the text of the result has a note of it.
    pub(super) async fn keep_images(&mut self, event: &mut Event) {
        for image in event.body.images_mut() {
            let (Some(data), Some(run)) = (&image.data, &mut self.run) else {
                continue;
            };
            if !run.images.take(image.bytes) {
                tracing::warn!(session = %self.session, "the run has returned more images than are kept");
                continue;
            }
            let blob = NewBlob::new(&*image.media_type, data.to_vec());
            let blob = blob.session(self.session.clone());
            let store = &self.shared.store;
            match self.patiently(|| store.put_blob(blob.clone())).await {
                Ok(kept) => image.id = Some(kept.id.to_string()),
                Err(error) => {
                    tracing::warn!(session = %self.session, %error, "failed to keep an image");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allowance_is_used_up_and_not_overdrawn() {
        let mut left = ImageAllowance(10);
        assert!(left.take(6) && !left.take(5) && left.take(4));
        assert_eq!(left, ImageAllowance(0));
        assert!(!left.take(1) && left.take(0));
    }
}
