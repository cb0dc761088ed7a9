//! What a run has used so far. Every message of the model counts once, however often it comes.

use std::collections::HashMap;

use falconer_event::{Spending, Tokens};
use falconer_protocol::Message;
use falconer_protocol::message::{AssistantMessage, ResultMessage};
use falconer_protocol::stream::{StreamEvent, StreamEventMessage};
use falconer_protocol::usage::Usage;

use crate::engine::Used;

/// Counts tokens, money and turns over all turns and retries of a run.
///
/// While a turn goes on its messages are counted by their ids, since a message comes once per
/// block. The result knows better, so a turn that is over counts as the larger of the two.
#[derive(Debug, Default)]
pub(super) struct Meter {
    settled: Tokens,
    /// Of the turn under way, by the id of the API message.
    open: HashMap<String, Tokens>,
    /// What was said of them when they were complete.
    late: HashMap<String, Tokens>,
    /// The message that is being streamed.
    writing: Option<String>,
    turns: u64,
    open_turns: u64,
    spending: Spending,
    /// The engine says that the money is spent.
    is_spent: bool,
}

impl Meter {
    /// The session had cost this much before the run, which is not held against it.
    pub(super) fn resumed(cost_usd: f64) -> Self {
        Self {
            spending: Spending::resumed(cost_usd),
            ..Self::default()
        }
    }

    /// Takes note of a message; returns the totals if it may have changed them.
    pub(super) fn observe(&mut self, message: &Message) -> Option<Used> {
        match message {
            Message::Assistant(message) => self.assistant(message),
            Message::Result(result) => self.result(result),
            Message::StreamEvent(event) => self.stream_event(event),
            _ => return None,
        }
        Some(self.used())
    }

    fn used(&self) -> Used {
        let mut tokens = self.settled;
        tokens += self.under_way();
        Used {
            tokens,
            model_turns: self.turns + self.open_turns,
            cost_usd: self.spending.usd(),
            is_spent: self.is_spent,
        }
    }

    fn assistant(&mut self, message: &AssistantMessage) {
        let Some(id) = message.message.id.as_ref() else {
            return;
        };
        let key = id.as_str().to_owned();
        if !self.open.contains_key(&key) && message.parent_tool_use_id.is_none() {
            self.open_turns += 1;
        }
        let used = message
            .message
            .usage
            .as_ref()
            .map(tokens)
            .unwrap_or_default();
        let known = self.open.entry(key).or_default();
        *known = larger(*known, used);
    }

    /// Some engines say only here what a message took in the end.
    fn stream_event(&mut self, event: &StreamEventMessage) {
        match &event.event {
            StreamEvent::MessageStart(start) => self.writing.clone_from(&start.message.id),
            StreamEvent::MessageDelta(delta) => {
                let id = event.api_message_id.as_ref().or(self.writing.as_ref());
                if let (Some(id), Some(usage)) = (id, &delta.usage) {
                    let known = self.late.entry(id.clone()).or_default();
                    *known = larger(*known, tokens(usage));
                }
            }
            _ => {}
        }
    }

    fn result(&mut self, result: &ResultMessage) {
        let said = result.usage.as_ref().map(tokens).unwrap_or_default();
        self.settled += larger(self.under_way(), said);
        self.open.clear();
        self.late.clear();
        self.turns += std::mem::take(&mut self.open_turns);
        if let Some(total) = &result.total_cost_usd {
            self.spending.engine_says(total.as_f64());
        }
        self.is_spent |= result.subtype.as_str() == "error_max_budget_usd";
    }

    fn under_way(&self) -> Tokens {
        let mut sum = Tokens::default();
        for (id, tokens) in &self.open {
            let late = self.late.get(id).copied().unwrap_or_default();
            sum += larger(*tokens, late);
        }
        sum
    }
}

fn larger(one: Tokens, other: Tokens) -> Tokens {
    let mut larger = Tokens::default();
    larger.input = one.input.max(other.input);
    larger.output = one.output.max(other.output);
    larger.cache_read = one.cache_read.max(other.cache_read);
    larger.cache_write = one.cache_write.max(other.cache_write);
    larger
}

