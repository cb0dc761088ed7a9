//! How sessions start and go on: what is said of a start, what a resumed run costs, copies, and
//! where a session is taken up. On both engines.

use falconer::Options;
use falconer::isolation::{IsolationConfig, Sandbox};
use falconer::sessions::{MessageKind, SessionId, SessionMessage, Sessions, SystemMessages};
use falconer_event::{Body, Event, Outcome, SessionChanged};
use falconer_session::{Limits, Resume};
use falconer_testkit::RealCli;
use falconer_testkit::scenario::{Scenario, Usage, text, tool_use};
use serde_json::json;

use crate::engines::{Kind, REAL, Site};
use crate::scripted::completed;

const USED: Usage = Usage {
    input_tokens: 1000,
    output_tokens: 1000,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
};

/// Engines count on when a session is resumed. What it cost before belongs to the runs before.
#[tokio::test]
async fn a_resumed_run_pays_and_is_limited_for_itself_only() {
    for kind in REAL {
        let turns = Scenario::new()
            .turn(text("one").usage(USED))
            .turn(text("two").usage(USED));
        let site = Site::real(kind, turns);
        let first = completed(&site.run(site.spec(), "hello").await);
        assert!(first.cost_usd > 0.0, "{kind:?} {first:?}");
        let mut limits = Limits::default();
        // Enough for this run, not for both.
        limits.usd = Some(first.cost_usd * 1.5);
        let session = first.native_session.as_deref().unwrap();
        let spec = site.spec().resume(Resume::session(session)).limits(limits);
        let second = completed(&site.run(spec, "again").await);
        assert_eq!(second.outcome, Outcome::Ok, "{kind:?} {second:?}");
        let cent = first.cost_usd / 100.0;
        let difference = (second.cost_usd - first.cost_usd).abs();
        assert!(
            difference < cent,
            "{kind:?} {} {}",
            first.cost_usd,
            second.cost_usd
        );
    }
}

#[tokio::test]
async fn a_copy_has_an_id_of_its_own_and_is_told_as_one() {
    for kind in REAL {
        let turns = Scenario::new().turn(text("one")).turn(text("two"));
        let site = Site::real(kind, turns);
        let first = completed(&site.run(site.spec(), "hello").await);
        let session = first.native_session.clone().unwrap();
        let spec = site.spec().resume(Resume::session(&session).fork());
        let events = site.run(spec, "again").await;
        let copy = completed(&events);
        assert_eq!(copy.outcome, Outcome::Ok, "{kind:?} {copy:?}");
        assert_ne!(copy.native_session, first.native_session, "{kind:?}");
        assert_eq!(
            forks(&events),
            [copy.native_session.clone().unwrap()],
            "{kind:?}"
        );
        assert!(
            heard(&site).contains("hello"),
            "{kind:?}: it knows what was said"
        );
    }
}

fn forks(events: &[Event]) -> Vec<String> {
    let forks = events.iter().filter_map(|event| match &event.body {
        Body::SessionChanged(SessionChanged::Forked { native_session }) => {
            Some(native_session.clone())
        }
        _ => None,
    });
    forks.collect()
}

/// The conversation as the model got it last.
fn heard(site: &Site) -> String {
    let server = site.server.as_ref().unwrap();
    server.messages().last().unwrap().conversation()
}

#[tokio::test]
async fn a_session_is_taken_up_at_a_message_and_forgets_what_came_later() {
    for kind in REAL {
        let turns = Scenario::new()
            .turn(text("first answer"))
            .turn(text("second answer"))
            .turn(text("third answer"));
        let site = Site::real(kind, turns);
        let first = completed(&site.run(site.spec(), "first question").await);
        let session = first.native_session.unwrap();
        let at = last_answer(&site, &session);
        let on = site.spec().resume(Resume::session(&session));
        site.run(on, "second question").await;
        assert!(heard(&site).contains("first answer"), "{kind:?}");
        let back = Resume::session(&session).at(at).fork();
        let third = completed(&site.run(site.spec().resume(back), "third question").await);
        assert_eq!(third.text, "third answer", "{kind:?}");
        let heard = heard(&site);
        assert!(heard.contains("first answer"), "{kind:?} {heard}");
        assert!(!heard.contains("second"), "{kind:?} {heard}");
    }
}

