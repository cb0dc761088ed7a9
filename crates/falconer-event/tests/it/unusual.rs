//! Replies without a stream, failures, and what comes at the wrong time.

use falconer_event::{
    Body, Draft, End, Failure, ItemContent, Ledger, Normaliser, Outcome, Run, RunCompleted,
    TurnCompleted,
};
use serde_json::{Value, json};

use crate::cassettes::close;

fn turn(drafts: &[Draft]) -> &TurnCompleted {
    let turns = drafts.iter().filter_map(|draft| match &draft.body {
        Body::TurnCompleted(turn) => Some(&**turn),
        _ => None,
    });
    let turns: Vec<&TurnCompleted> = turns.collect();
    assert_eq!(turns.len(), 1);
    turns[0]
}

#[test]
fn replies_without_a_stream_are_turns() {
    let cases: &[(Value, bool, &str, Option<Value>)] = &[
        (json!("plain"), true, "plain", None),
        (
            json!({"result": "text", "session_id": "s"}),
            true,
            "text",
            None,
        ),
        (
            json!({"structured_output": {"n": 7}}),
            true,
            "",
            Some(json!({"n": 7})),
        ),
        (json!({"error": "broken"}), false, "", None),
        (json!({"error": {"message": "broken"}}), false, "", None),
        (
            json!({"is_error": true, "result": "broken"}),
            false,
            "broken",
            None,
        ),
        (
            json!({"type": "result", "subtype": "success", "is_error": false, "result": "r"}),
            true,
            "r",
            None,
        ),
    ];
    for (reply, ok, text, value) in cases {
        let mut normaliser = Normaliser::new(Run::default());
        let drafts = normaliser.reply(reply);
        let turn = turn(&drafts);
        assert_eq!((turn.ok, turn.text.as_str()), (*ok, *text), "{reply}");
        assert_eq!(&turn.structured_output, value, "{reply}");
        if !ok {
            assert_eq!(turn.failure.as_ref().unwrap().text, "broken", "{reply}");
        }
    }
}

#[test]
fn the_text_of_a_failure_comes_from_the_first_place_that_has_one() {
    let denial = json!([{"tool_name": "Bash", "tool_use_id": "t", "tool_input": {}}]);
    let cases = [
        (
            json!({"subtype": "success", "result": "r", "errors": ["e"]}),
            "r",
        ),
        (
            json!({"subtype": "error_max_turns", "result": " ", "errors": ["e", "f"]}),
            "e\nf",
        ),
        (
            json!({"subtype": "error_max_turns", "permission_denials": denial}),
            "error_max_turns",
        ),
        (
            json!({"subtype": "success", "permission_denials": denial}),
            "permission denied: Bash",
        ),
        (
            json!({"subtype": "success"}),
            "the engine reports an error without a word",
        ),
    ];
    for (mut result, expected) in cases {
        result["type"] = json!("result");
        result["is_error"] = json!(true);
        let mut normaliser = Normaliser::new(Run::default());
        let drafts = normaliser.message(&serde_json::from_value(result.clone()).unwrap());
        assert_eq!(
            turn(&drafts).failure.as_ref().unwrap().text,
            expected,
            "{result}"
        );
    }
}

fn ended(end: End) -> Vec<Draft> {
    Ledger::default().end(end)
}

#[test]
fn a_run_that_never_had_a_session_still_ends_with_its_reason() {
    let mut end = End::default();
    end.failure = Some(Failure::new("spawn", "no such file"));
    end.stderr = vec!["last words".to_owned()];
    let drafts = ended(end);
    let [
        Draft {
            body: Body::RunCompleted(run),
            ..
        },
    ] = drafts.as_slice()
    else {
        panic!("{drafts:?}");
    };
    assert_eq!(run.outcome, Outcome::Failed);
    assert_eq!(run.failure.as_ref().unwrap().class, "spawn");
    assert_eq!(run.stderr, ["last words"]);
    assert_eq!(run.native_session, None);
}

