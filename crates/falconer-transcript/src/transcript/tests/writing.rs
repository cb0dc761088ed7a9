//! What is written, where, and that it is written once and whole.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::transcript::entry::{AttachmentEntry, Compaction};
use crate::transcript::open::Persistence;
use crate::transcript::{CostState, load};

fn keys(entry: &Value) -> Vec<&str> {
    entry
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn a_session_without_a_word_leaves_nothing_behind() {
    let room = Room::new();
    let opened = room.open(OpenRequest::default());
    assert!(opened.transcript.path().is_some());
    drop(opened);
    assert!(!room.config().exists());
}

#[test]
fn files_are_closed_to_other_users() {
    let room = Room::new();
    let session = room.session(&["hello"]);
    let path = room.place().file(&session);
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    for directory in path.ancestors().skip(1).take(3) {
        assert_eq!(mode(directory), 0o700, "{}", directory.display());
    }
}

#[test]
fn entries_have_the_fields_of_the_cli_in_its_order() {
    let room = Room::new();
    let opened = room.open(OpenRequest::default());
    let transcript = &opened.transcript;
    exchange(transcript, "hello");
    let (uuid, entry) = block("msg_2", call("toolu_1"));
    transcript.append(entry);
    transcript.append(result("toolu_1", &uuid));
    let entries = lines(&transcript.path().expect("kept"));
    let stamp = [
        "userType",
        "entrypoint",
        "cwd",
        "sessionId",
        "version",
        "gitBranch",
    ];
    let cases: [(usize, &[&str]); 3] = [
        (
            2,
            &[
                "parentUuid",
                "isSidechain",
                "promptId",
                "type",
                "message",
                "uuid",
                "timestamp",
                "permissionMode",
                "promptSource",
            ],
        ),
        (
            3,
            &[
                "parentUuid",
                "isSidechain",
                "message",
                "apiBlockIndex",
                "requestId",
                "requestedModel",
                "type",
                "uuid",
                "timestamp",
                "madeBy",
            ],
        ),
        (
            6,
            &[
                "parentUuid",
                "isSidechain",
                "promptId",
                "type",
                "message",
                "uuid",
                "timestamp",
                "toolUseResult",
                "sourceToolAssistantUUID",
            ],
        ),
    ];
    for (at, own) in cases {
        let expect: Vec<&str> = own.iter().copied().chain(stamp).collect();
        assert_eq!(keys(&entries[at]), expect, "entry {at}");
    }
    assert_eq!(entries[0]["operation"], "enqueue");
    assert_eq!(entries[2]["parentUuid"], Value::Null);
    assert_eq!(entries[3]["parentUuid"], entries[2]["uuid"]);
    assert_eq!(entries[4]["leafUuid"], entries[3]["uuid"]);
    assert_eq!(entries[6]["parentUuid"], entries[5]["uuid"]);
    assert_eq!(entries[2]["entrypoint"], "sdk-cli");
}

#[test]
fn everything_that_was_said_comes_back() {
    let room = Room::new();
    let opened = room.open(OpenRequest::default());
    let transcript = &opened.transcript;
    transcript.append(prompt("count"));
    let (_, entry) = block("m1", text("three calls"));
    transcript.append(entry);
    let calls: Vec<_> = ["a", "b", "c"].map(|id| (id, block("m1", call(id)))).into();
    for (_, (_, entry)) in &calls {
        transcript.append(entry.clone());
    }
    for (id, (uuid, _)) in calls.iter().rev() {
        transcript.append(result(id, uuid));
    }
    let folded = MessageUuid::from("the host's id");
    let content = json!("one more thing");
    transcript.append(Entry::attachment(AttachmentEntry::QueuedPrompt {
        uuid: folded.clone(),
        content,
    }));
    let contexts = vec!["be brief".to_owned(), "be kind".to_owned()];
    let event = "PostToolUse".to_owned();
    transcript.append(Entry::attachment(AttachmentEntry::HookContext {
        event,
        contexts,
    }));
    transcript.append(Entry::system("informational", "not for the model", "info"));
    let (_, entry) = block("m2", text("done"));
    transcript.append(entry);
    let loaded = load(&transcript.path().expect("kept")).expect("readable");
    let expect = vec![
        json!({ "role": "user", "content": "count" }),
        json!({ "role": "assistant", "content": [text("three calls"), call("a"), call("b"), call("c")] }),
        json!({ "role": "user", "content": [answer("a"), answer("b"), answer("c")] }),
        json!({ "role": "user", "content": "one more thing" }),
        json!({ "role": "user", "content": "be brief\nbe kind" }),
        json!({ "role": "assistant", "content": [text("done")] }),
    ];
    assert_eq!(loaded.messages, expect);
    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert_eq!(loaded.prompts.len(), 2);
    assert_eq!(loaded.prompts[1], folded);
    assert_eq!(loaded.leaf, transcript.leaf());
}

#[test]
fn after_a_compaction_only_the_summary_and_what_follows_count() {
    let room = Room::new();
    let opened = room.open(OpenRequest::default());
    let transcript = &opened.transcript;
    exchange(transcript, "long ago");
    let before = transcript.leaf();
    transcript.append(Entry::compact_boundary(Compaction {
        uuid: new_uuid(),
        trigger: "auto".to_owned(),
        tokens_before: 10,
    }));
    let summary = Entry::summary(new_uuid(), json!("what was said"), "p");
    transcript.append(summary);
    exchange(transcript, "now");
    let path = transcript.path().expect("kept");
    let boundary = lines(&path)
        .into_iter()
        .find(|entry| entry["type"] == "system");
    let boundary = boundary.expect("written");
    assert_eq!(boundary["logicalParentUuid"], json!(before));
    assert_eq!(boundary["parentUuid"], Value::Null);
    let mut expect = vec![json!({ "role": "user", "content": "what was said" })];
    expect.extend(spoken(&["now"]));
    assert_eq!(load(&path).expect("readable").messages, expect);
}

#[test]
fn totals_titles_and_the_last_prompt_come_back() {
    let room = Room::new();
    let opened = room.open(OpenRequest::default());
    let transcript = &opened.transcript;
    exchange(transcript, "hello\nthere");
    let cost = CostState {
        total_cost_usd: 1.5,
        lines_added: 7,
        ..CostState::default()
    };
    transcript.append(Entry::cost_state(cost.clone()));
    transcript.append(Entry::custom_title(" Birds "));
    transcript.append(Entry::tools_used(["Bash".to_owned()]));
    let loaded = load(&transcript.path().expect("kept")).expect("readable");
    assert_eq!(loaded.cost, Some(cost));
    assert_eq!(loaded.title.as_deref(), Some("Birds"));
    assert_eq!(loaded.last_prompt.as_deref(), Some("hello there"));
    assert_eq!(loaded.tools_used, ["Bash"]);
}

#[test]
fn a_title_is_written_again_before_lists_lose_sight_of_it() {
    let room = Room::new();
    let opened = room.open(OpenRequest::default());
    exchange(&opened.transcript, "hello");
    opened.transcript.append(Entry::custom_title("Birds"));
    exchange(&opened.transcript, &"x".repeat(70_000));
    let entries = lines(&opened.transcript.path().expect("kept"));
    let titles: Vec<usize> = (0..entries.len())
        .filter(|at| entries[*at]["customTitle"] == "Birds")
        .collect();
    assert!(titles.len() >= 2);
    assert_eq!(titles.last(), Some(&(entries.len() - 1)));
}

#[test]
fn without_persistence_nothing_is_written() {
    let room = Room::new();
    let persistence = Persistence::Off;
    let opened = room.open(OpenRequest {
        persistence,
        ..OpenRequest::default()
    });
    exchange(&opened.transcript, "a secret");
    assert_eq!(opened.transcript.path(), None);
    assert!(opened.transcript.leaf().is_some());
    assert!(opened.transcript.take_mirror().is_none());
    assert_eq!(opened.transcript.take_warnings(), Vec::<String>::new());
    drop(opened);
    let kept = room.session(&["not a secret"]);
    let before = fs::read(room.place().file(&kept)).expect("readable");
    let opened = room.open(OpenRequest {
        persistence,
        ..resume(&kept)
    });
    assert_eq!(opened.loaded.messages, spoken(&["not a secret"]));
    exchange(&opened.transcript, "a secret");
    assert_eq!(
        fs::read(room.place().file(&kept)).expect("readable"),
        before
    );
}

#[test]
fn the_mirror_gets_what_the_file_gets() {
    let room = Room::new();
    let opened = room.open(OpenRequest {
        mirrored: true,
        ..OpenRequest::default()
    });
    let mut mirrored = Vec::new();
    for said in ["one", "two"] {
        exchange(&opened.transcript, said);
        let frame = opened.transcript.take_mirror().expect("something new");
        assert_eq!(
            Some(PathBuf::from(frame.file_path)),
            opened.transcript.path()
        );
        mirrored.extend(frame.entries);
    }
    assert!(opened.transcript.take_mirror().is_none());
    assert_eq!(lines(&opened.transcript.path().expect("kept")), mirrored);
}

#[test]
fn a_directory_that_cannot_be_made_is_told_once_and_mirrored_nowhere() {
    let room = Room::new();
    fs::create_dir(room.config()).expect("created");
    fs::write(room.config().join("projects"), "in the way").expect("written");
    let opened = room.open(OpenRequest {
        mirrored: true,
        ..OpenRequest::default()
    });
    exchange(&opened.transcript, "one");
    exchange(&opened.transcript, "two");
    let warnings = opened.transcript.take_warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].contains("failed to save the session"),
        "{warnings:?}"
    );
    assert!(opened.transcript.take_mirror().is_none());
    exchange(&opened.transcript, "three");
    assert_eq!(opened.transcript.take_warnings(), Vec::<String>::new());
}

#[tokio::test]
async fn what_was_closed_is_on_the_disk_and_can_be_opened_again() {
    let room = Room::new();
    let opened = room.open(OpenRequest::default());
    for said in ["one", "two", "three"] {
        exchange(&opened.transcript, said);
        opened.transcript.flush();
    }
    opened.transcript.close().await;
    opened.transcript.close().await;
    assert_eq!(opened.transcript.take_warnings(), Vec::<String>::new());
    drop(opened.transcript);
    let resumed = room.resume(&opened.session);
    assert_eq!(resumed.loaded.messages, spoken(&["one", "two", "three"]));
}

#[test]
fn a_cleared_session_goes_on_in_a_file_of_its_own() {
    let room = Room::new();
    let opened = room.open(OpenRequest::default());
    exchange(&opened.transcript, "before");
    let next = new_session();
    opened.transcript.restart(Some(&room.place()), &next);
    exchange(&opened.transcript, "after");
    let load = |session| {
        load(&room.place().file(session))
            .expect("readable")
            .messages
    };
    assert_eq!(load(&opened.session), spoken(&["before"]));
    assert_eq!(load(&next), spoken(&["after"]));
}
