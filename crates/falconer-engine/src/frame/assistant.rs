//! `assistant` lines: finished blocks of the model, and texts the engine writes in its place.

use falconer_protocol::content::ContentBlock;
use falconer_protocol::message::{ApiMessage, AssistantMessage, StopReason};
use falconer_protocol::usage::{CacheCreation, ServerToolUsage, Usage};
use falconer_protocol::{MessageUuid, Object};
use serde_json::Value;

/// The model's name on lines the engine wrote.
pub(crate) const SYNTHETIC: &str = "<synthetic>";

/// What the lines of one API response share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Head {
    /// The message as `message_start` had it, without content.
    pub(crate) message: Object,
    pub(crate) request_id: Option<String>,
    pub(crate) delivery: Delivery,
}

/// How a response came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// In events: its lines are shown before it is known how it ends.
    #[default]
    Streamed,
    /// In one piece: its lines say how it ended.
    Whole,
}

impl Head {
    fn with(&self, block: &Value) -> ApiMessage {
        let mut fields = self.message.clone();
        fields.insert("content".to_owned(), Value::Array(vec![block.clone()]));
        let read = falconer_protocol::from_value(Value::Object(fields));
        let message = read.unwrap_or_else(|_| ApiMessage {
            content: vec![super::block(block)],
            ..ApiMessage::default()
        });
        let message = message.with_empty("context_management");
        match self.delivery {
            Delivery::Whole => message,
            Delivery::Streamed => ApiMessage {
                stop_reason: None,
                stop_sequence: None,
                ..message
            }
            .with_empty("stop_reason")
            .with_empty("stop_sequence"),
        }
    }
}

/// Makes the line of a finished block.
pub(crate) fn block(head: &Head, block: &Value) -> AssistantMessage {
    AssistantMessage {
        request_id: head.request_id.clone(),
        ..line(head.with(block))
    }
}

/// Says which prompts a line answers; of several, the last one stands for all.
pub(crate) fn mark_prompts(line: &mut AssistantMessage, prompts: Vec<MessageUuid>) {
    if let Some(last) = prompts.last() {
        line.user_message_uuid = Some(last.clone());
        line.user_message_uuids = Some(prompts);
    }
}

/// Makes the line of a text of the engine in the model's place.
pub(crate) fn synthetic(text: &str, stop: SyntheticStop) -> AssistantMessage {
    let message = ApiMessage {
        id: Some(uuid::Uuid::new_v4().to_string()),
        kind: Some("message".to_owned()),
        role: Some("assistant".to_owned()),
        model: Some(SYNTHETIC.to_owned()),
        content: vec![ContentBlock::text(text)],
        stop_reason: Some(stop.reason),
        stop_sequence: stop.sequence.map(str::to_owned),
        stop_details: stop.details.map(|it| Box::new(Value::Object(it))),
        usage: Some(zero_usage()),
        ..ApiMessage::default()
    };
    line(
        message
            .with_empty("stop_sequence")
            .with_empty("stop_details")
            .with_empty("container")
            .with_empty("context_management")
            .with_empty("diagnostics"),
    )
}

/// How a synthetic message says that it ended.
#[derive(Debug, Clone)]
pub(crate) struct SyntheticStop {
    reason: StopReason,
    sequence: Option<&'static str>,
    details: Option<Object>,
}

impl SyntheticStop {
    /// The end of an error text.
    pub(crate) fn error() -> Self {
        Self {
            reason: StopReason::StopSequence,
            sequence: Some(""),
            details: None,
        }
    }

    /// The end of a refusal.
    pub(crate) fn refusal(details: Option<Object>) -> Self {
        Self {
            reason: StopReason::Refusal,
            sequence: Some(""),
            details,
        }
    }

    /// The end of a command's output.
    pub(crate) fn command() -> Self {
        Self {
            reason: StopReason::EndTurn,
            sequence: None,
            details: None,
        }
    }
}

fn zero_usage() -> Usage {
    let usage = Usage {
        input_tokens: Some(0),
        output_tokens: Some(0),
        cache_creation_input_tokens: Some(0),
        cache_read_input_tokens: Some(0),
        server_tool_use: Some(ServerToolUsage {
            web_search_requests: Some(0),
            web_fetch_requests: Some(0),
            ..ServerToolUsage::default()
        }),
        cache_creation: Some(CacheCreation {
            ephemeral_1h_input_tokens: Some(0),
            ephemeral_5m_input_tokens: Some(0),
            ..CacheCreation::default()
        }),
        ..Usage::default()
    };
    usage
        .with_empty("output_tokens_details")
        .with_empty("service_tier")
        .with_empty("inference_geo")
        .with_empty("iterations")
        .with_empty("speed")
        .with_empty("fallback_credit")
}

fn line(message: ApiMessage) -> AssistantMessage {
    AssistantMessage {
        message,
        timestamp: Some(super::user::now()),
        ..AssistantMessage::default()
    }
}
