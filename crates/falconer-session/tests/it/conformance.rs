//! The same sessions on every engine. The official CLI needs `FALCONER_CLAUDE_PATH`.

use falconer::{Tool, ToolOutput, ToolServer};
use falconer_event::{
    ActionStatus, Body, Event, ItemContent, Outcome, PromptState, Resolution, Source,
};
use falconer_session::{
    Answer, Cancelled, Exchange, Limits, OnMissing, Resume, ResumeLine, RunFailure, Session,
};
use falconer_testkit::EngineScript;
use falconer_testkit::scenario::{Scenario, Usage, hold, status, text, tool_use};
use serde_json::json;

use crate::engines::{Kind, REAL, Site, allow_everything, count};
use crate::scripted::{LIMIT, class, completed};

fn fake_init() -> serde_json::Value {
    json!({"type": "system", "subtype": "init", "cwd": "/p", "session_id": "s", "tools": ["Bash"]})
}

/// What the fake engine does when a tool is called, asked for and run.
fn fake_tool() -> EngineScript {
    EngineScript::new()
        .initialize()
        .on_user()
        .emit(fake_init())
        .emit(
            json!({"type": "assistant", "message": {"id": "m", "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash",
            "input": {"command": "touch made.txt"}}]}}),
        )
        .ask_can_use_tool("Bash", json!({"command": "touch made.txt"}))
        .emit(
            json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]}}),
        )
        .emit(
            json!({"type": "assistant", "message": {"id": "m2", "role": "assistant",
            "content": [{"type": "text", "text": "done"}]}}),
        )
        .emit(
            json!({"type": "result", "subtype": "success", "is_error": false,
            "result": "done", "session_id": "s"}),
        )
}

#[tokio::test]
async fn a_tool_is_asked_for_allowed_and_run() {
    let scenario = || {
        Scenario::new()
            .turn(tool_use("Bash", json!({"command": "touch made.txt"})))
            .turn(text("done"))
    };
    for site in Site::each(scenario, &fake_tool()) {
        let kind = site.kind;
        let transcript = site.home.path().join("run.jsonl");
        let events = site
            .run(site.spec().transcript(&transcript), "make it")
            .await;
        let end = completed(&events);
        assert_eq!(
            (end.outcome, end.text.as_str()),
            (Outcome::Ok, "done"),
            "{kind:?}"
        );
        assert!(kind == Kind::Fake || site.has("made.txt"), "{kind:?}");
        for name in ["permission.requested", "permission.resolved", "run.started"] {
            assert_eq!(count(&events, name), 1, "{kind:?} {name}");
        }
        in_order(&events, kind);
        let written = std::io::BufReader::new(std::fs::File::open(transcript).unwrap());
        let (replayed, unreadable) = falconer_session::replay(written).unwrap();
        let durable: Vec<Event> = (events.into_iter())
            .filter(|event| !event.body.is_ephemeral())
            .collect();
        assert_eq!((replayed, unreadable), (durable, 0), "{kind:?}");
    }
}

/// A PNG of one pixel.
const DOT: &[u8] = b"\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\
    \x00\x00\x00\x0dIDATx\xdacd\xf8\xcfP\x0f\x00\x03\x86\x01\x80Z4}k\x00\x00\x00\x00IEND\xaeB`\x82";

const DOT_IN_BASE64: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk\
    +M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[tokio::test]
async fn an_image_that_is_read_is_told_with_its_bytes() {
    for kind in REAL {
        let scenario = Scenario::new()
            .turn(tool_use("Read", json!({"file_path": "dot.png"})))
            .turn(text("a dot"));
        let site = Site::real(kind, scenario);
        std::fs::write(site.project.path().join("dot.png"), DOT).unwrap();
        let events = site.run(site.spec(), "look").await;
        check_dot(&events, kind);
    }
}

