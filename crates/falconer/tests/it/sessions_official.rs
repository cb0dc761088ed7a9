//! The session functions against those of the official SDKs on the same files.
//!
//! Needs `FALCONER_TS_SDK`, the directory of the npm package
//! `@anthropic-ai/claude-agent-sdk`, with `node` on the `PATH`, and `FALCONER_PYTHON`, a
//! Python with `claude-agent-sdk`. Without them these tests fail: what is not compared is
//! not known to be equal.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use falconer::mirror::{SessionKey, SessionStoreEntry, fold_session_summary};
use falconer::sessions::{
    ForkOptions, ListOptions, Programmatic, SessionId, Sessions, SystemMessages, project_key,
};
use serde_json::{Map, Value, json};

use crate::sessions::{copy_real, fixtures, id, transcript, user};

/// One of the official SDKs, run on a configuration directory.
struct Official {
    program: PathBuf,
    driver: &'static str,
}

impl Official {
    fn typescript() -> Self {
        required(
            "FALCONER_TS_SDK",
            "the directory of the npm package @anthropic-ai/claude-agent-sdk",
        );
        Self {
            program: "node".into(),
            driver: "official.mjs",
        }
    }

    fn python() -> Self {
        let what = "a Python interpreter that has the package claude-agent-sdk";
        Self {
            program: required("FALCONER_PYTHON", what).into(),
            driver: "official.py",
        }
    }

    /// Runs all calls in one process.
    fn calls(&self, config_dir: &Path, calls: &[Value]) -> Vec<Value> {
        let mut child = Command::new(&self.program)
            .arg(fixtures().join(self.driver))
            .env("CLAUDE_CONFIG_DIR", config_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {:?}: {error}", self.program));
        let mut input = child.stdin.take().expect("piped");
        let text: String = calls.iter().map(|call| format!("{call}\n")).collect();
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
        let output = child.wait_with_output().expect("output");
        writer
            .join()
            .expect("no panic")
            .expect("the SDK reads its input");
        assert!(output.status.success(), "the official SDK failed");
        let answers = String::from_utf8(output.stdout).expect("UTF-8");
        let answers: Vec<Value> = answers
            .split('\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(answers.len(), calls.len());
        answers
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "arguments are made for the call"
    )]
    fn call(&self, config_dir: &Path, call: &str, args: Value) -> Value {
        let request = json!({"call": call, "args": args});
        let answer = self.calls(config_dir, &[request]).remove(0);
        assert!(answer.get("error").is_none(), "{call} failed: {answer}");
        answer["ok"].clone()
    }
}

fn required(name: &str, what: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("set {name} to {what} to run this test"))
}

/// Our list in the official shape.
fn our_list(config_dir: &Path, options: &ListOptions) -> Value {
    serde_json::to_value(Sessions::open(config_dir).list(options)).expect("serializable")
}

/// The official fields of messages; newer ones are not part of the published type.
fn published(messages: &Value) -> Vec<Value> {
    const FIELDS: [&str; 6] = [
        "type",
        "uuid",
        "session_id",
        "message",
        "parent_tool_use_id",
        "parent_agent_id",
    ];
    let messages = messages.as_array().expect("a list of messages");
    let kept = |message: &Value| -> Map<String, Value> {
        let fields = FIELDS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), message.get(*name)?.clone())));
        fields.collect()
    };
    messages
        .iter()
        .map(|message| Value::Object(kept(message)))
        .collect()
}

fn our_messages(config_dir: &Path, id: &SessionId, system: SystemMessages) -> Vec<Value> {
    let messages = Sessions::open(config_dir)
        .messages(id, system)
        .expect("a transcript");
    let messages: Vec<_> = messages.map(|message| message.expect("readable")).collect();
    published(&serde_json::to_value(messages).expect("serializable"))
}

fn by_id(list: &Value) -> Map<String, Value> {
    let list = list.as_array().expect("a list of sessions");
    list.iter()
        .map(|info| {
            (
                info["sessionId"].as_str().expect("an id").to_owned(),
                info.clone(),
            )
        })
        .collect()
}

