//! What a policy may not answer, and where it is asked.

use falconer_event::{Body, Event, PermissionRequested, PermissionResolved};
use falconer_session::{Answer, AnswerError, Error, Policy, Verdict};
use serde_json::{Value, json};

use crate::scripted::Stage;

fn permission(event: &Event) -> Option<PermissionRequested> {
    match &event.body {
        Body::PermissionRequested(asked) => Some((**asked).clone()),
        _ => None,
    }
}

fn resolved(event: &Event) -> Option<PermissionResolved> {
    match &event.body {
        Body::PermissionResolved(resolved) => Some((**resolved).clone()),
        _ => None,
    }
}

async fn stage(policy: &str) -> Stage {
    let policy = std::sync::Arc::new(policy.parse::<Policy>().unwrap());
    let mut stage = Stage::new(|spec| spec.policy(policy)).await;
    stage.session.send("hello").await.unwrap();
    stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage
}

fn request(id: &str, tool: &str, input: &Value, more: &Value) -> Value {
    let mut request = json!({"subtype": "can_use_tool", "tool_name": tool, "input": input,
        "tool_use_id": format!("toolu_{id}")});
    for (key, value) in more.as_object().into_iter().flatten() {
        request[key] = value.clone();
    }
    json!({"type": "control_request", "request_id": id, "request": request})
}

fn hook(id: &str, call: &str, cwd: &str) -> Value {
    json!({"type": "control_request", "request_id": id, "request": {
        "subtype": "hook_callback", "callback_id": "hook_0", "input": {
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": cwd, "tool_name": "Bash",
        "tool_use_id": call, "tool_input": {"command": "true"}}}})
}

#[tokio::test]
async fn a_policy_does_not_answer_what_only_a_person_may_allow() {
    let mut stage = stage("[allow]\ntools = [\"Bash\", \"Write\"]\npaths = [\"**\"]").await;
    let harmless = json!({"command": "make"});
    let table = [
        (json!({"decision_reason_type": "safetyCheck"}), true),
        (json!({"decision_reason_type": "hook"}), true),
        (json!({"decision_reason_type": "rule"}), true),
        (json!({"decision_reason_type": "mode"}), true),
        (json!({"decision_reason_type": "sandboxOverride"}), true),
        (json!({"decision_reason_type": "brandNew"}), true),
        (json!({"suppress_always_allow_rule": true}), true),
        (json!({"requires_user_interaction": true}), true),
        (json!({"decision_reason_type": "other"}), false),
        (json!({"decision_reason_type": "workingDir"}), false),
        (json!({}), false),
    ];
    for (index, (reason, needs_person)) in table.into_iter().enumerate() {
        let id = format!("r{index}");
        let asked = request(&id, "Bash", &harmless, &reason);
        stage.engine.say(&asked).await;
        let asked = stage.event(permission).await;
        assert_eq!(asked.needs_person, needs_person, "{reason}");
        if needs_person {
            let deny = Answer::deny(&asked.id, &asked.digest, "anna", "no");
            stage.session.answer(deny).await.unwrap();
        }
        let by = stage.event(resolved).await.by;
        let expected = if needs_person { "anna" } else { "policy" };
        assert_eq!(by, expected, "{reason}");
    }
    // An engine that does not say so: the policy knows protected places itself.
    for (tool, input) in [
        (
            "Write",
            json!({"file_path": "/p/.git/hooks/pre-commit", "content": ""}),
        ),
        (
            "Write",
            json!({"file_path": "/p/.claude/settings.json", "content": ""}),
        ),
        ("Bash", json!({"command": "sed -i s/a/b/ .git/config"})),
    ] {
        stage
            .engine
            .say(&request("protected", tool, &input, &json!({})))
            .await;
        let asked = stage.event(permission).await;
        let deny = Answer::deny(&asked.id, &asked.digest, "anna", "no");
        stage.session.answer(deny).await.unwrap();
        assert_eq!(stage.event(resolved).await.by, "anna", "{input}");
    }
    stage.session.close().await;
}

#[tokio::test]
async fn a_call_is_judged_where_the_shell_is() {
    let mut stage = stage("[allow]\nrules = [\"Bash(echo *)\", \"Edit(./post-merge)\"]").await;
    stage.engine.say(&hook("h1", "toolu_r1", "/p")).await;
    stage.engine.answer_to("h1").await;
    stage
        .engine
        .say(&hook("h2", "toolu_r2", "/p/.git/hooks"))
        .await;
    stage.engine.answer_to("h2").await;
    let input = json!({"command": "echo evil > post-merge"});
    stage
        .engine
        .say(&request("r2", "Bash", &input, &json!({})))
        .await;
    let asked = stage.event(permission).await;
    assert_eq!(asked.cwd.as_deref(), Some("/p/.git/hooks"));
    let deny = Answer::deny(&asked.id, &asked.digest, "anna", "no");
    stage.session.answer(deny).await.unwrap();
    stage
        .engine
        .say(&request("r1", "Bash", &input, &json!({})))
        .await;
    let asked = stage.event(permission).await;
    assert_eq!(asked.cwd.as_deref(), Some("/p"));
    stage.session.close().await;
}

#[tokio::test]
async fn edited_input_is_judged_again_by_the_policy() {
    let mut stage = stage("[deny]\ncommands = [\"rm\"]").await;
    let input = json!({"command": "make"});
    stage
        .engine
        .say(&request("r1", "Bash", &input, &json!({})))
        .await;
    let asked = stage.event(permission).await;
    for command in ["rm victim", "make; rm victim", "echo x > /p/.git/config"] {
        let verdict = Verdict::AllowEdited(json!({ "command": command }));
        let answer = Answer::new(&asked.id, &asked.digest, "anna", verdict);
        let refused = stage.session.answer(answer).await;
        assert!(
            matches!(refused, Err(Error::Answer(AnswerError::Refused { .. }))),
            "{command}: {refused:?}"
        );
    }
    let verdict = Verdict::AllowEdited(json!({"command": "make all"}));
    let answer = Answer::new(&asked.id, &asked.digest, "anna", verdict);
    stage.session.answer(answer).await.unwrap();
    let wire = stage.engine.answer_to("r1").await;
    assert_eq!(wire["updatedInput"]["command"], "make all");
    stage.session.close().await;
}
