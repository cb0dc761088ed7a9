//! Requests are what they would be if the whole conversation were written each time.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// The messages of a request, written the simple way.
fn reference(messages: &[Value], marks: usize) -> Vec<Value> {
    let mut messages = messages.to_vec();
    let users = messages.iter_mut().rev().filter(|it| it["role"] == "user");
    for message in users.take(marks) {
        if let Some(text) = message["content"].as_str() {
            message["content"] = json!([{"type": "text", "text": text}]);
        }
        let blocks = message["content"].as_array_mut();
        if let Some(block) = blocks.and_then(|blocks| blocks.last_mut()) {
            let empty = block["text"].as_str().is_some_and(str::is_empty);
            if block.is_object() && !empty && block["type"] != "thinking" {
                block["cache_control"] = json!({"type": "ephemeral"});
            }
        }
    }
    messages
}

fn texts(conversation: &Conversation, marks: usize) -> Vec<String> {
    let written = conversation.written(marks);
    let text = |it: &JsonText| String::from_utf8(it.as_bytes().to_vec()).unwrap();
    written.iter().map(text).collect()
}

fn block() -> impl Strategy<Value = Value> {
    let text = "[a-z\"\\\\\n é]{0,6}";
    prop_oneof![
        text.prop_map(|it| json!({"type": "text", "text": it})),
        text.prop_map(|it| json!({"text": it, "extra": {"z": 1, "a": [it]}, "type": "text"})),
        text.prop_map(|it| json!({"type": "text", "cache_control": {"ttl": "1h"}, "text": it})),
        text.prop_map(|it| json!({"type": "thinking", "thinking": it, "signature": "s"})),
        text.prop_map(|it| json!({"type": "tool_result", "tool_use_id": it, "content": []})),
        text.prop_map(|it| json!({"type": "unheard_of", "number": 1.5, "of": it})),
        Just(json!({})),
        Just(json!("no block")),
    ]
}

fn content() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a-z\" \n]{0,4}".prop_map(Value::from),
        prop::collection::vec(block(), 0..4).prop_map(Value::from),
    ]
}

fn message() -> impl Strategy<Value = Value> {
    let role = prop_oneof![Just("user"), Just("assistant")];
    let fields = (role, content(), any::<bool>());
    fields.prop_map(|(role, content, has_more)| {
        if has_more {
            json!({"id": "x", "content": content, "role": role, "more": {"b": 1}})
        } else {
            json!({"role": role, "content": content})
        }
    })
}

proptest! {
    #[test]
    fn it_is_written_like_a_tree(
        messages in prop::collection::vec(message(), 0..6), marks in 0_usize..3,
    ) {
        let conversation = Conversation::resumed(&messages);
        let expected = reference(&messages, marks);
        let expected: Vec<String> = expected.iter().map(Value::to_string).collect();
        prop_assert_eq!(texts(&conversation, marks), expected);
    }
}

#[test]
fn messages_that_are_added_are_written_like_those_that_are_resumed() {
    let mut added = Conversation::default();
    added.push_user(&json!("one"));
    added.push_assistant(vec![json!({"type": "text", "text": "two"})]);
    added.push_assistant(Vec::new());
    added.push_user(&json!([{"type": "text", "text": "three"}]));
    let resumed = Conversation::resumed(&[
        json!({"role": "user", "content": "one"}),
        json!({"role": "assistant", "content": [{"type": "text", "text": "two"}]}),
        json!({"role": "user", "content": [{"type": "text", "text": "three"}]}),
    ]);
    assert_eq!(texts(&added, 2), texts(&resumed, 2));
    added.pop();
    assert_eq!(added.messages().count(), 2);
}

/// The cost of a request must not grow with the conversation.
#[test]
fn only_marked_messages_are_written_for_a_request() {
    let mut conversation = Conversation::default();
    let address = |it: &JsonText| it.as_bytes().as_ptr();
    let mut before: Vec<JsonText> = Vec::new();
    for round in 0..200 {
        conversation.push_user(&json!([{"type": "text", "text": format!("prompt {round}")}]));
        conversation.push_assistant(vec![json!({"type": "text", "text": "answer"})]);
        let written = conversation.written(2);
        let shared = written.iter().zip(&before);
        let copied = shared.filter(|(now, then)| address(now) != address(then));
        // The mark leaves one prompt and comes to another; everything else is as it was.
        assert!(copied.count() <= 3, "round {round}");
        before = written;
    }
}

#[test]
fn blocks_are_decoded_when_somebody_looks() {
    let mut conversation = Conversation::default();
    let call = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}});
    conversation.push_assistant(vec![call.clone(), json!({"type": "unheard_of"})]);
    let message = conversation.messages().next().unwrap();
    let blocks: Vec<_> = message.blocks().collect();
    let (size, block) = &blocks[0];
    assert_eq!(*size, call.to_string().len());
    assert_eq!(block.as_ref().unwrap().as_tool_use().unwrap().name, "Bash");
    assert!(blocks[1].1.is_some(), "an unknown block is kept");
}