/// The id of the last answer in a session's file.
fn last_answer(site: &Site, session: &str) -> String {
    let sessions = Sessions::open(site.home.path().join(".claude"));
    let id = SessionId::new(session);
    let messages = sessions.messages(&id, SystemMessages::Exclude).unwrap();
    let messages: Vec<SessionMessage> = messages.map(Result::unwrap).collect();
    let is_answer = |message: &&SessionMessage| message.kind == MessageKind::Assistant;
    messages.iter().rfind(is_answer).unwrap().uuid.clone()
}

#[tokio::test]
async fn a_start_that_fails_says_why_and_names_no_session() {
    let site = Site::real(Kind::Official, Scenario::new());
    let options = site.options().extra_switch("no-such-flag");
    let events = site.run(site.spec().options(options), "go").await;
    let end = completed(&events);
    assert_eq!(
        crate::scripted::class(&end),
        "engine_not_started",
        "{end:?}"
    );
    assert!(end.stderr.join("\n").contains("no-such-flag"), "{end:?}");
    assert_eq!(end.native_session, None);
    let started = |event: &&Event| matches!(event.body, Body::RunStarted(_));
    assert_eq!(events.iter().filter(started).count(), 0);
}

/// What the start has decided is in the event that tells of it.
#[tokio::test]
async fn the_start_says_who_pays_and_which_isolation_is_in_force() {
    let site = Site::real(Kind::Official, Scenario::new().turn(text("hi")));
    let said = said_at_the_start(&site, |isolation| {
        isolation.sandbox_mode(Sandbox::OffByChoice)
    })
    .await;
    let expected = "none, by choice; a home of its own".to_owned();
    assert_eq!(said, (Some("api".to_owned()), Some(expected)));
}

/// The sandbox was seen to refuse, and refuses: what a command writes outside is not there.
#[tokio::test]
async fn a_proven_sandbox_is_told_and_refuses() {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("written");
    let command = format!("echo ran > inside; echo x > '{}'", file.display());
    let scenario = Scenario::new()
        .turn(tool_use(
            "Bash",
            json!({"command": command, "description": "write"}),
        ))
        .turn(text("done"));
    let site = Site::real(Kind::Official, scenario);
    let (_, sandbox) = said_at_the_start(&site, |isolation| isolation).await;
    let sandbox = sandbox.unwrap();
    assert!(
        sandbox.starts_with("sandboxed, network closed; proven: "),
        "{sandbox}"
    );
    let ran = std::fs::read_to_string(site.project.path().join("inside")).unwrap();
    assert_eq!(ran, "ran\n", "the command has run");
    assert!(!file.exists(), "{sandbox}");
}

/// Who pays and which sandbox, as `run.started` has it.
async fn said_at_the_start(
    site: &Site,
    isolated: impl FnOnce(IsolationConfig) -> IsolationConfig,
) -> (Option<String>, Option<String>) {
    let isolation = isolated(IsolationConfig::with_api_key("sk-ant-of-a-test"))
        .homes_in(site.home.path())
        .env("DISABLE_TELEMETRY", "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    let options = Options::new()
        .executable(RealCli::find().unwrap().path())
        .cwd(site.project.path())
        .base_url(site.server.as_ref().unwrap().url())
        .allow_tools(["Bash"])
        .isolation(isolation);
    let events = site.run(site.spec().options(options), "hello").await;
    let started = events.iter().find_map(|event| match &event.body {
        Body::RunStarted(started) => Some(started),
        _ => None,
    });
    let started = started.unwrap();
    (started.billing.clone(), started.sandbox.clone())
}
