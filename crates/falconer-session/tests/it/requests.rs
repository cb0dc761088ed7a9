//! Permissions and questions: asked by the session, answered once.

use std::collections::BTreeMap;
use std::time::Duration;

use falconer_event::{
    Body, Event, ItemContent, Outcome, PermissionRequested, QuestionKind, QuestionRequested,
    Resolution, Shown,
};
use falconer_session::{Answer, AnswerError, Error, SessionSpec, Verdict};
use serde_json::{Value, json};

use crate::scripted::Stage;

fn permission(event: &Event) -> Option<PermissionRequested> {
    match &event.body {
        Body::PermissionRequested(asked) => Some((**asked).clone()),
        _ => None,
    }
}

fn question(event: &Event) -> Option<QuestionRequested> {
    match &event.body {
        Body::QuestionRequested(asked) => Some((**asked).clone()),
        _ => None,
    }
}

/// Who answered what, of permissions and questions alike.
fn resolution(event: &Event) -> Option<(Resolution, String)> {
    match &event.body {
        Body::PermissionResolved(resolved) => Some((resolved.resolution, resolved.by.clone())),
        Body::QuestionResolved(resolved) => Some((resolved.resolution, resolved.by.clone())),
        _ => None,
    }
}

async fn asked(tool: &str, input: Value, make: impl FnOnce(SessionSpec) -> SessionSpec) -> Stage {
    let mut stage = Stage::new(make).await;
    stage.session.send("hello").await.unwrap();
    stage.engine.prompt().await;
    stage.engine.init("s").await;
    stage.engine.ask("r1", tool, &input).await;
    stage
}

#[tokio::test]
async fn of_two_answers_at_once_one_wins() {
    for _ in 0..5 {
        let mut stage = asked("Bash", json!({"command": "ls"}), |spec| spec).await;
        let request = stage.event(permission).await;
        let (one, two) = (stage.session.clone(), stage.session.clone());
        let allow = Answer::allow(&request.id, &request.digest, "one");
        let deny = Answer::deny(&request.id, &request.digest, "two", "no");
        let (first, second) = tokio::join!(one.answer(allow), two.answer(deny));
        assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
        let wire = stage.engine.answer_to("r1").await;
        let (resolution, by) = stage.event(resolution).await;
        if first.is_ok() {
            assert_eq!(wire["behavior"], "allow");
            assert_eq!((resolution, by.as_str()), (Resolution::Allowed, "one"));
        } else {
            assert_eq!(wire["behavior"], "deny");
            assert_eq!((resolution, by.as_str()), (Resolution::Denied, "two"));
        }
        stage.engine.result("done", &[]).await;
        stage.session.close().await;
        let again = stage
            .rest()
            .await
            .iter()
            .filter_map(super::requests::resolution)
            .count();
        assert_eq!(again, 0);
    }
}

#[tokio::test]
async fn an_answer_about_something_else_does_not_count() {
    let mut stage = asked("Bash", json!({"command": "ls"}), |spec| spec).await;
    let request = stage.event(permission).await;
    let cases = [
        (
            Answer::allow(&request.id, "other", "me"),
            AnswerError::Changed(request.id.clone()),
        ),
        (
            Answer::allow("nobody", &request.digest, "me"),
            AnswerError::NotOpen("nobody".into()),
        ),
        (
            Answer::new(
                &request.id,
                &request.digest,
                "me",
                Verdict::Choices(BTreeMap::new()),
            ),
            AnswerError::WrongKind(request.id.clone()),
        ),
        (
            Answer::new(&request.id, &request.digest, "me", Verdict::AllowAlways(0)),
            AnswerError::WrongKind(request.id.clone()),
        ),
    ];
    for (answer, expected) in cases {
        match stage.session.answer(answer.clone()).await {
            Err(Error::Answer(error)) => assert_eq!(error, expected),
            other => panic!("{answer:?}: {other:?}"),
        }
    }
    let edited = Verdict::AllowEdited(json!({"command": "pwd"}));
    let answer = Answer::new(&request.id, &request.digest, "me", edited);
    stage.session.answer(answer).await.unwrap();
    assert_eq!(
        stage.engine.answer_to("r1").await["updatedInput"],
        json!({"command": "pwd"})
    );
    stage.session.close().await;
}

