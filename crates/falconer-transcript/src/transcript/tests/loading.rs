//! Reading transcripts that others wrote, or that something happened to.

use super::*;
use crate::transcript::load::{Loaded, load};

fn load_lines(lines: &str) -> Loaded {
    let room = Room::new();
    load(&room.write(&new_session(), lines)).expect("readable")
}

fn jsonl(entries: &[Value]) -> String {
    entries.iter().map(|entry| format!("{entry}\n")).collect()
}

fn user(uuid: &str, parent: Option<&str>, said: &str) -> Value {
    json!({ "type": "user", "uuid": uuid, "parentUuid": parent, "message": { "role": "user", "content": said } })
}

fn assistant(uuid: &str, parent: &str, response: &str, block: &Value) -> Value {
    json!({ "type": "assistant", "uuid": uuid, "parentUuid": parent,
        "message": { "id": response, "role": "assistant", "content": [block] } })
}

fn real(number: char) -> PathBuf {
    let fixtures =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../falconer/tests/fixtures/sessions/real");
    let some = |count| number.to_string().repeat(count);
    let id = format!(
        "{}-{}-4{}-8{}-{}",
        some(8),
        some(4),
        some(3),
        some(3),
        some(12)
    );
    fixtures.join(format!("projects/-home-user-web-app/{id}.jsonl"))
}

#[test]
fn sessions_of_the_official_cli_are_read() {
    let shape = |messages: &[Value]| -> Vec<String> {
        let kinds = |message: &Value| match &message["content"] {
            Value::String(text) => text.clone(),
            content => {
                let blocks = content.as_array().expect("blocks").iter();
                let name = |block: &Value| {
                    let id = block
                        .get("tool_use_id")
                        .or(block.get("id"))
                        .or(block.get("text"));
                    id.and_then(Value::as_str).unwrap_or("?").to_owned()
                };
                blocks.map(name).collect::<Vec<_>>().join(" ")
            }
        };
        let shown = messages.iter().map(|message| {
            format!(
                "{}: {}",
                message["role"].as_str().expect("a role"),
                kinds(message)
            )
        });
        shown.collect()
    };
    let parallel = load(&real('1')).expect("readable");
    let expect = [
        "user: Please count PARALLEL things",
        "assistant: running three toolu_1_0 toolu_1_1 toolu_1_2",
        "user: toolu_1_0 toolu_1_1 toolu_1_2",
        "assistant: Answer 2: done.",
    ];
    assert_eq!(shape(&parallel.messages), expect);
    assert_eq!(parallel.warnings, Vec::<String>::new());
    let compacted = load(&real('3')).expect("readable");
    let expect = [
        "user: (summary of the conversation so far)",
        "assistant: Answer 9: done.",
        "user: <local-command-caveat>(text)</local-command-caveat>",
        "user: <command-name>/compact</command-name>",
        "user: <local-command-stdout>Compacted </local-command-stdout>",
        "user: after the compaction",
        "assistant: Answer 11: done.",
    ];
    assert_eq!(shape(&compacted.messages), expect);
    let with_agent = load(&real('2')).expect("readable");
    let expect = [
        "user: Please SUBAGENT it",
        "assistant: toolu_3_a",
        "user: toolu_3_a",
        "assistant: Answer 6: done.",
    ];
    assert_eq!(shape(&with_agent.messages), expect);
}

#[test]
fn damaged_and_strange_lines_cost_only_themselves() {
    let mut lines = jsonl(&[user("1", None, "hello")]);
    lines.push_str("not json\n[1,2]\n\"text\"\n{\"type\":5}\n{}\n\u{0}\n");
    lines.push_str(&"[".repeat(100_000));
    lines.push('\n');
    lines.push_str(&jsonl(&[
        json!({ "type": "from-the-future", "uuid": "f", "parentUuid": "1" }),
        assistant("2", "1", "m", &text("hi")),
    ]));
    lines.push_str(
        "{\"type\":\"user\",\"uuid\":\"3\",\"parentUuid\":\"2\",\"message\":{\"content\":\"cut of",
    );
    let loaded = load_lines(&lines);
    let expect = [
        json!({ "role": "user", "content": "hello" }),
        json!({ "role": "assistant", "content": [text("hi")] }),
    ];
    assert_eq!(loaded.messages, expect);
    assert_eq!(loaded.warnings.len(), 1);
    assert!(loaded.warnings[0].contains('6'), "{:?}", loaded.warnings);
    assert_eq!(loaded.leaf, Some("2".into()));
}

