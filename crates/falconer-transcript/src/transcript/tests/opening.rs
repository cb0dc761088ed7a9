//! Which session is taken up, and the ways in which that fails.

use std::time::{Duration, SystemTime};

use super::*;
use crate::transcript::load;
use crate::transcript::messages::CUT_OFF;
use crate::transcript::open::Fork;

#[test]
fn a_resumed_session_keeps_its_id_and_goes_on() {
    let room = Room::new();
    let session = room.session(&["falcons"]);
    let opened = room.resume(&session);
    assert_eq!((&opened.session, &opened.forked_from), (&session, &None));
    assert_eq!(opened.loaded.messages, spoken(&["falcons"]));
    exchange(&opened.transcript, "owls");
    drop(opened);
    assert_eq!(
        room.resume(&session).loaded.messages,
        spoken(&["falcons", "owls"])
    );
}

#[test]
fn a_session_of_another_directory_is_found_too() {
    let room = Room::new();
    let session = room.session(&["falcons"]);
    let elsewhere = tempfile::tempdir().expect("temp dir");
    let place = SessionPlace::new(&room.config(), elsewhere.path());
    let stamp = Stamp::new("1", &Environment::default(), elsewhere.path());
    let opened = Transcript::open(&resume(&session), Some(&place), stamp).expect("found");
    assert_eq!(opened.transcript.path(), Some(room.place().file(&session)));
}

#[test]
fn continuing_takes_the_session_that_was_changed_last() {
    let room = Room::new();
    let continued = || OpenRequest {
        origin: Beginning::Continue,
        ..OpenRequest::default()
    };
    let new = room.open(continued());
    assert_eq!(new.loaded.messages, Vec::<Value>::new());
    let (old, newer) = (room.session(&["old"]), room.session(&["newer"]));
    let empty = new_session();
    room.write(&empty, "{\"type\":\"mode\"}\n");
    let side = new_session();
    room.write(
        &side,
        &format!(
            "{}\n",
            json!({"type": "user", "uuid": "u", "isSidechain": true, "message": {"content": "x"}})
        ),
    );
    let at = |session: &SessionId, seconds| {
        let file = fs::File::options()
            .append(true)
            .open(room.place().file(session))
            .expect("opened");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
            .expect("set");
    };
    for (session, seconds) in [(&newer, 200), (&old, 100), (&empty, 300), (&side, 400)] {
        at(session, seconds);
    }
    assert_eq!(room.open(continued()).session, newer);
    at(&old, 500);
    assert_eq!(room.open(continued()).session, old);
}

#[test]
fn a_fork_has_a_new_id_keeps_message_ids_and_leaves_its_source_alone() {
    let room = Room::new();
    let source = room.session(&["falcons"]);
    let before = lines(&room.place().file(&source));
    let wanted = new_session();
    for session_id in [None, Some(wanted.clone())] {
        let request = OpenRequest {
            fork: Fork::On,
            session_id: session_id.clone(),
            mirrored: true,
            ..resume(&source)
        };
        // The source may be in use: a fork only reads it.
        let busy = room.resume(&source);
        let opened = room.open(request);
        assert_eq!(opened.forked_from.as_ref(), Some(&source));
        assert_ne!(opened.session, source);
        assert!(session_id.is_none_or(|id| id == opened.session));
        let path = opened.transcript.path().expect("kept");
        assert!(!path.exists(), "nothing was said yet");
        exchange(&opened.transcript, "owls");
        let copied = lines(&path);
        assert_eq!(
            opened.transcript.take_mirror().expect("mirrored").entries,
            copied
        );
        assert!(
            copied
                .iter()
                .all(|entry| entry["sessionId"] == json!(opened.session))
        );
        assert_eq!(copied[0]["uuid"], before[2]["uuid"]);
        assert_eq!(
            load(&path).expect("readable").messages,
            spoken(&["falcons", "owls"])
        );
        drop(busy);
    }
    assert_eq!(lines(&room.place().file(&source)), before);
}

