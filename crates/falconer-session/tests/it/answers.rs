//! What a run brings back: values that fit a schema, the work of sub-agents, and how it ends when
//! the model or the engine says nothing any more. On both engines.

use std::io::BufReader;
use std::time::Duration;

use falconer::protocol::agent::AgentDefinition;
use falconer_event::{ActionKind, Body, Event, ItemContent, Outcome};
use falconer_session::{Limits, replay};
use falconer_testkit::scenario::{Scenario, any, hang, system_contains, text, tool_use};
use falconer_testkit::{EngineScript, EngineStep};
use serde_json::{Value, json};

use crate::engines::{Kind, REAL, Site};
use crate::scripted::{class, completed};

#[tokio::test]
async fn a_value_that_does_not_fit_is_sent_back_and_the_one_that_does_ends_the_turn() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}},
        "required": ["n"], "additionalProperties": false});
    for kind in REAL {
        let value = |value: Value| tool_use("StructuredOutput", value);
        let scenario = Scenario::new()
            .turn(value(json!({"n": "many"})))
            .turn(value(json!({"n": 7})))
            .turn(text("never asked"));
        let site = Site::real(kind, scenario);
        let options = site.options().output_schema(schema.clone());
        let events = site.run(site.spec().options(options), "go").await;
        let end = completed(&events);
        assert_eq!(end.outcome, Outcome::Ok, "{kind:?} {end:?}");
        assert_eq!(end.structured_output, Some(json!({"n": 7})), "{kind:?}");
        let server = site.server.as_ref().unwrap();
        assert_eq!(server.messages().len(), 2, "{kind:?}: the turn is over");
        let back = server.messages()[1].tool_results();
        assert!(
            back[0].is_error && back[0].text.contains('n'),
            "{kind:?} {back:?}"
        );
    }
}

#[tokio::test]
async fn a_value_that_never_fits_fails_the_run_without_a_value() {
    for kind in REAL {
        let bad = tool_use("StructuredOutput", json!({"n": "many"}));
        let always = Scenario::new().on(any());
        let site = Site::real(kind, always.always().reply(bad));
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}},
            "required": ["n"]});
        let options = site.options().output_schema(schema);
        let end = completed(&site.run(site.spec().options(options), "go").await);
        assert_eq!(
            class(&end),
            "error_max_structured_output_retries",
            "{kind:?}"
        );
        assert_eq!(end.structured_output, None, "{kind:?}");
    }
}

/// What a sub-agent does is told under the call that started it, in stream and transcript.
#[tokio::test]
async fn the_work_of_a_sub_agent_is_told_under_its_call() {
    // The native engine has no sub-agents.
    let scout = json!({"description": "a scout", "prompt": "YOU-ARE-THE-SCOUT"});
    let scout: AgentDefinition = serde_json::from_value(scout).unwrap();
    let call = json!({"description": "look around", "prompt": "look", "subagent_type": "scout",
        "run_in_background": false});
    let is_scout = || system_contains("YOU-ARE-THE-SCOUT");
    let scenario = Scenario::new()
        .on(is_scout())
        .reply(tool_use("Bash", json!({"command": "echo below"})))
        .on(is_scout())
        .reply(text("nothing there"))
        .turn(tool_use("Agent", call))
        .turn(text("done"));
    let site = Site::real(Kind::Official, scenario);
    let transcript = site.home.path().join("run.jsonl");
    let options = site
        .options()
        .agent("scout", scout)
        .allow_tools(["Bash", "Agent"]);
    let spec = site.spec().options(options).transcript(&transcript);
    let events = site.run(spec, "go").await;
    assert_eq!(completed(&events).outcome, Outcome::Ok);
    let calls = actions(&events);
    let (outer, inner) = match calls.as_slice() {
        [outer, inner] => (outer, inner),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (outer.kind, outer.title.as_str()),
        (ActionKind::Subagent, "look around")
    );
    assert_eq!((&outer.parent, &outer.agent), (&None, &None));
    assert_eq!(
        (inner.kind, inner.title.as_str()),
        (ActionKind::Command, "echo below")
    );
    assert_eq!(inner.parent.as_ref(), Some(&outer.id));
    assert!(inner.agent.is_some(), "which sub-agent it was");
    let written = std::fs::read_to_string(&transcript).unwrap();
    let lines: Vec<Value> = (written.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let source = format!("subagent:{}", outer.id);
    assert!(lines.iter().any(|line| line["source"] == source.as_str()));
    let of_call = lines
        .iter()
        .filter(|line| line["correlation"] == inner.id.as_str());
    assert!(of_call.count() >= 2);
    let (replayed, unreadable) = replay(BufReader::new(written.as_bytes())).unwrap();
    assert_eq!((replayed, unreadable), (events, 0));
}

#[derive(Debug)]
struct Begun {
    id: String,
    kind: ActionKind,
    title: String,
    parent: Option<String>,
    agent: Option<String>,
}

fn actions(events: &[Event]) -> Vec<Begun> {
    let begun = events.iter().filter_map(|event| match &event.body {
        Body::ItemStarted(item) => match &item.content {
            ItemContent::Action(action) => Some(Begun {
                id: item.id.to_string(),
                kind: action.kind,
                title: action.title.clone(),
                parent: event.parent.as_ref().map(ToString::to_string),
                agent: action.agent.clone(),
            }),
            _ => None,
        },
        _ => None,
    });
    begun.collect()
}

/// A model that never answers: the limits of time end the run, each with its class.
#[tokio::test]
async fn a_model_that_never_answers_is_given_up() {
    type Set = fn(&mut Limits);
    let table: [(&str, Set); 2] = [
        ("limit:deadline", |limits| {
            limits.deadline = Some(Duration::from_secs(2));
        }),
        ("limit:silence", |limits| {
            limits.silence = Some(Duration::from_secs(2));
        }),
    ];
    for kind in REAL {
        for (expected, set) in table {
            let site = Site::real(kind, Scenario::new().turn(hang()));
            let mut limits = Limits::default();
            set(&mut limits);
            limits.wind_down = Duration::from_millis(200);
            let options = site.options().close_grace(Duration::from_millis(200));
            let spec = site.spec().options(options).limits(limits);
            let end = completed(&site.run(spec, "go").await);
            assert_eq!(class(&end), expected, "{kind:?}");
        }
    }
}

/// Lines that are no messages are told with their beginning and end nothing.
#[tokio::test]
async fn a_line_that_is_no_message_is_a_warning_with_its_beginning() {
    let long = format!("this is no JSON {}", "x".repeat(1000));
    let script = EngineScript::new()
        .initialize()
        .on_user()
        .emit(json!({"type": "system", "subtype": "init", "cwd": "/", "session_id": "s"}))
        .step(EngineStep::EmitText(long))
        .emit(
            json!({"type": "result", "subtype": "success", "is_error": false,
            "result": "fine", "session_id": "s"}),
        );
    let site = Site::fake(&script);
    let events = site.run(site.spec(), "go").await;
    let end = completed(&events);
    assert_eq!((end.outcome, end.text.as_str()), (Outcome::Ok, "fine"));
    let warnings: Vec<&str> = (events.iter())
        .filter_map(|event| match &event.body {
            Body::Warning(warning) => Some(warning.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("this is no JSON"), "{warnings:?}");
    assert!(warnings[0].len() < 400, "{}", warnings[0].len());
}