#[test]
fn lists_equal_the_typescript_function() {
    let config = tempfile::tempdir().expect("temp dir");
    let names = write_list_cases(config.path());
    let official = Official::typescript();
    let answers = official.calls(
        config.path(),
        &[
            json!({"call": "listSessions", "args": [{}]}),
            json!({"call": "listSessions", "args": [{"includeProgrammatic": false}]}),
            json!({"call": "listSessions", "args": [{"limit": 7, "offset": 5}]}),
        ],
    );
    let (theirs, ours) = (
        by_id(&answers[0]["ok"]),
        by_id(&our_list(config.path(), &ListOptions::new())),
    );
    for (id, name) in &names {
        assert_eq!(ours.get(id), theirs.get(id), "case {name}");
    }
    assert_eq!(ours.len(), theirs.len());
    let people = ListOptions::new().programmatic(Programmatic::Exclude);
    let (theirs, ours) = (
        by_id(&answers[1]["ok"]),
        by_id(&our_list(config.path(), &people)),
    );
    for (id, name) in &names {
        assert_eq!(ours.get(id), theirs.get(id), "case {name} without programs");
    }
    let page = ListOptions::new().limit(7).offset(5);
    assert_eq!(our_list(config.path(), &page), answers[2]["ok"]);
}

#[test]
fn lists_of_real_sessions_equal_both_official_functions() {
    let config = copy_real();
    let ours = our_list(config.path(), &ListOptions::new());
    let theirs = Official::typescript().call(config.path(), "listSessions", json!([{}]));
    assert_eq!(by_id(&ours), by_id(&theirs));
    let theirs = Official::python().call(config.path(), "list_sessions", json!([]));
    let ours = ours.as_array().expect("a list");
    for theirs in theirs.as_array().expect("a list") {
        let same = |info: &&Value| info["sessionId"] == theirs["session_id"];
        let ours = ours.iter().find(same).expect("listed by us too");
        for (our_name, their_name) in [
            ("summary", "summary"),
            ("fileSize", "file_size"),
            ("firstPrompt", "first_prompt"),
            ("gitBranch", "git_branch"),
            ("cwd", "cwd"),
            ("createdAt", "created_at"),
        ] {
            assert_eq!(ours[our_name], theirs[their_name], "{our_name}");
        }
    }
}

#[test]
fn messages_of_real_sessions_equal_the_typescript_function() {
    let config = copy_real();
    let official = Official::typescript();
    for number in [1, 2, 3] {
        let id = real_id(number);
        for (system, include) in [
            (SystemMessages::Exclude, false),
            (SystemMessages::Include, true),
        ] {
            let options = json!([id, {"includeSystemMessages": include}]);
            let theirs = official.call(config.path(), "getSessionMessages", options);
            let theirs = published(&theirs);
            assert!(theirs.len() > 2);
            assert_eq!(
                our_messages(config.path(), &id, system),
                theirs,
                "session {number}"
            );
        }
    }
}

#[test]
fn messages_of_real_sessions_equal_the_python_function() {
    let config = copy_real();
    let official = Official::python();
    // Not the third: the Python function does not know messages kept by a compaction.
    for number in [1, 2] {
        let id = real_id(number);
        let theirs = official.call(config.path(), "get_session_messages", json!([id]));
        let ours = our_messages(config.path(), &id, SystemMessages::Exclude);
        assert_eq!(ours, published(&theirs), "session {number}");
    }
}

#[test]
fn subagents_equal_both_official_functions() {
    let config = copy_real();
    let sessions = Sessions::open(config.path());
    let id = real_id(2);
    let ours = sessions.subagents(&id).expect("a session");
    let typescript = Official::typescript();
    let python = Official::python();
    let theirs = typescript.call(config.path(), "listSubagents", json!([id]));
    assert_eq!(json!(ours), theirs);
    assert_eq!(
        json!(ours),
        python.call(config.path(), "list_subagents", json!([id]))
    );
    let messages = sessions
        .subagent_messages(&id, &ours[0])
        .expect("a sub-agent");
    let messages: Vec<_> = messages.map(|message| message.expect("readable")).collect();
    let messages = published(&serde_json::to_value(messages).expect("serializable"));
    assert!(messages[0]["parent_tool_use_id"].is_string());
    let args = json!([id, ours[0]]);
    let theirs = typescript.call(config.path(), "getSubagentMessages", args.clone());
    assert_eq!(messages, published(&theirs));
    let theirs = python.call(config.path(), "get_subagent_messages", args);
    assert_eq!(messages, published(&theirs));
}

