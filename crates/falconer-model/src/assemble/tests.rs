//! Events in, blocks out, nothing lost.

use serde_json::value::RawValue;

use super::*;

fn event(json: &Value) -> ApiEvent {
    let raw = RawValue::from_string(json.to_string()).unwrap();
    let event = serde_json::from_str(raw.get())
        .unwrap_or_else(|_| falconer_protocol::from_value(json.clone()).unwrap());
    ApiEvent { raw, event }
}

fn assemble(events: &[Value]) -> (Assembler, Vec<FinishedBlock>) {
    let mut assembler = Assembler::new();
    let mut blocks = Vec::new();
    for json in events {
        blocks.extend(assembler.push(&event(json)).unwrap());
    }
    (assembler, blocks)
}

fn start(index: u64, block: Value) -> Value {
    let mut event = json!({"type": "content_block_start", "index": index});
    event["content_block"] = block;
    event
}

fn delta(index: u64, delta: Value) -> Value {
    let mut event = json!({"type": "content_block_delta", "index": index});
    event["delta"] = delta;
    event
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

/// One block: its opening, its deltas, and what must come out.
fn check(opening: Value, deltas: &[Value], expected: &Value) {
    let mut events = vec![start(0, opening)];
    events.extend(deltas.iter().map(|d| delta(0, d.clone())));
    events.push(stop(0));
    let (_, blocks) = assemble(&events);
    assert_eq!(blocks.len(), 1, "{events:?}");
    assert_eq!(blocks[0].block, *expected);
    assert_eq!(blocks[0].malformed_input, None);
}

#[test]
fn deltas_fill_their_block() {
    check(
        json!({"type": "text", "text": ""}),
        &[
            json!({"type": "text_delta", "text": "he"}),
            json!({"type": "text_delta", "text": "llo"}),
        ],
        &json!({"type": "text", "text": "hello"}),
    );
    check(
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        &[
            json!({"type": "thinking_delta", "thinking": "hm", "estimated_tokens": 3}),
            json!({"type": "thinking_delta", "thinking": "m"}),
            json!({"type": "signature_delta", "signature": "c2ln"}),
        ],
        &json!({"type": "thinking", "thinking": "hmm", "signature": "c2ln"}),
    );
    let citation =
        json!({"type": "char_location", "cited_text": "x", "document_index": 0, "new": [1]});
    check(
        json!({"type": "text", "text": "", "citations": null}),
        &[
            json!({"type": "text_delta", "text": "a"}),
            json!({"type": "citations_delta", "citation": citation}),
            json!({"type": "citations_delta", "citation": citation}),
        ],
        &json!({"type": "text", "text": "a", "citations": [citation, citation]}),
    );
    check(
        json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {}, "caller": {"type": "direct"}}),
        &[
            json!({"type": "input_json_delta", "partial_json": ""}),
            json!({"type": "input_json_delta", "partial_json": "{\"command\": \"l"}),
            json!({"type": "input_json_delta", "partial_json": "s\", \"n\": 1.0}"}),
        ],
        &json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls", "n": 1.0}, "caller": {"type": "direct"}}),
    );
}

#[test]
fn blocks_and_deltas_of_the_future_survive() {
    let hologram = json!({"type": "hologram", "depth": {"z": 3}, "frames": [1, null]});
    check(hologram.clone(), &[], &hologram);
    check(
        json!({"type": "song", "notes": "do", "tempo": 1}),
        &[
            json!({"type": "song_delta", "notes": " re"}),
            json!({"type": "song_delta", "tempo": 2, "key": "C"}),
        ],
        &json!({"type": "song", "notes": "do re", "tempo": 2, "key": "C"}),
    );
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"type": "x", "encrypted": "y"}]});
    check(result.clone(), &[], &result);
    let redacted = json!({"type": "redacted_thinking", "data": "opaque"});
    check(redacted.clone(), &[], &redacted);
}

