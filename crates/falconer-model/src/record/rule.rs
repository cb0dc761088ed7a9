//! An answer as a rule of a scenario: pure.

use falconer_protocol::Object;
use falconer_scenario::{
    ApiError, Matcher, MessageReply, ModelRequest, Part, Reply, RequestKind, StreamFault, Usage,
    any, garbage, last_user_contains, on_kind, reset, tool_result_for,
};
use serde_json::Value;

use super::super::{ApiFailure, FailureKind};

/// How much of a prompt a rule looks for.
const WORDS: usize = 200;

/// How a streamed answer ended.
#[derive(Clone, Copy)]
pub(super) enum Ending<'a> {
    Complete,
    Failed(&'a ApiFailure),
    /// Nobody wanted the rest.
    Interrupted,
}

/// Which request a rule is for.
pub(super) fn matcher(asked: &ModelRequest, kind: RequestKind) -> Matcher {
    let results = asked.tool_results();
    let texts = asked.last_user_texts();
    // Reminders hold dates and the like, which differ the next time.
    let said = texts
        .iter()
        .rfind(|text| !text.trim_start().starts_with("<system-reminder>"));
    let matcher = match (results.last(), said) {
        (Some(result), _) => tool_result_for(result.tool_use_id.clone()),
        (None, Some(said)) => last_user_contains(said.chars().take(WORDS).collect::<String>()),
        (None, None) => any(),
    };
    match kind {
        RequestKind::Main => matcher,
        kind => matcher.and(on_kind(kind)),
    }
}

/// A request that failed before its answer began.
pub(super) fn failed(failure: &ApiFailure) -> Reply {
    match failure.status {
        Some(_) => api_error(failure).into(),
        None if failure.kind == FailureKind::Malformed => {
            garbage("an answer that could not be read")
        }
        None => reset(),
    }
}

/// An answer in one piece.
pub(super) fn whole(message: &Value) -> Reply {
    let content = message["content"].as_array();
    let blocks = content.into_iter().flatten().cloned();
    let empty = Object::new();
    let fields = message.as_object().unwrap_or(&empty);
    reply(fields, blocks.collect()).into()
}

/// An answer in events, as far as it came.
pub(super) fn streamed(message: &Object, blocks: Vec<Value>, ending: Ending<'_>) -> Reply {
    let mut reply = reply(message, blocks);
    let after = 2 + reply.content.iter().map(events).sum::<usize>();
    reply.fault = match ending {
        Ending::Complete => None,
        Ending::Interrupted => Some(StreamFault::Stall { after }),
        Ending::Failed(failure) => Some(match failure.kind {
            FailureKind::Connection => StreamFault::Cut { after },
            FailureKind::Timeout => StreamFault::Stall { after },
            FailureKind::Malformed => StreamFault::Garbage {
                after,
                text: "data: {\n\n".to_owned(),
            },
            _ => StreamFault::Error {
                after,
                error: api_error(failure),
            },
        }),
    };
    reply.into()
}

fn reply(message: &Object, blocks: Vec<Value>) -> MessageReply {
    let text = |name: &str| Some(message.get(name)?.as_str()?.to_owned());
    let mut reply = MessageReply::default();
    reply.content = blocks.into_iter().map(part).collect();
    reply.stop_reason = text("stop_reason");
    let details = message.get("stop_details").filter(|it| !it.is_null());
    reply.stop_details = details.cloned().map(Box::new);
    reply.model = text("model");
    reply.usage = message.get("usage").map(usage);
    reply
}

fn usage(usage: &Value) -> Usage {
    let tokens = |name: &str| usage[name].as_u64().unwrap_or_default();
    Usage {
        input_tokens: tokens("input_tokens"),
        output_tokens: tokens("output_tokens"),
        cache_creation_input_tokens: tokens("cache_creation_input_tokens"),
        cache_read_input_tokens: tokens("cache_read_input_tokens"),
    }
}

/// A block that the format can say in its own words, or else the block as it is.
fn part(block: Value) -> Part {
    let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
    let said = match block["type"].as_str() {
        Some("text") => Part::Text { text: text("text") },
        Some("thinking") => Part::Thinking {
            thinking: text("thinking"),
            signature: text("signature"),
        },
        Some("tool_use") => Part::ToolUse {
            id: Some(text("id")),
            name: text("name"),
            input: block["input"].clone(),
        },
        _ => return Part::Raw { block },
    };
    // Fields the format does not know would be lost.
    let known = match said {
        Part::Text { .. } => 2,
        Part::Thinking { .. } => 3,
        _ => 4,
    };
    if block.as_object().is_some_and(|block| block.len() > known) {
        Part::Raw { block }
    } else {
        said
    }
}

/// How many events a part is played in.
fn events(part: &Part) -> usize {
    match part {
        Part::Thinking { signature, .. } if !signature.is_empty() => 4,
        Part::Raw { .. } => 2,
        _ => 3,
    }
}

fn api_error(failure: &ApiFailure) -> ApiError {
    let status = failure.status.unwrap_or(match failure.kind {
        FailureKind::Authentication => 401,
        FailureKind::Billing => 402,
        FailureKind::ModelNotFound => 404,
        FailureKind::PromptTooLong => 413,
        FailureKind::InvalidRequest => 400,
        FailureKind::RateLimited => 429,
        FailureKind::Overloaded => 529,
        _ => 500,
    });
    let mut error = ApiError::new(status).message(failure.message.clone());
    error.kind.clone_from(&failure.error_type);
    error.retry_after = failure.retry_after.map(|wait| wait.as_secs());
    match failure.should_retry {
        Some(should) => error.header("x-should-retry", should.to_string()),
        None => error,
    }
}