#[test]
fn messages_of_random_trees_equal_the_typescript_function() {
    let config = tempfile::tempdir().expect("temp dir");
    let count = 400;
    for seed in 0..count {
        let lines = random_tree(seed);
        transcript(config.path(), "-p", &id(seed), &lines);
    }
    let calls: Vec<Value> = (0..count)
        .map(|seed| {
            let args = json!([id(seed), {"includeSystemMessages": true}]);
            json!({"call": "getSessionMessages", "args": args})
        })
        .collect();
    let answers = Official::typescript().calls(config.path(), &calls);
    let mut different = Vec::new();
    for (seed, answer) in (0..count).zip(&answers) {
        let uuids = |messages: &[Value]| -> Vec<String> {
            messages
                .iter()
                .map(|message| message["uuid"].as_str().expect("text").to_owned())
                .collect()
        };
        let theirs = uuids(&published(&answer["ok"]));
        let ours = uuids(&our_messages(
            config.path(),
            &id(seed),
            SystemMessages::Include,
        ));
        if ours != theirs {
            let tree = describe(&random_tree(seed));
            different.push(format!(
                "{tree}ours {}\ntheirs {}",
                short(&ours),
                short(&theirs)
            ));
        }
    }
    different.sort_by_key(String::len);
    assert!(
        different.is_empty(),
        "{} of {count} differ, the shortest:\n{}",
        different.len(),
        different[..different.len().min(4)].join("\n\n")
    );
}

#[test]
fn forks_equal_those_of_the_typescript_function() {
    let config = copy_real();
    let official = Official::typescript();
    let sessions = Sessions::open(config.path());
    let project = config.path().join("projects/-home-user-web-app");
    let mut compared = 0;
    for number in [1, 3] {
        let source = real_id(number);
        let lines = fs::read_to_string(project.join(format!("{source}.jsonl"))).expect("readable");
        let entries: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let chained = entries
            .iter()
            .filter(|entry| entry.get("parentUuid").is_some());
        let mut cuts: Vec<Option<String>> = chained
            .map(|entry| entry["uuid"].as_str().map(str::to_owned))
            .collect();
        cuts.push(None);
        let calls: Vec<Value> = cuts
            .iter()
            .map(|cut| json!({"call": "forkSession", "args": [source, {"upToMessageId": cut, "title": "copy"}]}))
            .map(without_nulls)
            .collect();
        let answers = official.calls(config.path(), &calls);
        for (cut, answer) in cuts.iter().zip(answers) {
            let options = ForkOptions::new().title("copy");
            let options = match cut {
                Some(cut) => options.up_to(cut),
                None => options,
            };
            let ours = sessions.fork(&source, &options).expect("a fork");
            let theirs = answer["ok"]["sessionId"]
                .as_str()
                .unwrap_or_else(|| panic!("{answer}"))
                .to_owned();
            assert_eq!(
                normalised_fork(&project, ours.as_str()),
                normalised_fork(&project, &theirs),
                "session {number} up to {cut:?}"
            );
            compared += 1;
        }
    }
    assert!(compared > 50);
}

#[test]
fn a_fork_by_us_is_read_alike_by_the_official_functions() {
    let config = copy_real();
    let fork = Sessions::open(config.path())
        .fork(&real_id(3), &ForkOptions::new())
        .expect("a fork");
    let theirs = Official::typescript().call(config.path(), "getSessionMessages", json!([fork]));
    assert_eq!(
        our_messages(config.path(), &fork, SystemMessages::Exclude),
        published(&theirs)
    );
    let info = Official::python().call(config.path(), "get_session_info", json!([fork]));
    assert_eq!(info["custom_title"], "first question (fork)");
}

