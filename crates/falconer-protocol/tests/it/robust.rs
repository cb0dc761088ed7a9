//! Lines that are not as they should be.

use falconer_protocol::content::{Content, ContentBlock};
use falconer_protocol::{Decoded, Error, HostLine, Message, RawMessage};
use serde_json::{Value, json};

fn decode(line: impl Into<bytes::Bytes>) -> Decoded<Message> {
    let raw = RawMessage::new(line.into()).expect("object");
    raw.decode_with_notes().expect("message")
}

#[test]
fn misfit_optional_field_is_kept_beside_the_typed_ones() {
    let value = json!({"type": "assistant", "uuid": 7, "session_id": "s",
        "message": {"content": [{"type": "text", "text": "hi"}], "usage": "free"}});
    let decoded = decode(value.to_string());
    assert!(
        decoded
            .misfit
            .expect("misfit")
            .contains("expected a string")
    );
    assert_eq!(
        serde_json::to_value(&decoded.message).expect("written"),
        value
    );
    let Message::Assistant(message) = decoded.message else {
        panic!("not an answer");
    };
    assert_eq!(message.text(), "hi");
    assert_eq!(message.uuid, None);
    assert_eq!(message.extra.get("uuid"), Some(&json!(7)));
    assert_eq!(message.message.extra.get("usage"), Some(&json!("free")));
}

#[test]
fn misfit_block_becomes_unknown_and_the_others_stay_typed() {
    let value = json!({"type": "assistant", "message": {"content": [
        {"type": "text", "text": {"not": "a string"}},
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {}},
        {"type": "tool_use", "id": "t"}
    ]}});
    let decoded = decode(value.to_string());
    assert!(decoded.misfit.is_some());
    assert_eq!(
        serde_json::to_value(&decoded.message).expect("written"),
        value
    );
    let Message::Assistant(message) = decoded.message else {
        panic!("not an answer");
    };
    let [first, second, third] = &message.message.content[..] else {
        panic!("not three blocks");
    };
    assert!(matches!(first, ContentBlock::Unknown(_)));
    assert!(matches!(second, ContentBlock::ToolUse(_)));
    assert!(matches!(third, ContentBlock::Unknown(_)));
}

#[test]
fn misfit_message_becomes_unknown_and_says_why() {
    for (value, why) in [
        (json!({"type": "assistant"}), "missing field `message`"),
        (
            json!({"type": "user", "message": "hi"}),
            "expected an object",
        ),
        (
            json!({"type": "system", "subtype": "task_started"}),
            "missing field `task_id`",
        ),
        (json!({"type": "system", "subtype": 3}), "expected a string"),
        (
            json!({"type": "control_request", "request_id": "1"}),
            "missing field `request`",
        ),
    ] {
        let decoded = decode(value.to_string());
        let misfit = decoded.misfit.expect("misfit");
        assert!(misfit.contains(why), "{misfit}");
        assert_eq!(
            serde_json::to_value(&decoded.message).expect("written"),
            value
        );
    }
}

#[test]
fn a_type_given_twice_counts_as_the_last_one() {
    let line = r#"{"type":"assistant","type":"keep_alive"}"#;
    assert!(matches!(decode(line).message, Message::KeepAlive(_)));
}

#[test]
fn bad_utf8_and_lone_surrogates_are_replaced() {
    let start = r#"{"type":"assistant","message":{"content":[{"type":"text","text":""#;
    let end = r#""}]}}"#;
    for (text, expected) in [
        (&b"a\xFFb"[..], "a\u{FFFD}b"),
        (br"a\ud800b", "a\u{FFFD}b"),
        (br"a\uDC00b", "a\u{FFFD}b"),
        (br"\ud800\ud800\udc00", "\u{FFFD}\u{10000}"),
        (br"\\ud800 \ud800", "\\ud800 \u{FFFD}"),
        (b"\xF0\x9F\\ud83d\\ude00", "\u{FFFD}\u{1F600}"),
    ] {
        let line = [start.as_bytes(), text, end.as_bytes()].concat();
        let decoded = decode(line);
        assert!(decoded.repaired);
        assert_eq!(decoded.misfit, None);
        let Message::Assistant(message) = decoded.message else {
            panic!("not an answer");
        };
        assert_eq!(message.text(), expected);
    }
}

