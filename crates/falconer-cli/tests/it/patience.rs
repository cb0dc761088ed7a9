//! Runs that wait: for a session, for an answer, for a service; and prompts that name a session.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::Command;

use falconer_session::SessionLocks;
use falconer_store::{Decided, DecisionRecord, RequestQuery, SessionQuery, SqliteStore, Store};
use falconer_testkit::scenario::{Scenario, text};
use falconer_testkit::{ApiServer, RealCli, clean_env};
use serde_json::json;

use crate::program::{Place, finish, run, start};

const HELLO: &str = r#"{ "rules": [ { "times": "always", "reply": { "text": "Hello." } } ] }"#;

const TOUCH: &str = r#"{ "rules": [
    { "reply": { "message": { "content": [
        { "type": "tool_use", "name": "Bash", "input": { "command": "touch made" } } ] } } },
    { "reply": { "text": "That is all." } } ] }"#;

const BUSY: &str = r#"{ "rules": [ { "reply": { "error": { "status": 529 } } },
    { "times": "always", "reply": { "text": "Better now." } } ] }"#;

fn command(place: &Place, scenario: &str, arguments: &[&str]) -> Command {
    let file = place.path().join("scenario.json");
    std::fs::write(&file, scenario).unwrap();
    let mut command = place.falconer();
    command
        .args(["run", "--engine=script", "--scenario"])
        .arg(file)
        .args(arguments);
    command
}

fn state(place: &Place) -> PathBuf {
    place.path().join("home/.local/state/falconer")
}

/// The engine's id of the only session.
async fn native(place: &Place) -> String {
    let store = SqliteStore::open(state(place).join("falconer.db")).await;
    let store = store.unwrap();
    let page = store.sessions(SessionQuery::default()).await.unwrap();
    store.close().await.unwrap();
    let [session] = page.sessions.try_into().unwrap();
    session.native_session.unwrap()
}

#[tokio::test]
async fn a_session_in_use_is_refused_or_waited_for() {
    let place = Place::new();
    assert_eq!(run(&mut command(&place, HELLO, &["hi"]), "").code, Some(0));
    let id = native(&place).await;
    let lock = SessionLocks::new(state(&place).join("locks")).try_lock(&id);
    let lock = lock.unwrap();
    for arguments in [
        &["again", "--resume", &id][..],
        &["again", "--resume", &id, "--wait=1s"],
    ] {
        let ran = run(&mut command(&place, HELLO, arguments), "");
        assert_eq!(ran.code, Some(6), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("`--wait`"), "{}", ran.stderr);
    }
    let mut child = start(&mut command(
        &place,
        HELLO,
        &["again", "--resume", &id, "--wait"],
    ));
    drop(child.stdin.take());
    let mut said = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut said).unwrap();
    assert!(said.contains("waiting for another run"), "{said}");
    drop(lock);
    let ran = finish(child);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    assert!(ran.stdout.contains("Hello."), "{}", ran.stdout);
    let ran = run(&mut command(&place, HELLO, &["hi", "--wait"]), "");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}

#[tokio::test]
async fn a_command_pasted_into_the_prompt_goes_on_with_its_session() {
    let place = Place::new();
    let ran = run(&mut command(&place, HELLO, &["hi"]), "");
    let last = ran.stdout.lines().last().unwrap();
    assert!(
        last.starts_with("continue with `falconer chat --resume "),
        "{last}"
    );
    let id = native(&place).await;
    let told = |expected: &str| {
        format!(
            r#"{{ "rules": [ {{ "when": {{ "last_user_contains":
        "{expected}" }}, "reply": {{ "text": "Right." }} }} ] }}"#
        )
    };
    for (prompt, expected) in [
        (format!("{last}\n\nnow the docs"), "now the docs"),
        (
            format!("falconer chat -r {id} now the docs"),
            "now the docs",
        ),
        (format!("`claude --resume {id}`"), "continue"),
    ] {
        let ran = run(&mut command(&place, &told(expected), &[&prompt]), "");
        assert_eq!(ran.code, Some(0), "{prompt}: {}", ran.stdout);
        assert!(
            ran.stderr.contains("which the prompt names"),
            "{}",
            ran.stderr
        );
        assert_eq!(native(&place).await, id, "{prompt}");
    }
    // What is piped in was written by others.
    let piped = format!("`claude --resume {id}`\n");
    let ran = run(&mut command(&place, HELLO, &["explain", "--json"]), &piped);
    assert!(
        !ran.stderr.contains("which the prompt names"),
        "{}",
        ran.stderr
    );
}