#[test]
fn changes_are_seen_by_both_sides() {
    let config = copy_real();
    let official = Official::typescript();
    let sessions = Sessions::open(config.path());
    let id = real_id(1);
    sessions.rename(&id, " Our \"title\" é ").expect("renamed");
    sessions.tag(&id, " \u{fb01}ne\u{200b} ").expect("tagged");
    sessions.archive(&id).expect("archived");
    let theirs = official.call(config.path(), "getSessionInfo", json!([id]));
    assert_eq!(theirs["customTitle"], "Our \"title\" é");
    assert_eq!(theirs["tag"], "fine");
    assert_eq!(theirs["archived"], true);
    let ours = sessions.info(&id).expect("readable");
    assert_eq!(serde_json::to_value(ours).expect("serializable"), theirs);

    official.call(config.path(), "unarchiveSession", json!([id]));
    official.call(config.path(), "renameSession", json!([id, "theirs"]));
    official.call(config.path(), "tagSession", json!([id, null]));
    let ours = sessions.info(&id).expect("readable").expect("listed");
    assert_eq!(ours.custom_title.as_deref(), Some("theirs"));
    assert_eq!((ours.tag, ours.archived), (None, Some(false)));
}

#[test]
fn project_keys_equal_the_typescript_function() {
    let config = tempfile::tempdir().expect("temp dir");
    let directory = config.path().join("e\u{301} real 😀");
    fs::create_dir_all(&directory).expect("created");
    let long = format!("/no/such/{}", "é😀x/".repeat(60));
    let paths = [
        directory.to_str().expect("UTF-8"),
        "/no/such/ä b😀_é.c",
        "/no/such/../such/x/",
        "/",
        long.as_str(),
    ];
    let calls: Vec<Value> = paths
        .iter()
        .map(|path| json!({"call": "projectKey", "args": [path]}))
        .collect();
    let answers = Official::typescript().calls(config.path(), &calls);
    for (path, answer) in paths.iter().zip(answers) {
        assert_eq!(json!(project_key(path)), answer["ok"], "{path}");
    }
}

#[test]
fn worktrees_are_listed_together_as_in_the_typescript_function() {
    let config = tempfile::tempdir().expect("temp dir");
    let main = config.path().join("repo");
    let other = config.path().join("other tree");
    fs::create_dir_all(&main).expect("created");
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        let done = git
            .args(identity)
            .args(args)
            .current_dir(&main)
            .output()
            .expect("git");
        assert!(done.status.success(), "git {args:?}: {done:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "other",
        other.to_str().expect("UTF-8"),
    ]);
    for (number, directory) in [
        (1, &main),
        (2, &other),
        (3, &config.path().join("elsewhere")),
    ] {
        transcript(
            config.path(),
            &project_key(directory),
            &id(number),
            &[user("hello")],
        );
    }
    for directory in [&main, &other] {
        for (include, expect) in [(true, 2), (false, 1)] {
            let options = json!([{"dir": directory, "includeWorktrees": include}]);
            let theirs = Official::typescript().call(config.path(), "listSessions", options);
            let worktrees = if include {
                falconer::sessions::Worktrees::Include
            } else {
                falconer::sessions::Worktrees::Exclude
            };
            let sessions = Sessions::open(config.path()).of_directory(directory);
            let ours = sessions.list(&ListOptions::new().worktrees(worktrees));
            assert_eq!(ours.len(), expect);
            assert_eq!(
                by_id(&serde_json::to_value(ours).expect("serializable")),
                by_id(&theirs)
            );
        }
    }
}

