//! Scenarios in Rust: the same as the JSON format, shorter.

use std::time::Duration;

use serde_json::Value;

use super::Scenario;
use super::matcher::Matcher;
use super::message::{MessageReply, Part, StreamFault, Usage};
use super::reply::{ApiError, Reply};
use super::rule::{Rule, Times};

/// A rule that lacks its reply; see [`Scenario::on`].
#[derive(Debug, Clone)]
#[must_use = "a rule without a reply is not part of the scenario"]
pub struct OnRule {
    scenario: Scenario,
    name: String,
    when: Matcher,
    times: Times,
}

impl OnRule {
    pub(super) fn new(scenario: Scenario, when: Matcher) -> Self {
        Self {
            scenario,
            name: String::new(),
            when,
            times: Times::ONCE,
        }
    }

    /// Names the rule in error texts.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Lets the rule be used so often.
    pub fn times(mut self, times: u32) -> Self {
        self.times = Times::Count(times);
        self
    }

    /// Lets the rule be used without end.
    pub fn always(mut self) -> Self {
        self.times = Times::Always;
        self
    }

    /// Says what is answered, which finishes the rule.
    pub fn reply(self, reply: impl Into<Reply>) -> Scenario {
        let mut rule = Rule::new(self.when, reply);
        rule.name = self.name;
        rule.times = self.times;
        self.scenario.rule(rule)
    }
}

/// An empty message, to which parts are added.
pub fn message() -> MessageReply {
    MessageReply::default()
}

/// A message that begins with a text.
pub fn text(text: impl Into<String>) -> MessageReply {
    message().text(text)
}

/// A message that begins with a thought.
pub fn thinking(thought: impl Into<String>) -> MessageReply {
    message().thinking(thought)
}

/// A message that begins with a call of a tool.
pub fn tool_use(name: impl Into<String>, input: Value) -> MessageReply {
    message().tool_use(name, input)
}

/// A message whose first byte waits for a gate.
pub fn hold(gate: impl Into<String>) -> MessageReply {
    message().hold(gate)
}

/// A message whose first byte waits for a time.
pub fn wait(time: Duration) -> MessageReply {
    message().wait(time)
}

/// The API error that goes with an HTTP status.
pub fn status(status: u16) -> ApiError {
    ApiError::new(status)
}

/// No answer until the gate `hang` is released.
pub fn hang() -> Reply {
    Reply::Hang
}

/// The connection is reset before the first byte.
pub fn reset() -> Reply {
    Reply::Reset
}

/// Bytes that are no answer at all.
pub fn garbage(bytes: impl Into<String>) -> Reply {
    Reply::Garbage(bytes.into())
}

impl MessageReply {
    /// Adds a part.
    #[must_use]
    pub fn part(mut self, part: Part) -> Self {
        self.content.push(part);
        self
    }

    /// Adds a text.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.part(Part::Text { text: text.into() })
    }

    /// Adds a thought.
    #[must_use]
    pub fn thinking(self, thought: impl Into<String>) -> Self {
        self.part(Part::Thinking {
            thinking: thought.into(),
            signature: String::new(),
        })
    }

    /// Adds a call of a tool with an id of its own.
    #[must_use]
    pub fn tool_use(self, name: impl Into<String>, input: Value) -> Self {
        let name = name.into();
        self.part(Part::ToolUse {
            id: None,
            name,
            input,
        })
    }

    /// Adds a call of a tool with this id.
    #[must_use]
    pub fn tool_use_as(self, id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        self.part(Part::ToolUse {
            id: Some(id.into()),
            name: name.into(),
            input,
        })
    }

    /// Adds a block that is sent as it is.
    #[must_use]
    pub fn raw(self, block: Value) -> Self {
        self.part(Part::Raw { block })
    }

    /// Waits here until the test releases the gate.
    #[must_use]
    pub fn hold(self, gate: impl Into<String>) -> Self {
        self.part(Part::Hold { name: gate.into() })
    }

    /// Waits here for a time.
    #[must_use]
    pub fn wait(self, time: Duration) -> Self {
        self.part(Part::Wait { ms: millis(time) })
    }

    /// Sets why the model stopped.
    #[must_use]
    pub fn stop_reason(mut self, reason: impl Into<String>) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }

    /// Says more about why the model stopped, such as the category of a refusal.
    #[must_use]
    pub fn stop_details(mut self, details: Value) -> Self {
        self.stop_details = Some(Box::new(details));
        self
    }

    /// Sets the tokens used.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the model that answers.
    #[must_use]
    pub fn from_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Waits before the first byte.
    #[must_use]
    pub fn delay(mut self, time: Duration) -> Self {
        self.delay_ms = millis(time);
        self
    }

    /// Splits blocks into deltas of so many characters.
    #[must_use]
    pub fn delta_chars(mut self, chars: usize) -> Self {
        self.delta_chars = Some(chars);
        self
    }

    /// Waits between deltas.
    #[must_use]
    pub fn delta_delay(mut self, time: Duration) -> Self {
        self.delta_delay_ms = millis(time);
        self
    }

    /// Writes the stream in pieces of so many bytes.
    #[must_use]
    pub fn chunk_bytes(mut self, bytes: usize) -> Self {
        self.chunk_bytes = Some(bytes);
        self
    }

    /// Adds a header of the answer.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Breaks the stream.
    #[must_use]
    pub fn fault(mut self, fault: StreamFault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Cuts the connection after so many events.
    #[must_use]
    pub fn cut_after(self, events: usize) -> Self {
        self.fault(StreamFault::Cut { after: events })
    }

    /// Ends the stream with an `error` event after so many events.
    #[must_use]
    pub fn error_after(self, events: usize, error: ApiError) -> Self {
        let after = events;
        self.fault(StreamFault::Error { after, error })
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
