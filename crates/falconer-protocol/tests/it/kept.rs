//! What this version does not know is kept and written back.

use falconer_protocol::content::ContentBlock;
use falconer_protocol::control::{EngineRequest, HostRequest};
use falconer_protocol::hook::{HookEvent, HookInput};
use falconer_protocol::mcp::McpServerConfig;
use falconer_protocol::message::ResultMessage;
use falconer_protocol::permission::{PermissionMode, PermissionUpdate};
use falconer_protocol::system::SystemMessage;
use falconer_protocol::{HostLine, Message, RawMessage, ToolUseId};
use serde_json::{Value, json};

fn read(value: &Value) -> Message {
    let raw = RawMessage::new(value.to_string().into()).expect("object");
    let decoded = raw.decode_with_notes().expect("message");
    assert_eq!(decoded.misfit, None);
    decoded.message
}

fn check_engine(value: &Value) -> Message {
    let message = read(value);
    assert_eq!(serde_json::to_value(&message).expect("written"), *value);
    message
}

fn check_host(value: &Value) -> HostLine {
    let decoded = HostLine::decode_with_notes(value.to_string().as_bytes()).expect("line");
    assert_eq!(decoded.misfit, None);
    assert_eq!(
        serde_json::to_value(&decoded.message).expect("written"),
        *value
    );
    decoded.message
}

#[test]
fn unknown_type_is_kept_whole() {
    let message = check_engine(&json!({"type": "from_the_future", "a": [1, {"b": null}]}));
    assert!(matches!(&message, Message::Unknown(object) if object["a"][0] == 1));
    assert_eq!(message.tag(), Some("from_the_future"));
}

#[test]
fn object_without_type_is_kept_whole() {
    for value in [
        json!({}),
        json!({"x": 1}),
        json!({"type": 7}),
        json!({"type": null}),
    ] {
        let raw = RawMessage::new(value.to_string().into()).expect("object");
        let message = raw.decode().expect("message");
        assert!(matches!(message, Message::Unknown(_)), "{value}");
        assert_eq!(serde_json::to_value(message).expect("written"), value);
    }
}

#[test]
fn unknown_subtype_is_kept_with_its_type_and_ids() {
    let message = check_engine(&json!({
        "type": "system", "subtype": "from_the_future", "session_id": "s", "uuid": "u", "n": 1.5
    }));
    assert!(matches!(
        message,
        Message::System(SystemMessage::Unknown(_))
    ));
    assert_eq!(message.session_id(), Some("s"));
    assert_eq!(message.uuid(), Some("u"));
}

#[test]
fn unknown_fields_are_kept_at_every_level() {
    let message = check_engine(&json!({
        "type": "assistant", "new_top": {"x": 1},
        "message": {
            "content": [{"type": "text", "text": "hi", "new_block": true}],
            "usage": {"input_tokens": 1, "new_usage": "u", "cache_creation": {"new_cache": 1}},
            "new_message": []
        }
    }));
    let Message::Assistant(message) = message else {
        panic!("not an answer");
    };
    assert_eq!(message.extra.get("new_top"), Some(&json!({"x": 1})));
    assert_eq!(message.message.extra.len(), 1);
}

#[test]
fn unknown_block_is_kept_among_known_ones() {
    let message = check_engine(&json!({"type": "assistant", "message": {"content": [
        {"type": "text", "text": "a"},
        {"type": "hologram", "voxels": [1, 2]},
        {"no_type": 1},
        {"type": "text", "text": "b"}
    ]}}));
    let Message::Assistant(message) = message else {
        panic!("not an answer");
    };
    assert_eq!(message.text(), "ab");
    assert!(matches!(
        message.message.content[1],
        ContentBlock::Unknown(_)
    ));
    assert_eq!(message.message.content[1].tag(), Some("hologram"));
}

