//! Builds requests of the Messages API.
//!
//! Tools keep their order and nothing volatile goes in front of the conversation, so that the
//! provider's cache holds from request to request.

use falconer_model::{ApiRequest, Capabilities, JsonText, RequestBody, ThinkingStyle};
use falconer_protocol::Object;
use serde_json::Value;

use crate::conversation::Conversation;
use crate::session::config::Thinking;

/// How many blocks of a request may carry a cache mark.
const BREAKPOINTS: usize = 4;

/// How many blocks of the system prompt do.
const SYSTEM_MARKS: usize = 2;

/// How many prompts do.
const PROMPT_MARKS: usize = 2;

const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";

/// Everything a request is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) model: String,
    pub(crate) system: Vec<Value>,
    pub(crate) tools: Vec<Value>,
    pub(crate) conversation: Conversation,
    pub(crate) thinking: Thinking,
    pub(crate) thinking_display: Option<String>,
    pub(crate) effort: Option<String>,
    pub(crate) betas: Vec<String>,
    pub(crate) max_output: u64,
    pub(crate) user_id: String,
}

/// The request, streaming.
pub(crate) fn build(mut parts: Parts, endpoint: &Capabilities) -> ApiRequest {
    let mut marks = 0;
    if endpoint.prompt_caching {
        let left = BREAKPOINTS - mark_system(&mut parts.system);
        marks = left.min(PROMPT_MARKS);
    }
    let max_tokens = parts.max_output;
    let mut body = RequestBody::default();
    body.set("model", JsonText::of(parts.model.as_str()));
    body.set("max_tokens", JsonText::of(max_tokens));
    body.set_list("system", written(parts.system));
    body.set_list("messages", parts.conversation.written(marks));
    body.set("metadata", object("user_id", &parts.user_id));
    body.set("stream", JsonText::of(true));
    if !parts.tools.is_empty() {
        body.set_list("tools", written(parts.tools));
    }
    let mut betas = parts.betas;
    if endpoint.thinking
        && let Some(thinking) = Thought::fitting(&parts.model, parts.thinking, max_tokens)
    {
        if matches!(thinking, Thought::Enabled { .. }) {
            betas.push(INTERLEAVED.to_owned());
        }
        let thinking = thinking.written(parts.thinking_display.as_deref());
        body.set("thinking", thinking);
    }
    if endpoint.effort && falconer_model::takes_effort(&parts.model) {
        let effort = parts.effort.as_deref().unwrap_or("medium");
        body.set("output_config", object("effort", effort));
    }
    if !endpoint.betas {
        betas.clear();
    }
    ApiRequest { body, betas }
}

fn object(name: &str, value: &str) -> JsonText {
    JsonText::of(Value::from_iter([(name, value)]))
}

fn written(values: Vec<Value>) -> Vec<JsonText> {
    values.into_iter().map(JsonText::of).collect()
}

/// The field `thinking` of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thought {
    Adaptive,
    Enabled { budget_tokens: u64 },
}

impl Thought {
    /// Returns what to say about thinking; `None` leaves it out.
    fn fitting(model: &str, choice: Thinking, max_tokens: u64) -> Option<Self> {
        let budget = |tokens: u64| {
            let budget_tokens = tokens.min(max_tokens.saturating_sub(1));
            (budget_tokens >= 1024).then_some(Self::Enabled { budget_tokens })
        };
        match (choice, falconer_model::thinking_style(model)) {
            (Thinking::Disabled, _) | (_, ThinkingStyle::None) => None,
            (Thinking::Budget(tokens), ThinkingStyle::Budget) => budget(tokens),
            (Thinking::Budget(tokens), ThinkingStyle::Adaptive) => {
                budget(tokens).or(Some(Self::Adaptive))
            }
            (Thinking::Unsaid | Thinking::Adaptive, ThinkingStyle::Adaptive) => {
                Some(Self::Adaptive)
            }
            (Thinking::Unsaid | Thinking::Adaptive, ThinkingStyle::Budget) => {
                budget(max_tokens.saturating_sub(1))
            }
        }
    }

    fn written(self, display: Option<&str>) -> JsonText {
        let mut fields = Object::new();
        match self {
            Self::Adaptive => {
                fields.insert("type".to_owned(), "adaptive".into());
            }
            Self::Enabled { budget_tokens } => {
                fields.insert("type".to_owned(), "enabled".into());
                fields.insert("budget_tokens".to_owned(), budget_tokens.into());
            }
        }
        if let Some(display) = display {
            fields.insert("display".to_owned(), display.into());
        }
        JsonText::of(fields)
    }
}