#[test]
fn a_line_that_was_cut_does_not_swallow_the_next_one() {
    let room = Room::new();
    let session = new_session();
    let path = room.write(
        &session,
        &format!("{}{{\"type\":\"us", jsonl(&[user("1", None, "hello")])),
    );
    let opened = room.resume(&session);
    opened.transcript.append(prompt("again"));
    let loaded = load(&path).expect("readable");
    let said: Vec<&Value> = loaded
        .messages
        .iter()
        .map(|message| &message["content"])
        .collect();
    assert_eq!(said, ["hello", "again"]);
}

#[test]
fn fields_of_any_shape_are_survived() {
    let shapes = [
        json!(null),
        json!(5),
        json!("x"),
        json!([]),
        json!([null, 5, "x", {}]),
        json!({"content": 7}),
        json!({"id": 7, "content": [{"type": 3}, {"type": "tool_use"}, {"type": "tool_result"}]}),
    ];
    let kinds = ["user", "assistant", "attachment", "system"];
    for (kind, shape) in kinds
        .iter()
        .flat_map(|kind| shapes.iter().map(move |shape| (kind, shape)))
    {
        let odd = json!({ "type": kind, "uuid": "2", "parentUuid": "1", "message": shape,
            "attachment": shape, "compactMetadata": shape, "subtype": "compact_boundary" });
        let lines = jsonl(&[
            user("1", None, "hello"),
            odd,
            assistant("3", "2", "m", &text("hi")),
        ]);
        let loaded = load_lines(&lines);
        assert_eq!(loaded.messages[0]["content"], "hello", "{kind} {shape}");
        assert_eq!(
            loaded.messages.last().expect("some")["content"],
            json!([text("hi")]),
            "{kind} {shape}"
        );
    }
}

#[test]
fn loops_of_parents_end() {
    let a = user("a", Some("b"), "a");
    let b = user("b", Some("a"), "b");
    let own = user("c", Some("c"), "c");
    assert_eq!(
        load_lines(&jsonl(&[a.clone(), b.clone()])).messages.len(),
        2
    );
    assert_eq!(load_lines(&jsonl(&[own])).messages.len(), 1);
    let leaf = assistant("d", "a", "m", &text("out"));
    assert_eq!(load_lines(&jsonl(&[a, b, leaf])).messages.len(), 3);
}

#[test]
fn what_is_not_the_models_or_not_sendable_is_left_out() {
    let mut error = assistant("2", "1", "e", &text("API Error"));
    error["isApiErrorMessage"] = json!(true);
    let mut synthetic = assistant("3", "2", "s", &text("No response requested."));
    synthetic["message"]["model"] = json!("<synthetic>");
    let mut side = user("4", Some("3"), "inside a sub-agent");
    side["isSidechain"] = json!(true);
    let mut shown = user("5", Some("4"), "for the screen");
    shown["isVisibleInTranscriptOnly"] = json!(true);
    let mut meta = user("6", Some("5"), "for the model");
    meta["isMeta"] = json!(true);
    let signed = json!({ "type": "thinking", "thinking": "hm", "signature": "s", "new_field": 1 });
    let lines = jsonl(&[
        user("1", None, "hello"),
        error,
        synthetic,
        side,
        shown,
        meta,
        assistant(
            "7",
            "6",
            "m",
            &json!({ "type": "thinking", "thinking": "cut", "signature": "" }),
        ),
        assistant("8", "7", "m", &text("")),
        assistant("9", "8", "m", &signed),
        assistant(
            "10",
            "9",
            "m",
            &json!({ "type": "block_of_the_future", "x": 1 }),
        ),
    ]);
    let expect = [
        json!({ "role": "user", "content": "hello" }),
        json!({ "role": "user", "content": "for the model" }),
        json!({ "role": "assistant", "content": [signed, { "type": "block_of_the_future", "x": 1 }] }),
    ];
    assert_eq!(load_lines(&lines).messages, expect);
}

#[test]
fn responses_with_the_same_id_stay_apart() {
    // Scripted servers count from one in every run.
    let lines = jsonl(&[
        user("1", None, "one"),
        assistant("2", "1", "m", &text("first")),
        user("3", Some("2"), "two"),
        assistant("4", "3", "m", &text("second")),
    ]);
    assert_eq!(load_lines(&lines).messages.len(), 4);
}

#[test]
fn results_without_a_call_are_left_out_with_a_warning() {
    let mut stray = user("2", Some("1"), "");
    stray["message"]["content"] = json!([answer("nobody")]);
    let loaded = load_lines(&jsonl(&[user("1", None, "hello"), stray]));
    assert_eq!(
        loaded.messages,
        [json!({ "role": "user", "content": "hello" })]
    );
    assert_eq!(loaded.warnings.len(), 1);
}