#[tokio::test]
async fn others_may_answer_a_run_without_a_terminal_in_the_time_it_gives() {
    let place = Place::new();
    let mut child = start(&mut command(
        &place,
        TOUCH,
        &["make a file", "--answer-within=1m"],
    ));
    drop(child.stdin.take());
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    while !said.contains("waiting for an answer") {
        assert_ne!(stdout.read_line(&mut said).unwrap(), 0, "{said}");
    }
    let store = SqliteStore::open(state(&place).join("falconer.db")).await;
    let store = store.unwrap();
    let asked = store.requests(RequestQuery::pending()).await.unwrap().pop();
    let asked = asked.unwrap();
    assert!(asked.expires_at.is_some());
    let decision = DecisionRecord::new(json!({"type": "allow"}), "anna");
    let decided = store.decide(&asked.id, &asked.digest, decision).await;
    assert!(matches!(decided, Ok(Decided::Won(_))), "{decided:?}");
    store.close().await.unwrap();
    assert_eq!(finish(child).code, Some(0));
    assert!(place.path().join("work/made").exists());
}

#[test]
fn what_nobody_answers_in_time_is_denied_and_says_so() {
    let place = Place::new();
    let mut command = command(&place, TOUCH, &["make a file"]);
    let ran = run(command.env("FALCONER_RUN__ANSWER_SECONDS", "1"), "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("nobody answered in time"),
        "{}",
        ran.stdout
    );
    assert!(!place.path().join("work/made").exists());
}

#[test]
fn a_failed_turn_is_sent_again_as_often_as_configured() {
    let place = Place::new();
    let ran = |retries: &str| {
        let mut command = command(&place, BUSY, &["hi", "--quiet"]);
        // The session's retries, not those of the engine.
        command.env("CLAUDE_CODE_MAX_RETRIES", "0");
        run(command.env("FALCONER_RUN__RETRIES", retries), "")
    };
    assert_eq!(ran("1").stdout, "Better now.\n");
    let never = ran("0");
    assert_eq!(never.code, Some(7), "{}{}", never.stdout, never.stderr);
}

/// Needs the official CLI: the native engine does not compact yet.
#[tokio::test]
async fn a_conversation_is_archived_before_it_is_compacted_or_not_compacted() {
    for is_usable in [true, false] {
        let place = Place::new();
        let scenario = Scenario::new()
            .turn(text("a long answer"))
            .turn(text("<summary>they talked</summary>"));
        let server = ApiServer::start(scenario).unwrap();
        let archive = place.path().join("archive");
        if !is_usable {
            std::fs::write(&archive, "in the way").unwrap();
        }
        let ran = |arguments: &[&str]| {
            let mut command = place.falconer();
            command.envs(clean_env(&place.path().join("home"), &server.url()));
            command
                .env("FALCONER_CLAUDE_PATH", RealCli::find().unwrap().path())
                .env("FALCONER_RUN__ARCHIVE", &archive)
                .args(["run", "--engine=claude"])
                .args(arguments);
            run(&mut command, "")
        };
        let first = ran(&["talk", "--quiet"]);
        assert_eq!(first.code, Some(0), "{}", first.stderr);
        let second = ran(&["/compact", "--continue"]);
        let said = format!("{}{}", second.stdout, second.stderr);
        if is_usable {
            let kept: Vec<_> = std::fs::read_dir(&archive).unwrap().collect();
            let [Ok(kept)] = kept.as_slice() else {
                panic!("{kept:?} {said}")
            };
            let kept = std::fs::read_to_string(kept.path()).unwrap();
            assert!(kept.contains("a long answer"), "{kept}");
            assert_eq!(server.messages().len(), 2, "{said}");
        } else {
            assert!(said.contains("could not be archived"), "{said}");
            assert_eq!(server.messages().len(), 1, "nothing was compacted: {said}");
        }
    }
}