#[test]
fn an_init_that_repeats_itself_begins_no_turn() {
    let init = |prompts: Value| {
        json!({"type": "system", "subtype": "init", "cwd": "/p", "session_id": "s",
            "user_message_uuids": prompts})
    };
    let said = json!({"type": "assistant", "message": {"id": "m", "role": "assistant",
        "content": [{"type": "text", "text": "hi"}]}});
    let result = json!({"type": "result", "subtype": "success", "is_error": false,
        "result": "hi", "session_id": "s"});
    let cases: &[(&str, Vec<Value>, u32)] = &[
        (
            "at once, unnamed",
            vec![
                init(json!(null)),
                init(json!(null)),
                said.clone(),
                result.clone(),
            ],
            1,
        ),
        (
            "later, named",
            vec![
                init(json!(["a"])),
                said.clone(),
                init(json!(["a"])),
                result.clone(),
            ],
            1,
        ),
        (
            "another prompt",
            vec![
                init(json!(["a"])),
                said.clone(),
                init(json!(["b"])),
                said.clone(),
                result.clone(),
                result.clone(),
            ],
            2,
        ),
    ];
    for (name, messages, turns) in cases {
        let mut normaliser = Normaliser::new(Run::default());
        let mut drafts = Vec::new();
        for message in messages {
            drafts.extend(normaliser.message(&serde_json::from_value(message.clone()).unwrap()));
        }
        close(&mut normaliser, &mut drafts, End::default());
        let Body::RunCompleted(run) = &drafts[drafts.len() - 1].body else {
            panic!("{name}: {drafts:?}");
        };
        assert_eq!((run.outcome, run.turns), (Outcome::Ok, *turns), "{name}");
    }
}

