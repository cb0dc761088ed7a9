//! Calls of tools: stopped, left without a result, or known by halves.

use falconer_event::{ActionStatus, Body, Draft, ItemContent};
use serde_json::{Value, json};

use crate::unusual::{all_of, init, result};

fn call(id: &str, parent: Option<&str>) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": parent, "message": {"id": id, "content": [
        {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}}]}})
}

#[test]
fn a_call_that_was_stopped_is_not_told_as_one_that_never_ran() {
    let returned = |text: &str, kind: Option<&str>| {
        json!({"type": "user", "tool_result_meta": [{"id": "t", "non_execution_kind": kind}],
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t",
                "content": text, "is_error": true}]}})
    };
    let cases = [
        ("refused", Some("user-rejected"), ActionStatus::Denied),
        (
            "no rule allows it",
            Some("permission-rule"),
            ActionStatus::Denied,
        ),
        (
            "this call was stopped while running",
            Some("user-rejected"),
            ActionStatus::Aborted,
        ),
        (
            "interrupted while it was running",
            Some("user-rejected"),
            ActionStatus::Aborted,
        ),
        ("not now", Some("cancelled"), ActionStatus::Aborted),
        ("it was stopped while running", None, ActionStatus::Failed),
    ];
    for (text, kind, expected) in cases {
        let drafts = all_of(&[init(), call("t", None), returned(text, kind), result(0.0)]);
        assert_eq!(ends(&drafts), [("t".to_owned(), expected)], "{text}");
    }
}

/// Programs write warnings to stderr and succeed.
#[test]
fn a_call_that_wrote_to_stderr_and_succeeded_did_not_fail() {
    let cases = [(false, ActionStatus::Ok), (true, ActionStatus::Failed)];
    for (is_error, expected) in cases {
        let returned = json!({"type": "user",
            "tool_use_result": {"stdout": "made", "stderr": "warning: old", "interrupted": false},
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t",
                "content": "made\nwarning: old", "is_error": is_error}]}});
        let drafts = all_of(&[init(), call("t", None), returned, result(0.0)]);
        assert_eq!(ends(&drafts), [("t".to_owned(), expected)], "{is_error}");
    }
}

fn ends(drafts: &[Draft]) -> Vec<(String, ActionStatus)> {
    let ends = drafts.iter().filter_map(|draft| match &draft.body {
        Body::ItemCompleted(item) => match &item.content {
            ItemContent::Action(action) => Some((item.id.to_string(), action.status)),
            _ => None,
        },
        _ => None,
    });
    ends.collect()
}

/// In the shape of the API, which is what engines pass on.
#[test]
fn images_of_a_result_are_told_beside_its_text_and_older_events_have_none() {
    let image = |data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
    let blocks = json!([{"type": "text", "text": "two"}, image("iVBORw0KGgo="), image("PGh0bWw+")]);
    let returned = json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t", "content": blocks}]}});
    let drafts = all_of(&[init(), call("t", None), returned, result(0.0)]);
    let action = drafts.iter().find_map(|draft| match &draft.body {
        Body::ItemCompleted(item) => match &item.content {
            ItemContent::Action(action) => Some(action),
            _ => None,
        },
        _ => None,
    });
    let action = action.unwrap();
    let text = &action.result.as_ref().unwrap().text;
    let notes = "two\n[image, 8 B]\n[image, 6 B, not shown: no PNG, JPEG, GIF or WebP]";
    assert_eq!(text, notes);
    let [image] = action.images.as_slice() else {
        panic!("{:?}", action.images)
    };
    let told = (image.media_type.as_str(), image.bytes, &image.id);
    assert_eq!(told, ("image/png", 8, &None));
    assert_eq!(image.data.as_deref(), Some(&b"\x89PNG\r\n\x1a\n"[..]));

    let mut stored = serde_json::to_value(action).unwrap();
    assert_eq!(
        stored["images"],
        json!([{"media_type": "image/png", "bytes": 8}])
    );
    stored.as_object_mut().unwrap().remove("images");
    let older: falconer_event::Action = serde_json::from_value(stored).unwrap();
    assert_eq!((older.images.len(), &older.result), (0, &action.result));
}

#[test]
fn calls_without_a_result_end_with_their_turn_but_not_those_in_the_background() {
    let lines = [
        init(),
        call("waiting", None),
        call("of the waiting one", Some("waiting")),
        call("in the background", Some("elsewhere")),
        result(0.0),
    ];
    let drafts = all_of(&lines);
    let aborted = |id: &str| (id.to_owned(), ActionStatus::Aborted);
    let order = ["waiting", "of the waiting one", "in the background"].map(aborted);
    assert_eq!(ends(&drafts), order);
    let at = |wanted: fn(&Draft) -> bool| drafts.iter().position(wanted).unwrap();
    let turn_over = at(|draft| matches!(draft.body, Body::TurnCompleted(_)));
    let background = at(
        |draft| matches!(&draft.body, Body::ItemCompleted(item) if item.id.as_str() == "in the background"),
    );
    assert!(turn_over < background, "it goes on after the turn");
}

#[test]
fn signs_of_life_results_and_summaries_without_a_call_are_neither_lost_nor_doubled() {
    let progress = json!({"type": "tool_progress", "tool_use_id": "early", "tool_name": "Bash",
        "elapsed_time_seconds": 3});
    let returned = |id: &str| {
        json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": "out"}]}})
    };
    let lines = [
        init(),
        // Before the call is complete.
        progress.clone(),
        call("early", None),
        progress,
        returned("early"),
        returned("early"),
        // Nobody has seen the call.
        returned("unseen"),
        json!({"type": "tool_use_summary", "summary": "did things"}),
        result(0.0),
    ];
    let drafts = all_of(&lines);
    let ok = |id: &str| (id.to_owned(), ActionStatus::Ok);
    assert_eq!(ends(&drafts), [ok("early"), ok("unseen")]);
    let begun = drafts.iter().filter_map(|draft| match &draft.body {
        Body::ItemStarted(item) => Some(item.id.as_str()),
        _ => None,
    });
    assert_eq!(begun.collect::<Vec<_>>(), ["early"]);
    let title = drafts.iter().find_map(|draft| match &draft.body {
        Body::ItemCompleted(item) => match &item.content {
            ItemContent::Action(action) => Some(action.title.as_str()),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(title, Some("ls"), "the call itself says what it does");
    let summaries = drafts.iter().filter(|draft| {
        matches!(&draft.body, Body::ItemCompleted(item)
            if matches!(&item.content, ItemContent::Summary { text, of }
                if text == "did things" && of.is_empty()))
    });
    assert_eq!(summaries.count(), 1);
}
