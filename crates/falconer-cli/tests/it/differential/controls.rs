//! Requests of the host while the session lives.

use falconer_testkit::scenario::{Scenario, any, hold, status, text, tool_use};
use serde_json::{Value, json};

use super::Case;

const FIRST: &str = "11111111-1111-4111-8111-111111111111";
const SECOND: &str = "22222222-2222-4222-8222-222222222222";

fn hello() -> Case {
    Case::bidi(|_| Scenario::new().turn(text("Hello."))).hello(json!({}))
}

/// A request before and after a turn.
fn request(request: &Value) -> Case {
    hello()
        .control("before", request.clone())
        .say("hi")
        .until("result")
        .control("after", request.clone())
        .eof()
}

#[test]
fn an_unknown_request() {
    request(&json!({"subtype": "make_coffee"})).same();
}

#[test]
fn another_mode() {
    request(&json!({"subtype": "set_permission_mode", "mode": "acceptEdits"})).same();
}

#[test]
fn a_mode_that_does_not_exist() {
    request(&json!({"subtype": "set_permission_mode", "mode": "yolo"})).same();
}

#[test]
fn bypass_must_have_been_allowed_at_the_start() {
    request(&json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"})).same();
}

#[test]
fn another_model_before_the_first_turn() {
    hello()
        .control("model", json!({"subtype": "set_model", "model": "sonnet"}))
        .say("hi")
        .until("result")
        .eof()
        .same();
}

#[test]
fn another_model_between_turns() {
    Case::bidi(|_| Scenario::new().turn(text("one")).turn(text("two")))
        .hello(json!({}))
        .say("first")
        .until("result")
        .control("model", json!({"subtype": "set_model", "model": "sonnet"}))
        .say("second")
        .until("result")
        .eof()
        .same();
}

#[test]
fn thinking_is_limited() {
    request(&json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 2000})).same();
}

#[test]
fn an_interrupt_when_nothing_runs() {
    request(&json!({"subtype": "interrupt"})).same();
}

#[test]
fn an_interrupt_before_the_model_speaks() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(hold("later").text("never"))
            .turn(text("again"))
    })
    .hello(json!({}))
    .say("first")
    .requests(1)
    .control("stop", json!({"subtype": "interrupt"}))
    .until("result")
    .say("second")
    .until("result")
    .eof()
    .same();
}

#[test]
fn an_interrupt_in_the_stream_with_partial_messages() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(text("a beginning").hold("later").text("never"))
            .turn(text("again"))
    })
    .args(["--include-partial-messages"])
    .hello(json!({}))
    .say("first")
    .until_all("stream_event", 3)
    .control("stop", json!({"subtype": "interrupt"}))
    .until("result")
    .eof()
    .same();
}

#[test]
fn an_interrupt_in_a_tool() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use("Bash", json!({"command": "touch started; while :; do sleep 0.05; done", "description": "wait"})))
            .turn(text("again"))
    })
    .args(["--allowedTools=Bash"])
    .hello(json!({}))
    .say("first")
    .until_file("started")
    .control("stop", json!({"subtype": "interrupt"}))
    .until("result")
    .say("second")
    .until("result")
    .eof()
    .same();
}

#[test]
fn an_interrupt_while_the_host_is_asked() {
    // The hook holds the question back until the whole answer has come.
    let hook = json!({"type": "command", "command": "until [ -e go ]; do sleep 0.01; done"});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}});
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use(
                "Bash",
                json!({"command": "touch a", "description": "make"}),
            ))
            .turn(text("again"))
    })
    .args([
        "--permission-prompt-tool=stdio",
        "--include-partial-messages",
    ])
    .args([format!("--settings={settings}").as_str()])
    .hello(json!({}))
    .say("first")
    .until_all("stream_event", 6)
    .touch("go")
    .until("control_request/can_use_tool")
    .control("stop", json!({"subtype": "interrupt"}))
    .until("result")
    .say("second")
    .until("result")
    .eof()
    .same();
}

#[test]
fn rewinding_without_checkpoints() {
    hello()
        .say_as("11111111-1111-4111-8111-111111111111", "hi")
        .until("result")
        .control("rewind", json!({"subtype": "rewind_files", "user_message_id": "11111111-1111-4111-8111-111111111111"}))
        .control("dry", json!({"subtype": "rewind_files", "user_message_id": "11111111-1111-4111-8111-111111111111", "dry_run": true}))
        .eof()
        .same();
}

