//! Sessions of the terminal are in the store, where a server sees them.

use std::path::PathBuf;

use falconer_store::{
    Decided, DecisionRecord, RequestQuery, SessionQuery, SessionRecord, SessionState, SqliteStore,
    Store,
};
use serde_json::json;

use crate::program::{Place, Ran, run};
use crate::terminal::Terminal;

const HELLO: &str = r#"{ "rules": [ { "times": "always", "reply": { "text": "Hello." } } ] }"#;

const TOUCH: &str = r#"{ "rules": [
    { "reply": { "message": { "content": [
        { "type": "tool_use", "name": "Bash", "input": { "command": "touch made" } } ] } } },
    { "reply": { "text": "That is all." } } ] }"#;

fn flags(place: &Place, scenario: &str) -> String {
    let file = place.path().join("scenario.json");
    std::fs::write(&file, scenario).unwrap();
    format!("--engine=script --scenario={}", file.display())
}

fn piped(place: &Place, arguments: &[&str]) -> Ran {
    let flags = flags(place, HELLO);
    let mut command = place.falconer();
    command.arg("run").args(flags.split(' ')).args(arguments);
    run(&mut command, "")
}

fn usual(place: &Place) -> PathBuf {
    place.path().join("home/.local/state/falconer/falconer.db")
}

async fn sessions(file: PathBuf) -> Vec<SessionRecord> {
    let store = SqliteStore::open(file).await.unwrap();
    let page = store.sessions(SessionQuery::default()).await.unwrap();
    store.close().await.unwrap();
    page.sessions
}

#[tokio::test]
async fn a_run_is_kept_and_goes_on_by_either_of_its_names() {
    let place = Place::new();
    let ran = piped(&place, &["say hello", "--deny", "Bash(rm:*)", "--quiet"]);
    assert_eq!(
        (ran.code, &*ran.stdout, &*ran.stderr),
        (Some(0), "Hello.\n", "")
    );
    let [first] = sessions(usual(&place)).await.try_into().unwrap();
    assert_eq!(first.title.as_deref(), Some("say hello"));
    assert_eq!(
        (&*first.engine, first.state),
        ("script", SessionState::Idle)
    );
    assert_eq!(first.owner, None);
    assert_eq!(first.config["terms"]["deny"], json!(["Bash(rm:*)"]));
    let native = first.native_session.clone().unwrap();
    for name in [first.id.as_str(), &native] {
        let ran = piped(&place, &["again", "--resume", name, "--quiet"]);
        assert_eq!(
            (ran.code, &*ran.stdout),
            (Some(0), "Hello.\n"),
            "{}",
            ran.stderr
        );
    }
    let [again] = sessions(usual(&place)).await.try_into().unwrap();
    assert_eq!(again.id, first.id);
    assert_eq!(again.native_session.as_ref(), Some(&native));
    assert!(again.head > first.head, "{} {}", again.head, first.head);
    let left = std::fs::read_dir(usual(&place).with_file_name("locks")).unwrap();
    assert_eq!(left.count(), 0, "no lock is left");
}

/// The ids of a session, and beginnings of them.
fn forms_of(record: &SessionRecord) -> [String; 4] {
    let (id, native) = (
        record.id.as_str(),
        record.native_session.as_deref().unwrap(),
    );
    [id, &id[..13], native, &native[..8]].map(str::to_owned)
}

/// The ids that `run` and `sessions list` print, and beginnings of them, mean the same everywhere.
#[tokio::test]
async fn every_command_takes_every_form_of_an_id() {
    let place = Place::new();
    assert_eq!(piped(&place, &["one", "--quiet"]).code, Some(0));
    let [record] = sessions(usual(&place)).await.try_into().unwrap();
    let forms = forms_of(&record);
    for form in &forms {
        let again = piped(&place, &["again", "--resume", form, "--quiet"]);
        assert_eq!(again.stdout, "Hello.\n", "{form}: {}", again.stderr);
        let title = format!("named by {form}");
        let renamed = run(
            place.falconer().args(["sessions", "rename", form, &title]),
            "",
        );
        assert_eq!(renamed.code, Some(0), "{form}: {}", renamed.stderr);
        let [record] = sessions(usual(&place)).await.try_into().unwrap();
        assert_eq!(record.title, Some(title), "{form}");
        let exported = run(place.falconer().args(["sessions", "show", form]), "");
        assert!(
            exported.stdout.contains("Hello."),
            "{form}: {}",
            exported.stderr
        );
    }
    let nobody = [
        "sessions delete ffffffff --yes",
        "sessions rename ffffffff x",
    ];
    for command in nobody {
        let refused = run(place.falconer().args(command.split(' ')), "");
        assert_eq!(refused.code, Some(6), "{command}: {}", refused.stderr);
    }
    for form in 0..forms.len() {
        let [record] = sessions(usual(&place)).await.try_into().unwrap();
        let form = forms_of(&record)[form].clone();
        let deleted = run(
            place
                .falconer()
                .args(["sessions", "delete", &form, "--yes"]),
            "",
        );
        assert_eq!(deleted.code, Some(0), "{form}: {}", deleted.stderr);
        assert!(sessions(usual(&place)).await.is_empty(), "{form}");
        assert_eq!(piped(&place, &["one", "--quiet"]).code, Some(0));
    }
}