#[test]
fn unknown_questions_are_kept() {
    let line = json!({"type": "control_request", "request_id": "r",
        "request": {"subtype": "frobnicate", "x": 1}});
    let Message::ControlRequest(request) = check_engine(&line) else {
        panic!("not a question");
    };
    assert!(matches!(request.request, EngineRequest::Unknown(_)));
    let HostLine::ControlRequest(request) = check_host(&line) else {
        panic!("not a question");
    };
    assert!(matches!(request.request, HostRequest::Unknown(_)));
}

#[test]
fn unknown_hook_event_is_kept() {
    let Message::ControlRequest(request) = check_engine(&json!({
        "type": "control_request", "request_id": "r", "request": {
            "subtype": "hook_callback", "callback_id": "c", "tool_use_id": "t",
            "input": {"session_id": "s", "hook_event_name": "FromTheFuture", "x": 1}}
    })) else {
        panic!("not a question");
    };
    let EngineRequest::HookCallback(callback) = request.request else {
        panic!("not a hook");
    };
    assert!(matches!(callback.input, HookInput::Unknown(_)));
    assert_eq!(
        callback.input.event(),
        HookEvent::Other("FromTheFuture".into())
    );
    assert_eq!(callback.input.session_id(), Some("s"));
}

#[test]
fn unknown_values_of_open_enums_are_kept() {
    let Message::System(SystemMessage::Init(init)) = check_engine(&json!({
        "type": "system", "subtype": "init", "cwd": "/", "permissionMode": "yolo"
    })) else {
        panic!("not init");
    };
    assert_eq!(
        init.permission_mode,
        Some(PermissionMode::Other("yolo".into()))
    );
}

#[test]
fn null_absent_and_empty_are_told_apart() {
    for value in [
        json!({"type": "assistant", "message": {"content": []}, "parent_tool_use_id": null}),
        json!({"type": "assistant", "message": {"content": []}}),
        json!({"type": "result", "subtype": "success", "errors": [], "is_error": false,
            "modelUsage": {}, "structured_output": null, "stop_reason": null}),
        json!({"type": "result", "subtype": "success"}),
        json!({"type": "system", "subtype": "status", "status": null}),
        json!({"type": "active_goal", "value": null}),
    ] {
        check_engine(&value);
    }
    check_host(&json!({"type": "control_request", "request_id": "1",
        "request": {"subtype": "initialize", "hooks": null}}));
    check_host(&json!({"type": "control_request", "request_id": "1",
        "request": {"subtype": "set_model", "model": null}}));
}

#[test]
fn a_field_that_is_set_replaces_the_null_it_was_read_with() {
    let value = json!({"type": "assistant", "message": {"content": []}, "error": null});
    let Message::Assistant(mut message) = read(&value) else {
        panic!("not an answer");
    };
    message.error = Some("overloaded".into());
    let written = serde_json::to_value(&message).expect("written");
    assert_eq!(written["error"], "overloaded");
}

#[test]
fn whole_and_fractional_numbers_keep_their_spelling() {
    for cost in ["0", "0.0", "1", "0.1", "1e-7", "123456789012"] {
        let line = format!(r#"{{"type":"result","subtype":"success","total_cost_usd":{cost}}}"#);
        check_engine(&serde_json::from_str(&line).expect("json"));
    }
}

#[test]
fn tags_may_come_last_at_every_level() {
    let line = r#"{"session_id":"s","message":{"content":[
        {"text":"hi","citations":null,"type":"text"},
        {"is_error":true,"content":[{"text":"x","type":"text"}],"tool_use_id":"t","type":"tool_result"}
    ],"role":"user"},"type":"user"}"#;
    let Message::User(message) = check_engine(&serde_json::from_str(line).expect("json")) else {
        panic!("not a user message");
    };
    let result = message.tool_results().next().expect("result");
    assert!(result.failed());
    assert_eq!(result.text(), "x");

    let line = r#"{"uuid":"u","state":"idle","subtype":"session_state_changed","type":"system"}"#;
    let message = check_engine(&serde_json::from_str(line).expect("json"));
    assert!(matches!(
        message,
        Message::System(SystemMessage::SessionStateChanged(_))
    ));
}

