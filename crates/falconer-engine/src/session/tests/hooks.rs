//! Hooks of the host at every point of a session, and what it hears of them.

use falconer_scenario::{Scenario, status, text, tool_use};
use serde_json::{Value, json};

use super::drive::{Drive, config, scripted};
use crate::session::config::PermissionPrompt;

/// A host that answers hooks with what is given for their event, and allows every call.
struct Host {
    drive: Drive,
    answers: Value,
    asked: Vec<Value>,
}

impl Host {
    async fn new(scenario: Scenario, answers: Value) -> (Self, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        let mut config = config(
            dir.path(),
            scripted(scenario),
            &[("CLAUDE_CODE_MAX_RETRIES", "0")],
        );
        config.permissions.prompt = PermissionPrompt::Host;
        let hooks = answers.as_object().unwrap().keys();
        let hooks = hooks.map(|event| (event.clone(), json!([{"hookCallbackIds": [event]}])));
        let hooks: serde_json::Map<String, Value> = hooks.collect();
        let mut host = Self {
            drive: Drive::new(config),
            answers,
            asked: Vec::new(),
        };
        host.ask(json!({"subtype": "initialize", "hooks": hooks}))
            .await;
        (host, dir)
    }

    /// Sends a request and gives its answer.
    async fn ask(&mut self, request: Value) -> Value {
        let line = json!({"type": "control_request", "request_id": "r", "request": request});
        self.drive.send(&line).await;
        self.until(|frame| frame["type"] == "control_response")
            .await["response"]
            .clone()
    }

    async fn say(&mut self, prompt: &str) -> Value {
        let message = json!({"role": "user", "content": prompt});
        self.drive
            .send(&json!({"type": "user", "message": message}))
            .await;
        self.until(|frame| frame["type"] == "result").await
    }

    async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let frame = self
                .drive
                .until(|frame| fits(frame) || frame["type"] == "control_request")
                .await;
            if fits(&frame) {
                return frame;
            }
            let request = &frame["request"];
            let answer = match request["subtype"].as_str() {
                Some("hook_callback") => {
                    self.asked.push(request["input"].clone());
                    self.answers[request["callback_id"].as_str().unwrap()].clone()
                }
                _ => json!({"behavior": "allow"}),
            };
            let response = json!({"subtype": "success", "request_id": frame["request_id"],
                "response": answer});
            let line = json!({"type": "control_response", "response": response});
            self.drive.send(&line).await;
        }
    }

    fn events(&self) -> Vec<&str> {
        let events = self.asked.iter().map(|input| &input["hook_event_name"]);
        events.filter_map(Value::as_str).collect()
    }

    /// What was said to the user, in order.
    fn notices(&self) -> Vec<&str> {
        let notices = self
            .drive
            .frames
            .iter()
            .filter(|frame| frame["level"] == "notice");
        notices
            .filter_map(|frame| frame["content"].as_str())
            .collect()
    }
}

fn touch() -> Scenario {
    Scenario::new()
        .turn(tool_use(
            "Bash",
            json!({"command": "touch x", "description": "t"}),
        ))
        .turn(text("done"))
        .turn(text("again"))
}

fn says(events: &[&str]) -> Value {
    let answers = events.iter().map(|event| {
        (
            (*event).to_owned(),
            json!({"systemMessage": format!("from {event}")}),
        )
    });
    Value::Object(answers.collect())
}

#[tokio::test]
async fn what_hooks_say_reaches_the_user_around_what_they_are_about() {
    let events = [
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolBatch",
        "Stop",
    ];
    let (mut host, _dir) = Host::new(touch(), says(&events)).await;
    host.say("go").await;
    assert_eq!(host.events(), events);
    let expected = [
        "UserPromptSubmit says: from UserPromptSubmit",
        "PreToolUse:Bash says: from PreToolUse",
        "PostToolUse:Bash says: from PostToolUse",
        "PostToolBatch says: from PostToolBatch",
        "Stop says: from Stop",
    ];
    assert_eq!(host.notices(), expected);
    let place = |fits: &dyn Fn(&Value) -> bool| host.drive.frames.iter().position(fits);
    let said = |text: &str| {
        let text = text.to_owned();
        place(&move |frame| frame["content"] == text.as_str())
    };
    let result = place(&|frame| frame["message"]["content"][0]["type"] == "tool_result");
    assert!(said(expected[1]) < result && result < said(expected[2]));
}

