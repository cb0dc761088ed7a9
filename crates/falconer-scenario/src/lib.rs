//! Replies of a scripted model to requests: rules, without any HTTP.
//!
//! The format of the files is described in `SCENARIOS.md`.

mod build;
mod compose;
mod error;
mod gate;
mod matcher;
mod message;
mod play;
mod reply;
mod request;
mod rule;
mod step;
mod steps;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use build::{
    OnRule, garbage, hang, hold, message, reset, status, text, thinking, tool_use, wait,
};
pub use error::Error;
pub use gate::Gates;
pub use matcher::{
    Condition, Matcher, any, header, last_user_contains, last_user_equals, model, not,
    not_streaming, nth, on_kind, streaming, system_contains, tool_available, tool_result_contains,
    tool_result_for,
};
pub use message::{MessageReply, Part, StreamFault, Usage};
pub use play::{Answer, Script};
pub use reply::{ApiError, Reply};
pub use request::{ModelRequest, RequestKind, ToolResult};
pub use rule::{Rule, Times};
pub use step::Step;
pub use steps::Steps;

/// A scripted model: an ordered list of rules.
///
/// For each request the first rule that matches and is not used up gives the reply.
///
/// ```
/// use falconer_scenario::{Scenario, last_user_contains, text, tool_use};
/// use serde_json::json;
///
/// let scenario = Scenario::new()
///     .on(last_user_contains("list"))
///     .reply(tool_use("Bash", json!({"command": "ls"})))
///     .turn(text("two files"));
/// assert_eq!(scenario.rules.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Scenario {
    /// Shown in error texts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Purpose of the scenario, for the reader of the file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The answer to token counting; without it the size of the request divided by four.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count_tokens: Option<u64>,
    /// The rules, in the order in which they are tried.
    pub rules: Vec<Rule>,
}

impl Scenario {
    /// A scenario without rules: every request of the main conversation is unmatched.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the scenario in error texts.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Fixes the answer to token counting.
    #[must_use]
    pub fn counting_tokens(mut self, tokens: u64) -> Self {
        self.count_tokens = Some(tokens);
        self
    }

    /// Adds a reply to whatever request comes next, once.
    #[must_use]
    pub fn turn(self, reply: impl Into<Reply>) -> Self {
        self.on(any()).reply(reply)
    }

    /// Begins a rule for the requests that `when` matches.
    pub fn on(self, when: Matcher) -> OnRule {
        OnRule::new(self, when)
    }

    /// Adds a finished rule.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Reads a scenario from JSON text.
    ///
    /// # Errors
    /// [`Error::Format`] naming the place where the text departs from the format.
    pub fn from_json(json: &str) -> Result<Self, Error> {
        serde_json::from_str(json).map_err(|source| Error::Format {
            what: "the scenario".to_owned(),
            source,
        })
    }

    /// Reads a scenario file.
    ///
    /// # Errors
    /// [`Error::Read`] or [`Error::Format`], both with the path.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let json = std::fs::read_to_string(path).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        serde_json::from_str(&json).map_err(|source| Error::Format {
            what: format!("scenario file {}", path.display()),
            source,
        })
    }
}
