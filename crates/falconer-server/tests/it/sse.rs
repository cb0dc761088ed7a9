//! A client of event streams that reads what is on the wire.

use reqwest::{Method, Response};
use serde_json::Value;

use crate::place::Running;

/// One frame as it was sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Frame {
    pub(crate) event: String,
    pub(crate) id: Option<u64>,
    pub(crate) data: String,
}

impl Frame {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

/// A stream that is open.
pub(crate) struct Stream {
    response: Response,
    /// What has come of the next frame; a piece may end within a character.
    rest: Vec<u8>,
}

impl Stream {
    /// Follows a path, after an event if there is one.
    pub(crate) async fn open(server: &Running, path: &str, after: Option<u64>) -> Self {
        let mut request = server.ask(Method::GET, path);
        if let Some(after) = after {
            request = request.header("last-event-id", after.to_string());
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self::of(response)
    }

    pub(crate) fn of(response: Response) -> Self {
        Self {
            response,
            rest: Vec::new(),
        }
    }

    /// The next frame; `None` if the stream is over.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(end) = self.rest.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.rest.drain(..end + 2).collect();
                match parse(&String::from_utf8(block).expect("UTF-8")) {
                    Some(frame) => return Some(frame),
                    None => continue,
                }
            }
            let chunk = self.response.chunk().await.ok()??;
            self.rest.extend_from_slice(&chunk);
        }
    }

    /// The next frame of this kind.
    pub(crate) async fn find(&mut self, event: &str) -> Frame {
        loop {
            let frame = self.next().await.expect("the stream goes on");
            if frame.event == event {
                return frame;
            }
        }
    }
}

fn parse(block: &str) -> Option<Frame> {
    let mut frame = Frame {
        event: String::new(),
        id: None,
        data: String::new(),
    };
    for line in block.lines() {
        match line.split_once(": ") {
            Some(("event", value)) => value.clone_into(&mut frame.event),
            Some(("id", value)) => frame.id = Some(value.parse().unwrap()),
            Some(("data", value)) => {
                assert!(frame.data.is_empty(), "one line of data: {block}");
                value.clone_into(&mut frame.data);
            }
            _ => assert!(line.is_empty() || line.starts_with("retry:"), "{block}"),
        }
    }
    (!frame.event.is_empty()).then_some(frame)
}
