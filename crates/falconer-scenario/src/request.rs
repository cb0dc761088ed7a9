//! A request to the model as a scenario sees it: the body, and the headers if there are any.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request to the Messages API, however it arrived.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The body as sent.
    pub body: Value,
    /// Header names in lower case, with their values; empty in process.
    pub headers: Vec<(String, String)>,
}

impl ModelRequest {
    /// A request without headers.
    pub fn new(body: Value) -> Self {
        Self {
            body,
            headers: Vec::new(),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.into()));
        self
    }

    /// The model asked for, or nothing.
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// Returns `true` if the answer is wanted as a stream.
    pub fn streams(&self) -> bool {
        self.body["stream"].as_bool().unwrap_or(false)
    }

    /// The limit on the answer.
    pub fn max_tokens(&self) -> Option<u64> {
        self.body["max_tokens"].as_u64()
    }

    /// The text blocks of the last message with role `user`, tool results left out.
    pub fn last_user_texts(&self) -> Vec<&str> {
        self.last_user().map(texts).unwrap_or_default()
    }

    /// The tool results in the last message with role `user`.
    pub fn tool_results(&self) -> Vec<ToolResult> {
        let content = self.last_user().and_then(|message| message.as_array());
        content
            .into_iter()
            .flatten()
            .filter(|block| block["type"] == "tool_result")
            .map(ToolResult::read)
            .collect()
    }

    /// The whole system prompt, blocks joined with newlines.
    pub fn system_text(&self) -> String {
        texts(&self.body["system"]).join("\n")
    }

    /// The names of the tools the model may call.
    pub fn tool_names(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array();
        tools
            .into_iter()
            .flatten()
            .filter_map(|tool| tool["name"].as_str())
            .collect()
    }

    /// Returns the purpose of the request, as far as it alone shows: never [`RequestKind::Retry`].
    pub fn kind(&self) -> RequestKind {
        let wants_title = &self.body["output_config"]["format"]["schema"]["properties"]["title"];
        if !self.streams() && self.max_tokens() == Some(1) {
            RequestKind::Probe
        } else if self.tool_names().is_empty() && wants_title.is_object() {
            RequestKind::Title
        } else {
            RequestKind::Main
        }
    }

    /// The value of a header; the name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn last_user(&self) -> Option<&Value> {
        let messages = self.body["messages"].as_array()?;
        let last = messages.iter().rfind(|message| message["role"] == "user")?;
        Some(&last["content"])
    }
}

/// The result of a tool for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolResult {
    /// The id of the tool call.
    pub tool_use_id: String,
    /// Its text blocks joined with newlines.
    pub text: String,
    /// `true` if the tool failed.
    pub is_error: bool,
}

impl ToolResult {
    fn read(block: &Value) -> Self {
        Self {
            tool_use_id: block["tool_use_id"].as_str().unwrap_or_default().to_owned(),
            text: texts(&block["content"]).join("\n"),
            is_error: block["is_error"].as_bool().unwrap_or(false),
        }
    }
}

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RequestKind {
    /// The conversation; the only kind a rule answers unless it names another.
    Main,
    /// A test whether a model exists: one token, not streamed.
    Probe,
    /// The conversation's title.
    Title,
    /// The same request again, not streamed, after its stream broke with an error event.
    Retry,
}

/// The text blocks of a `content` or `system` value, which may be a plain string.
fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => blocks
            .iter()
            .filter(|block| block["type"] == "text")
            .filter_map(|block| block["text"].as_str())
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}
