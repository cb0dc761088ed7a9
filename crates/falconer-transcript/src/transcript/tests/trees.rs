//! Random trees of entries: whatever is in the file, the API gets a conversation it accepts.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::transcript::load;

/// What an entry is, and which earlier (or later, or no) entry it names as its parent.
#[derive(Debug, Clone)]
struct Odd {
    kind: usize,
    parent: usize,
    response: usize,
    call: usize,
}

fn odd() -> impl Strategy<Value = Odd> {
    (0_usize..12, 0_usize..40, 0_usize..3, 0_usize..4).prop_map(|(kind, parent, response, call)| {
        Odd {
            kind,
            parent,
            response,
            call,
        }
    })
}

fn entry(at: usize, odd: &Odd) -> Value {
    // Mostly the entry before; sometimes any, a later one or one that does not exist.
    let parent = if odd.parent < 25 {
        at.checked_sub(1)
    } else {
        Some(odd.parent - 25)
    };
    let parent = parent.map(|parent| format!("u{parent}"));
    let id = format!("t{}", odd.call);
    let assistant =
        |block: Value| json!({ "id": format!("m{}", odd.response), "content": [block] });
    let (kind, message) = match odd.kind {
        0..=2 => ("user", json!({ "content": format!("said {at}") })),
        3 | 4 => ("assistant", assistant(text(&format!("text {at}")))),
        5..=7 => ("assistant", assistant(call(&id))),
        8 | 9 => ("user", json!({ "content": [answer(&id)] })),
        10 => ("attachment", Value::Null),
        _ => ("system", Value::Null),
    };
    let mut entry =
        json!({ "type": kind, "uuid": format!("u{at}"), "parentUuid": parent, "message": message });
    if odd.kind == 11 && odd.call == 0 {
        entry["subtype"] = json!("compact_boundary");
        entry["compactMetadata"] = json!({ "preservedSegment": {
            "headUuid": format!("u{}", odd.response), "anchorUuid": format!("u{}", at + 1), "tailUuid": format!("u{}", at.saturating_sub(1)) } });
    }
    if odd.kind == 2 && odd.call == 0 {
        entry["isSidechain"] = json!(true);
    }
    entry
}

fn ids<'a>(message: Option<&'a Value>, kind: &str, id: &str) -> Vec<&'a str> {
    let blocks = message.and_then(|message| message["content"].as_array());
    let blocks = blocks
        .into_iter()
        .flatten()
        .filter(|block| block["type"] == kind);
    blocks.filter_map(|block| block[id].as_str()).collect()
}

/// Every call is answered by the next message, in order, and nothing else is.
fn check_accepted(messages: &[Value]) {
    for (at, message) in messages.iter().enumerate() {
        let content = &message["content"];
        assert!(
            content.as_str().is_some_and(|text| !text.is_empty())
                || content.as_array().is_some_and(|blocks| !blocks.is_empty()),
            "empty: {message}"
        );
        let calls = ids(Some(message), "tool_use", "id");
        let unique: HashSet<_> = calls.iter().collect();
        assert_eq!(unique.len(), calls.len(), "a call twice in {message}");
        if message["role"] == "assistant" {
            assert_eq!(
                ids(messages.get(at + 1), "tool_result", "tool_use_id"),
                calls
            );
        } else {
            let before = at.checked_sub(1).map(|before| &messages[before]);
            let before = before.filter(|before| before["role"] == "assistant");
            assert_eq!(
                ids(Some(message), "tool_result", "tool_use_id"),
                ids(before, "tool_use", "id")
            );
        }
    }
}

/// A session is taken up, something is said, and nothing that was known is lost.
fn check_goes_on(odds: &[Odd]) {
    let room = Room::new();
    let session = new_session();
    let entries: Vec<Value> = odds
        .iter()
        .enumerate()
        .map(|(at, odd)| entry(at, odd))
        .collect();
    let lines: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
    let path = room.write(&session, &lines);
    let before = load(&path).expect("readable");
    check_accepted(&before.messages);
    let Ok(opened) = room.try_open(resume(&session)) else {
        assert!(before.leaf.is_none());
        return;
    };
    exchange(&opened.transcript, "what was said last");
    let after = load(&path).expect("readable");
    check_accepted(&after.messages);
    let last = spoken(&["what was said last"]);
    assert_eq!(after.messages[after.messages.len() - 2..], last);
    // What was known before is still known. Where a loop begins is anybody's guess.
    let looks_back = |(at, odd): (usize, &Odd)| odd.parent < 25 || odd.parent - 25 < at;
    if odds.iter().enumerate().all(looks_back) {
        assert_eq!(after.messages.len(), before.messages.len() + 2);
    }
    // Every message can be resumed at.
    let is_said = |entry: &&Value| entry["type"] == "user" || entry["type"] == "assistant";
    let of_main = |entry: &&Value| entry["isSidechain"] != true;
    drop(opened);
    for entry in entries.iter().filter(is_said).filter(of_main) {
        let at = MessageUuid::from(entry["uuid"].as_str().expect("an id"));
        let opened = room.open(OpenRequest {
            resume_at: Some(at),
            ..resume(&session)
        });
        check_accepted(&opened.loaded.messages);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_tree_becomes_a_conversation_that_goes_on(odds in prop::collection::vec(odd(), 1..30)) {
        check_goes_on(&odds);
    }
}

const SAID: usize = 0;
const TEXT: usize = 3;
const CALL: usize = 5;
const RESULT: usize = 8;
const BOUNDARY: usize = 11;
/// The parent is the first entry, not the one before.
const ON_FIRST: usize = 25;

fn odds<const N: usize>(odds: [(usize, usize, usize, usize); N]) -> [Odd; N] {
    odds.map(|(kind, parent, response, call)| Odd {
        kind,
        parent,
        response,
        call,
    })
}

#[test]
fn what_is_before_a_summary_already_is_not_moved_behind_it() {
    check_goes_on(&odds([
        (TEXT, 0, 1, 0),
        (BOUNDARY, 0, 0, 0),
        (TEXT, 0, 1, 0),
    ]));
    check_goes_on(&odds([
        (TEXT, 0, 1, 0),
        (CALL, 0, 2, 0),
        (TEXT, 0, 2, 0),
        (BOUNDARY, 0, 0, 0),
        (SAID, ON_FIRST + 2, 0, 0),
        (RESULT, 0, 0, 1),
    ]));
}

#[test]
fn calls_beside_the_last_block_are_not_cut_off_by_what_follows() {
    check_goes_on(&odds([
        (TEXT, 0, 0, 0),
        (RESULT, 0, 0, 1),
        (CALL, ON_FIRST, 0, 1),
        (TEXT, ON_FIRST, 0, 0),
    ]));
}
