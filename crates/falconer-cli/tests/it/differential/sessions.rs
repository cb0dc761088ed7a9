//! Sessions on disk: kept, resumed, forked.

use std::collections::{BTreeMap, BTreeSet};

use falconer_testkit::scenario::{Scenario, text, tool_use};
use serde_json::{Value, json};

use super::stage::{self, Engine};
use super::{Case, all_same};

const ID: &str = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";

fn two(_: &std::path::Path) -> Scenario {
    Scenario::new().turn(text("one")).turn(text("two"))
}

fn first() -> Case {
    Case::one_shot("first", &[&format!("--session-id={ID}")], two)
}

fn then(args: &[&str]) -> Case {
    Case::one_shot("second", args, two).after(first())
}

#[test]
fn a_session_is_resumed() {
    then(&[&format!("--resume={ID}")]).same();
}

#[test]
fn the_last_session_is_continued() {
    then(&["--continue"]).same();
}

#[test]
fn without_a_last_session_a_new_one_begins() {
    Case::one_shot("hi", &["--continue"], |_| Scenario::new().turn(text("one"))).same();
}

#[test]
fn a_session_is_forked() {
    then(&[&format!("--resume={ID}"), "--fork-session"]).same();
}

#[test]
fn an_id_that_is_taken() {
    then(&[&format!("--session-id={ID}")]).same();
}

#[test]
fn an_id_beside_a_session_to_resume() {
    then(&[
        &format!("--resume={ID}"),
        "--session-id=dddddddd-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
    ])
    .same();
}

#[test]
fn a_fork_with_an_id() {
    then(&[
        &format!("--resume={ID}"),
        "--fork-session",
        "--session-id=dddddddd-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
    ])
    .same();
}

#[test]
fn a_place_that_is_not_in_the_session() {
    then(&[
        &format!("--resume={ID}"),
        "--fork-session",
        "--resume-session-at=bbbbbbbb-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
    ])
    .same();
}

#[test]
fn nothing_is_kept_on_request() {
    Case::bidi(|_| Scenario::new().turn(text("Hello.")))
        .args(["--no-session-persistence"])
        .hello(json!({}))
        .say("hi")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_conversation_is_cleared() {
    Case::bidi(two)
        .hello(json!({}))
        .say("first")
        .until("result")
        .say("/clear")
        .until("result")
        .say("second")
        .until("result")
        .eof()
        .same();
}

/// The kinds of entries in the session files of a run, each with the fields it may have.
fn entries(engine: Engine) -> BTreeMap<String, BTreeSet<String>> {
    let call = json!({"command": "echo one", "description": "one"});
    let scenario = move |_: &std::path::Path| {
        let scenario = Scenario::new().turn(tool_use("Bash", call.clone()));
        scenario.turn(text("one")).turn(text("two"))
    };
    let talk = Case::bidi(scenario)
        .args(["--allowedTools=Bash", "--name=a session"])
        .hello(json!({}));
    let talk = ["first", "/cost", "/clear", "second"]
        .iter()
        .fold(talk, |case, prompt| case.say(prompt).until("result"));
    let mut kinds: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let files = stage::transcripts(&talk.eof(), engine);
    assert_eq!(files.len(), 2, "/clear begins a new file");
    for file in files {
        for line in file.lines() {
            let entry: Value = serde_json::from_str(line).unwrap();
            let kind = format!("{} {}", entry["type"], entry["subtype"]);
            let fields = entry.as_object().unwrap().keys().cloned();
            kinds.entry(kind).or_default().extend(fields);
        }
    }
    kinds
}

/// Programs that read the CLI's session files find nothing in ours that they have not seen.
#[test]
fn session_files_hold_only_entries_that_the_official_cli_writes() {
    let (official, ours) = (entries(Engine::Official), entries(Engine::Ours));
    for (kind, fields) in ours {
        let known = official.get(&kind).unwrap_or_else(|| panic!("{kind}"));
        let unknown: Vec<_> = fields.difference(known).collect();
        assert_eq!(unknown, Vec::<&String>::new(), "{kind}");
    }
}

/// The branches that entries name, in a project whose checked-out branch is this.
fn branches(engine: Engine, head: &str) -> BTreeSet<String> {
    let case = Case::one_shot("hi", &[], |_| Scenario::new().turn(text("one")))
        .file(".git/objects/keep", "")
        .file(".git/refs/heads/keep", "")
        .file(".git/HEAD", format!("{head}\n"));
    let files = stage::transcripts(&case, engine);
    let lines = files.iter().flat_map(|file| file.lines());
    let entries = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries
        .filter_map(|entry| Some(entry["gitBranch"].as_str()?.to_owned()))
        .collect()
}

#[test]
fn entries_name_the_branch_as_the_official_cli_does() {
    let heads = [
        "ref: refs/heads/feature/x",
        "ref: refs/heads/.x",
        "ref: refs/heads/a..b",
        "ref: refs/heads/a;b",
        "ref: refs/tags/x",
        "0123456789012345678901234567890123456789",
    ];
    for head in heads {
        assert_eq!(
            branches(Engine::Ours, head),
            branches(Engine::Official, head),
            "{head}"
        );
    }
}

fn three(_: &std::path::Path) -> Scenario {
    let scenario = Scenario::new().turn(text("one")).turn(text("two"));
    scenario.turn(text("three"))
}

/// Two turns, then the session is resumed after the first.
fn cut(args: &[&str]) -> Case {
    let before = Case::bidi(three)
        .args([format!("--session-id={ID}").as_str()])
        .hello(json!({}))
        .say("first")
        .until("result")
        .say("second")
        .until("result")
        .eof();
    Case::one_shot("third", args, three).after(before)
}

#[test]
fn a_session_is_resumed_at_a_place() {
    cut(&[&format!("--resume={ID}"), "--resume-session-at=<answer>"]).same();
}

#[test]
fn a_session_is_forked_at_a_place() {
    cut(&[
        &format!("--resume={ID}"),
        "--fork-session",
        "--resume-session-at=<answer>",
    ])
    .same();
}

#[test]
fn flags_that_need_each_other() {
    all_same(
        [
            vec!["--fork-session"],
            vec!["--resume-session-at=bbbbbbbb-aaaa-4aaa-8aaa-aaaaaaaaaaaa"],
            vec!["--continue", "--fork-session"],
            vec!["--resume=not-an-id"],
            vec!["--resume="],
        ]
        .map(|args| Case::one_shot("hi", &args, |_| Scenario::new().turn(text("one")))),
    );
}

#[test]
fn a_session_that_was_not_kept_is_not_there() {
    let before = Case::one_shot(
        "first",
        &[&format!("--session-id={ID}"), "--no-session-persistence"],
        two,
    );
    Case::one_shot("second", &[&format!("--resume={ID}")], two)
        .after(before)
        .same();
}

#[test]
fn a_session_goes_on_in_a_conversation() {
    Case::bidi(three)
        .args([format!("--resume={ID}").as_str()])
        .hello(json!({}))
        .say("second")
        .until("result")
        .say("third")
        .until("result")
        .eof()
        .after(first())
        .same();
}

#[test]
fn a_session_with_a_name() {
    for name in ["a name", "", "two\nlines"] {
        Case::bidi(|_| Scenario::new().turn(text("done")))
            .args([format!("--name={name}").as_str()])
            .hello(json!({}))
            .say("go")
            .until("result")
            .eof()
            .same();
    }
}
