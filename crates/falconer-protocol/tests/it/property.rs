//! Arbitrary objects survive, whatever they look like.

use falconer_protocol::{HostLine, MessageKind, RawMessage, peek_kind};
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::cassette::recorded_lines;
use crate::line_check::check_line;

/// Keys and strings that the types look at, so that random objects come close to real ones.
const WORDS: &[&str] = &[
    "type",
    "subtype",
    "message",
    "content",
    "text",
    "event",
    "delta",
    "index",
    "request",
    "request_id",
    "response",
    "input",
    "hook_event_name",
    "hookSpecificOutput",
    "hookEventName",
    "tool_name",
    "tool_use_id",
    "tool_input",
    "callback_id",
    "session_id",
    "uuid",
    "usage",
    "modelUsage",
    "errors",
    "is_error",
    "result",
    "status",
    "state",
    "tasks",
    "task_id",
    "patch",
    "rules",
    "behavior",
    "source",
    "role",
    "cwd",
    "server_name",
    "servers",
    "command",
    "settings",
    "assistant",
    "user",
    "system",
    "init",
    "stream_event",
    "control_request",
    "control_response",
    "content_block_delta",
    "text_delta",
    "can_use_tool",
    "hook_callback",
    "mcp_message",
    "PreToolUse",
    "tool_use",
    "tool_result",
    "image",
    "base64",
    "success",
    "error",
    "initialize",
    "mcp_set_servers",
    "stdio",
    "http",
    "task_started",
    "task_updated",
    "api_retry",
    "keep_alive",
    "session_state_changed",
    "background_tasks_changed",
    "name",
    "id",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(WORDS).prop_map(str::to_owned),
        1 => "[a-zA-Z_\"\\\\{}\\[\\]:, \u{e4}\u{1F600}\n]{0,8}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..9).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(inner).prop_map(Value::from),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    let tag = prop::sample::select(WORDS).prop_map(Value::from);
    let tagged = prop::sample::select(&["type", "subtype", "hook_event_name", "behavior"][..]);
    let rest = prop::collection::vec((word(), inner), 0..6);
    (
        rest,
        prop::option::of((tagged, tag)),
        any::<prop::sample::Index>(),
    )
        .prop_map(|(mut entries, tag, place)| {
            if let Some((key, value)) = tag {
                entries.insert(place.index(entries.len() + 1), (key.to_owned(), value));
            }
            entries.into_iter().collect()
        })
}

/// The same object, written by hand with every character of some strings escaped.
fn escaped(object: &Map<String, Value>) -> String {
    let escape = |text: &str| {
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
        format!("\"{}\"", units.collect::<String>())
    };
    let entries = object.iter().map(|(key, value)| match value {
        Value::String(text) => format!("{} : {}", escape(key), escape(text)),
        value => format!("{} : {value}", escape(key)),
    });
    format!(" {{ {} }}", entries.collect::<Vec<_>>().join(" , "))
}

