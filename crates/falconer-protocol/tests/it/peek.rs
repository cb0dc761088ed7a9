//! Finding the kind of a line without parsing it.

use falconer_protocol::{MessageKind, peek_kind};

#[test]
fn the_kind_is_found_wherever_it_stands() {
    use MessageKind::{Assistant, Other, Result, StreamEvent, User};

    for (line, expected) in [
        (r#"{"type":"assistant","x":1}"#, Some(Assistant)),
        (r#"{ "type" : "user" }"#, Some(User)),
        (r#"{"a":1,"type":"result"}"#, Some(Result)),
        (
            r#"{"a":{"type":"user"},"b":["type","user"],"type":"result"}"#,
            Some(Result),
        ),
        (r#"{"a":"\"type\":\"user\"","type":"result"}"#, Some(Result)),
        (r#"{"a":"\\","type":"result"}"#, Some(Result)),
        (
            r#"{"a":"}","b":-1.5e3 , "c":null,"type":"result"}"#,
            Some(Result),
        ),
        (r#"{"ty\u0070e":"\u0075ser"}"#, Some(User)),
        (r#"{"type":"\u0075ser"}"#, Some(User)),
        (r#"{"type":"stream_event"#, None),
        (
            r#"{"type":"stream_event","event":{"broken"#,
            Some(StreamEvent),
        ),
        (r#"{"type":"something_else"}"#, Some(Other)),
        (r#"{"type":""}"#, Some(Other)),
        (r#"{"type":null}"#, None),
        (r#"{"type":{"type":"user"}}"#, None),
        (r#"{"x":1}"#, None),
        ("{}", None),
        ("", None),
        ("{", None),
        (r#"["type","user"]"#, None),
        (r#"{"a":"never closed"#, None),
        (r#"{"a":"\"#, None),
        (r#"{"a":[[["#, None),
        (r#"{"a":]]"#, None),
    ] {
        assert_eq!(peek_kind(line.as_bytes()), expected, "{line}");
    }
}

#[test]
fn every_name_leads_to_its_kind() {
    for name in [
        "stream_event",
        "assistant",
        "user",
        "system",
        "result",
        "control_request",
        "control_response",
        "control_cancel_request",
        "tool_progress",
        "tool_use_summary",
        "command_lifecycle",
        "conversation_reset",
        "transcript_mirror",
        "keep_alive",
        "auth_status",
        "rate_limit_event",
        "prompt_suggestion",
        "active_goal",
        "update_environment_variables",
    ] {
        let line = format!(r#"{{"type":"{name}"}}"#);
        let kind = peek_kind(line.as_bytes()).expect("kind");
        assert_eq!(kind.as_str(), Some(name));
    }
}