#[test]
fn folded_summaries_equal_the_typescript_function() {
    let batches = [
        vec![json!({"type": "queue-operation", "timestamp": "2026-01-01T00:00:00.000Z"})],
        vec![
            json!({"type": "user", "uuid": "1", "cwd": "/p", "gitBranch": "main", "isSidechain": false,
                   "message": {"content": "<command-name>/x</command-name>"}}),
            json!({"type": "user", "uuid": "2", "timestamp": "2026-01-01T00:00:01.000Z",
                   "message": {"content": [{"type": "text", "text": "hello"}]}}),
            json!({"type": "custom-title", "customTitle": "T"}),
            json!({"type": "ai-title", "aiTitle": "A"}),
            json!({"type": "last-prompt", "lastPrompt": "L"}),
            json!({"type": "summary", "summary": "S"}),
            json!({"type": "tag", "tag": "g"}),
        ],
        vec![
            json!({"type": "user", "isSidechain": true, "message": {"content": "<bash-input>ls</bash-input>"}}),
        ],
        vec![
            json!({"type": "tag", "tag": "g"}),
            json!({"type": "tag", "tag": ""}),
        ],
    ];
    let config = tempfile::tempdir().expect("temp dir");
    let key = SessionKey::new("p", SessionId::new("s"));
    let calls: Vec<Value> = batches
        .iter()
        .map(|batch| json!({"call": "fold", "args": [key, batch]}))
        .collect();
    let answers = Official::typescript().calls(config.path(), &calls);
    for (batch, answer) in batches.iter().zip(answers) {
        let entries: Vec<SessionStoreEntry> = batch
            .iter()
            .cloned()
            .map(|value| SessionStoreEntry::try_from(value).expect("an object"))
            .collect();
        let ours = fold_session_summary(None, &key, &entries);
        assert_eq!(
            serde_json::to_value(ours).expect("serializable"),
            answer["ok"],
            "{batch:?}"
        );
    }
}

fn real_id(number: u64) -> SessionId {
    let digit = number.to_string();
    let text = "11111111-1111-4111-8111-111111111111";
    let text: String = text
        .char_indices()
        .map(|(at, c)| match (at, c) {
            (14 | 19, c) | (_, c @ '-') => c.to_string(),
            _ => digit.clone(),
        })
        .collect();
    SessionId::new(text)
}

fn without_nulls(mut call: Value) -> Value {
    if let Some(Value::Object(options)) = call["args"].get_mut(1) {
        options.retain(|_, value| !value.is_null());
    }
    call
}

/// A fork with its random ids replaced by the ids of what was copied.
fn normalised_fork(project: &Path, id: &str) -> Vec<Value> {
    let text = fs::read_to_string(project.join(format!("{id}.jsonl"))).expect("readable");
    let entries: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let mut text = text.replace(id, "FORK");
    for (at, entry) in entries.iter().enumerate() {
        let uuid = entry["uuid"].as_str().unwrap_or("none");
        let origin = entry["forkedFrom"]["messageUuid"].as_str();
        let origin = origin.map_or_else(
            || format!("extra {at}"),
            |origin| format!("copy of {origin}"),
        );
        text = text.replace(&format!("\"{uuid}\""), &format!("\"{origin}\""));
    }
    let mut entries: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    // The time of the copy stands in the last message and in what comes after it.
    let last = entries
        .iter()
        .rposition(|entry| entry.get("forkedFrom").is_some())
        .expect("a copy");
    for entry in &mut entries[last..] {
        if let Some(time) = entry.get_mut("timestamp") {
            *time = json!("now");
        }
    }
    entries
}

/// The last digits of ids.
fn short(uuids: &[String]) -> String {
    uuids
        .iter()
        .map(|uuid| &uuid[uuid.len() - 2..])
        .collect::<Vec<_>>()
        .join(" ")
}

/// A tree for the text of a failure.
fn describe(lines: &[Value]) -> String {
    let short = |value: &Value| {
        value
            .as_str()
            .map_or("--", |uuid| &uuid[uuid.len() - 2..])
            .to_owned()
    };
    let mut text = String::new();
    for line in lines {
        let flags = ["isMeta", "isSidechain", "teamName", "isCompactSummary"]
            .iter()
            .filter(|name| line.get(**name).is_some());
        let flags: Vec<_> = flags.collect();
        text.push_str(&format!(
            "{} <- {} {} {flags:?}",
            short(&line["uuid"]),
            short(&line["parentUuid"]),
            line["type"]
        ));
        if let Some(metadata) = line.get("compactMetadata") {
            text.push_str(&format!(" {metadata}"));
        }
        text.push('\n');
    }
    text
}

