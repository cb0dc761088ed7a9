//! The `result` line: how a turn ended.

use falconer_protocol::MessageUuid;
use serde_json::{Map, Value, json};

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ending {
    pub(crate) kind: EndKind,
    pub(crate) is_error: bool,
    /// Missing for commands, blocked prompts and failed starts.
    pub(crate) terminal_reason: Option<&'static str>,
    pub(crate) stop_reason: Option<String>,
    /// Further fields: `api_error_status`, `structured_output`, `local_command`, …
    pub(crate) beside: Map<String, Value>,
}

/// The subtype, with the text that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EndKind {
    Success(String),
    /// An error subtype and its texts.
    Error(&'static str, Vec<String>),
}

impl Ending {
    pub(crate) fn completed(text: String, stop_reason: Option<String>) -> Self {
        Self {
            kind: EndKind::Success(text),
            is_error: false,
            terminal_reason: Some("completed"),
            stop_reason,
            beside: Map::new(),
        }
        .with("api_error_status", Value::Null)
    }

    pub(crate) fn error(
        subtype: &'static str,
        reason: &'static str,
        stop_reason: Option<String>,
        text: String,
    ) -> Self {
        Self {
            kind: EndKind::Error(subtype, vec![text]),
            is_error: true,
            terminal_reason: Some(reason),
            stop_reason,
            beside: Map::new(),
        }
    }

    /// A turn that asked no model: a command, a blocked prompt, a prompt to be kept only.
    pub(crate) fn local(text: String) -> Self {
        Self {
            kind: EndKind::Success(text),
            is_error: false,
            terminal_reason: None,
            stop_reason: None,
            beside: Map::new(),
        }
    }

    pub(crate) fn with(mut self, field: &str, value: Value) -> Self {
        self.beside.insert(field.to_owned(), value);
        self
    }

    /// Whether the turn came to an answer of the model; only then its times are told.
    pub(crate) fn is_answered(&self) -> bool {
        !self.is_error && !self.beside.contains_key("deferred_tool_use")
    }

    pub(crate) fn because(mut self, reason: &'static str) -> Self {
        self.terminal_reason = Some(reason);
        self
    }
}

/// Numbers of the turn and of the session so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Numbers {
    pub(crate) duration_ms: u64,
    pub(crate) duration_api_ms: u64,
    pub(crate) num_turns: u64,
    pub(crate) total_cost_usd: f64,
    /// Tokens of this turn.
    pub(crate) usage: Value,
    /// Per model, since the session started.
    pub(crate) model_usage: Value,
    pub(crate) model_usage_since: Value,
    pub(crate) result_index: u64,
    pub(crate) queued: u64,
    pub(crate) safety_stops: u64,
    /// `ttft_ms` and its like; only for turns that asked the model.
    pub(crate) times: Map<String, Value>,
}

/// The whole line.
pub(crate) fn frame(
    ending: &Ending,
    numbers: &Numbers,
    denials: &[Value],
    prompts: &[MessageUuid],
) -> Value {
    let mut frame = json!({
        "type": "result",
        "subtype": subtype(&ending.kind),
        "is_error": ending.is_error,
        "duration_ms": numbers.duration_ms,
        "duration_api_ms": numbers.duration_api_ms,
        "num_turns": numbers.num_turns,
        "stop_reason": ending.stop_reason,
        "total_cost_usd": numbers.total_cost_usd,
        "usage": numbers.usage,
        "modelUsage": numbers.model_usage,
        "permission_denials": denials,
        "fast_mode_state": "off",
        "fast_mode_disabled_reason": "sdk_opt_in_required",
        "subagent_stats": no_subagents(),
        "safety_stops": numbers.safety_stops,
        "queued_turn_count": numbers.queued,
        "result_index": numbers.result_index,
        "model_usage_since_last_result": numbers.model_usage_since,
    });
    match &ending.kind {
        EndKind::Success(text) => frame["result"] = json!(text),
        EndKind::Error(_, errors) => frame["errors"] = json!(errors),
    }
    if let Some(reason) = ending.terminal_reason {
        frame["terminal_reason"] = json!(reason);
    }
    if let Value::Object(frame) = &mut frame {
        frame.extend(ending.beside.clone());
        frame.extend(numbers.times.clone());
    }
    super::assistant::mark_prompts(&mut frame, prompts);
    frame
}

fn subtype(kind: &EndKind) -> &'static str {
    match kind {
        EndKind::Success(_) => "success",
        EndKind::Error(subtype, _) => subtype,
    }
}

fn no_subagents() -> Value {
    json!({
        "spawned": 0,
        "requested": {"background": 0, "foreground": 0, "unset": 0},
        "started_in_background": 0,
        "max_depth": 0,
        "spawned_by_subagents": 0,
        "completed": 0,
        "failed": 0,
        "killed": {"parent": 0, "user": 0, "system": 0},
        "refused": {"depth_limit": 0, "concurrency_limit": 0, "budget": 0},
        "by_type": {},
    })
}