#[test]
fn mcp_server_without_type_is_a_process() {
    let check = |value: Value| {
        let config: McpServerConfig = serde_json::from_value(value.clone()).expect("config");
        assert_eq!(serde_json::to_value(&config).expect("written"), value);
        config
    };
    for value in [
        json!({"command": "srv", "args": ["-x"]}),
        json!({"type": "stdio", "command": "srv", "env": {"A": "b"}}),
        json!({"command": "srv", "type": "stdio"}),
    ] {
        assert!(matches!(check(value), McpServerConfig::Stdio(_)));
    }
    assert!(matches!(
        check(json!({"type": "carrier-pigeon", "coop": 3})),
        McpServerConfig::Unknown(_)
    ));
    assert!(matches!(
        check(json!({"type": "http", "url": "http://127.0.0.1"})),
        McpServerConfig::Http(_)
    ));
}

#[test]
fn unknown_permission_update_is_kept() {
    let value = json!({"type": "addWishes", "wishes": 3});
    let update: PermissionUpdate = serde_json::from_value(value.clone()).expect("update");
    assert!(matches!(update, PermissionUpdate::Unknown(_)));
    assert_eq!(serde_json::to_value(update).expect("written"), value);
}

#[test]
fn an_empty_field_is_written_where_it_is_asked_for() {
    let plain = ResultMessage::default();
    let told = plain
        .clone()
        .with_empty("stop_reason")
        .with_empty("permission_denials");
    let written = |message: &ResultMessage| serde_json::to_value(message).expect("written");
    assert_eq!(
        written(&plain),
        json!({"type": "result", "subtype": "success"})
    );
    assert_eq!(
        written(&told),
        json!({"type": "result", "subtype": "success", "stop_reason": null,
            "permission_denials": []})
    );
}

#[test]
fn what_does_not_fit_gives_way_to_null() {
    let value = json!({"type": "result", "subtype": "success", "stop_reason": 7});
    let message: ResultMessage = falconer_protocol::from_value(value).expect("a result");
    assert_eq!(message.extra.get("stop_reason"), Some(&json!(7)));
    let line = falconer_protocol::to_line(&message.with_empty("stop_reason")).expect("written");
    let line = String::from_utf8(line.to_vec()).expect("text");
    assert_eq!(line.matches("stop_reason").count(), 1, "{line}");
    assert!(line.contains(r#""stop_reason":null"#), "{line}");
}

#[test]
fn lines_are_stamped_where_they_have_a_place_for_it() {
    let stamped = |value: Value, parent: Option<&str>| {
        let parent = parent.map(ToolUseId::from);
        let message = read(&value).stamped("s".into(), "u".into(), parent.as_ref());
        serde_json::to_value(message).expect("written")
    };
    let ids = |mut value: Value| {
        value["session_id"] = json!("s");
        value["uuid"] = json!("u");
        value
    };
    let user = || json!({"type": "user", "message": {"role": "user", "content": "hi"}});
    let with_parent = |parent: Value| {
        let mut value = ids(user());
        value["parent_tool_use_id"] = parent;
        value
    };
    assert_eq!(stamped(user(), None), with_parent(Value::Null));
    assert_eq!(stamped(user(), Some("t")), with_parent(json!("t")));
    let others = [
        json!({"type": "result", "subtype": "success"}),
        json!({"type": "system", "subtype": "status", "status": null}),
        json!({"type": "system", "subtype": "from_the_future"}),
        json!({"type": "tool_progress", "tool_use_id": "t-0", "tool_name": "Bash",
            "parent_tool_use_id": "t", "elapsed_time_seconds": 30}),
        json!({"type": "from_the_future"}),
    ];
    for value in others {
        assert_eq!(stamped(value.clone(), Some("a")), ids(value));
    }
    let question = json!({"type": "control_cancel_request", "request_id": "r"});
    assert_eq!(stamped(question.clone(), None), question);
}