/// Marks the end of the system prompt and returns the number of marks.
///
/// The conversation marks its end, and the end of the prompt before it: the mark before the last
/// keeps the cache when a batch of tools adds more blocks than the provider looks back.
fn mark_system(system: &mut [Value]) -> usize {
    let blocks = system.iter_mut().rev().take(SYSTEM_MARKS);
    blocks.map(mark).count()
}

fn mark(block: &mut Value) {
    // The API refuses marks on empty texts.
    let is_empty = block.get("text").and_then(Value::as_str) == Some("");
    if let (Value::Object(block), false) = (block, is_empty) {
        let mark = Value::from_iter([("type", "ephemeral")]);
        block.insert("cache_control".to_owned(), mark);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ALL: Capabilities = Capabilities {
        prompt_caching: true,
        thinking: true,
        betas: true,
        context_management: true,
        effort: true,
        count_tokens: true,
    };

    fn parts(model: &str) -> Parts {
        let text = |text: &str| json!({"type": "text", "text": text});
        Parts {
            model: model.to_owned(),
            system: vec![text("a"), text("b")],
            tools: vec![json!({"name": "Bash"})],
            conversation: Conversation::resumed(&[
                json!({"role": "user", "content": "one"}),
                json!({"role": "assistant", "content": [text("two")]}),
                json!({"role": "user", "content": [text("three"), text("four")]}),
            ]),
            thinking: Thinking::Unsaid,
            thinking_display: None,
            effort: None,
            betas: vec!["x".to_owned()],
            max_output: 8000,
            user_id: "{}".to_owned(),
        }
    }

    fn marks(value: &Value) -> usize {
        match value {
            Value::Object(map) => {
                usize::from(map.contains_key("cache_control"))
                    + map.values().map(marks).sum::<usize>()
            }
            Value::Array(items) => items.iter().map(marks).sum(),
            _ => 0,
        }
    }

    #[test]
    fn four_cache_marks_and_the_last_two_prompts_have_one_each() {
        let body = build(parts("claude-opus-5-5"), &ALL);
        let body = body.body.to_value().unwrap();
        assert_eq!(marks(&body), BREAKPOINTS);
        assert_eq!(marks(&body["messages"][0]), 1);
        assert_eq!(marks(&body["messages"][1]), 0);
        assert!(
            body["messages"][2]["content"][1]
                .get("cache_control")
                .is_some()
        );
    }

    #[test]
    fn thinking_and_effort_fit_model_and_choice() {
        let with = |model: &str, thinking| {
            let request = build(
                Parts {
                    thinking,
                    ..parts(model)
                },
                &ALL,
            );
            let body = request.body.to_value().unwrap();
            (
                body.get("thinking").cloned(),
                body.get("output_config").is_some(),
            )
        };
        let adaptive = Some(json!({"type": "adaptive"}));
        let budget = |tokens: u64| Some(json!({"type": "enabled", "budget_tokens": tokens}));
        let table = [
            ("claude-opus-5-5", Thinking::Unsaid, adaptive.clone(), true),
            ("claude-opus-5-5", Thinking::Disabled, None, true),
            (
                "claude-opus-5-5",
                Thinking::Budget(2000),
                budget(2000),
                true,
            ),
            ("claude-opus-5-5", Thinking::Budget(5), adaptive, true),
            ("claude-sonnet-4-5", Thinking::Unsaid, budget(7999), false),
            (
                "claude-sonnet-4-5",
                Thinking::Budget(99_999),
                budget(7999),
                false,
            ),
            ("claude-sonnet-4-5", Thinking::Budget(5), None, false),
            ("llama", Thinking::Adaptive, None, false),
        ];
        for (model, choice, thinking, effort) in table {
            assert_eq!(
                with(model, choice),
                (thinking, effort),
                "{model} {choice:?}"
            );
        }
    }

    #[test]
    fn what_an_endpoint_does_not_understand_is_left_out() {
        let none = Capabilities {
            prompt_caching: false,
            thinking: false,
            betas: false,
            context_management: false,
            effort: false,
            count_tokens: false,
        };
        let request = build(parts("claude-sonnet-4-5"), &none);
        let body = request.body.to_value().unwrap();
        assert_eq!(marks(&body), 0);
        assert_eq!(body.get("thinking"), None);
        assert!(request.betas.is_empty());
    }
}