#[test]
fn what_was_being_written_is_kept_when_the_run_ends() {
    let lines = [
        json!({"type": "system", "subtype": "init", "cwd": "/p", "session_id": "s"}),
        json!({"type": "stream_event", "api_message_id": "m", "event": {"type":
            "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}}),
        json!({"type": "stream_event", "api_message_id": "m", "event": {"type":
            "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hälf"}}}),
        json!({"type": "stream_event", "api_message_id": "m", "event": {"type":
            "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": " of"}}}),
    ];
    let mut normaliser = Normaliser::new(Run::default());
    let mut drafts = Vec::new();
    for line in lines {
        drafts.extend(normaliser.message(&serde_json::from_value(line).unwrap()));
    }
    close(&mut normaliser, &mut drafts, End::default());
    let offsets: Vec<u64> = (drafts.iter())
        .filter_map(|draft| match &draft.body {
            Body::ItemDelta { offset, .. } => Some(*offset),
            _ => None,
        })
        .collect();
    assert_eq!(offsets, [0, 4]);
    let completed = |draft: &&Draft| matches!(draft.body, Body::ItemCompleted(_));
    assert_eq!(drafts.iter().filter(completed).count(), 1);
    match &drafts[drafts.len() - 1].body {
        Body::RunCompleted(run) => assert_eq!(run.text, "hälf of"),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn all_of(lines: &[Value]) -> Vec<Draft> {
    let mut normaliser = Normaliser::new(Run::default());
    let mut drafts = Vec::new();
    for line in lines {
        drafts.extend(normaliser.message(&serde_json::from_value(line.clone()).unwrap()));
    }
    close(&mut normaliser, &mut drafts, End::default());
    drafts
}

fn turns(drafts: &[Draft]) -> Vec<&TurnCompleted> {
    let turns = drafts.iter().filter_map(|draft| match &draft.body {
        Body::TurnCompleted(turn) => Some(&**turn),
        _ => None,
    });
    turns.collect()
}

fn run(drafts: &[Draft]) -> &RunCompleted {
    match &drafts[drafts.len() - 1].body {
        Body::RunCompleted(run) => run,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn init() -> Value {
    json!({"type": "system", "subtype": "init", "cwd": "/p", "session_id": "s"})
}

fn says(text: &str) -> Value {
    json!({"type": "assistant", "message": {"id": "m", "role": "assistant",
        "content": [{"type": "text", "text": text}]}})
}

pub(crate) fn result(total: f64) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "result": "ok",
        "session_id": "s", "total_cost_usd": total})
}

#[test]
fn the_text_of_an_error_is_no_answer_of_the_agent() {
    let mut error = says("API Error: 500");
    error["error"] = json!("server_error");
    let mut failed = result(0.0);
    failed["is_error"] = json!(true);
    failed["result"] = json!("API Error: 500");
    let drafts = all_of(&[init(), says("so far"), error, failed]);
    let turn = turns(&drafts)[0];
    assert_eq!(turn.text, "so far");
    assert_eq!(turn.failure.as_ref().unwrap().text, "API Error: 500");
    let injected = drafts.iter().any(|draft| {
        matches!(&draft.body, Body::ItemCompleted(item)
            if matches!(&item.content, ItemContent::Injected { text } if text == "API Error: 500"))
    });
    assert!(injected, "{drafts:?}");
}

#[test]
fn a_run_costs_what_it_costs_whatever_the_engine_begins_with() {
    let mut normaliser = Normaliser::new(Run::default());
    normaliser.resumes_after(2.0);
    let cleared = json!({"type": "conversation_reset", "new_conversation_id": "n"});
    let lines = [
        init(),
        result(2.5),
        cleared,
        init(),
        result(0.0),
        init(),
        result(0.25),
    ];
    let mut drafts = Vec::new();
    for line in lines {
        drafts.extend(normaliser.message(&serde_json::from_value(line).unwrap()));
    }
    close(&mut normaliser, &mut drafts, End::default());
    let costs: Vec<f64> = turns(&drafts)
        .iter()
        .map(|turn| turn.total_cost_usd)
        .collect();
    assert_eq!(costs, [0.5, 0.5, 0.75]);
    assert!((run(&drafts).cost_usd - 0.75).abs() < 1e-9);
}

#[test]
fn a_session_is_only_named_by_a_run_that_began() {
    let mut failed = result(0.0);
    failed["is_error"] = json!(true);
    let cases = [
        ("a failed start", vec![failed], None),
        ("an answer without a stream", vec![result(0.0)], Some("s")),
        ("a stream", vec![init(), result(0.0)], Some("s")),
    ];
    for (name, lines, session) in cases {
        let drafts = all_of(&lines);
        let starts = (drafts.iter()).filter(|it| matches!(it.body, Body::RunStarted(_)));
        assert_eq!(starts.count(), usize::from(session.is_some()), "{name}");
        assert_eq!(run(&drafts).native_session.as_deref(), session, "{name}");
    }
}

#[test]
fn a_turn_that_fails_late_has_its_own_words() {
    let mut prompted = init();
    prompted["user_message_uuids"] = json!(["second"]);
    let mut failed = result(0.0);
    failed["is_error"] = json!(true);
    let lines = [
        init(),
        says("first"),
        prompted,
        says("second"),
        failed.clone(),
        failed,
    ];
    let drafts = all_of(&lines);
    let texts: Vec<&str> = turns(&drafts)
        .iter()
        .map(|turn| turn.text.as_str())
        .collect();
    assert_eq!(texts, ["first", "second"]);
}

#[test]
fn a_task_that_is_sent_to_the_background_is_told_as_such() {
    let update = |patch: Value| json!({"type": "system", "subtype": "task_updated", "task_id": "k", "patch": patch});
    let lines = [
        init(),
        json!({"type": "system", "subtype": "task_started", "task_id": "k",
            "is_backgrounded": false}),
        update(json!({"is_backgrounded": true})),
        update(json!({"is_backgrounded": true})),
        update(json!({"status": "completed"})),
        json!({"type": "system", "subtype": "task_notification", "task_id": "k",
            "status": "completed"}),
    ];
    let drafts = all_of(&lines);
    let told = drafts.iter().filter_map(|draft| match &draft.body {
        Body::TaskStarted(task) => Some(("started", task.in_background)),
        Body::TaskProgress(task) => Some(("progress", task.in_background)),
        Body::TaskCompleted(task) => Some(("completed", task.in_background)),
        _ => None,
    });
    let told: Vec<(&str, bool)> = told.collect();
    let expected = [("started", false), ("progress", true), ("completed", true)];
    assert_eq!(told, expected);
}
