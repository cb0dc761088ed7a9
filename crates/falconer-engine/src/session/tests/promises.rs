//! What sessions promise beyond the recordings.

use std::time::Duration;

use falconer_scenario::{Scenario, any, text, tool_use};
use serde_json::{Value, json};

use super::drive::{Drive, config, scripted, tokens};
use crate::session::config::{Input, PermissionPrompt};

fn prompt(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn traced(text: &str, uuid: &str) -> Value {
    let mut line = prompt(text);
    line["uuid"] = json!(uuid);
    line
}

fn request(id: &str, body: &Value) -> Value {
    json!({"type": "control_request", "request_id": id, "request": body})
}

fn is_result(frame: &Value) -> bool {
    frame["type"] == "result"
}

#[tokio::test]
async fn every_control_request_is_answered_while_a_turn_runs() {
    let dir = tempfile::tempdir().unwrap();
    let model = scripted(Scenario::new().turn(text("begun").hold("go").text(" done")));
    let mut drive = Drive::new(config(dir.path(), model.clone(), &[]));
    drive.send(&prompt("hi")).await;
    drive.until(|frame| frame["subtype"] == "init").await;
    let bodies = [
        json!({"subtype": "initialize"}),
        json!({"subtype": "set_model", "model": "sonnet"}),
        json!({"subtype": "set_permission_mode", "mode": "acceptEdits"}),
        json!({"subtype": "set_permission_mode", "mode": "nonsense"}),
        json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 2000}),
        json!({"subtype": "mcp_status"}),
        json!({"subtype": "mcp_set_servers", "servers": {}}),
        json!({"subtype": "mcp_reconnect", "serverName": "x"}),
        json!({"subtype": "mcp_toggle", "serverName": "x", "enabled": false}),
        json!({"subtype": "mcp_message", "server_name": "x", "message": {}}),
        json!({"subtype": "mcp_call", "tool": "mcp__x__y"}),
        json!({"subtype": "mcp_read_resource", "serverName": "x", "uri": "a://b"}),
        json!({"subtype": "get_context_usage"}),
        json!({"subtype": "get_usage"}),
        json!({"subtype": "get_session_cost"}),
        json!({"subtype": "list_models"}),
        json!({"subtype": "get_binary_version"}),
        json!({"subtype": "get_settings"}),
        json!({"subtype": "get_hooks_listing"}),
        json!({"subtype": "list_permission_rules"}),
        json!({"subtype": "get_status"}),
        json!({"subtype": "rename_session", "title": "t"}),
        json!({"subtype": "rewind_files", "user_message_id": "u"}),
        json!({"subtype": "read_file", "path": "none.txt"}),
        json!({"subtype": "seed_read_state", "path": "none.txt", "mtime": 1}),
        json!({"subtype": "cancel_async_message", "message_uuid": "u"}),
        json!({"subtype": "stop_task", "task_id": "b1"}),
        json!({"subtype": "background_tasks"}),
        json!({"subtype": "get_task_output", "task_id": "b1"}),
        json!({"subtype": "apply_flag_settings", "settings": {}}),
        json!({"subtype": "update_settings", "source": "nowhere", "settings": {}}),
        json!({"subtype": "set_has_subscribers", "has_subscribers": true}),
        json!({"subtype": "set_color", "color": "red"}),
        json!({"subtype": "frobnicate"}),
        json!({}),
        json!({"subtype": 7}),
    ];
    for (number, body) in bodies.iter().enumerate() {
        let id = format!("r{number}");
        drive.send(&request(&id, body)).await;
        let answers = |frame: &Value| frame["response"]["request_id"] == id.as_str();
        let answer = drive.until(answers).await;
        assert!(
            answer["response"]["subtype"].is_string(),
            "{body}: {answer}"
        );
    }
    model.gates().release("go");
    let result = drive.until(is_result).await;
    assert_eq!(result["result"], "begun done");
    let (_, exit) = drive.finish().await;
    assert_eq!(exit.code, 0);
}

#[tokio::test]
async fn an_urgent_prompt_ends_the_turn_and_runs_next() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = Scenario::new()
        .turn(text("slow").hold("never"))
        .turn(text("quick"));
    let mut config = config(dir.path(), scripted(scenario), &[]);
    config.output.partial = true;
    let mut drive = Drive::new(config);
    drive.send(&prompt("first")).await;
    let delta = |frame: &Value| frame["event"]["type"] == "content_block_delta";
    drive.until(delta).await;
    let mut urgent = prompt("second");
    urgent["priority"] = json!("now");
    drive.send(&urgent).await;
    let aborted = drive.until(is_result).await;
    assert_eq!(aborted["subtype"], "success");
    assert_eq!(aborted["terminal_reason"], "aborted_streaming");
    assert_eq!(aborted["is_error"], false);
    let answer = drive.until(is_result).await;
    assert_eq!(answer["result"], "quick");
    drive.finish().await;
}