#[tokio::test]
async fn a_run_whose_conversation_vanished_goes_on_with_its_last_exchange() {
    let place = Place::new();
    assert_eq!(piped(&place, &["which colour?"]).code, Some(0));
    let [first] = sessions(usual(&place)).await.try_into().unwrap();
    std::fs::remove_dir_all(place.path().join("home/.claude/projects")).unwrap();
    let scenario = r#"{ "rules": [ { "when": { "last_user_contains": "> which colour?" },
        "reply": { "text": "I was told." } } ] }"#;
    let flags = flags(&place, scenario);
    let resumed = |id: &str| {
        let mut command = place.falconer();
        command.arg("run").args(flags.split(' '));
        run(command.args(["and now?", "--resume", id]), "")
    };
    let ran = resumed(first.id.as_str());
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("does not exist any more"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("I was told."), "{}", ran.stdout);
    let [again] = sessions(usual(&place)).await.try_into().unwrap();
    assert_eq!(again.id, first.id);
    assert_ne!(again.native_session, first.native_session);
    // An id that nobody has ever seen is a mistake.
    let ran = resumed("cccccccc-aaaa-4aaa-8aaa-cccccccccccc");
    assert_eq!(ran.code, Some(6), "{}{}", ran.stdout, ran.stderr);
}

#[tokio::test]
async fn where_it_is_kept_is_the_users_choice() {
    let place = Place::new();
    let own = place.path().join("deep/own.db");
    let ran = piped(&place, &["hi", "--store", own.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(sessions(own).await.len(), 1);
    let ran = piped(&place, &["hi", "--no-store"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!usual(&place).exists());
}

#[test]
fn a_store_that_cannot_be_used_is_told_and_only_a_fault_if_it_was_named() {
    let place = Place::new();
    std::fs::create_dir_all(usual(&place)).unwrap();
    let ran = piped(&place, &["hi", "--quiet"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "Hello.\n"));
    let note = "note: servers will not see this session: failed to open the store";
    assert!(ran.stderr.starts_with(note), "{}", ran.stderr);
    let named = usual(&place);
    let ran = piped(&place, &["hi", "--store", named.to_str().unwrap()]);
    assert_eq!((ran.code, &*ran.stdout), (Some(3), ""), "{}", ran.stderr);
}

#[tokio::test]
async fn what_a_terminal_asks_can_be_answered_from_elsewhere() {
    let place = Place::new();
    let arguments = format!("run 'make a file' {}", flags(&place, TOUCH));
    let mut terminal = Terminal::start(&place, &arguments, &[]);
    terminal.expect("touch made");
    let store = SqliteStore::open(usual(&place)).await.unwrap();
    let mut watcher = store.watch();
    let asked = loop {
        match store.requests(RequestQuery::pending()).await.unwrap().pop() {
            Some(asked) => break asked,
            None => watcher.changed().await.unwrap(),
        };
    };
    assert_eq!(asked.input, json!({"command": "touch made"}));
    assert!(!place.path().join("work/made").exists());
    let decision = DecisionRecord::new(json!({"type": "allow"}), "anna");
    let decided = store.decide(&asked.id, &asked.digest, decision).await;
    assert!(matches!(decided, Ok(Decided::Won(_))), "{decided:?}");
    terminal.expect("(allowed by anna)");
    terminal.expect("That is all.");
    assert_eq!(terminal.code(), Some(0));
    assert!(place.path().join("work/made").exists());
    store.close().await.unwrap();
}