#[tokio::test]
async fn questions_and_plans_are_questions() {
    let input = json!({"questions": [{"question": "Which?", "header": "h", "multiSelect": false,
        "options": [{"label": "a", "description": ""}]}]});
    let mut stage = asked("AskUserQuestion", input, |spec| spec).await;
    let request = stage.event(question).await;
    assert_eq!(request.kind, QuestionKind::Choice);
    let choices = BTreeMap::from([("Which?".to_owned(), vec!["a".to_owned(), "b".to_owned()])]);
    let answer = Answer::new(
        &request.id,
        &request.digest,
        "me",
        Verdict::Choices(choices),
    );
    stage.session.answer(answer).await.unwrap();
    let wire = stage.engine.answer_to("r1").await;
    assert_eq!(wire["updatedInput"]["answers"], json!({"Which?": "a, b"}));

    stage
        .engine
        .ask("r2", "ExitPlanMode", &json!({"plan": "do it"}))
        .await;
    let request = stage.event(question).await;
    assert_eq!(
        (request.kind, &request.form["plan"]),
        (QuestionKind::Plan, &json!("do it"))
    );
    let allow = Answer::allow(&request.id, &request.digest, "me");
    assert!(matches!(
        stage.session.answer(allow).await,
        Err(Error::Answer(AnswerError::WrongKind(_)))
    ));
    let approve = Verdict::ApprovePlan(None);
    let answer = Answer::new(&request.id, &request.digest, "me", approve);
    stage.session.answer(answer).await.unwrap();
    assert_eq!(stage.engine.answer_to("r2").await["behavior"], "allow");
    stage.session.close().await;
}

#[tokio::test]
async fn a_plan_that_is_not_shown_can_only_be_denied() {
    let mut stage = asked("ExitPlanMode", json!({"plan": " \n"}), |spec| spec).await;
    let request = stage.event(question).await;
    let answer = |verdict| Answer::new(&request.id, &request.digest, "me", verdict);
    let approved = stage
        .session
        .answer(answer(Verdict::ApprovePlan(None)))
        .await;
    assert!(matches!(
        approved,
        Err(Error::Answer(AnswerError::NoPlan(_)))
    ));
    let denied = answer(Verdict::Deny("where is it?".to_owned()));
    stage.session.answer(denied).await.unwrap();
    assert_eq!(stage.engine.answer_to("r1").await["behavior"], "deny");
    stage.session.close().await;
}

#[tokio::test]
async fn what_was_shown_in_part_can_only_be_denied_and_the_event_says_how() {
    let mut stage = asked("Bash", json!({"command": "ls"}), |spec| spec).await;
    let request = stage.event(permission).await;
    let allow = Answer::allow(&request.id, &request.digest, "me").shown(Shown::Part);
    assert!(matches!(
        stage.session.answer(allow).await,
        Err(Error::Answer(AnswerError::NotShown(_)))
    ));
    let allow = Answer::allow(&request.id, &request.digest, "me").shown(Shown::Viewed);
    stage.session.answer(allow).await.unwrap();
    let resolved = stage
        .event(|event| match &event.body {
            Body::PermissionResolved(resolved) => Some((**resolved).clone()),
            _ => None,
        })
        .await;
    assert_eq!(resolved.shown, Some(Shown::Viewed));
    stage.session.close().await;
}