#[tokio::test]
async fn a_batch_is_told_whole_and_can_end_the_turn() {
    let context = json!({"hookSpecificOutput":
        {"hookEventName": "PostToolBatch", "additionalContext": "look twice"}});
    let (mut host, _dir) = Host::new(touch(), json!({"PostToolBatch": context})).await;
    assert_eq!(host.say("go").await["result"], "done");
    let calls = &host.asked[0]["tool_calls"];
    assert_eq!(calls[0]["tool_name"], "Bash");
    assert_eq!(calls[0]["tool_input"]["command"], "touch x");
    assert!(calls[0]["tool_response"].is_string());

    for answer in [
        json!({"decision": "block", "reason": "no"}),
        json!({"continue": false}),
    ] {
        let (mut host, _dir) = Host::new(touch(), json!({"PostToolBatch": answer})).await;
        let result = host.say("go").await;
        assert_eq!(result["terminal_reason"], "hook_stopped");
        assert_eq!(result["is_error"], false);
    }
}

#[tokio::test]
async fn a_turn_without_an_answer_is_told_as_a_failure() {
    let scenario = Scenario::new().turn(status(500));
    let (mut host, _dir) = Host::new(scenario, says(&["Stop", "StopFailure"])).await;
    let result = host.say("go").await;
    assert_eq!(host.events(), ["StopFailure"]);
    assert_eq!(host.asked[0]["error"], "server_error");
    assert_eq!(host.asked[0]["last_assistant_message"], result["result"]);
    assert_eq!(result["is_error"], true);
}

#[tokio::test]
async fn a_change_of_the_model_is_asked_about_and_told() {
    let events = says(&["PreModelSwitch", "PostModelSwitch"]);
    let (mut host, _dir) = Host::new(touch(), events).await;
    let answer = host
        .ask(json!({"subtype": "set_model", "model": "sonnet"}))
        .await;
    assert_eq!(answer["response"]["model"], "claude-sonnet-5-5");
    let result = host.say("go").await;
    assert_eq!(result["result"], "done");
    assert_eq!(host.events(), ["PreModelSwitch", "PostModelSwitch"]);
    for input in &host.asked {
        assert_eq!(input["from_model"], "claude-opus-5-5");
        assert_eq!(input["to_model"], "claude-sonnet-5-5");
        assert_eq!(
            (&input["requested_model"], &input["source"]),
            (&json!("sonnet"), &json!("sdk"))
        );
    }
    let told = "PostModelSwitch:claude-sonnet-5-5 says: from PostModelSwitch";
    assert_eq!(host.notices(), ["from PreModelSwitch", told]);
    // The same model again is no change.
    host.ask(json!({"subtype": "set_model", "model": "sonnet"}))
        .await;
    assert_eq!(host.asked.len(), 2);
    host.ask(json!({"subtype": "set_model"})).await;
    assert_eq!(host.asked[2]["requested_model"], Value::Null);
    assert!(
        host.asked[2]
            .as_object()
            .unwrap()
            .contains_key("requested_model")
    );
    assert!(host.asked[2]["context_tokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn a_hook_keeps_the_model_from_being_changed() {
    for decision in ["deny", "ask"] {
        let answer = json!({"hookSpecificOutput": {"hookEventName": "PreModelSwitch",
            "permissionDecision": decision, "permissionDecisionReason": "not now"}});
        let (mut host, _dir) = Host::new(touch(), json!({"PreModelSwitch": answer})).await;
        let answer = host
            .ask(json!({"subtype": "set_model", "model": "sonnet"}))
            .await;
        assert_eq!(answer["error_code"], "blocked_by_hook");
        assert_eq!(answer["model"], "claude-opus-5-5");
        assert!(answer["error"].as_str().unwrap().contains("not now"));
    }
}

#[tokio::test]
async fn a_hook_changes_what_is_shown_and_not_what_was_said() {
    let answer = json!({"hookSpecificOutput":
        {"hookEventName": "MessageDisplay", "displayContent": "(hidden)"}});
    let (mut host, _dir) = Host::new(touch(), json!({"MessageDisplay": answer})).await;
    assert_eq!(host.say("go").await["result"], "(hidden)");
    assert_eq!(host.asked[0]["delta"], "done");
    let shown = host
        .drive
        .frames
        .iter()
        .filter(|frame| frame["type"] == "assistant");
    let shown: Vec<&Value> = shown
        .map(|frame| &frame["message"]["content"][0]["text"])
        .collect();
    assert!(shown.contains(&&json!("(hidden)")));
    assert!(!shown.contains(&&json!("done")));
}

#[tokio::test]
async fn only_a_guarded_refusal_asks_another_model() {
    let refusal = || text("no").stop_reason("refusal");
    let (mut host, _dir) = Host::new(
        Scenario::new()
            .turn(refusal())
            .turn(refusal())
            .turn(text("never")),
        json!({"StopFailure": {}}),
    )
    .await;
    let result = host.say("go").await;
    assert_eq!(result["stop_reason"], "refusal");
    assert_eq!(host.asked[0]["error"], "invalid_request");
    let said = |frame: &Value| frame["subtype"] == "model_refusal_no_fallback";
    assert!(host.drive.frames.iter().any(said));
}
