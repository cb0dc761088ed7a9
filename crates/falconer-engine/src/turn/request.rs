//! Builds requests of the Messages API.
//!
//! Tools keep their order and nothing volatile goes in front of the conversation, so that the
//! provider's cache holds from request to request.

use falconer_model::{ApiRequest, Capabilities, ThinkingStyle};
use serde_json::{Value, json};

use crate::session::config::Thinking;

/// How many blocks of a request may carry a cache mark.
const BREAKPOINTS: usize = 4;

const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";

/// Everything a request is made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) model: String,
    pub(crate) system: Vec<Value>,
    pub(crate) tools: Vec<Value>,
    pub(crate) messages: Vec<Value>,
    pub(crate) thinking: Thinking,
    pub(crate) thinking_display: Option<String>,
    pub(crate) effort: Option<String>,
    pub(crate) betas: Vec<String>,
    pub(crate) max_output: u64,
    pub(crate) user_id: String,
}

/// The request, streaming.
pub(crate) fn build(mut parts: Parts, endpoint: &Capabilities) -> ApiRequest {
    if endpoint.prompt_caching {
        mark_cache(&mut parts.system, &mut parts.messages);
    }
    let max_tokens = parts.max_output;
    let mut body = json!({
        "model": parts.model,
        "max_tokens": max_tokens,
        "system": parts.system,
        "messages": parts.messages,
        "metadata": {"user_id": parts.user_id},
        "stream": true,
    });
    if !parts.tools.is_empty() {
        body["tools"] = Value::Array(parts.tools);
    }
    let mut betas = parts.betas;
    if endpoint.thinking
        && let Some(thinking) = thinking(&parts.model, parts.thinking, max_tokens)
    {
        if thinking["type"] == "enabled" {
            betas.push(INTERLEAVED.to_owned());
        }
        body["thinking"] = thinking;
        if let Some(display) = parts.thinking_display {
            body["thinking"]["display"] = json!(display);
        }
    }
    if endpoint.effort && falconer_model::takes_effort(&parts.model) {
        body["output_config"] = json!({"effort": parts.effort.as_deref().unwrap_or("medium")});
    }
    if !endpoint.betas {
        betas.clear();
    }
    ApiRequest { body, betas }
}

/// What to say about thinking; `None` leaves it out.
fn thinking(model: &str, choice: Thinking, max_tokens: u64) -> Option<Value> {
    let budget = |tokens: u64| {
        let tokens = tokens.min(max_tokens.saturating_sub(1));
        (tokens >= 1024).then(|| json!({"type": "enabled", "budget_tokens": tokens}))
    };
    match (choice, falconer_model::thinking_style(model)) {
        (Thinking::Disabled, _) | (_, ThinkingStyle::None) => None,
        (Thinking::Budget(tokens), ThinkingStyle::Budget) => budget(tokens),
        (Thinking::Budget(tokens), ThinkingStyle::Adaptive) => {
            budget(tokens).or(Some(json!({"type": "adaptive"})))
        }
        (Thinking::Unsaid | Thinking::Adaptive, ThinkingStyle::Adaptive) => {
            Some(json!({"type": "adaptive"}))
        }
        (Thinking::Unsaid | Thinking::Adaptive, ThinkingStyle::Budget) => {
            budget(max_tokens.saturating_sub(1))
        }
    }
}

/// Marks the system prompt, the end of the conversation, and the end of the prompt before it.
///
/// The mark before the last keeps the cache when a batch of tools adds more blocks than the
/// provider looks back.
fn mark_cache(system: &mut [Value], messages: &mut [Value]) {
    let mut left = BREAKPOINTS;
    for block in system.iter_mut().rev().take(2) {
        mark(block);
        left -= 1;
    }
    let users = messages.iter_mut().rev().filter(|it| it["role"] == "user");
    for message in users.take(left.min(2)) {
        mark_last_block(message);
    }
}

fn mark_last_block(message: &mut Value) {
    if let Some(text) = message["content"].as_str() {
        message["content"] = json!([{"type": "text", "text": text}]);
    }
    let blocks = message["content"].as_array_mut();
    if let Some(block) = blocks.and_then(|blocks| blocks.last_mut()) {
        mark(block);
    }
}

fn mark(block: &mut Value) {
    // The API refuses marks on empty texts and on thinking.
    let empty = block["text"].as_str().is_some_and(str::is_empty);
    if block.is_object() && !empty && !matches!(block["type"].as_str(), Some("thinking")) {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

#[cfg(test)]
mod tests {
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
            messages: vec![
                json!({"role": "user", "content": "one"}),
                json!({"role": "assistant", "content": [text("two")]}),
                json!({"role": "user", "content": [text("three"), text("four")]}),
            ],
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
        let body = build(parts("claude-opus-5-5"), &ALL).body;
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
            let body = request.body;
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
        assert_eq!(marks(&request.body), 0);
        assert_eq!(request.body.get("thinking"), None);
        assert!(request.betas.is_empty());
    }
}
