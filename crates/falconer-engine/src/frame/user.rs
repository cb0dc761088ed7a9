//! `user` lines: tool results, injected text, echoes of prompts.

use falconer_protocol::ToolUseId;
use falconer_protocol::content::{Content, ContentBlock};
use falconer_protocol::message::{
    DecisionKind, DecisionSource, NonExecutionKind, PermissionDecision, ToolResultMeta, UserBody,
    UserMessage,
};
use falconer_protocol::permission::DecisionReasonType;
use serde_json::{Value, json};

/// Makes a decision about a call.
pub(crate) fn decision(
    decision: DecisionKind,
    source: DecisionSource,
    reason_type: Option<DecisionReasonType>,
) -> PermissionDecision {
    PermissionDecision {
        decision: Some(decision),
        source: Some(source),
        reason_type,
        ..PermissionDecision::default()
    }
}

/// Makes the meta of a call that did not run because of a decision.
pub(crate) fn rejected(
    kind: Option<NonExecutionKind>,
    source: DecisionSource,
    reason_type: Option<DecisionReasonType>,
) -> ToolResultMeta {
    ToolResultMeta {
        non_execution_kind: kind,
        permission_decision: Some(decision(DecisionKind::Reject, source, reason_type)),
        ..ToolResultMeta::default()
    }
}

/// Makes the `tool_result` block of a call, for the line and for the next request.
pub(crate) fn tool_result_block(id: &ToolUseId, content: &Value, is_error: bool) -> Value {
    let mut block = json!({"tool_use_id": id, "type": "tool_result", "content": content});
    if is_error {
        block["is_error"] = Value::Bool(true);
    }
    block
}

/// Makes the line of a tool result.
pub(crate) fn tool_result(
    block: &Value,
    id: &ToolUseId,
    output: Option<&Value>,
    meta: &ToolResultMeta,
) -> UserMessage {
    let says_something = *meta != ToolResultMeta::default();
    let meta = says_something.then(|| ToolResultMeta {
        id: Some(id.clone()),
        ..meta.clone()
    });
    UserMessage {
        tool_use_result: output.cloned(),
        tool_result_meta: meta.map(|meta| vec![meta]),
        ..line(Content::Blocks(vec![super::block(block)]))
    }
}

/// Makes the line of a text that the engine puts into the conversation, such as the note about an
/// interrupt.
pub(crate) fn text(text: &str) -> UserMessage {
    line(Content::Blocks(vec![ContentBlock::text(text)]))
}

/// Makes the line of a text that the engine wrote to keep the model going.
pub(crate) fn synthetic(text: &str) -> UserMessage {
    UserMessage {
        is_synthetic: Some(true),
        ..self::text(text)
    }
}

/// Makes the echo of a prompt or of a command's output.
pub(crate) fn replay(content: &Value) -> UserMessage {
    UserMessage {
        is_replay: Some(true),
        ..line(content_of(content))
    }
}

/// Makes the echo of a prompt that gets no turn of its own. It has no time.
pub(crate) fn echo(content: &Value) -> UserMessage {
    UserMessage {
        timestamp: None,
        ..replay(content)
    }
}

fn line(content: Content) -> UserMessage {
    UserMessage {
        message: UserBody::new(content),
        timestamp: Some(now()),
        ..UserMessage::default()
    }
}

/// The content of a prompt; what is neither a text nor blocks is shown as its JSON.
fn content_of(content: &Value) -> Content {
    let read = falconer_protocol::from_value(content.clone());
    read.unwrap_or_else(|_| Content::Text(content.to_string()))
}

/// The time of a line, as the CLI writes it.
pub(crate) fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
        .to_string()
}