fn checkpoints() -> Case {
    Case::bidi(|project| {
        Scenario::new()
            .turn(tool_use(
                "Write",
                json!({"file_path": project.join("new.txt"), "content": "new\n"}),
            ))
            .turn(text("done"))
    })
    .args(["--permission-mode=acceptEdits"])
    .env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true")
    .hello(json!({}))
    .say_as("11111111-1111-4111-8111-111111111111", "hi")
    .until("result")
}

#[test]
fn a_rewind_is_tried_and_done() {
    let request = json!({"subtype": "rewind_files", "user_message_id": "11111111-1111-4111-8111-111111111111"});
    let mut dry = request.clone();
    dry["dry_run"] = json!(true);
    checkpoints()
        .control("dry", dry)
        .control("real", request)
        .eof()
        .same();
}

#[test]
fn a_second_hello() {
    hello()
        .control("again", json!({"subtype": "initialize"}))
        .say("hi")
        .until("result")
        .eof()
        .same();
}

#[test]
fn the_end_by_request() {
    hello()
        .say("hi")
        .until("result")
        .control("end", json!({"subtype": "end_session"}))
        .until("never")
        .same();
}

#[test]
fn a_queued_prompt_is_cancelled() {
    Case::bidi(|_| Scenario::new().turn(hold("later").text("one")))
        .hello(json!({}))
        .say_as("11111111-1111-4111-8111-111111111111", "first")
        .requests(1)
        .say_as("22222222-2222-4222-8222-222222222222", "second")
        .until_all("command_lifecycle", 3)
        .control("cancel", json!({"subtype": "cancel_async_message", "message_uuid": "22222222-2222-4222-8222-222222222222"}))
        .release("later")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_task_that_does_not_exist_is_stopped() {
    request(&json!({"subtype": "stop_task", "task_id": "nothing"})).same();
}

#[test]
fn a_server_that_does_not_exist() {
    request(&json!({"subtype": "mcp_reconnect", "serverName": "nothing"})).same();
}

#[test]
fn an_interrupt_of_a_prompt_with_a_name() {
    Case::bidi(|_| Scenario::new().turn(hold("later").text("never")))
        .hello(json!({}))
        .say_as(FIRST, "first")
        .requests(1)
        .control("stop", json!({"subtype": "interrupt"}))
        .until("result")
        .eof()
        .same();
}

#[test]
fn an_interrupt_leaves_the_queue() {
    interrupt_with_a_queue(json!({"subtype": "interrupt"}))
        .until_all("result", 2)
        .eof()
        .same();
}

#[test]
fn an_interrupt_may_empty_the_queue() {
    interrupt_with_a_queue(json!({"subtype": "interrupt", "cancel_queued": true}))
        .until("result")
        .eof()
        .same();
}

fn interrupt_with_a_queue(request: Value) -> Case {
    Case::bidi(|_| {
        Scenario::new()
            .turn(hold("later").text("never"))
            .turn(text("two"))
    })
    .hello(json!({}))
    .say_as(FIRST, "first")
    .requests(1)
    .say_as(SECOND, "second")
    .until_all("command_lifecycle", 3)
    .control("stop", request)
}

#[test]
fn a_model_that_does_not_exist() {
    Case::bidi(|_| Scenario::new().on(any()).always().reply(status(404)))
        .hello(json!({}))
        .control(
            "model",
            json!({"subtype": "set_model", "model": "claude-nothing-9"}),
        )
        .say("hi")
        .until("result")
        .eof()
        .same();
}

#[test]
fn the_servers_are_told() {
    request(&json!({"subtype": "mcp_status"})).same();
}

#[test]
fn the_settings_are_told() {
    hello()
        .control("settings", json!({"subtype": "get_settings"}))
        .eof()
        .ours(
            "control_response",
            "/response/response/applied/ultracodeAvailable",
            json!(false),
        )
        .same();
}

#[test]
fn the_version_is_told() {
    request(&json!({"subtype": "get_binary_version"})).same();
}

#[test]
fn variables_are_updated() {
    let update = |id: &str| {
        json!({"type": "update_environment_variables", "request_id": id,
            "variables": {"PATH": "/nowhere"}})
    };
    hello()
        .send(&update("one"))
        .say("hi")
        .until("result")
        .eof()
        .same();
}