#[tokio::test]
async fn a_question_in_a_shape_nobody_knows_is_denied_not_a_panic() {
    let mut stage = asked("AskUserQuestion", json!("what?"), |spec| spec).await;
    let request = stage.event(question).await;
    let verdict = Verdict::Choices(BTreeMap::new());
    let answer = Answer::new(&request.id, &request.digest, "me", verdict);
    stage.session.answer(answer).await.unwrap();
    assert_eq!(stage.engine.answer_to("r1").await["behavior"], "deny");
    stage.session.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_nobody_answers_is_denied_after_a_while() {
    let mut stage = asked("Bash", json!({"command": "ls"}), |spec| spec).await;
    let request = stage.event(permission).await;
    let begun = tokio::time::Instant::now();
    // Sessions wait longer than tests do.
    let resolved = loop {
        let event = stage.events.next().await.unwrap();
        if let Some(resolved) = resolution(&event) {
            break resolved;
        }
    };
    assert_eq!(resolved, (Resolution::Expired, "timeout".to_owned()));
    assert!(
        begun.elapsed() >= Duration::from_secs(299),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(stage.engine.answer_to("r1").await["behavior"], "deny");
    let late = Answer::allow(&request.id, &request.digest, "me");
    assert!(matches!(
        stage.session.answer(late).await,
        Err(Error::Answer(AnswerError::NotOpen(_)))
    ));
}

#[tokio::test]
async fn closing_interrupts_and_answers_nothing_that_is_open() {
    let mut stage = asked("Bash", json!({"command": "ls"}), |spec| spec).await;
    stage.event(permission).await;
    let closing = tokio::spawn({
        let session = stage.session.clone();
        async move { session.close().await }
    });
    let interrupt = stage.engine.request("interrupt").await;
    // What is asked on the way is left open as well.
    let input = json!({"command": "pwd"});
    stage.engine.ask("r2", "Bash", &input).await;
    for _ in 0..2 {
        let (resolution, by) = stage.event(resolution).await;
        assert_eq!((resolution, by.as_str()), (Resolution::Expired, "falconer"));
    }
    for id in ["r1", "r2"] {
        let taken_back = json!({"type": "control_cancel_request", "request_id": id});
        stage.engine.say(&taken_back).await;
    }
    let id = &interrupt["request_id"];
    stage.engine.done(id, &json!({"still_queued": []})).await;
    stage.engine.interrupted().await;
    while let Some(line) = stage.engine.hear().await {
        assert_ne!(line["type"], "control_response", "{line}");
    }
    let completed = stage.completed().await;
    assert_eq!(completed.outcome, Outcome::Cancelled);
    let failure = completed.failure.map(|failure| failure.class);
    assert_eq!(failure.as_deref(), Some("interrupted"));
    drop(stage);
    closing.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_cannot_be_interrupted_does_not_hold_up_the_end() {
    let mut stage = asked("Bash", json!({"command": "ls"}), |spec| spec).await;
    stage.event(permission).await;
    let begun = tokio::time::Instant::now();
    let closing = stage.session.clone();
    let (completed, ()) = tokio::join!(stage.completed(), closing.close());
    assert_eq!(completed.outcome, Outcome::Cancelled);
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn what_the_engine_takes_back_is_resolved_as_withdrawn() {
    let mut stage = asked("Bash", json!({"command": "ls"}), |spec| spec).await;
    stage.event(permission).await;
    stage
        .engine
        .say(&json!({"type": "control_cancel_request", "request_id": "r1"}))
        .await;
    let (resolution, by) = stage.event(resolution).await;
    assert_eq!((resolution, by.as_str()), (Resolution::Withdrawn, "engine"));
    stage.session.close().await;
}

#[tokio::test]
async fn the_policy_answers_first_and_is_seen_before_every_tool() {
    let policy =
        "[allow]\ncommands = [\"ls\"]\n[deny]\ncommands = [\"rm\"]\n[ask]\ntools = [\"Edit\"]";
    let policy = std::sync::Arc::new(policy.parse::<falconer_session::Policy>().unwrap());
    let mut stage = asked("Bash", json!({"command": "ls"}), |spec| spec.policy(policy)).await;
    assert_eq!(stage.engine.answer_to("r1").await["behavior"], "allow");
    let (resolution, by) = stage.event(super::requests::resolution).await;
    assert_eq!((resolution, by.as_str()), (Resolution::Allowed, "policy"));
    stage
        .engine
        .ask("r2", "Bash", &json!({"command": "ls; rm x"}))
        .await;
    let denied = stage.engine.answer_to("r2").await;
    assert_eq!(denied["behavior"], "deny");
    assert!(
        denied["message"]
            .as_str()
            .unwrap()
            .contains("deny.commands"),
        "{denied}"
    );
    let hook = |id: &str, tool: &str, input: Value| {
        json!({"type": "control_request", "request_id": id, "request": {
            "subtype": "hook_callback", "callback_id": "hook_0", "input": {
            "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": tool,
            "tool_input": input}}})
    };
    let table = [
        ("Read", json!({"file_path": "/p/.env"}), json!("deny")),
        ("Edit", json!({"file_path": "/p/a"}), json!("ask")),
        ("Bash", json!({"command": "ls"}), json!(null)),
    ];
    for (index, (tool, input, expected)) in table.into_iter().enumerate() {
        let id = format!("h{index}");
        stage.engine.say(&hook(&id, tool, input)).await;
        let answer = stage.engine.answer_to(&id).await;
        assert_eq!(
            answer["hookSpecificOutput"]["permissionDecision"], expected,
            "{tool}"
        );
    }
    stage.session.close().await;
}

#[tokio::test]
async fn a_request_says_what_it_is_about_where_and_until_when() {
    struct Noon;
    impl falconer_session::Clock for Noon {
        fn now(&self) -> String {
            "2026-01-01T12:00:00.000Z".to_owned()
        }
    }
    let table = [
        (Duration::from_secs(90), Some("2026-01-01T12:01:30.000Z")),
        (Duration::MAX, None),
    ];
    for (within, expected) in table {
        let mut stage = Stage::new(|spec| spec.clock(Noon).answer_within(within)).await;
        stage.session.send("hello").await.unwrap();
        stage.engine.prompt().await;
        stage.engine.init("s").await;
        stage
            .engine
            .call("toolu_r1", "Bash", &json!({"command": "ls"}))
            .await;
        stage
            .engine
            .say(
                &json!({"type": "control_request", "request_id": "r1", "request": {
                "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"},
                "tool_use_id": "toolu_r1", "title": "Allow ls?", "description": "List files",
                "blocked_path": "/etc"}}),
            )
            .await;
        // The call is told before the question about it.
        let mut was_called = false;
        let request = loop {
            let event = stage.events.next().await.unwrap();
            match event.body {
                Body::ItemStarted(item) => was_called |= item.id.as_str() == "toolu_r1",
                Body::PermissionRequested(asked) => break asked,
                _ => {}
            }
        };
        assert!(was_called);
        assert_eq!(request.title.as_deref(), Some("Allow ls?"));
        assert_eq!(request.description.as_deref(), Some("List files"));
        assert_eq!(request.blocked_path.as_deref(), Some("/etc"));
        assert_eq!(request.cwd.as_deref(), Some("/p"));
        assert_eq!(request.expires_at.as_deref(), expected);
        stage.session.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_without_a_limit_waits_for_years() {
    let mut stage = asked("Bash", json!({"command": "ls"}), |spec| {
        spec.answer_within(Duration::MAX)
    })
    .await;
    let request = stage.event(permission).await;
    tokio::time::sleep(Duration::from_secs(3600 * 24 * 400)).await;
    let allow = Answer::allow(&request.id, &request.digest, "me");
    stage.session.answer(allow).await.unwrap();
    assert_eq!(stage.engine.answer_to("r1").await["behavior"], "allow");
    stage.session.close().await;
}

/// A question comes after everything the agent said before it, whether its reader keeps up, is slow
/// or reads nothing until somebody was asked; and it holds up nobody.
#[tokio::test]
async fn a_question_comes_after_a_thousand_messages_and_before_the_next() {
    for backlog in [2_000, 4] {
        let mut stage = Stage::new(|spec| spec.backlog(backlog)).await;
        stage.session.send("hello").await.unwrap();
        let (uuid, _) = stage.engine.prompt().await;
        stage.engine.init("s").await;
        for number in 0..1_000 {
            let text = format!("text {number}");
            stage.engine.text(&format!("m{number}"), &text).await;
        }
        let input = json!({"command": "ls"});
        stage.engine.ask("r1", "Bash", &input).await;
        // The hook of the policy is answered although nothing was read.
        stage.engine.before_tool("h1", "Bash", &input).await;
        stage.engine.answer_to("h1").await;
        let mut texts = 0;
        let asked = loop {
            let event = stage.event(|event| Some(event.clone())).await;
            match event.body {
                Body::ItemCompleted(item)
                    if matches!(item.content, ItemContent::Message { .. }) =>
                {
                    texts += 1;
                }
                Body::PermissionRequested(asked) => break asked,
                _ => {}
            }
        };
        assert_eq!(texts, 1_000, "with room for {backlog}");
        let allow = Answer::allow(&asked.id, &asked.digest, "me");
        stage.session.answer(allow).await.unwrap();
        let wire = stage.engine.answer_to("r1").await;
        assert_eq!(wire["behavior"], "allow");
        stage.engine.result("done", &[&uuid]).await;
        stage.session.close().await;
    }
}
