//! Requests of the engine: each is answered exactly once, on the safe side when in doubt.

use std::sync::Arc;
use std::time::Duration;

use falconer::protocol::hook::{HookEvent, HookOutput};
use falconer::{
    Answers, Decision, Hook, HookCall, OnFailure, Options, PermissionRequest, PlanDecision,
    PlanRequest, QuestionRequest, Tool, ToolServer,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::scripted::{Scripted, can_use_bash};

async fn ask_once(options: Options, request: &Value) -> Value {
    let (_client, _messages, mut engine) = Scripted::connect(options).await;
    engine.ask("q1", request).await;
    engine.answer_to("q1").await
}

#[tokio::test]
async fn every_decision_has_its_wire_form() {
    type Decide = fn(PermissionRequest) -> Decision;
    let cases: [(&str, Decide, Value); 5] = [
        (
            "allow echoes the input",
            |_| Decision::allow(),
            json!({ "behavior": "allow", "updatedInput": { "command": "ls" },
                    "toolUseID": "toolu_1" }),
        ),
        (
            "allow with another input",
            |_| Decision::allow_with_input(json!({ "command": "pwd" })),
            json!({ "behavior": "allow", "updatedInput": { "command": "pwd" },
                    "toolUseID": "toolu_1" }),
        ),
        (
            "always allows one suggestion, not all",
            |request| Decision::allow_always(request.suggestions()[0].clone()),
            json!({ "behavior": "allow", "updatedInput": { "command": "ls" },
                    "toolUseID": "toolu_1", "updatedPermissions": [
                { "type": "addRules", "rules": [{ "toolName": "Bash", "ruleContent": "ls" }],
                  "behavior": "allow", "destination": "localSettings" } ] }),
        ),
        (
            "deny",
            |_| Decision::deny("not now"),
            json!({ "behavior": "deny", "message": "not now", "toolUseID": "toolu_1" }),
        ),
        (
            "deny and stop, with words even if none were given",
            |_| Decision::deny_and_stop(" "),
            json!({ "behavior": "deny", "message": "the user did not allow this call",
                    "interrupt": true, "toolUseID": "toolu_1" }),
        ),
    ];
    for (name, decide, expect) in cases {
        let options = Options::new().on_permission(move |request| async move { decide(request) });
        let answer = ask_once(options, &can_use_bash("ls")).await;
        assert_eq!(answer["subtype"], "success", "{name}");
        assert_eq!(answer["response"], expect, "{name}");
    }
}

#[tokio::test]
async fn an_edit_the_engine_would_ignore_is_a_denial_not_an_approval_of_the_original() {
    for edited in [json!({}), json!(null), json!("pwd"), json!(["pwd"])] {
        let options = Options::new().on_permission(move |_| {
            let edited = edited.clone();
            async move { Decision::allow_with_input(edited) }
        });
        let answer = ask_once(options, &can_use_bash("rm -rf build")).await;
        assert_eq!(answer["response"]["behavior"], "deny");
    }
}

#[tokio::test]
async fn no_handler_a_panic_and_a_timeout_are_denials() {
    let panics = |_: PermissionRequest| -> std::future::Ready<Decision> { panic!("handler bug") };
    let hangs = |_: PermissionRequest| std::future::pending::<Decision>();
    let cases = [
        (Options::new(), "nobody is there to allow this call"),
        (Options::new().on_permission(panics), "the handler panicked"),
        (
            Options::new()
                .on_permission(hangs)
                .permission_timeout(Duration::from_millis(1)),
            "no answer within 1ms",
        ),
    ];
    for (options, why) in cases {
        let answer = ask_once(options, &can_use_bash("ls")).await;
        assert_eq!(answer["response"]["behavior"], "deny", "{why}");
        assert_eq!(answer["response"]["message"], why);
    }
}

#[tokio::test]
async fn closing_denies_what_is_open_before_the_input_ends() {
    let hangs = |_: PermissionRequest| std::future::pending::<Decision>();
    let (client, _messages, mut engine) =
        Scripted::connect(Options::new().on_permission(hangs)).await;
    engine.ask_bash("q1", "ls").await;
    engine.ask_bash("q2", "ls").await;
    // Both are open once a later request has been answered.
    engine.ask("q3", &json!({ "subtype": "novel" })).await;
    engine.answer_to("q3").await;
    let closing = tokio::spawn(async move { client.close().await });
    let mut denied = Vec::new();
    while let Some(line) = engine.hear().await {
        assert_eq!(line["response"]["response"]["behavior"], "deny");
        denied.push(
            line["response"]["request_id"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        );
    }
    denied.sort();
    assert_eq!(denied, ["q1", "q2"]);
    drop(engine);
    closing.await.expect("no panic").expect("closed well");
}

#[tokio::test]
async fn a_request_that_is_taken_back_is_cancelled_and_not_answered() {
    let (started, cancelled) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell_start, tell_end) = (started.clone(), cancelled.clone());
    let handler = move |request: PermissionRequest| {
        let (tell_start, tell_end) = (tell_start.clone(), tell_end.clone());
        async move {
            tell_start.notify_one();
            tokio::spawn(async move {
                request.withdrawn.cancelled().await;
                tell_end.notify_one();
            });
            std::future::pending::<Decision>().await
        }
    };
    let (_client, _messages, mut engine) =
        Scripted::connect(Options::new().on_permission(handler)).await;
    engine.ask_bash("q1", "ls").await;
    started.notified().await;
    engine
        .say(&json!({ "type": "control_cancel_request", "request_id": "q1" }))
        .await;
    engine.ask("q2", &json!({ "subtype": "novel" })).await;
    let next = engine.hear().await.expect("an answer");
    assert_eq!(
        next["response"]["request_id"], "q2",
        "q1 must not be answered"
    );
    cancelled.notified().await;
}

#[tokio::test]
async fn a_request_that_is_repeated_while_open_is_served_once() {
    let gate = Arc::new(Notify::new());
    let wait = gate.clone();
    let handler = move |_| {
        let wait = wait.clone();
        async move {
            wait.notified().await;
            Decision::allow()
        }
    };
    let (_client, _messages, mut engine) =
        Scripted::connect(Options::new().on_permission(handler)).await;
    engine.ask_bash("q1", "ls").await;
    engine.ask_bash("q1", "ls").await;
    engine.ask("q2", &json!({ "subtype": "novel" })).await;
    engine.answer_to("q2").await;
    gate.notify_waiters();
    gate.notify_one();
    assert_eq!(
        engine.answer_to("q1").await["response"]["behavior"],
        "allow"
    );
    engine.ask("q3", &json!({ "subtype": "novel" })).await;
    let next = engine.hear().await.expect("an answer");
    assert_eq!(
        next["response"]["request_id"], "q3",
        "q1 was answered twice"
    );
}

#[tokio::test]
async fn unknown_requests_get_an_error_and_unreadable_ones_a_warning() {
    let (_client, mut messages, mut engine) = Scripted::connect(Options::new()).await;
    engine
        .ask("q1", &json!({ "subtype": "from_the_future", "x": 1 }))
        .await;
    let answer = engine.answer_to("q1").await;
    assert_eq!(answer["subtype"], "error");
    assert_eq!(
        answer["error"],
        "unsupported control request subtype: from_the_future"
    );
    engine
        .say(&json!({ "type": "control_request", "request_id": "q2" }))
        .await;
    let warning = messages.next().await.expect("a message").expect("no error");
    assert!(
        matches!(warning, falconer::Message::Warning(_)),
        "{warning:?}"
    );
}

#[tokio::test]
async fn questions_and_plans_reach_their_own_handlers() {
    let options = Options::new()
        .on_question(|request: QuestionRequest| async move {
            let question = &request.questions[0];
            Answers::new()
                .answer(question.question.clone(), question.options[1].label.clone())
                .answer(question.question.clone(), "and a word")
        })
        .on_plan(|request: PlanRequest| async move {
            assert_eq!(request.plan.as_deref(), Some("1. think"));
            PlanDecision::ApproveIn("acceptEdits".into())
        });
    let (_client, _messages, mut engine) = Scripted::connect(options).await;
    let questions = json!([{ "question": "Which?", "header": "Pick", "multiSelect": true,
        "options": [{ "label": "A", "description": "" }, { "label": "B", "description": "" }] }]);
    engine
        .ask(
            "q1",
            &json!({ "subtype": "can_use_tool", "tool_name": "AskUserQuestion",
            "input": { "questions": questions }, "tool_use_id": "toolu_q" }),
        )
        .await;
    let answer = engine.answer_to("q1").await;
    let input = &answer["response"]["updatedInput"];
    assert_eq!(input["answers"], json!({ "Which?": "B, and a word" }));
    assert_eq!(
        input["questions"], questions,
        "the questions go back with the answers"
    );

    engine
        .say(
            &json!({ "type": "assistant", "session_id": "s", "message": { "id": "m",
            "type": "message", "role": "assistant", "model": "x", "content": [{
                "type": "tool_use", "id": "toolu_p", "name": "ExitPlanMode",
                "input": { "plan": "1. think" } }] } }),
        )
        .await;
    engine
        .ask(
            "q2",
            &json!({ "subtype": "can_use_tool", "tool_name": "ExitPlanMode",
            "input": {}, "tool_use_id": "toolu_p" }),
        )
        .await;
    let answer = engine.answer_to("q2").await;
    let mode = json!([{ "type": "setMode", "mode": "acceptEdits", "destination": "session" }]);
    assert_eq!(answer["response"]["updatedPermissions"], mode);
}

fn hook_call(event: &str, extra: &Value) -> Value {
    let mut input = json!({ "session_id": "s", "transcript_path": "/t", "cwd": "/",
                            "hook_event_name": event });
    for (key, value) in extra.as_object().into_iter().flatten() {
        input[key] = value.clone();
    }
    json!({ "subtype": "hook_callback", "callback_id": "hook_0", "input": input,
            "tool_use_id": "toolu_1" })
}

fn pre_tool_use() -> Value {
    hook_call(
        "PreToolUse",
        &json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t" }),
    )
}

#[tokio::test]
async fn a_hook_that_fails_is_answered_as_its_policy_says() {
    let broken = |_: HookCall| async { Err::<HookOutput, _>("disk on fire".into()) };
    let deny = json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "the hook failed: disk on fire" } });
    let prompt = hook_call("UserPromptSubmit", &json!({ "prompt": "hi" }));
    let cases = [
        (
            HookEvent::PreToolUse,
            OnFailure::DenyTools,
            pre_tool_use(),
            Ok(deny.clone()),
        ),
        (
            HookEvent::PreToolUse,
            OnFailure::Block,
            pre_tool_use(),
            Ok(deny),
        ),
        (
            HookEvent::PreToolUse,
            OnFailure::Continue,
            pre_tool_use(),
            Ok(json!({})),
        ),
        (
            HookEvent::UserPromptSubmit,
            OnFailure::DenyTools,
            prompt.clone(),
            Ok(json!({})),
        ),
        (
            HookEvent::UserPromptSubmit,
            OnFailure::Block,
            prompt,
            Ok(json!({ "decision": "block", "reason": "the hook failed: disk on fire" })),
        ),
        (
            HookEvent::Notification,
            OnFailure::Block,
            hook_call("Notification", &json!({ "message": "m" })),
            Err("the hook failed: disk on fire"),
        ),
    ];
    for (event, policy, request, expect) in cases {
        let name = format!("{event:?} {policy:?}");
        let hook = Hook::new(event, broken).on_failure(policy);
        let answer = ask_once(Options::new().hook(hook), &request).await;
        match expect {
            Ok(payload) => assert_eq!(answer["response"], payload, "{name}"),
            Err(text) => assert_eq!(answer["error"], text, "{name}"),
        }
    }
}