/// A small deterministic source of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// A transcript with branches, parallel calls, compactions, odd parents and damage.
fn random_tree(seed: u64) -> Vec<Value> {
    let mut random = Random(seed.wrapping_mul(7919) + 1);
    let mut lines: Vec<Value> = Vec::new();
    let mut leaf: Option<String> = None;
    let time = |at: usize| format!("2026-01-01T00:{:02}:{:02}.000Z", at / 60, at % 60);
    let uuid = |at: usize| format!("{seed:08x}-0000-4000-8000-{at:012x}");
    let steps = 3 + random.below(25);
    for step in 0..steps {
        let at = lines.len();
        let parent = match random.below(12) {
            0 if at > 0 => Some(uuid(
                usize::try_from(random.below(at as u64)).expect("small"),
            )),
            1 if step > 0 => None,
            _ => leaf.clone(),
        };
        match random.below(10) {
            0..=2 => {
                let mut entry = json!({"type": "user", "uuid": uuid(at), "parentUuid": parent,
                    "timestamp": time(at), "sessionId": "s", "message": {"role": "user", "content": format!("q{at}")}});
                match random.below(12) {
                    0 => entry["isMeta"] = json!(true),
                    1 => entry["isSidechain"] = json!(true),
                    2 => entry["teamName"] = json!("t"),
                    _ => {}
                }
                lines.push(entry);
                leaf = Some(uuid(at));
            }
            3 | 4 => {
                lines.push(json!({"type": "assistant", "uuid": uuid(at), "parentUuid": parent, "timestamp": time(at),
                    "sessionId": "s", "message": {"id": format!("m{at}"), "role": "assistant", "content": [{"type": "text", "text": "a"}]}}));
                leaf = Some(uuid(at));
            }
            5 | 6 => {
                // A response with parallel calls; results in any order, some missing.
                let calls = 1 + usize::try_from(random.below(3)).expect("small");
                let mut above = parent;
                for call in 0..calls {
                    let here = lines.len();
                    lines.push(json!({"type": "assistant", "uuid": uuid(here), "parentUuid": above, "timestamp": time(here),
                        "sessionId": "s", "message": {"id": format!("m{at}"), "role": "assistant",
                        "content": [{"type": "tool_use", "id": format!("t{at}_{call}"), "name": "Bash", "input": {}}]}}));
                    above = Some(uuid(here));
                }
                leaf = above;
                let first = random.below(calls as u64);
                for turn in 0..calls {
                    if random.below(6) == 0 {
                        continue;
                    }
                    let call = (usize::try_from(first).expect("small") + turn) % calls;
                    let here = lines.len();
                    let of = match random.below(8) {
                        0 => leaf.clone(),
                        _ => Some(uuid(at + call)),
                    };
                    lines.push(json!({"type": "user", "uuid": uuid(here), "parentUuid": of, "timestamp": time(here),
                        "sessionId": "s", "sourceToolAssistantUUID": uuid(at + call), "message": {"role": "user",
                        "content": [{"type": "tool_result", "tool_use_id": format!("t{at}_{call}"), "content": "r"}]}}));
                    leaf = Some(uuid(here));
                }
            }
            7 => {
                lines.push(json!({"type": "attachment", "uuid": uuid(at), "parentUuid": parent, "timestamp": time(at), "sessionId": "s"}));
                leaf = Some(uuid(at));
            }
            8 => {
                let kind = ["progress", "system"][usize::try_from(random.below(2)).expect("small")];
                lines.push(json!({"type": kind, "uuid": uuid(at), "parentUuid": parent, "timestamp": time(at), "sessionId": "s"}));
                leaf = Some(uuid(at));
            }
            _ => {
                if let Some(kept) = leaf.clone() {
                    compaction(&mut random, &mut lines, &kept, &uuid, &time);
                    leaf = Some(uuid(lines.len() - 1));
                }
            }
        }
    }
    lines
}