#[tokio::test]
async fn a_burst_becomes_two_turns_and_repeats_are_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = Scenario::new()
        .turn(text("one").hold("go"))
        .turn(text("two and three"));
    let model = scripted(scenario);
    let mut drive = Drive::new(config(dir.path(), model.clone(), &[]));
    for (text, uuid) in [("1", "u1"), ("2", "u2"), ("2 again", "u2"), ("3", "u3")] {
        drive.send(&traced(text, uuid)).await;
    }
    let queued = |frame: &Value| frame["state"] == "queued" && frame["command_uuid"] == "u3";
    drive.until(queued).await;
    model.gates().release("go");
    let first = drive.until(is_result).await;
    assert_eq!(first["user_message_uuids"], json!(["u1"]));
    let second = drive.until(is_result).await;
    assert_eq!(second["user_message_uuids"], json!(["u2", "u3"]));
    let (frames, _) = drive.finish().await;
    assert_eq!(frames.iter().filter(|it| is_result(it)).count(), 2);
}

#[tokio::test]
async fn a_queued_prompt_can_be_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let model = scripted(Scenario::new().turn(text("one").hold("go")));
    let mut drive = Drive::new(config(dir.path(), model.clone(), &[]));
    drive.send(&prompt("1")).await;
    drive.send(&traced("2", "u2")).await;
    let cancel = json!({"subtype": "cancel_async_message", "message_uuid": "u2"});
    drive.send(&request("c", &cancel)).await;
    let answer = drive
        .until(|frame| frame["type"] == "control_response")
        .await;
    assert_eq!(answer["response"]["response"], json!({"cancelled": true}));
    model.gates().release("go");
    let (frames, _) = drive.finish().await;
    assert_eq!(frames.iter().filter(|it| is_result(it)).count(), 1);
    assert!(tokens(&frames).contains(&"cl:cancelled".to_owned()));
}

#[tokio::test]
async fn a_broken_stream_is_repeated_in_one_piece() {
    let dir = tempfile::tempdir().unwrap();
    let broken = text("half").error_after(4, falconer_scenario::status(529));
    let scenario = Scenario::new().turn(broken);
    let mut config = config(dir.path(), scripted(scenario), &[]);
    config.output.partial = true;
    config.input = Input::OneShot("go".to_owned());
    let (frames, exit) = Drive::new(config).finish().await;
    let said = |frame: &Value| frame["type"] == "assistant";
    let said: Vec<&Value> = frames.iter().filter(|it| said(it)).collect();
    assert_eq!(said.len(), 1, "{said:#?}");
    let abandoned = frames
        .iter()
        .find(|it| it.get("abandoned_blocks").is_some());
    assert!(abandoned.is_some(), "{:?}", tokens(&frames));
    let result = frames.last().unwrap();
    assert_eq!((&result["result"], exit.code), (&json!("half"), 0));
}

#[tokio::test]
async fn a_signal_ends_the_turn_with_a_result_and_code_0() {
    let dir = tempfile::tempdir().unwrap();
    let model = scripted(Scenario::new().turn(text("slow").hold("never")));
    let mut drive = Drive::new(config(dir.path(), model, &[]));
    drive.send(&prompt("go")).await;
    drive.until(|frame| frame["subtype"] == "init").await;
    drive.stop.interrupt();
    let result = drive.until(is_result).await;
    assert_eq!(result["subtype"], "error_during_execution");
    let (_, exit) = drive.finish().await;
    assert_eq!(exit.code, 0);
}