#[tokio::test]
async fn a_hook_that_panics_or_hangs_is_counted_and_denied() {
    let panics = |_: HookCall| -> std::future::Ready<Result<HookOutput, _>> { panic!("hook bug") };
    let hangs = |_: HookCall| std::future::pending();
    let hooks = [
        Hook::new(HookEvent::PreToolUse, panics),
        Hook::new(HookEvent::PreToolUse, hangs).timeout(Duration::from_millis(1)),
    ];
    for hook in hooks {
        let (client, _messages, mut engine) = Scripted::connect(Options::new().hook(hook)).await;
        engine.ask("q1", &pre_tool_use()).await;
        let answer = engine.answer_to("q1").await;
        let output = &answer["response"]["hookSpecificOutput"];
        assert_eq!(output["permissionDecision"], "deny");
        assert_eq!(client.handler_failures(), 1);
    }
}

#[tokio::test]
async fn a_stop_is_blocked_only_so_often() {
    let hook = Hook::new(HookEvent::Stop, |_| async { Ok(HookOutput::block("more")) });
    let (_client, _messages, mut engine) =
        Scripted::connect(Options::new().hook(hook).stop_block_limit(2)).await;
    let mut blocked = Vec::new();
    for (id, active) in [("q0", false), ("q1", true), ("q2", true), ("q3", false)] {
        let stop = json!({ "stop_hook_active": active });
        engine.ask(id, &hook_call("Stop", &stop)).await;
        blocked.push(engine.answer_to(id).await["response"]["decision"] == "block");
    }
    assert_eq!(
        blocked,
        [true, true, false, true],
        "the count starts anew with a new stop"
    );
}