#[test]
fn resuming_at_a_message_forgets_what_came_later() {
    let room = Room::new();
    let opened = room.open(OpenRequest::default());
    let first = exchange(&opened.transcript, "one");
    exchange(&opened.transcript, "two");
    let session = opened.session.clone();
    drop(opened);
    let at = |at: &MessageUuid| OpenRequest {
        resume_at: Some(at.clone()),
        ..resume(&session)
    };
    let opened = room.open(at(&first));
    assert_eq!(opened.loaded.messages, spoken(&["one"]));
    let third = exchange(&opened.transcript, "three");
    drop(opened);
    assert_eq!(
        room.resume(&session).loaded.messages,
        spoken(&["one", "three"])
    );
    // The abandoned branch is still there for who knows its messages.
    let lines = lines(&room.place().file(&session));
    let abandoned = lines
        .iter()
        .find(|entry| entry["message"]["content"] == json!([text("I see: two")]));
    let abandoned = MessageUuid::from(abandoned.expect("kept")["uuid"].as_str().expect("an id"));
    assert_eq!(
        room.open(at(&abandoned)).loaded.messages,
        spoken(&["one", "two"])
    );
    assert_eq!(
        room.open(at(&third)).loaded.messages,
        spoken(&["one", "three"])
    );
}

#[test]
fn a_response_that_was_cut_in_the_middle_stays_cut() {
    let room = Room::new();
    let opened = room.open(OpenRequest::default());
    opened.transcript.append(prompt("go"));
    let (said, entry) = block("m", text("I will"));
    opened.transcript.append(entry);
    let (called, entry) = block("m", call("a"));
    opened.transcript.append(entry);
    opened.transcript.append(result("a", &called));
    let session = opened.session.clone();
    drop(opened);
    let opened = room.open(OpenRequest {
        resume_at: Some(said),
        ..resume(&session)
    });
    let mut expect = vec![
        json!({ "role": "user", "content": "go" }),
        json!({ "role": "assistant", "content": [text("I will")] }),
    ];
    assert_eq!(opened.loaded.messages, expect);
    exchange(&opened.transcript, "no");
    drop(opened);
    expect.extend(spoken(&["no"]));
    assert_eq!(room.resume(&session).loaded.messages, expect);
}

#[test]
fn a_call_without_result_is_closed_once_and_for_all() {
    let room = Room::new();
    let opened = room.open(OpenRequest::default());
    opened.transcript.append(prompt("go"));
    let (first, entry) = block("m", call("a"));
    opened.transcript.append(entry);
    let (_, entry) = block("m", call("b"));
    opened.transcript.append(entry);
    opened.transcript.append(result("a", &first));
    let session = opened.session.clone();
    // As after SIGKILL: nothing is flushed or closed.
    drop(opened);
    let closed =
        json!({"type": "tool_result", "tool_use_id": "b", "content": CUT_OFF, "is_error": true});
    let mut expect = vec![
        json!({ "role": "user", "content": "go" }),
        json!({ "role": "assistant", "content": [call("a"), call("b")] }),
        json!({ "role": "user", "content": [answer("a"), closed] }),
    ];
    let opened = room.resume(&session);
    assert_eq!(opened.loaded.messages, expect);
    let size = fs::metadata(room.place().file(&session))
        .expect("there")
        .len();
    drop(opened);
    let opened = room.resume(&session);
    assert_eq!(
        fs::metadata(room.place().file(&session))
            .expect("there")
            .len(),
        size,
        "only a look"
    );
    exchange(&opened.transcript, "and now?");
    drop(opened);
    expect.extend(spoken(&["and now?"]));
    let again = room.resume(&session);
    assert_eq!(again.loaded.messages[..2], expect[..2]);
    assert_eq!(again.loaded.messages[3..], expect[3..]);
    assert_eq!(again.loaded.messages[2]["content"][1]["content"], CUT_OFF);
    let written = lines(&room.place().file(&session));
    let closing = written
        .iter()
        .filter(|entry| entry.to_string().contains(CUT_OFF));
    assert_eq!(closing.count(), 1);
}

#[test]
fn two_writers_are_prevented_and_a_dead_one_is_no_obstacle() {
    let room = Room::new();
    let session = room.session(&["hello"]);
    let first = room.resume(&session);
    let second = room.try_open(resume(&session));
    let Err(error @ OpenError::Busy(_)) = second else {
        panic!("{second:?}")
    };
    assert!(error.to_string().contains(session.as_str()) && error.is_told_in_a_result());
    drop(first);
    exchange(&room.resume(&session).transcript, "again");
}

