//! The official CLI and the session functions of the official SDKs on our files, and ours on theirs.
//!
//! Needs `FALCONER_CLAUDE_PATH`, `FALCONER_TS_SDK` with `node` on the `PATH`, and
//! `FALCONER_PYTHON`. Without them these tests fail: what is not compared is not known.

use std::io::Write;
use std::process::{Command, Stdio};

use falconer_testkit::scenario::{Scenario, any, text as says};
use falconer_testkit::{ApiServer, RealCli};

use super::*;
use crate::transcript::load;
use crate::transcript::open::Fork;

fn server() -> ApiServer {
    ApiServer::start(Scenario::new().on(any()).always().reply(says("I see"))).expect("a server")
}

/// Runs the CLI to its end with a prompt.
fn cli(room: &Room, server: &ApiServer, arguments: &[&str], prompt: &str) {
    let output = RealCli::find()
        .expect("the official CLI")
        .command(room.home.path(), &server.url())
        .current_dir(room.project())
        .arg("-p")
        .args(arguments)
        .args(["--", prompt])
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
}

/// The roles and texts of the newest request, without what the CLI adds for itself.
fn asked(server: &ApiServer) -> String {
    server.messages().last().expect("a request").conversation()
}

/// A session with parallel calls, of which one never got its result if `cut`.
fn with_calls(room: &Room, ending: Option<&str>) -> SessionId {
    let opened = room.open(OpenRequest::default());
    let transcript = &opened.transcript;
    exchange(transcript, "I like falcons");
    transcript.append(prompt("count"));
    let (one, entry) = block("msg_x", call("toolu_one"));
    transcript.append(entry);
    let (two, entry) = block("msg_x", call("toolu_two"));
    transcript.append(entry);
    transcript.append(result("toolu_one", &one));
    if let Some(ending) = ending {
        transcript.append(result("toolu_two", &two));
        let (_, entry) = block("msg_y", text(ending));
        transcript.append(entry);
        transcript.append(Entry::last_prompt("count"));
    }
    opened.session
}

#[test]
fn the_official_cli_resumes_our_session() {
    let room = Room::new();
    let server = server();
    let session = with_calls(&room, Some("all counted"));
    cli(
        &room,
        &server,
        &["--resume", session.as_str()],
        "what do I like?",
    );
    let said = asked(&server);
    for known in [
        "I like falcons",
        "I see: I like falcons",
        "result of toolu_one",
        "result of toolu_two",
        "all counted",
        "what do I like?",
    ] {
        assert!(said.contains(known), "{known} in {said}");
    }
    // And we resume what it added.
    let loaded = room.resume(&session).loaded;
    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert_eq!(loaded.messages[..6], {
        let mut expect = spoken(&["I like falcons"]);
        expect.push(json!({ "role": "user", "content": "count" }));
        expect.push(
            json!({ "role": "assistant", "content": [call("toolu_one"), call("toolu_two")] }),
        );
        expect
            .push(json!({ "role": "user", "content": [answer("toolu_one"), answer("toolu_two")] }));
        expect.push(json!({ "role": "assistant", "content": [text("all counted")] }));
        expect
    });
    assert_eq!(
        loaded.messages[6..],
        [
            json!({ "role": "user", "content": "what do I like?" }),
            json!({ "role": "assistant", "content": [text("I see")] }),
        ]
    );
    assert!(loaded.cost.is_some_and(|cost| cost.total_cost_usd > 0.0));
}

#[test]
fn the_official_cli_resumes_what_we_closed_after_a_crash() {
    let room = Room::new();
    let server = server();
    let session = with_calls(&room, None);
    let opened = room.resume(&session);
    exchange(&opened.transcript, "still there?");
    drop(opened);
    cli(&room, &server, &["--resume", session.as_str()], "go on");
    let said = asked(&server);
    for known in [
        "result of toolu_one",
        "This tool call was cut off",
        "I see: still there?",
        "go on",
    ] {
        assert!(said.contains(known), "{known} in {said}");
    }
}