/// The events tell of one image, the dot, and have its bytes beside them.
fn check_dot(events: &[Event], kind: Kind) {
    let shown = events.iter().flat_map(|event| event.body.images());
    let shown: Vec<_> = shown.collect();
    let [image] = shown.as_slice() else {
        panic!("{kind:?}: {events:#?}")
    };
    assert_eq!(image.media_type, "image/png", "{kind:?}");
    assert_eq!(image.id, None, "{kind:?}: nobody keeps it");
    let data = image.data.as_deref().unwrap();
    assert!(data.starts_with(&DOT[..8]), "{kind:?}");
    assert_eq!(image.bytes, data.len() as u64, "{kind:?}");
    let told = serde_json::to_string(&events).unwrap();
    let note = format!("[image, {} B]", image.bytes);
    assert!(told.contains(&note), "{kind:?}: {told}");
    assert!(!told.contains("iVBORw0KGgo"), "{kind:?}: {told}");
}

#[tokio::test]
async fn an_image_of_an_mcp_tool_is_told_with_its_bytes() {
    let draw = |_: serde_json::Map<String, serde_json::Value>| async {
        ToolOutput::image(DOT_IN_BASE64, "image/png")
    };
    for kind in REAL {
        let scenario = Scenario::new()
            .turn(tool_use("mcp__art__draw", json!({})))
            .turn(text("a dot"));
        let site = Site::real(kind, scenario);
        let art = ToolServer::new("art").tool(Tool::new("draw", "Draws a dot", draw).always_load());
        let spec = site.spec().options(site.options().tool_server(art));
        check_dot(&site.run(spec, "draw").await, kind);
    }
}

#[tokio::test]
async fn a_run_starts_with_the_schemas_of_its_tools_as_they_are_offered() {
    let draw = |_: std::collections::BTreeMap<String, f64>| async { "a dot" };
    for kind in REAL {
        let site = Site::real(kind, Scenario::new().turn(text("one")).turn(text("two")));
        let art = ToolServer::new("art").tool(Tool::new("draw", "Draws a dot", draw).always_load());
        let spec = site.spec().options(site.options().tool_server(art));
        let events = site.run(spec, "hello").await;
        let told = events.iter().find_map(|event| match &event.body {
            Body::RunStarted(started) => Some(&started.tool_schemas),
            _ => None,
        });
        let told = told.unwrap();
        let request = site.server.as_ref().unwrap().messages().remove(0);
        let offered = request.body["tools"].as_array().unwrap();
        let own: Vec<_> = offered
            .iter()
            .map(|tool| (tool["name"].as_str().unwrap(), &tool["input_schema"]))
            // The official CLI does not tell the schemas of its own tools.
            .filter(|(name, _)| kind == Kind::Native || name.starts_with("mcp__art__"))
            .collect();
        assert!(
            own.iter().any(|(name, _)| *name == "mcp__art__draw"),
            "{kind:?}"
        );
        for (name, schema) in own {
            let told = &told[name];
            assert_eq!(told["properties"], schema["properties"], "{kind:?} {name}");
        }
    }
}

/// Prompt, start, call, question, answer, result of the call, end: in this order, without gaps.
fn in_order(events: &[Event], kind: Kind) {
    let place = |wanted: &dyn Fn(&Event) -> bool| {
        let found = events.iter().position(wanted);
        found.unwrap_or_else(|| panic!("{kind:?}: {events:#?}"))
    };
    let action = |event: &Event, status: ActionStatus| match &event.body {
        Body::ItemStarted(item) | Body::ItemCompleted(item) => {
            matches!(&item.content, ItemContent::Action(action) if action.status == status)
        }
        _ => false,
    };
    let places = [
        place(&|event| event.source == Source::User),
        place(&|event| matches!(event.body, Body::RunStarted(_))),
        place(&|event| action(event, ActionStatus::Running)),
        place(&|event| matches!(event.body, Body::PermissionRequested(_))),
        place(&|event| matches!(event.body, Body::PermissionResolved(_))),
        place(&|event| action(event, ActionStatus::Ok)),
        place(&|event| matches!(event.body, Body::RunCompleted(_))),
    ];
    assert!(places.is_sorted(), "{kind:?} {places:?}");
    let durable = events.iter().filter(|event| !event.body.is_ephemeral());
    let numbers: Vec<u64> = durable.map(|event| event.seq).collect();
    assert_eq!(
        numbers,
        (1..=numbers.len() as u64).collect::<Vec<_>>(),
        "{kind:?}"
    );
}