#[test]
fn a_sound_line_is_not_called_repaired() {
    let decoded = decode(r#"{"type":"keep_alive","pair":"\ud83d\ude00"}"#);
    assert!(!decoded.repaired);
}

#[test]
fn a_repaired_line_may_also_be_a_misfit() {
    let decoded = decode(r#"{"type":"assistant","x":"\ud800"}"#);
    assert!(decoded.repaired);
    assert!(decoded.misfit.is_some());
    assert!(matches!(decoded.message, Message::Unknown(_)));
}

#[test]
fn garbage_is_refused_with_its_beginning() {
    let long = "x".repeat(500);
    for line in ["", "hello", "[1]", "\"type\"", "7", long.as_str()] {
        let error = RawMessage::new(line.to_owned().into()).expect_err("refused");
        let Error::NotAnObject { head } = error else {
            panic!("{error:?}");
        };
        assert_eq!(head, line[..line.len().min(200)]);
        assert!(HostLine::decode(line.as_bytes()).is_err());
    }
}

#[test]
fn broken_objects_are_refused_with_their_beginning() {
    for line in [
        r#"{"type":"user","mess"#,
        r#"{"type":"user"}}"#,
        "{",
        "{]",
        r#"{"a":tru}"#,
    ] {
        let raw = RawMessage::new(line.to_owned().into()).expect("looks like an object");
        let error = raw.decode().expect_err("refused");
        assert!(
            matches!(&error, Error::Syntax { head, .. } if head == line),
            "{error:?}"
        );
    }
}

#[test]
fn space_around_the_object_is_allowed() {
    let decoded = decode(" \t{ \"type\" : \"keep_alive\" } \r");
    assert!(matches!(decoded.message, Message::KeepAlive(_)));
}

#[test]
fn a_line_of_forty_megabytes_is_read_whatever_its_order() {
    let text = "\u{e4}\\n".repeat(10_000_000);
    let first = format!(r#"{{"type":"user","message":{{"role":"user","content":"{text}"}}}}"#);
    let last = format!(r#"{{"message":{{"role":"user","content":"{text}"}},"type":"user"}}"#);
    assert!(first.len() >= 40_000_000);
    for line in [first, last] {
        let Message::User(message) = decode(line).message else {
            panic!("not a user message");
        };
        let Content::Text(content) = message.message.content else {
            panic!("not text");
        };
        assert_eq!(content.len(), 30_000_000);
    }
}

#[test]
fn deep_nesting_is_refused_and_does_not_overflow_the_stack() {
    let line = format!(
        r#"{{"type":"x","a":{}1{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let raw = RawMessage::new(line.into()).expect("object");
    assert!(matches!(raw.decode(), Err(Error::Syntax { .. })));
}

#[test]
fn host_line_that_kills_the_cli_is_still_readable() {
    for value in [
        json!({"type": "user"}),
        json!({"type": "user", "message": {"role": "user"}}),
        json!({"type": "control_request", "request_id": "1"}),
    ] {
        let decoded = HostLine::decode_with_notes(value.to_string().as_bytes()).expect("line");
        assert!(decoded.misfit.is_some());
        assert!(matches!(decoded.message, HostLine::Unknown(_)));
    }
}

#[test]
fn payload_with_a_misfit_field_is_still_read() {
    use falconer_protocol::control::{ControlReply, ControlResponse, InterruptResponse};

    let value: Value = json!({"subtype": "success", "request_id": "1",
        "response": {"still_queued": ["u"], "cancelled": "none"}});
    let reply: ControlReply = serde_json::from_value(value).expect("reply");
    let response = ControlResponse::from(reply);
    assert_eq!(response.request_id(), Some("1"));
    let ControlReply::Success(success) = response.response else {
        panic!("not a success");
    };
    let payload: InterruptResponse = success.payload().expect("payload");
    assert_eq!(payload.still_queued, ["u"]);
    assert_eq!(payload.extra.get("cancelled"), Some(&json!("none")));
}