/// A boundary and its summary, with or without messages that are kept.
fn compaction(
    random: &mut Random,
    lines: &mut Vec<Value>,
    last: &str,
    uuid: &dyn Fn(usize) -> String,
    time: &dyn Fn(usize) -> String,
) {
    let at = lines.len();
    let by_uuid = |uuid: &str| lines.iter().find(|line| line["uuid"] == uuid);
    let mut kept = vec![last.to_owned()];
    for _ in 0..random.below(4) {
        // A compaction keeps messages; progress entries are of older versions without any.
        let parent = by_uuid(&kept[0]).and_then(|line| line["parentUuid"].as_str());
        let parent =
            parent.filter(|uuid| by_uuid(uuid).is_some_and(|line| line["type"] != "progress"));
        match parent {
            Some(parent) if !kept.contains(&parent.to_owned()) => kept.insert(0, parent.to_owned()),
            _ => break,
        }
    }
    let anchor = uuid(at + 1);
    let mut metadata = json!({"trigger": "auto"});
    let style = random.below(3);
    if style > 0 {
        metadata["preservedSegment"] =
            json!({"headUuid": kept[0], "anchorUuid": anchor, "tailUuid": kept[kept.len() - 1]});
    }
    if style > 1 {
        metadata["preservedMessages"] =
            json!({"anchorUuid": anchor, "uuids": kept, "allUuids": kept});
    }
    lines.push(json!({"type": "system", "subtype": "compact_boundary", "uuid": uuid(at), "parentUuid": null,
        "logicalParentUuid": last, "timestamp": time(at), "sessionId": "s", "compactMetadata": metadata}));
    lines.push(json!({"type": "user", "uuid": anchor, "parentUuid": uuid(at), "timestamp": time(at + 1), "sessionId": "s",
        "isCompactSummary": true, "message": {"role": "user", "content": "summary"}}));
}

/// One session per thing that lists have to get right; returns what each is about.
fn write_list_cases(config_dir: &Path) -> Vec<(String, String)> {
    let mut names = Vec::new();
    let mut number = 0;
    let mut add = |name: &str, lines: &[Value]| {
        number += 1;
        let path = transcript(config_dir, "-p", &id(number), lines);
        let time = std::time::UNIX_EPOCH
            + std::time::Duration::new(
                1_700_000_000 + number,
                u32::try_from(number % 9).expect("small") * 111_111_111,
            );
        fs::File::options()
            .append(true)
            .open(path)
            .expect("opened")
            .set_modified(time)
            .expect("set");
        names.push((id(number).to_string(), name.to_owned()));
    };
    for text in PROMPTS {
        add(text, &[user(text), user("REAL")]);
        add(text, &[user(text)]);
    }
    add(
        "long shell input",
        &[user(&format!(
            "<bash-input>{}</bash-input>",
            "y".repeat(300)
        ))],
    );
    add(
        "long command",
        &[user(&format!(
            "<command-name>{}</command-name>",
            "y".repeat(300)
        ))],
    );
    add("long prompt", &[user(&"x".repeat(250))]);
    add("long emoji", &[user(&"😀".repeat(150))]);
    add(
        "cut at a blank",
        &[user(&format!("{}  b", "a".repeat(199)))],
    );
    let long = json!({"type": "x", "pad": "y".repeat(140_000)});
    for (name, lines) in list_entries() {
        let mut all = vec![user("p")];
        all.extend(lines.clone());
        add(name, &all);
        all.push(long.clone());
        add(&format!("{name}, in the head only"), &all);
        all.insert(1, long.clone());
        add(&format!("{name}, in the middle"), &all);
        let mut late = vec![user("p"), long.clone()];
        late.extend(lines);
        add(&format!("{name}, in the tail only"), &late);
    }
    for (field, value) in [
        ("isMeta", json!(true)),
        ("isCompactSummary", json!(true)),
        ("isSidechain", json!(true)),
        ("teamName", json!("t")),
        ("timestamp", json!("2026-01-01T00:00:00Z")),
        ("timestamp", json!("2026-01-01T00:00:00.5+02:00")),
        ("timestamp", json!("2026-01-01")),
        ("timestamp", json!("yesterday")),
        ("cwd", json!("")),
        ("entrypoint", json!("sdk-ts")),
        ("entrypoint", json!("sdk-py")),
        ("entrypoint", json!("sdk-cli")),
        ("entrypoint", json!("cli")),
        ("sessionKind", json!("daemon")),
        ("sessionKind", json!("daemon-worker")),
        ("sessionKind", json!("bg")),
    ] {
        let mut entry = user("one");
        entry[field] = value.clone();
        add(&format!("{field} {value}"), &[entry.clone(), user("two")]);
        add(&format!("{field} {value} later"), &[user("two"), entry]);
    }
    names
}