fn kind_of(object: &Map<String, Value>) -> Option<MessageKind> {
    let name = object.get("type")?.as_str()?;
    peek_kind(format!(r#"{{"type":"{name}"}}"#).as_bytes())
}

/// What is done to one object inside a recorded line.
#[derive(Debug, Clone)]
enum Change {
    Insert(prop::sample::Index, String, Value),
    Remove(prop::sample::Index),
    Replace(prop::sample::Index, Value),
    Rotate(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let place = any::<prop::sample::Index>;
    prop_oneof![
        3 => (place(), word(), value()).prop_map(|(at, key, value)| Change::Insert(at, key, value)),
        1 => place().prop_map(Change::Remove),
        1 => (place(), value()).prop_map(|(at, value)| Change::Replace(at, value)),
        2 => place().prop_map(Change::Rotate),
    ]
}

/// A recorded line with some of its objects changed.
fn nearly_recorded() -> impl Strategy<Value = Value> {
    let lines = recorded_lines().into_iter().map(|line| line.value);
    let lines = prop::sample::select(lines.collect::<Vec<_>>());
    let changes = prop::collection::vec((any::<prop::sample::Index>(), change()), 1..4);
    (lines, changes).prop_map(|(mut line, changes)| {
        for (place, change) in changes {
            let mut place = place.index(count_objects(&line));
            change_object(&mut line, &mut place, &change);
        }
        line
    })
}

fn count_objects(value: &Value) -> usize {
    match value {
        Value::Object(map) => 1 + map.values().map(count_objects).sum::<usize>(),
        Value::Array(values) => values.iter().map(count_objects).sum(),
        _ => 0,
    }
}

/// Applies a change to the object number `place`; whether it was found.
fn change_object(value: &mut Value, place: &mut usize, change: &Change) -> bool {
    match value {
        Value::Object(map) if *place == 0 => {
            apply(map, change);
            true
        }
        Value::Object(map) => {
            *place -= 1;
            map.values_mut()
                .any(|value| change_object(value, place, change))
        }
        Value::Array(values) => values
            .iter_mut()
            .any(|value| change_object(value, place, change)),
        _ => false,
    }
}

fn apply(map: &mut Map<String, Value>, change: &Change) {
    let len = map.len();
    let key_at = |map: &Map<String, Value>, at: &prop::sample::Index| {
        (len > 0)
            .then(|| map.keys().nth(at.index(len)).cloned())
            .flatten()
    };
    match change {
        Change::Insert(at, key, value) => {
            map.remove(key);
            let at = at.index(map.len() + 1);
            map.shift_insert(at, key.clone(), value.clone());
        }
        Change::Remove(at) => {
            key_at(map, at).map(|key| map.shift_remove(&key));
        }
        Change::Replace(at, value) => {
            key_at(map, at).map(|key| map.insert(key, value.clone()));
        }
        Change::Rotate(at) => {
            let mut entries: Vec<_> = std::mem::take(map).into_iter().collect();
            entries.rotate_left(if len > 0 { at.index(len) } else { 0 });
            map.extend(entries);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_object_is_written_back_as_it_was(object in object(value())) {
        let value = Value::Object(object);
        let raw = RawMessage::new(value.to_string().into()).expect("object");
        let message = raw.decode().expect("message");
        prop_assert_eq!(serde_json::to_value(&message).expect("written"), value.clone());
        let line = HostLine::decode(value.to_string().as_bytes()).expect("line");
        prop_assert_eq!(serde_json::to_value(&line).expect("written"), value);
    }

    #[test]
    fn nearly_recorded_lines_are_written_back_as_they_are(value in nearly_recorded()) {
        check_line(value.to_string().as_bytes());
    }

    #[test]
    fn peeking_agrees_with_parsing(object in object(value())) {
        let plain = Value::Object(object.clone()).to_string();
        let expected = match object.get("type").and_then(Value::as_str) {
            Some(name) if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => kind_of(&object),
            Some(_) => Some(MessageKind::Other),
            None => None,
        };
        prop_assert_eq!(peek_kind(plain.as_bytes()), expected);
        prop_assert_eq!(peek_kind(escaped(&object).as_bytes()), expected);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        check_line(&bytes);
        check_line(&[b"{\"type\":", &bytes[..]].concat());
    }

    #[test]
    fn a_damaged_line_is_read_or_refused(
        object in object(value()),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut line = Value::Object(object).to_string().into_bytes();
        let place = place.index(line.len());
        line[place] = byte;
        check_line(&line);
        line.truncate(place);
        check_line(&line);
    }
}

#[test]
fn objects_with_repeated_keys_are_read_like_any_parser_does() {
    for line in [
        r#"{"type":"user","type":"assistant","message":{"content":[]}}"#,
        r#"{"type":"assistant","message":{"content":[]},"type":"nonsense"}"#,
        r#"{"type":"assistant","message":1,"message":{"content":[],"content":[{"a":1,"a":2}]}}"#,
        r#"{"type":"assistant","message":{"content":[]},"uuid":null,"uuid":"u","x":1,"x":2}"#,
        r#"{"type":"assistant","message":{"content":[]},"uuid":"u","uuid":null}"#,
        r#"{"subtype":"a","type":"system","subtype":"status","subtype":"init","cwd":""}"#,
        r#"{"type":"result","subtype":"success","errors":[],"errors":["e"],"errors":[]}"#,
    ] {
        check_line(line.as_bytes());
    }
}