#[test]
fn we_resume_fork_and_continue_sessions_of_the_official_cli() {
    let room = Room::new();
    let server = server();
    let session = new_session();
    cli(
        &room,
        &server,
        &["--session-id", session.as_str()],
        "I like falcons",
    );
    let expect = [
        json!({ "role": "user", "content": "I like falcons" }),
        json!({ "role": "assistant", "content": [text("I see")] }),
    ];
    for request in [
        resume(&session),
        OpenRequest {
            origin: Beginning::Continue,
            ..OpenRequest::default()
        },
        OpenRequest {
            fork: Fork::On,
            ..resume(&session)
        },
    ] {
        assert_eq!(room.open(request).loaded.messages, expect);
    }
    let fork = room.open(OpenRequest {
        fork: Fork::On,
        ..resume(&session)
    });
    exchange(&fork.transcript, "and owls");
    let answer = lines(&room.place().file(&session));
    let answer = answer
        .iter()
        .find(|entry| entry["type"] == "assistant")
        .expect("answered");
    let at = answer["uuid"].as_str().expect("an id").to_owned();
    let fork_id = fork.session.clone();
    drop(fork);
    // The CLI goes on in our fork of its session, at a message it wrote itself.
    cli(
        &room,
        &server,
        &["--resume", fork_id.as_str()],
        "what do I like?",
    );
    let said = asked(&server);
    assert!(
        said.contains("falcons") && said.contains("and owls"),
        "{said}"
    );
    cli(
        &room,
        &server,
        &["--resume", fork_id.as_str(), "--resume-session-at", &at],
        "what now?",
    );
    let said = asked(&server);
    assert!(
        said.contains("falcons") && !said.contains("and owls"),
        "{said}"
    );
    let messages = room.resume(&fork_id).loaded.messages;
    assert_eq!(messages[..2], expect);
    assert_eq!(messages[2]["content"], "what now?");
}

/// Calls session functions of an official SDK.
fn official(program: &str, driver: &str, room: &Room, calls: &[Value]) -> Vec<Value> {
    let fixtures =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../falconer/tests/fixtures/sessions");
    let mut child = Command::new(program)
        .arg(fixtures.join(driver))
        .env("CLAUDE_CONFIG_DIR", room.config())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {program}: {error}"));
    let text: String = calls.iter().map(|call| format!("{call}\n")).collect();
    // Few and short: they fit into the pipe.
    child
        .stdin
        .take()
        .expect("piped")
        .write_all(text.as_bytes())
        .expect("read");
    let output = child.wait_with_output().expect("output");
    assert!(output.status.success(), "the official SDK failed");
    let answers = String::from_utf8(output.stdout).expect("UTF-8");
    let answers = answers
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    answers
        .map(|answer| {
            assert!(answer.get("error").is_none(), "{answer}");
            answer["ok"].clone()
        })
        .collect()
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("set {name} to run this test"))
}

#[test]
fn the_official_session_functions_list_and_read_our_sessions() {
    let room = Room::new();
    let session = with_calls(&room, Some("all counted"));
    let opened = room.resume(&session);
    opened.transcript.append(Entry::ai_title("Counting"));
    drop(opened);
    let named = room.session(&["hello"]);
    let opened = room.resume(&named);
    opened.transcript.append(Entry::custom_title("Birds"));
    opened.transcript.append(Entry::tag("nature"));
    drop(opened);
    let own = load(&room.place().file(&session)).expect("readable");
    variable("FALCONER_TS_SDK");
    let project = room.project().to_string_lossy().into_owned();
    let typescript = official(
        "node",
        "official.mjs",
        &room,
        &[
            json!({ "call": "listSessions", "args": [{ "dir": project }] }),
            json!({ "call": "getSessionMessages", "args": [session] }),
            json!({ "call": "getSessionInfo", "args": [named] }),
        ],
    );
    let python = official(
        &variable("FALCONER_PYTHON"),
        "official.py",
        &room,
        &[
            json!({ "call": "list_sessions", "args": [] }),
            json!({ "call": "get_session_messages", "args": [session] }),
            json!({ "call": "get_session_info", "args": [named] }),
        ],
    );
    for (answers, names) in [
        (
            typescript,
            ["sessionId", "firstPrompt", "customTitle", "gitBranch"],
        ),
        (
            python,
            ["session_id", "first_prompt", "custom_title", "git_branch"],
        ),
    ] {
        let [id, first_prompt, custom_title, git_branch] = names;
        let listed = answers[0].as_array().expect("a list");
        assert_eq!(listed.len(), 2, "{listed:?}");
        let ours = listed
            .iter()
            .find(|info| info[id] == json!(session))
            .expect("listed");
        assert_eq!(ours[first_prompt], "I like falcons");
        assert_eq!(ours["summary"], "Counting");
        assert_eq!(ours["cwd"], json!(project));
        assert_eq!(ours[git_branch], "HEAD");
        assert_eq!(
            (&answers[2][custom_title], &answers[2]["tag"]),
            (&json!("Birds"), &json!("nature"))
        );
        // One message per entry; all that we send to the model is in them.
        let messages = answers[1].as_array().expect("a list");
        assert_eq!(messages.len(), 8, "{messages:?}");
        let blocks = |message: &Value| match &message["content"] {
            Value::Array(blocks) => blocks.clone(),
            said => vec![said.clone()],
        };
        let theirs: Vec<Value> = messages
            .iter()
            .flat_map(|message| blocks(&message["message"]))
            .collect();
        let ours: Vec<Value> = own.messages.iter().flat_map(blocks).collect();
        assert_eq!(theirs, ours);
    }
}