#[tokio::test]
async fn terminating_leaves_no_result_and_code_143() {
    let dir = tempfile::tempdir().unwrap();
    let call = tool_use(
        "Bash",
        json!({"command": "while true; do sleep 1; done", "description": "x"}),
    );
    let mut config = config(dir.path(), scripted(Scenario::new().turn(call)), &[]);
    config.permissions.allowed = vec!["Bash".to_owned()];
    let mut drive = Drive::new(config);
    drive.send(&prompt("go")).await;
    drive.until(|frame| frame["type"] == "assistant").await;
    drive.stop.terminate();
    let (frames, exit) = drive.finish().await;
    assert_eq!(exit.code, 143);
    assert!(!frames.iter().any(is_result));
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_resume() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = || Scenario::new().on(any()).always().reply(text("yes"));
    let mut first = config(dir.path(), scripted(scenario()), &[]);
    first.input = Input::OneShot("remember this".to_owned());
    let (frames, _) = Drive::new(first).finish().await;
    let id = frames[0]["session_id"].as_str().unwrap().to_owned();
    let scenario = Scenario::new()
        .on(falconer_scenario::last_user_contains("and now"))
        .reply(text("resumed"));
    let mut second = config(dir.path(), scripted(scenario), &[]);
    second.input = Input::OneShot("and now".to_owned());
    second.history.start = crate::session::config::Start::Resume(id.as_str().into());
    let (frames, exit) = Drive::new(second).finish().await;
    let result = frames.last().unwrap();
    assert_eq!((&result["result"], exit.code), (&json!("resumed"), 0));
    assert_eq!(result["session_id"], id.as_str());
}

#[tokio::test]
async fn an_open_question_dies_with_the_input() {
    let dir = tempfile::tempdir().unwrap();
    let call = tool_use("Write", json!({"file_path": "x.txt", "content": "x"}));
    let scenario = Scenario::new().turn(call).turn(text("ok"));
    let mut config = config(dir.path(), scripted(scenario), &[]);
    config.permissions.prompt = PermissionPrompt::Host;
    let file = config.cwd.join("x.txt");
    let mut drive = Drive::new(config);
    drive.send(&prompt("go")).await;
    drive
        .until(|frame| frame["type"] == "control_request")
        .await;
    let (frames, exit) = drive.finish().await;
    assert_eq!(exit.code, 0);
    assert_eq!(
        frames.last().unwrap()["permission_denials"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert!(!file.exists());
}

#[tokio::test]
async fn readers_are_asked_side_by_side_and_answered_in_any_order() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.txt", "b.txt"] {
        std::fs::write(dir.path().join(name), name).unwrap();
    }
    let read = |name: &str| json!({"file_path": dir.path().join(name)});
    let calls = tool_use("Read", read("a.txt")).tool_use("Read", read("b.txt"));
    let scenario = Scenario::new().turn(calls).turn(text("done"));
    let mut config = config(dir.path(), scripted(scenario), &[]);
    config.permissions.prompt = PermissionPrompt::Host;
    let mut drive = Drive::new(config);
    drive.send(&prompt("go")).await;
    let asks = |frame: &Value| frame["request"]["subtype"] == "can_use_tool";
    // Nobody has answered the first when the second comes.
    let first = drive.until(asks).await;
    let second = drive.until(asks).await;
    let call = |question: &Value| question["request"]["tool_use_id"].clone();
    assert_ne!(call(&first), call(&second));
    for question in [&second, &first] {
        let answer = json!({"subtype": "success", "request_id": question["request_id"],
            "response": {"behavior": "allow"}});
        drive
            .send(&json!({"type": "control_response", "response": answer}))
            .await;
        let result = drive.until(|frame| frame["type"] == "user").await;
        let block = &result["message"]["content"][0];
        assert_eq!(block["tool_use_id"], call(question));
        assert_ne!(block["is_error"], true, "{block}");
    }
    let (frames, exit) = drive.finish().await;
    assert_eq!(
        (&frames.last().unwrap()["result"], exit.code),
        (&json!("done"), 0)
    );
}

/// Sessions that nobody talks to are small: 10,000 of them fit into a process.
#[tokio::test]
async fn many_idle_sessions_fit_into_one_process() {
    let dir = tempfile::tempdir().unwrap();
    let model = scripted(Scenario::new());
    let resident = || {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
        pages * 4096
    };
    let start = || Drive::new(config(dir.path(), model.clone(), &[]));
    let warm_up = start();
    let before = resident();
    let count = 1000;
    let sessions: Vec<Drive> = (0..count).map(|_| start()).collect();
    tokio::time::sleep(Duration::from_millis(1)).await;
    let each = resident().saturating_sub(before) / count;
    assert!(each < 200 * 1024, "an idle session takes {each} bytes");
    for session in sessions.into_iter().chain([warm_up]) {
        let (frames, exit) = session.finish().await;
        assert_eq!((frames.len(), exit.code), (0, 0));
    }
}