#[test]
fn two_new_sessions_with_one_id_do_not_share_a_file() {
    let room = Room::new();
    let session_id = Some(new_session());
    let request = || OpenRequest {
        session_id: session_id.clone(),
        ..OpenRequest::default()
    };
    let (first, second) = (room.open(request()), room.open(request()));
    exchange(&first.transcript, "first");
    exchange(&second.transcript, "second");
    assert_eq!(first.transcript.take_warnings(), Vec::<String>::new());
    assert_eq!(second.transcript.take_warnings().len(), 1);
    let path = first.transcript.path().expect("kept");
    assert_eq!(load(&path).expect("readable").messages, spoken(&["first"]));
}

#[test]
fn failures_have_the_words_the_official_sdks_know() {
    let room = Room::new();
    let known = room.session(&["hello"]);
    let strange = SessionId::new("../../etc/passwd");
    let empty = new_session();
    room.write(&empty, "not json\n\n");
    let missing = SessionId::new("cccccccc-aaaa-4aaa-8aaa-aaaaaaaaaaaa");
    let at = MessageUuid::from("bbbbbbbb-aaaa-4aaa-8aaa-aaaaaaaaaaaa");
    let with_id = |id: &SessionId| OpenRequest {
        session_id: Some(id.clone()),
        ..OpenRequest::default()
    };
    let cases = [
        (resume(&missing), format!("No conversation found with session ID: {missing}"), true),
        (resume(&strange), format!("No conversation found with session ID: {strange}"), true),
        (resume(&empty), format!("No conversation found with session ID: {empty}"), true),
        (OpenRequest { resume_at: Some(at.clone()), ..resume(&known) }, format!("No message found with message.uuid of: {at}"), true),
        (with_id(&known), format!("Session ID {known} is already in use."), false),
        (with_id(&strange), "Invalid session ID. Must be a valid UUID.".to_owned(), false),
        (OpenRequest { session_id: Some(missing.clone()), ..resume(&known) }, "--session-id can only be used with --continue or --resume if --fork-session is also specified.".to_owned(), false),
    ];
    for (request, expect, in_a_result) in cases {
        let error = room.try_open(request).expect_err(&expect);
        assert_eq!(error.to_string(), expect);
        assert_eq!(error.is_told_in_a_result(), in_a_result, "{expect}");
    }
    // A failure leaves no lock.
    room.resume(&known);
}

#[test]
fn a_cut_that_drops_more_than_the_named_turn_is_refused() {
    let room = Room::new();
    let session = room.session(&["falcons", "owls", "hawks"]);
    let text = fs::read_to_string(room.place().file(&session)).expect("read");
    let entries = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("json"));
    let of = |kind: &str| -> Vec<String> {
        let entries = entries.clone().filter(|entry| entry["type"] == kind);
        entries
            .map(|entry| entry["uuid"].as_str().expect("uuid").to_owned())
            .collect()
    };
    let (prompts, answers) = (of("user"), of("assistant"));
    let at = |answer: usize, drops: &str| {
        let request = OpenRequest {
            resume_at: Some(MessageUuid::from(answers[answer].as_str())),
            drops_turn: Some(drops.to_owned()),
            fork: Fork::On,
            ..resume(&session)
        };
        let stamp = Stamp::new(
            "1",
            &Environment::default(),
            room.place().file(&session).as_path(),
        );
        Transcript::open(&request, Some(&room.place()), stamp)
    };
    assert_eq!(
        at(1, &prompts[2]).expect("one turn").loaded.messages,
        spoken(&["falcons", "owls"])
    );
    assert!(at(2, &prompts[2]).is_ok(), "nothing is dropped");
    let stranger = new_session();
    for (answer, drops) in [
        (0, prompts[1].as_str()),
        (0, &prompts[2]),
        (1, stranger.as_str()),
        (1, "no uuid"),
    ] {
        let refused = at(answer, drops).expect_err("too much is dropped");
        let said = refused.to_string();
        assert!(
            said.starts_with("Resume rejected by --resume-drops-turn: "),
            "{said}"
        );
        assert!(refused.is_told_in_a_result());
    }
}
