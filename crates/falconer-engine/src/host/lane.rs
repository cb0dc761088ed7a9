//! The other end of a [`Host`], for tests: a host that reads frames and answers.

use std::time::Duration;

use bytes::Bytes;
use falconer_protocol::RequestId;
use falconer_protocol::control::{ControlResponse, EngineRequest};
use serde_json::Value;
use tokio::sync::mpsc;

use super::{Host, Resolved};
use crate::frame::Outbox;

/// What a host does, by hand.
#[derive(Debug)]
pub(crate) struct HostLane {
    pub(crate) lines: mpsc::Receiver<Bytes>,
    pub(crate) host: Host,
}

impl Host {
    /// A host and its other end; the outbox is the one both use.
    pub(crate) fn pair() -> (Self, Outbox, HostLane) {
        let (outbox, lines) = Outbox::new();
        let host = Self::new(outbox.clone());
        let lane = HostLane {
            lines,
            host: host.clone(),
        };
        (host, outbox, lane)
    }
}

impl HostLane {
    /// The next frame, of any kind.
    pub(crate) async fn frame(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(30), self.lines.recv());
        let line = line.await.expect("a frame in time").expect("an open lane");
        serde_json::from_slice(&line).expect("a frame is JSON")
    }

    /// The next frame, which must be a question.
    pub(crate) async fn question(&mut self) -> (RequestId, EngineRequest) {
        let frame = self.frame().await;
        assert_eq!(frame["type"], "control_request", "{frame}");
        let request = falconer_protocol::from_value(frame).expect("a control request");
        let request: falconer_protocol::control::ControlRequest = request;
        (request.request_id, request.request)
    }

    pub(crate) fn answer(&self, id: &RequestId, payload: &Value) -> Resolved {
        let response = ControlResponse::success(id.clone(), payload).expect("JSON");
        self.host.resolve(response)
    }

    pub(crate) fn refuse(&self, id: &RequestId, error: &str) -> Resolved {
        self.host.resolve(ControlResponse::error(id.clone(), error))
    }
}
