//! `stream_event` lines; only with partial messages switched on.

use falconer_protocol::MessageUuid;
use falconer_protocol::stream::{
    AbandonedBlocks, ContentBlockStop, MessageDelta, MessageDeltaBody, MessageStop, StreamEvent,
    StreamEventMessage,
};
use falconer_protocol::usage::{OutputTokensDetails, ServerToolUsage, Usage};
use serde_json::Value;

/// Makes the line of one event of the API.
pub(crate) fn event(event: StreamEvent, api_message_id: Option<&str>) -> StreamEventMessage {
    StreamEventMessage {
        event,
        api_message_id: api_message_id.map(str::to_owned),
        ..StreamEventMessage::default()
    }
}

/// Adds what the first event of a response says beyond the event.
pub(crate) fn mark_start(
    message: &mut StreamEventMessage,
    ttft_ms: u64,
    prompts: Vec<MessageUuid>,
) {
    message.ttft_ms = Some(ttft_ms);
    if let Some(last) = prompts.last() {
        message.user_message_uuid = Some(last.clone());
        message.user_message_uuids = Some(prompts);
        message.owed_rows = Some(Vec::new());
    }
}

/// Makes the end of a block that was cut off.
pub(crate) fn block_stop(index: u64, api_message_id: &str) -> StreamEventMessage {
    let stop = ContentBlockStop {
        index,
        ..ContentBlockStop::default()
    };
    event(StreamEvent::ContentBlockStop(stop), Some(api_message_id))
}

/// Makes the last but one line of a message that was cut off, as the API would have told it.
pub(crate) fn cut_delta(usage: Option<&Value>, api_message_id: &str) -> StreamEventMessage {
    let delta = MessageDelta {
        delta: MessageDeltaBody::default()
            .with_empty("container")
            .with_empty("stop_details")
            .with_empty("stop_reason")
            .with_empty("stop_sequence"),
        usage: Some(cut_usage(usage)),
        ..MessageDelta::default()
    };
    let delta = Box::new(delta.with_empty("context_management"));
    event(StreamEvent::MessageDelta(delta), Some(api_message_id))
}

/// What was used until then, with the fields that the API tells at the end only.
fn cut_usage(usage: Option<&Value>) -> Usage {
    let at_the_end = Usage {
        output_tokens_details: Some(OutputTokensDetails {
            thinking_tokens: Some(0),
            ..OutputTokensDetails::default()
        }),
        server_tool_use: Some(ServerToolUsage {
            web_search_requests: Some(0),
            web_fetch_requests: Some(0),
            ..ServerToolUsage::default()
        }),
        iterations: Some(Vec::new()),
        ..Usage::default()
    };
    let at_the_end = at_the_end.with_empty("fallback_credit");
    super::completed(&at_the_end, usage.and_then(Value::as_object))
}

/// Makes the last line of a message whose blocks from this one on will not come.
pub(crate) fn abandoned(api_message_id: &str, from_block: u64) -> StreamEventMessage {
    let stop = StreamEvent::MessageStop(MessageStop::default());
    StreamEventMessage {
        abandoned_blocks: Some(AbandonedBlocks {
            api_message_id: api_message_id.to_owned(),
            from_block_index: from_block,
            ..AbandonedBlocks::default()
        }),
        ..event(stop, Some(api_message_id))
    }
}
