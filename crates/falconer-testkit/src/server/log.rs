//! The requests to the server, in order.

use std::fmt;

use serde_json::Value;
use tokio::sync::watch;

use crate::scenario::{ModelRequest, RequestKind, ToolResult};

/// A request as it arrived. `Debug` masks the headers that authenticate.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// `POST`, `GET`, ...
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// The query, if there was one.
    pub query: Option<String>,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body; a string if it was not JSON, null if there was none.
    pub body: Value,
    /// Purpose, if it was a request for a message.
    pub kind: Option<RequestKind>,
    /// The rule that answered, by position.
    pub rule: Option<usize>,
    /// Reason no rule answered, if none did.
    pub unmatched: Option<String>,
}

impl RecordedRequest {
    /// The value of a header; the name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as a scenario reads it: texts, tool results, tool names.
    pub fn model_request(&self) -> ModelRequest {
        ModelRequest::new(self.body.clone())
    }

    /// The tool results in the last message with role `user`.
    pub fn tool_results(&self) -> Vec<ToolResult> {
        self.model_request().tool_results()
    }

    /// The whole conversation as JSON text, to look for words wherever they stand.
    pub fn conversation(&self) -> String {
        self.body["messages"].to_string()
    }
}

/// Headers whose values are not shown.
const SECRET: [&str; 4] = [
    "authorization",
    "x-api-key",
    "cookie",
    "proxy-authorization",
];

impl fmt::Debug for RecordedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(name, value): &(String, String)| {
            if SECRET.contains(&name.as_str()) {
                (name.clone(), "[masked]".to_owned())
            } else {
                (name.clone(), value.clone())
            }
        };
        f.debug_struct("RecordedRequest")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("query", &self.query)
            .field(
                "headers",
                &self.headers.iter().map(shown).collect::<Vec<_>>(),
            )
            .field("body", &self.body)
            .field("kind", &self.kind)
            .field("rule", &self.rule)
            .field("unmatched", &self.unmatched)
            .finish()
    }
}

/// The requests, and a signal when there is a new one.
#[derive(Debug, Default)]
pub(super) struct Log {
    requests: watch::Sender<Vec<RecordedRequest>>,
}

impl Log {
    pub(super) fn add(&self, request: RecordedRequest) {
        self.requests.send_modify(|requests| requests.push(request));
    }

    pub(super) fn all(&self) -> Vec<RecordedRequest> {
        self.requests.borrow().clone()
    }

    pub(super) fn messages(&self) -> Vec<RecordedRequest> {
        messages(&self.requests.borrow()).cloned().collect()
    }

    pub(super) fn unmatched(&self) -> Vec<String> {
        let requests = self.requests.borrow();
        requests
            .iter()
            .filter_map(|r| r.unmatched.clone())
            .collect()
    }

    pub(super) async fn wait_for_message(&self, n: usize) -> RecordedRequest {
        let mut requests = self.requests.subscribe();
        loop {
            let found = messages(&requests.borrow_and_update())
                .nth(n.saturating_sub(1))
                .cloned();
            if let Some(request) = found {
                return request;
            }
            // The sender lives in `self`: a change is the only way on.
            let _ = requests.changed().await;
        }
    }

    /// For the text of a timeout.
    pub(super) fn summary(&self) -> String {
        let requests = self.requests.borrow();
        let lines = requests
            .iter()
            .map(|request| format!("{} {} {:?}", request.method, request.path, request.kind));
        match requests.len() {
            0 => "there was no request at all".to_owned(),
            count => format!("{count} requests: {}", lines.collect::<Vec<_>>().join(", ")),
        }
    }
}

fn messages(requests: &[RecordedRequest]) -> impl Iterator<Item = &RecordedRequest> {
    requests
        .iter()
        .filter(|request| request.kind == Some(RequestKind::Main))
}
