//! What hosts ask for and the engine does not have: refused or said, never dropped.

use falconer_scenario::{Scenario, text};
use serde_json::{Value, json};

use super::drive::{Drive, config, scripted};
use crate::session::config::Commands;

fn initialize(body: &Value) -> Value {
    let mut request = json!({"subtype": "initialize"});
    request
        .as_object_mut()
        .unwrap()
        .extend(body.as_object().unwrap().clone());
    json!({"type": "control_request", "request_id": "i", "request": request})
}

fn prompt(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

/// The answer to `initialize` and what the host was told in the first turn.
async fn started_with(body: &Value) -> (Value, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let model = scripted(Scenario::new().turn(text("done")));
    let mut drive = Drive::new(config(dir.path(), model, &[]));
    drive.send(&initialize(body)).await;
    let answer = drive
        .until(|frame| frame["type"] == "control_response")
        .await;
    drive.send(&prompt("hi")).await;
    drive.until(|frame| frame["type"] == "result").await;
    let (frames, _) = drive.finish().await;
    let notices = frames
        .iter()
        .filter(|frame| frame["subtype"] == "informational")
        .map(|frame| frame["content"].as_str().unwrap().to_owned());
    (answer["response"].clone(), notices.collect())
}

#[tokio::test]
async fn what_official_sdks_always_send_is_neither_refused_nor_warned_about() {
    let (answer, notices) = started_with(&json!({"agents": {}, "skills": [], "plugins": [],
        "agentProgressSummaries": false, "forwardSubagentText": false, "promptSuggestions": false,
        "systemPromptSnapshot": false, "supportedDialogKinds": ["a"]}))
    .await;
    assert_eq!(answer["subtype"], "success", "{answer}");
    assert_eq!(notices, [""; 0]);
}

#[tokio::test]
async fn agents_of_initialize_are_refused_by_name() {
    let agents = json!({"reviewer": {"description": "d", "prompt": "p", "tools": ["Read"]}});
    let (answer, _) = started_with(&json!({"agents": agents})).await;
    assert_eq!(answer["subtype"], "error", "{answer}");
    assert!(answer["error"].as_str().unwrap().contains("(reviewer)"));
}

#[tokio::test]
async fn what_is_left_out_is_said_when_the_first_turn_begins() {
    let asked = [
        ("skills", json!(["pdf"])),
        ("plugins", json!([{"type": "local", "path": "/p"}])),
        ("agentProgressSummaries", json!(true)),
        ("forwardSubagentText", json!(true)),
        ("promptSuggestions", json!(true)),
        ("systemPromptSnapshot", json!(true)),
    ];
    for (field, value) in asked {
        let (answer, notices) = started_with(&json!({ field: value })).await;
        assert_eq!(answer["subtype"], "success", "{field}: {answer}");
        assert_eq!(notices.len(), 1, "{field}: {notices:?}");
        assert!(notices[0].starts_with(&format!("{field} is ignored: ")));
    }
}

#[tokio::test]
async fn a_server_whose_policy_cannot_be_kept_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let model = scripted(Scenario::new().turn(text("done")));
    let mut drive = Drive::new(config(dir.path(), model, &[]));
    let policy = json!({"tools": [{"name": "send", "permission_policy": "always_ask"}]});
    let body = json!({"sdkMcpServers": ["mail"], "sdkMcpServerConfigs": {"mail": policy}});
    drive.send(&initialize(&body)).await;
    drive.send(&prompt("hi")).await;
    drive.until(|frame| frame["type"] == "result").await;
    let status = json!({"type": "control_request", "request_id": "s",
        "request": {"subtype": "mcp_status"}});
    drive.send(&status).await;
    let answer = drive
        .until(|frame| frame["response"]["request_id"] == "s")
        .await;
    let server = &answer["response"]["response"]["mcpServers"][0];
    assert_eq!(server["status"], "failed", "{answer}");
    assert!(server["error"].as_str().unwrap().contains("`send`"));
}

#[tokio::test]
async fn commands_that_are_disabled_are_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let model = scripted(Scenario::new().turn(text("heard")));
    let mut config = config(dir.path(), model.clone(), &[]);
    config.commands = Commands::Disabled;
    let mut drive = Drive::new(config);
    drive.send(&prompt("/context")).await;
    let result = drive.until(|frame| frame["type"] == "result").await;
    let said = result["result"].as_str().unwrap();
    assert!(said.contains("/context"), "{said}");
    assert_eq!(result["num_turns"], 0);
}
