//! `falconer sessions` with what a server keeps.

use serde_json::Value;

use crate::hosted::Hosted;
use crate::program::{Place, Ran, run};

const MODEL: &str = r#"{ "rules": [
  { "when": { "tool_result_contains": "" }, "times": "always", "reply": { "text": "It is <b>written</b>." } },
  { "when": { "last_user_contains": "write" }, "times": "always", "reply": { "message": { "content": [
    { "type": "tool_use", "name": "Bash", "input": { "command": "echo from the shell > out" } } ] } } },
  { "times": "always", "reply": { "text": "Heard on the server." } } ] }"#;

fn sessions(place: &Place, arguments: &[&str]) -> Ran {
    run(place.falconer().arg("sessions").args(arguments), "")
}

fn listed(place: &Place) -> Vec<Value> {
    let ran = sessions(place, &["list", "--all", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// A session that the server ran, by both of its names, and the server is gone.
fn served(place: &Place) -> (String, String) {
    let server = Hosted::start(place, MODEL);
    let session = server.session(Some("say something"));
    server.until_turn(&session);
    let (_, record) = server.call("GET", &format!("/v1/sessions/{session}"), &Value::Null);
    let native = record["native_session"].as_str().unwrap().to_owned();
    (session, native)
}

/// Takes the engine's files away: only the store has the session now.
fn without_files(place: &Place) {
    std::fs::remove_dir_all(place.path().join("home/.claude/projects")).unwrap();
}

#[test]
fn a_session_in_the_store_and_in_a_file_is_one_and_both_names_find_it() {
    let place = Place::new();
    let (kept, native) = served(&place);
    let all = listed(&place);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0]["sessionId"], native.as_str());
    assert_eq!(all[0]["server"]["session"], kept.as_str());
    for id in [&kept, &native, &kept[..8].to_owned()] {
        let shown = sessions(&place, &["show", id]);
        assert!(
            shown.stdout.contains("Heard on the server."),
            "{id}: {}{}",
            shown.stdout,
            shown.stderr
        );
    }
    let renamed = sessions(&place, &["rename", &kept, "Another title"]);
    assert_eq!(renamed.code, Some(0), "{}", renamed.stderr);
    assert_eq!(listed(&place)[0]["summary"], "Another title");
    let copy = sessions(&place, &["fork", &kept]);
    assert!(
        copy.stderr.contains("falconer run --resume"),
        "{}",
        copy.stderr
    );
    assert_eq!(listed(&place).len(), 2);
    let deleted = sessions(&place, &["delete", &kept, "--yes"]);
    assert_eq!(deleted.code, Some(0), "{}", deleted.stderr);
    let left = listed(&place);
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0]["sessionId"], copy.stdout.trim());
}

#[test]
fn a_session_that_only_the_store_has_is_shown_found_exported_copied_and_deleted() {
    let place = Place::new();
    let (kept, _) = served(&place);
    without_files(&place);
    let all = listed(&place);
    assert_eq!(all[0]["sessionId"], kept.as_str(), "{all:?}");
    assert_eq!(all[0]["summary"], "say something");
    let line = sessions(&place, &["list"]).stdout;
    assert!(
        line.contains("say something") && line.contains("(only in the store)"),
        "{line}"
    );
    let found = sessions(&place, &["search", "HEARD ON"]);
    assert_eq!(
        (found.code, found.stdout.contains(&kept)),
        (Some(0), true),
        "{}",
        found.stdout
    );
    let markdown = sessions(&place, &["export", &kept]).stdout;
    assert!(
        markdown.starts_with("# say something\n\n## You\n"),
        "{markdown}"
    );
    assert!(markdown.contains("\nHeard on the server.\n"), "{markdown}");
    let html = sessions(&place, &["export", &kept, "--format", "html"]).stdout;
    assert!(html.contains("Heard on the server."), "{html}");
    let lines = sessions(&place, &["export", &kept, "--format", "jsonl"]).stdout;
    let kinds: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone())
        .collect();
    assert!(kinds.contains(&"turn.completed".into()), "{kinds:?}");
    let copy = sessions(&place, &["fork", &kept, "--title", "A copy"]);
    assert!(copy.stderr.contains("falconer attach"), "{}", copy.stderr);
    assert_eq!(
        sessions(&place, &["fork", &kept, "--up-to", "x"]).code,
        Some(2)
    );
    let shown = sessions(&place, &["show", copy.stdout.trim()]).stdout;
    assert!(
        shown.contains("A copy") && shown.contains("Heard on the server."),
        "{shown}"
    );
    assert_eq!(
        sessions(&place, &["delete", &kept]).code,
        Some(2),
        "nobody was asked"
    );
    assert_eq!(sessions(&place, &["delete", &kept, "--yes"]).code, Some(0));
    let left = listed(&place);
    assert_eq!(
        (left.len(), &left[0]["summary"]),
        (1, &"A copy".into()),
        "{left:?}"
    );
    assert_eq!(sessions(&place, &["show", &kept]).code, Some(6));
}

#[test]
fn a_session_that_a_server_runs_is_not_changed_behind_its_back() {
    let place = Place::new();
    let server = Hosted::start(&place, MODEL);
    let session = server.session(Some("write it"));
    server.until_state(&session, "waiting");
    let line = sessions(&place, &["list"]).stdout;
    assert!(line.contains("(waiting)"), "{line}");
    for change in [
        &["rename", &session, "Mine"][..],
        &["delete", &session, "--yes"],
    ] {
        let refused = sessions(&place, change);
        assert_eq!(refused.code, Some(6), "{change:?}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("through the server"),
            "{}",
            refused.stderr
        );
        // A process that can be looked for, and no id that nobody knows.
        assert!(refused.stderr.contains("(process "), "{}", refused.stderr);
        let longest = refused
            .stderr
            .split(|letter: char| !letter.is_ascii_hexdigit());
        let longest = longest.map(str::len).max().unwrap();
        assert!(longest < 20, "{}", refused.stderr);
    }
    let (_, record) = server.call("GET", &format!("/v1/sessions/{session}"), &Value::Null);
    assert_ne!(record["title"], "Mine", "{record}");
    // To read it is fine.
    assert_eq!(sessions(&place, &["show", &session]).code, Some(0));
}

#[test]
fn a_store_that_cannot_be_read_hides_no_files_and_is_told() {
    let place = Place::new();
    served(&place);
    let store = place.path().join("home/.local/state/falconer/falconer.db");
    for file in ["falconer.db-wal", "falconer.db-shm"] {
        let _ = std::fs::remove_file(store.with_file_name(file));
    }
    std::fs::write(&store, "this is no database, whatever it is called").unwrap();
    let ran = sessions(&place, &["list", "--all"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("say something"), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("failed to use the store") && ran.stderr.contains("hint: restore"),
        "{}",
        ran.stderr
    );
    let store = store.display().to_string();
    let named = sessions(&place, &["list", "--store", &store]);
    assert_eq!(named.code, Some(3), "{}", named.stderr);
    assert_eq!(
        sessions(&place, &["list", "--store", "/nowhere.db"]).code,
        Some(3)
    );
    // Looking makes none.
    let empty = Place::new();
    sessions(&empty, &["list"]);
    assert!(!empty.path().join("home/.local/state/falconer").exists());
}