const PROMPTS: &[&str] = &[
    "hello",
    "<div>x",
    "<Div>x",
    "<a b>x",
    "<3 you",
    "</x> y",
    "<a",
    "<a-b/> z",
    "<a_b> z",
    "<a:b> z",
    " <div>x",
    "< div>",
    "<x/>",
    "hello <div>",
    "<bash-input>ls",
    "<bash-input>a\nb</bash-input>",
    "pre <bash-input>ls</bash-input> post",
    "<bash-input></bash-input>",
    "<bash-input>  ls  </bash-input>",
    "[Request interrupted by user",
    "[Request interrupted by user] more",
    "x <command-name>/c</command-name>",
    "<command-name></command-name>",
    "<command-name> /foo </command-name>",
    "\u{85}hi\u{200b}",
    "\u{a0}\u{feff} hi \u{3000}",
    "a\r\nb\nc",
    "<a\t>q",
    "<https://x.y>",
    "say \"hi\"\\n \u{2028} ok",
    "about \"tool_result\" words",
    "x \"isMeta\":true y",
];

fn list_entries() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        (
            "title",
            vec![
                json!({"type": "custom-title", "customTitle": "T1"}),
                json!({"type": "custom-title", "customTitle": "T2"}),
            ],
        ),
        (
            "title cleared",
            vec![
                json!({"type": "custom-title", "customTitle": "T1"}),
                json!({"type": "custom-title", "customTitle": ""}),
            ],
        ),
        (
            "title of another type",
            vec![json!({"type": "x", "customTitle": "T1", "aiTitle": "A"})],
        ),
        ("title without type", vec![json!({"customTitle": "T1"})]),
        (
            "title in a message",
            vec![
                json!({"type": "assistant", "message": {"type": "custom-title", "customTitle": "T"}}),
            ],
        ),
        (
            "title is a number",
            vec![json!({"type": "custom-title", "customTitle": 5})],
        ),
        (
            "title, number later",
            vec![
                json!({"type": "custom-title", "customTitle": "T"}),
                json!({"type": "custom-title", "customTitle": 5}),
            ],
        ),
        (
            "model's title",
            vec![json!({"type": "ai-title", "aiTitle": "A"})],
        ),
        (
            "both titles",
            vec![
                json!({"type": "custom-title", "customTitle": "T"}),
                json!({"type": "ai-title", "aiTitle": "A"}),
            ],
        ),
        (
            "last prompt",
            vec![json!({"type": "last-prompt", "lastPrompt": "L"})],
        ),
        (
            "last prompt, empty later",
            vec![
                json!({"type": "last-prompt", "lastPrompt": "L"}),
                json!({"type": "last-prompt", "lastPrompt": ""}),
            ],
        ),
        ("summary", vec![json!({"type": "summary", "summary": "S"})]),
        (
            "summary and prompt",
            vec![
                json!({"type": "last-prompt", "lastPrompt": "L"}),
                json!({"type": "summary", "summary": "S"}),
            ],
        ),
        (
            "summary inside",
            vec![json!({"type": "assistant", "message": {"summary": "S", "lastPrompt": "L"}})],
        ),
        ("tag", vec![json!({"type": "tag", "tag": "t"})]),
        (
            "tag cleared",
            vec![
                json!({"type": "tag", "tag": "t"}),
                json!({"type": "tag", "tag": ""}),
            ],
        ),
        (
            "tag of another type",
            vec![json!({"type": "x", "tag": "t"})],
        ),
        ("branch", vec![json!({"type": "x", "gitBranch": "dev"})]),
        ("branch gone", vec![json!({"type": "x", "gitBranch": ""})]),
        (
            "branch inside",
            vec![json!({"type": "x", "y": {"gitBranch": "inner"}})],
        ),
        (
            "damaged line",
            vec![json!("not an object"), json!({"type": "tag", "tag": "t"})],
        ),
    ]
}