fn tokens(usage: &Usage) -> Tokens {
    let mut tokens = Tokens::default();
    tokens.input = usage.input_tokens.unwrap_or(0);
    tokens.output = usage.output_tokens.unwrap_or(0);
    tokens.cache_read = usage.cache_read_input_tokens.unwrap_or(0);
    tokens.cache_write = usage.cache_creation_input_tokens.unwrap_or(0);
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{LimitKind, Limits};
    use serde_json::{Value, json};

    fn said(id: &str, input: u64, output: u64, cache: u64) -> Value {
        json!({"type": "assistant", "message": {"id": id, "role": "assistant", "content": [],
            "usage": {"input_tokens": input, "output_tokens": output,
                      "cache_read_input_tokens": cache, "cache_creation_input_tokens": 1}}})
    }

    fn over(usage: &Value, cost: f64) -> Value {
        json!({"type": "result", "subtype": "success", "is_error": false, "usage": usage,
            "total_cost_usd": cost})
    }

    fn meter(messages: &[Value]) -> Meter {
        let mut meter = Meter::default();
        for message in messages {
            meter.observe(&serde_json::from_value(message.clone()).unwrap());
        }
        meter
    }

    #[test]
    fn every_message_counts_once_and_the_result_knows_better() {
        let usage = json!({"input_tokens": 10, "output_tokens": 50, "cache_read_input_tokens": 7,
            "cache_creation_input_tokens": 1});
        let first = [said("a", 10, 1, 7), said("a", 10, 1, 7)];
        assert_eq!(meter(&first).used().tokens.total(), 19);
        let settled = meter(&[first[0].clone(), first[1].clone(), over(&usage, 0.5)]);
        assert_eq!(settled.used().tokens.total(), 68);
        let again = meter(&[first[0].clone(), over(&usage, 0.5), said("b", 5, 5, 0)]);
        assert_eq!(again.used().tokens.total(), 79);
    }

    #[test]
    fn what_a_message_took_in_the_end_counts_once() {
        let stream = |event: Value| json!({"type": "stream_event", "event": event});
        let start = stream(json!({"type": "message_start", "message": {"id": "a",
            "role": "assistant", "content": []}}));
        let end = stream(json!({"type": "message_delta", "delta": {},
            "usage": {"output_tokens": 40}}));
        let streamed = meter(&[
            start,
            said("a", 10, 1, 7),
            end.clone(),
            end,
            said("a", 10, 1, 7),
        ]);
        assert_eq!(streamed.used().tokens.output, 40);
        assert_eq!(streamed.used().tokens.total(), 58);
    }

    #[test]
    fn every_limit_has_its_own_kind() {
        let usage = json!({"input_tokens": 10, "output_tokens": 50, "cache_read_input_tokens": 7});
        let used = meter(&[said("a", 10, 1, 7), said("b", 0, 0, 0), over(&usage, 0.5)]);
        type Set = fn(&mut Limits);
        let table: [(Set, Option<LimitKind>); 10] = [
            (|_| {}, None),
            (|limits| limits.usd = Some(0.5), Some(LimitKind::Usd)),
            (|limits| limits.usd = Some(0.51), None),
            (
                |limits| limits.input_tokens = Some(18),
                Some(LimitKind::InputTokens),
            ),
            (|limits| limits.input_tokens = Some(20), None),
            (
                |limits| limits.output_tokens = Some(50),
                Some(LimitKind::OutputTokens),
            ),
            (
                |limits| limits.total_tokens = Some(69),
                Some(LimitKind::TotalTokens),
            ),
            (|limits| limits.total_tokens = Some(70), None),
            (|limits| limits.turns = Some(1), Some(LimitKind::Turns)),
            (|limits| limits.turns = Some(2), None),
        ];
        for (index, (set, expected)) in table.into_iter().enumerate() {
            let mut limits = Limits::default();
            set(&mut limits);
            assert_eq!(
                limits.used_up(&used.used()),
                expected,
                "case {index}: {limits:?}"
            );
        }
    }
}
