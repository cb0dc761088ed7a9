//! Sessions on disk: kept, resumed, forked.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use falconer_testkit::scenario::{Scenario, text, tool_use};
use serde_json::{Value, json};

use super::stage::{self, Engine};
use super::{Case, all_same};

const ID: &str = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";

fn two(_: &Path) -> Scenario {
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

#[test]
fn a_conversation_with_a_name_is_cleared() {
    Case::bidi(two)
        .args(["--name=a session"])
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

/// The titles in each session file of a conversation with a name that was cleared.
fn titles(engine: Engine) -> Vec<Vec<(String, String)>> {
    let talk = Case::bidi(two).args(["--name=a session"]).hello(json!({}));
    let talk = ["first", "/clear", "second"]
        .iter()
        .fold(talk, |case, prompt| case.say(prompt).until("result"));
    let mut files: Vec<Vec<(String, String)>> = Vec::new();
    for file in stage::transcripts(&talk.eof(), engine) {
        let entries = file
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let title = |entry: Value| {
            let kind = entry["type"].as_str()?.to_owned();
            let title = entry
                .get("customTitle")
                .or(entry.get("aiTitle"))?
                .as_str()?;
            Some((kind, title.to_owned()))
        };
        let mut titles: Vec<_> = entries.filter_map(title).collect();
        titles.dedup();
        files.push(titles);
    }
    files.sort();
    files
}

#[test]
fn the_name_of_a_conversation_is_kept_as_the_official_cli_keeps_it() {
    assert_eq!(titles(Engine::Ours), titles(Engine::Official));
}

/// A conversation with a name, a tool, a command and a new beginning.
fn named_and_cleared() -> Case {
    let call = json!({"command": "echo one", "description": "one"});
    let scenario = move |_: &Path| {
        let scenario = Scenario::new().turn(tool_use("Bash", call.clone()));
        scenario.turn(text("one")).turn(text("two"))
    };
    let talk = Case::bidi(scenario)
        .args(["--allowedTools=Bash", "--name=a session"])
        .hello(json!({}));
    let talk = ["first", "/cost", "/clear", "second"]
        .iter()
        .fold(talk, |case, prompt| case.say(prompt).until("result"));
    talk.eof()
}

/// What a session function of an official SDK answers about the files of a run.
fn asked(program: &str, driver: &str, root: &Path, call: &str, argument: &Value) -> Value {
    let drivers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../falconer/tests/fixtures/sessions");
    let mut child = Command::new(program)
        .arg(drivers.join(driver))
        .env("CLAUDE_CONFIG_DIR", root.join("home/.claude"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let request = json!({"call": call, "args": [argument]});
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{request}").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer.get("error").is_none(), "{answer}");
    answer["ok"].clone()
}

/// The sessions that the official SDKs find in the files of an engine: titles, first prompts and
/// answers.
fn found_by_sdks(engine: Engine) -> BTreeSet<String> {
    let root = stage::kept(&named_and_cleared(), engine);
    let root = root.path().canonicalize().unwrap();
    let project = json!(root.join("project"));
    let node = std::env::var("FALCONER_NODE").expect("FALCONER_NODE is set");
    let python = std::env::var("FALCONER_PYTHON").expect("FALCONER_PYTHON is set");
    let typescript = [
        "listSessions",
        "getSessionMessages",
        "sessionId",
        "customTitle",
        "firstPrompt",
    ];
    let names = [
        "list_sessions",
        "get_session_messages",
        "session_id",
        "custom_title",
        "first_prompt",
    ];
    let mut found = BTreeSet::new();
    for (program, driver, [list, messages, id, title, first], place) in [
        (&node, "official.mjs", typescript, json!({"dir": project})),
        (&python, "official.py", names, project.clone()),
    ] {
        let sessions = asked(program, driver, &root, list, &place);
        for session in sessions.as_array().unwrap() {
            let said = asked(program, driver, &root, messages, &session[id]);
            let answers = said.as_array().unwrap().iter();
            // The official CLI keeps commands as messages of the user, which ours does not.
            let answers = answers.filter(|message| message["type"] == "assistant");
            let answers = answers.count();
            let (title, first) = (&session[title], &session[first]);
            let summary = &session["summary"];
            found.insert(format!("{driver}: {title} {summary} {first} {answers}"));
        }
    }
    found
}

/// Programs that read the CLI's session files read ours as well.
#[test]
fn the_official_sdks_read_our_session_files_as_those_of_the_official_cli() {
    let found = found_by_sdks(Engine::Ours);
    assert_eq!(found.len(), 4, "{found:#?}");
    assert_eq!(found, found_by_sdks(Engine::Official));
}

/// The kinds of entries in the session files of a run, each with the fields it may have.
fn entries(engine: Engine) -> BTreeMap<String, BTreeSet<String>> {
    let talk = named_and_cleared();
    let mut kinds: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let files = stage::transcripts(&talk, engine);
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

/// The entries that the documentation says are missing in our files.
#[test]
fn the_entries_that_session_files_lack_are_documented() {
    let (official, ours) = (entries(Engine::Official), entries(Engine::Ours));
    let lacking = official.keys().filter(|kind| !ours.contains_key(*kind));
    let lacking: Vec<String> = lacking.map(|kind| kind.replace(" null", "")).collect();
    let names: Vec<String> = lacking
        .iter()
        .map(|kind| format!("`{}`", kind.replace('"', "")))
        .collect();
    let documented = include_str!("../../../../../docs/differences.md");
    let row = documented
        .lines()
        .find(|line| line.starts_with("| entries of a session file"));
    assert_eq!(
        row.unwrap_or_default()
            .split('|')
            .nth(2)
            .unwrap_or_default()
            .trim(),
        names.join(", ")
    );
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

fn three(_: &Path) -> Scenario {
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