#[test]
fn a_tool_without_input_keeps_the_one_it_began_with() {
    let block = json!({"type": "tool_use", "id": "t", "name": "List", "input": {}});
    check(
        block.clone(),
        &[json!({"type": "input_json_delta", "partial_json": ""})],
        &block,
    );
}

#[test]
fn malformed_input_is_reported_as_such() {
    for text in ["{\"a\": ", "nonsense", "{} {}"] {
        let (_, blocks) = assemble(&[
            start(
                1,
                json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {}}),
            ),
            delta(1, json!({"type": "input_json_delta", "partial_json": text})),
            stop(1),
        ]);
        let malformed = blocks[0].malformed_input.as_ref().unwrap();
        assert_eq!(malformed.text, text);
        assert!(malformed.to_string().contains("not valid JSON"));
        assert_eq!(blocks[0].block["input"], json!({}));
        assert_eq!(blocks[0].index, 1);
    }
}

#[test]
fn blocks_come_when_they_are_complete_in_whatever_order() {
    let text = json!({"type": "text", "text": ""});
    let (assembler, blocks) = assemble(&[
        start(0, text.clone()),
        start(1, text.clone()),
        delta(1, json!({"type": "text_delta", "text": "one"})),
        delta(0, json!({"type": "text_delta", "text": "zero"})),
        stop(1),
        start(2, text),
    ]);
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0].block["text"], "one");
    assert_eq!(assembler.open_blocks().collect::<Vec<_>>(), [0, 2]);
    assert!(!assembler.is_complete());
}

#[test]
fn junk_is_left_out() {
    let (assembler, blocks) = assemble(&[
        stop(9),
        delta(9, json!({"type": "text_delta", "text": "lost"})),
        start(0, json!("not a block")),
        delta(0, json!({"type": "text_delta", "text": "x"})),
        json!({"type": "ping"}),
        json!({"type": "news", "x": 1}),
        json!({"type": "message_delta", "delta": 4, "usage": []}),
        json!({"type": "message_stop"}),
    ]);
    assert!(blocks.is_empty(), "{blocks:?}");
    assert!(assembler.is_complete());
}

#[test]
fn message_and_usage_are_merged() {
    let (assembler, _) = assemble(&[
        json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [],
            "stop_reason": null, "usage": {"input_tokens": 7, "output_tokens": 1,
                "cache_read_input_tokens": 5, "service_tier": "standard", "new_counter": 2},
            "new_field": {"a": 1},
        }}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null, "stop_details": {"x": 1}},
            "usage": {"output_tokens": 40, "cache_read_input_tokens": null}, "context_management": {"applied_edits": []}}),
        json!({"type": "message_stop"}),
    ]);
    assert_eq!(
        (assembler.id(), assembler.model()),
        (Some("msg_1"), Some("m"))
    );
    assert_eq!(assembler.stop_reason(), Some("tool_use"));
    let usage = assembler.usage();
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (Some(7), Some(40))
    );
    assert_eq!(usage.cache_read_input_tokens, Some(5));
    let expected = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "stop_reason": "tool_use", "usage": {"input_tokens": 7, "output_tokens": 40,
            "cache_read_input_tokens": 5, "service_tier": "standard", "new_counter": 2},
        "new_field": {"a": 1}, "stop_sequence": null, "stop_details": {"x": 1},
        "context_management": {"applied_edits": []},
    });
    assert_eq!(Value::Object(assembler.into_message()), expected);
}

#[test]
fn a_message_without_end_is_refused() {
    let mut assembler = Assembler::new();
    assembler
        .push(&event(&start(0, json!({"type": "text", "text": ""}))))
        .unwrap();
    let piece = event(&delta(
        0,
        json!({"type": "text_delta", "text": "x".repeat(1 << 20)}),
    ));
    let pushed = (0..100).try_for_each(|_| assembler.push(&piece).map(drop));
    assert!(pushed.unwrap_err().message.contains("larger"));
}
