//! The lane to the host: one JSON line per frame, in the order in which they were sent.
//!
//! The submodules build frames, one family each; [`Speaker`] stamps and sends them.

pub(crate) mod assistant;
pub(crate) mod lifecycle;
pub(crate) mod reply;
pub(crate) mod result;
pub(crate) mod stream;
pub(crate) mod system;
pub(crate) mod user;

mod speaker;

use bytes::Bytes;
use falconer_protocol::Object;
use falconer_protocol::content::ContentBlock;
use falconer_protocol::usage::Usage;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc;

pub(crate) use speaker::{Speaker, StateEvents, new_uuid};

/// How many lines may wait for a host that does not read. Then senders wait, too.
pub(crate) const LANE: usize = 64;

/// Sends frames to the host.
#[derive(Debug, Clone)]
pub(crate) struct Outbox {
    lines: mpsc::Sender<Bytes>,
}

impl Outbox {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Bytes>) {
        let (lines, receiver) = mpsc::channel(LANE);
        (Self { lines }, receiver)
    }

    /// Sends one frame. A host that is gone gets nothing, and nobody is told.
    pub(crate) async fn send(&self, frame: &(impl Serialize + Sync)) {
        match falconer_protocol::to_line(frame) {
            Ok(line) => {
                let _ = self.lines.send(line).await;
            }
            Err(error) => tracing::error!(%error, "bug: a frame could not be written"),
        }
    }

    /// Sends one frame if there is room for it. Fails if the lane is full.
    pub(crate) fn try_send(&self, frame: &impl Serialize) -> Result<(), LaneFull> {
        let line = match falconer_protocol::to_line(frame) {
            Ok(line) => line,
            Err(error) => {
                tracing::error!(%error, "bug: a frame could not be written");
                return Ok(());
            }
        };
        match self.lines.try_send(line) {
            Err(mpsc::error::TrySendError::Full(_)) => Err(LaneFull),
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => Ok(()),
        }
    }
}

/// The host does not read fast enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the host does not read its frames")]
pub(crate) struct LaneFull;

/// Fills a usage of the API up with the fields that it does not have.
pub(crate) fn completed(missing: &Usage, usage: Option<&Object>) -> Usage {
    let mut whole = match serde_json::to_value(missing) {
        Ok(Value::Object(whole)) => whole,
        _ => Object::new(),
    };
    whole.extend(
        usage
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    falconer_protocol::from_value(Value::Object(whole)).unwrap_or_default()
}

/// Reads a block of a conversation; what is no object is shown as its JSON.
fn block(block: &Value) -> ContentBlock {
    let read = falconer_protocol::from_value(block.clone());
    read.unwrap_or_else(|_| ContentBlock::text(block.to_string()))
}