#[tokio::test]
async fn in_process_tools_answer_over_the_connection_notifications_too() {
    let server = ToolServer::new("calc").tool(Tool::new("hi", "greets", |(): ()| async { "hi" }));
    let (_client, _messages, mut engine) =
        Scripted::connect(Options::new().tool_server(server)).await;
    let message = |message: Value| json!({ "subtype": "mcp_message", "server_name": "calc", "message": message });
    let call = json!({ "jsonrpc": "2.0", "id": 4, "method": "tools/call",
                       "params": { "name": "hi" } });
    engine.ask("q1", &message(call)).await;
    let answer = engine.answer_to("q1").await;
    assert_eq!(
        answer["response"]["mcp_response"]["result"]["content"][0]["text"],
        "hi"
    );
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    engine.ask("q2", &message(ready)).await;
    assert_eq!(engine.answer_to("q2").await["subtype"], "success");
    let mut lost = message(json!({ "jsonrpc": "2.0", "id": 5, "method": "ping" }));
    lost["server_name"] = "nowhere".into();
    engine.ask("q3", &lost).await;
    assert_eq!(
        engine.answer_to("q3").await["error"],
        "no in-process server `nowhere`"
    );
}

#[tokio::test]
async fn a_request_knows_which_messages_came_before_it() {
    // A thousand messages, a request, and one more message: the position is between the last two,
    // however slowly the messages are read. The second round has most of them on the disk.
    for backlog in [1 << 20, 1 << 10] {
        let (positions, mut asked) = tokio::sync::mpsc::unbounded_channel();
        let options = Options::new()
            .backlog_limits(backlog, 1 << 30)
            .on_permission(move |request| {
                let positions = positions.clone();
                async move {
                    positions.send(request.position).expect("the test listens");
                    Decision::deny("no")
                }
            });
        let (_client, mut messages, mut engine) = Scripted::connect(options).await;
        let mut lines = String::new();
        for number in 0..1_000 {
            lines += &format!("{{\"type\":\"tool_use_summary\",\"summary\":\"{number}\"}}\n");
        }
        let request = json!({ "type": "control_request", "request_id": "q1",
            "request": can_use_bash("ls") });
        lines += &format!("{request}\n");
        lines += "{\"type\":\"tool_use_summary\",\"summary\":\"after\"}\n";
        engine.say_text(lines).await;
        // Served before anything was read.
        engine.answer_to("q1").await;
        let position = asked.recv().await.expect("it was asked");
        for number in 0..1_000 {
            assert!(messages.position() < position, "{number}");
            messages.next().await.expect("a message").expect("no error");
        }
        assert_eq!(messages.position(), position);
        messages.next().await.expect("a message").expect("no error");
        assert!(messages.position() > position);
    }
}