/// What the fake engine does with a tool that is denied.
fn fake_denied_tool() -> EngineScript {
    EngineScript::new()
        .initialize()
        .on_user()
        .emit(fake_init())
        .emit(fake_said(
            &json!({"type": "tool_use", "id": "toolu_1", "name": "Bash",
            "input": {"command": "touch made.txt"}}),
        ))
        .ask_can_use_tool("Bash", json!({"command": "touch made.txt"}))
        .emit(
            json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "no", "is_error": true}]},
            "tool_result_meta": [{"id": "toolu_1", "non_execution_kind": "permission-rule"}]}),
        )
        .emit(fake_said(&json!({"type": "text", "text": "then not"})))
        .emit(
            json!({"type": "result", "subtype": "success", "is_error": false,
            "result": "then not", "session_id": "s", "permission_denials": [
                {"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {}}]}),
        )
}

fn fake_said(block: &serde_json::Value) -> serde_json::Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content": [block]}})
}

#[tokio::test]
async fn a_denied_tool_does_not_run_and_is_told() {
    let scenario = || {
        Scenario::new()
            .turn(tool_use("Bash", json!({"command": "touch made.txt"})))
            .turn(text("then not"))
    };
    for site in Site::each(scenario, &fake_denied_tool()) {
        let kind = site.kind;
        let (session, mut events) = Session::start(site.spec()).await.unwrap();
        session.send("make it").await.unwrap();
        let mut resolved = None;
        let mut denied = false;
        let (mut warned, mut warned_in_time) = (0, 0);
        while let Some(event) = events.next().await {
            match event.body {
                Body::PermissionRequested(asked) => {
                    let deny = Answer::deny(&asked.id, &asked.digest, "anna", "not today");
                    session.answer(deny).await.unwrap();
                }
                Body::PermissionResolved(it) => resolved = Some((it.resolution, it.by)),
                Body::ItemCompleted(item) => {
                    denied |= matches!(&item.content, ItemContent::Action(action)
                        if action.status == ActionStatus::Denied);
                }
                Body::Warning(warning) if warning.kind == "permission_denied" => warned += 1,
                Body::TurnCompleted(_) => warned_in_time = warned,
                _ => {}
            }
        }
        assert_eq!(
            resolved,
            Some((Resolution::Denied, "anna".to_owned())),
            "{kind:?}"
        );
        assert!(denied, "{kind:?}");
        assert_eq!((warned, warned_in_time), (1, 1), "{kind:?}");
        assert!(!site.has("made.txt"), "{kind:?}");
    }
}

#[tokio::test]
async fn a_session_is_resumed_by_its_line_and_a_vanished_one_is_told() {
    for kind in REAL {
        let site = Site::real(kind, Scenario::new().turn(text("one")).turn(text("two")));
        let first = completed(&site.run(site.spec(), "hello").await);
        let line = format!(
            "`claude --resume {}`",
            first.native_session.as_deref().unwrap()
        );
        let found = ResumeLine::find(&line).unwrap();
        let resumed = site.spec().resume(Resume::session(found.session));
        let second = completed(&site.run(resumed, "again").await);
        assert_eq!(second.text, "two", "{kind:?}");
        assert_eq!(second.native_session, first.native_session, "{kind:?}");

        let gone = site.spec().resume(Resume::session(GONE));
        let events = site.run(gone, "again").await;
        let missing = RunFailure::SessionNotFound.class();
        assert_eq!(class(&completed(&events)), missing, "{kind:?}");
    }
}

const GONE: &str = "cccccccc-aaaa-4aaa-8aaa-cccccccccccc";

#[tokio::test]
async fn a_vanished_session_is_begun_anew_with_its_last_exchange() {
    for kind in REAL {
        let site = Site::real(kind, Scenario::new().turn(text("anew")));
        let last = std::future::ready(Some(Exchange::new("which colour?", "blue")));
        let anew = site
            .spec()
            .resume(Resume::session(GONE))
            .on_missing(OnMissing::StartAnew(Box::pin(last)));
        let events = site.run(anew, "and now?").await;
        let end = completed(&events);
        assert_eq!(
            (end.outcome, end.text.as_str()),
            (Outcome::Ok, "anew"),
            "{kind:?}"
        );
        assert_ne!(end.native_session.as_deref(), Some(GONE), "{kind:?}");
        let told = events.iter().filter(
            |event| matches!(&event.body, Body::Warning(it) if it.kind == "session_not_found"),
        );
        assert_eq!(told.count(), 1, "{kind:?}");
        // The user's own words stay what they were; the model hears more.
        let server = site.server.as_ref().unwrap();
        let asked = server.messages().last().unwrap().conversation();
        assert!(
            asked.contains("which colour?") && asked.contains("blue"),
            "{kind:?}: {asked}"
        );
        assert!(asked.contains("and now?"), "{kind:?}: {asked}");
        let shown = events.iter().find_map(|event| match &event.body {
            Body::ItemStarted(item) => match &item.content {
                ItemContent::Prompt(prompt) => Some(prompt.text.clone()),
                _ => None,
            },
            _ => None,
        });
        assert_eq!(shown.as_deref(), Some("and now?"), "{kind:?}");
    }
}

#[tokio::test]
async fn messages_are_answered_in_their_order_and_one_is_taken_back() {
    let scenario = || {
        Scenario::new()
            .turn(hold("first").text("one"))
            .turn(text("three"))
    };
    for kind in REAL {
        let site = Site::real(kind, scenario());
        let (session, mut events) = Session::start(site.spec()).await.unwrap();
        session.send("1").await.unwrap();
        let two = session.send("2").await.unwrap();
        session.send("3").await.unwrap();
        assert_eq!(session.cancel(&two).await.unwrap(), Cancelled::Yes);
        site.server.as_ref().unwrap().release("first");
        let all = allow_everything(&session, &mut events).await;
        assert_eq!(completed(&all).text, "three", "{kind:?}");
        let texts: Vec<&str> = all
            .iter()
            .filter_map(|event| match &event.body {
                Body::TurnCompleted(turn) => Some(turn.text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(texts, ["one", "three"], "{kind:?}");
        let states: Vec<PromptState> = all
            .iter()
            .filter_map(|event| match &event.body {
                Body::ItemCompleted(item) => match &item.content {
                    ItemContent::Prompt(prompt) => Some(prompt.state),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        let cancelled = |state: &&PromptState| **state == PromptState::Cancelled;
        assert_eq!(
            states.iter().filter(cancelled).count(),
            1,
            "{kind:?} {states:?}"
        );
        assert_eq!(states.len(), 3, "{kind:?}");
    }
}

#[tokio::test]
async fn an_interrupted_run_is_cancelled_and_keeps_what_was_said() {
    let scenario = || {
        let calls = tool_use("Bash", json!({"command": "touch begun.txt; sleep 600"}));
        Scenario::new().turn(text_then(calls))
    };
    let script = EngineScript::new()
        .initialize()
        .on_user()
        .emit(fake_init())
        .emit(fake_said(&json!({"type": "text", "text": "I begin."})))
        .emit(fake_said(
            &json!({"type": "tool_use", "id": "t", "name": "Bash",
            "input": {"command": "sleep 600"}}),
        ))
        .on_control("interrupt")
        .emit(
            json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
            "session_id": "s", "terminal_reason": "aborted_tools",
            "errors": ["[diagnostic] of no use"]}),
        );
    for site in Site::each(scenario, &script) {
        let kind = site.kind;
        let options = site.options().allow_tools(["Bash"]);
        let (session, mut events) = Session::start(site.spec().options(options)).await.unwrap();
        session.send("go").await.unwrap();
        let mut all = Vec::new();
        let reading = async {
            let mut has_interrupted = false;
            while let Some(event) = events.next().await {
                if !has_interrupted && action_runs(&event) {
                    has_interrupted = true;
                    session.interrupt().await.unwrap();
                }
                all.push(event);
            }
        };
        tokio::time::timeout(4 * LIMIT, reading).await.unwrap();
        let end = completed(&all);
        assert_eq!(end.outcome, Outcome::Cancelled, "{kind:?} {end:?}");
        assert_eq!(end.text, "I begin.", "{kind:?}");
    }
}

fn text_then(
    call: falconer_testkit::scenario::MessageReply,
) -> falconer_testkit::scenario::MessageReply {
    let mut reply = text("I begin.");
    for part in call.content {
        reply = reply.part(part);
    }
    reply
}

fn action_runs(event: &Event) -> bool {
    match &event.body {
        Body::ItemStarted(item) => matches!(item.content, ItemContent::Action(_)),
        _ => false,
    }
}

/// Every limit of use, on both engines: its own class, what was said is kept, and the tool that
/// is called after it is reached does not run.
#[tokio::test]
async fn every_limit_of_use_ends_a_run_with_its_class() {
    type Set = fn(&mut Limits);
    let table: [(&str, Set); 5] = [
        ("limit:turns", |limits| limits.turns = Some(1)),
        ("limit:usd", |limits| limits.usd = Some(0.01)),
        ("limit:input_tokens", |limits| {
            limits.input_tokens = Some(5000);
        }),
        ("limit:output_tokens", |limits| {
            limits.output_tokens = Some(5000);
        }),
        ("limit:total_tokens", |limits| {
            limits.total_tokens = Some(9000);
        }),
    ];
    let used = Usage {
        input_tokens: 3000,
        output_tokens: 3000,
        ..Usage::default()
    };
    let scenario = || {
        let call = |name: &str| tool_use("Bash", json!({"command": format!("touch {name}")}));
        Scenario::new()
            .turn(text_then(call("first.txt")).usage(used))
            .turn(text_then(call("second.txt")).usage(used))
            .turn(text_then(call("third.txt")).usage(used))
            .turn(text("never said").usage(used))
    };
    for kind in REAL {
        for (expected, set) in table {
            let site = Site::real(kind, scenario());
            let mut limits = Limits::default();
            set(&mut limits);
            let options = site.options().allow_tools(["Bash"]);
            let spec = site.spec().options(options).limits(limits);
            let events = site.run(spec, "go").await;
            let end = completed(&events);
            assert_eq!(class(&end), expected, "{kind:?} {end:?}");
            assert_eq!(end.text, "I begin.", "{kind:?} {expected}");
            // What a message takes in is known when it begins, the rest when it is complete.
            let first = ["limit:turns", "limit:input_tokens"].contains(&expected);
            assert!(!first || !site.has("second.txt"), "{kind:?} {expected}");
            assert!(!site.has("third.txt"), "{kind:?} {expected}");
            let pieces = events.iter().filter(|event| event.body.is_ephemeral());
            assert_eq!(pieces.count(), 0, "{kind:?} {expected}");
            let said = events.iter().filter(|event| {
                matches!(&event.body, Body::Limit(limit) if limit.reached && limit.kind == expected)
            });
            assert_eq!(said.count(), 1, "{kind:?} {expected}");
        }
    }
}

#[tokio::test]
async fn a_service_that_is_overloaded_is_asked_again_but_not_after_a_side_effect() {
    for kind in REAL {
        let site = Site::real(
            kind,
            Scenario::new().turn(status(529)).turn(text("at last")),
        );
        let events = site.run(site.spec(), "go").await;
        let end = completed(&events);
        assert_eq!(
            (end.outcome, end.text.as_str()),
            (Outcome::Ok, "at last"),
            "{kind:?}"
        );
        let ours = events.iter().filter(|event| {
            event.source == Source::Falconer && matches!(event.body, Body::Retry(_))
        });
        assert_eq!(ours.count(), 1, "{kind:?}");

        let scenario = Scenario::new()
            .turn(tool_use("Bash", json!({"command": "echo x >> made.txt"})))
            .turn(status(529))
            .turn(text("never"));
        let site = Site::real(kind, scenario);
        let options = site.options().allow_tools(["Bash"]);
        let events = site.run(site.spec().options(options), "go").await;
        assert_eq!(completed(&events).outcome, Outcome::Failed, "{kind:?}");
        let made = std::fs::read_to_string(site.project.path().join("made.txt")).unwrap();
        assert_eq!(made, "x\n", "{kind:?}");
    }
}
