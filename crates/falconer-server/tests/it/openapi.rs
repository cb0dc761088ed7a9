//! The committed description and client are those of the code, and the client works.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::clients::python;
use crate::clients::typescript::{Flavour, client};
use crate::cutting::Cutting;
use crate::place::{LIMIT, Place};

/// `cargo xtask openapi` sets it: the files are written instead of compared.
const WRITE: &str = "FALCONER_WRITE_OPENAPI";

fn check(file: &str, expected: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os(WRITE).is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, expected).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let first = found
        .lines()
        .zip(expected.lines())
        .find(|(one, other)| one != other);
    assert!(
        found == expected,
        "{file} is old; run `cargo xtask openapi`. First difference: {first:?}"
    );
}

fn document() -> Value {
    serde_json::from_str(&falconer_server::openapi()).unwrap()
}

#[test]
fn the_committed_description_and_clients_are_those_of_the_code() {
    check("openapi.json", &falconer_server::openapi());
    let text = client(&document(), Flavour::TypeScript);
    check("../../clients/typescript/falconer.ts", &text);
    check(
        "../../clients/python/falconer.py",
        &python::client(&document()),
    );
}

#[tokio::test]
async fn the_served_description_is_the_committed_one() {
    let place = Place::new();
    let server = place.serve().await;
    let served = server
        .bare(reqwest::Method::GET, "/openapi.json")
        .send()
        .await
        .unwrap();
    assert_eq!(served.text().await.unwrap(), falconer_server::openapi());
    server.stop().await;
}

/// What a program writes, which succeeds.
async fn told(command: &mut Command) -> Value {
    let run = command.stdin(Stdio::null()).kill_on_drop(true).output();
    let output = tokio::time::timeout(LIMIT, run).await.unwrap().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a program of a user looks like.
const PROGRAM: &str = r#"
const [url, token, cwd] = process.argv.slice(2);
const falconer = new Falconer(url, token);
const me = await falconer.me();
const file = await falconer.storeAttachment("a note.txt", "notes");
const session = await falconer.createSession({
  cwd, engine: "script", message: { client_msg_id: "1", text: "write one", attachments: [file.id] },
});
const kinds = [];
for await (const frame of falconer.follow(session.id)) {
  if (frame.event !== "event") continue;
  kinds.push(frame.data.type);
  if (frame.data.type === "permission.requested") {
    const { requests } = await falconer.listRequests({ session: session.id });
    const { request } = await falconer.answerRequest(requests[0].id, {
      digest: requests[0].digest, verdict: { type: "allow" },
    });
    kinds.push(request.decision.by);
  }
  if (frame.data.type === "turn.completed") break;
}
const listed = await falconer.listSessions({ q: session.cwd, limit: 5 });
const events = await falconer.listEvents(session.id, { after: 0, limit: 1000 });
const text = await falconer.exportSession(session.id, { format: "markdown" });
const bytes = await falconer.getAttachment(file.id);
await falconer.changeSession(session.id, { title: "renamed" });
let refused;
try {
  await falconer.getSession("none");
} catch (error) {
  refused = [error instanceof FalconerError, error.status, error.problem.code];
}
await falconer.deleteSession(session.id);
console.log(JSON.stringify({
  name: me.name, kinds, listed: listed.sessions.length, events: events.events.length,
  is_text: text.includes("write one"), bytes: bytes.byteLength, refused,
}));
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_works_in_node() {
    let place = Place::new();
    let server = place.serve().await;
    let node = std::env::var_os("FALCONER_NODE").unwrap_or_else(|| "node".into());
    let version = std::process::Command::new(&node).arg("--version").output();
    let version = String::from_utf8(version.expect("node is installed").stdout).unwrap();
    let number = |part: &str| part.trim_start_matches('v').parse::<u32>().unwrap_or(0);
    let parts: Vec<u32> = version.trim().split('.').map(number).collect();
    let mut flavours = vec![(Flavour::JavaScript, "client.mjs", vec![])];
    if parts[..2] >= [22, 6][..] {
        let flags = vec!["--experimental-strip-types", "--no-warnings"];
        flavours.push((Flavour::TypeScript, "client.mts", flags));
    }
    for (flavour, name, flags) in flavours {
        let program = client(&document(), flavour) + PROGRAM;
        let file = place.root().join(name);
        std::fs::write(&file, program).unwrap();
        let mut command = Command::new(&node);
        command
            .args(flags)
            .arg(&file)
            .args([&server.url, &server.token])
            .arg(place.work());
        let told = told(&mut command).await;
        let kinds = told["kinds"].as_array().unwrap();
        assert!(
            kinds.contains(&json!("anna")),
            "the answer was taken: {told}"
        );
        assert_eq!(kinds.last(), Some(&json!("turn.completed")));
        assert!(
            told["events"].as_u64().unwrap() >= kinds.len() as u64 - 1,
            "{told}"
        );
        assert_eq!(
            (&told["name"], &told["listed"]),
            (&json!("anna"), &json!(1))
        );
        assert_eq!(told["refused"], json!([true, 404, "not_found"]));
        assert_eq!(
            (&told["is_text"], &told["bytes"]),
            (&json!(true), &json!(5))
        );
        assert_eq!(place.read("one.txt").as_deref(), Some("one\n"));
        std::fs::remove_file(place.work().join("one.txt")).unwrap();
    }
    server.stop().await;
}

/// The same in Python, over a connection that is cut again and again.
const PYTHON: &str = r#"
import json, sys, uuid
sys.path.insert(0, sys.argv[1])
from falconer import Falconer, FalconerError

url, token, cwd, cut = sys.argv[2:]
falconer = Falconer(url, token)
me = falconer.me()
file = falconer.store_attachment("a note.txt", b"notes")
session = falconer.create_session(cwd=cwd, engine="script")
text = {"client_msg_id": str(uuid.uuid4()), "text": "write one", "attachments": [file["id"]]}
sent = falconer.send_message(session["id"], **text)
again = falconer.send_message(session["id"], **text)
assert again["duplicate"] and again["message"]["id"] == sent["message"]["id"]

log, hellos = [], []

def answer():
    asked = falconer.list_requests(session=session["id"])["requests"][0]
    rule = {"text": "Bash", "scope": "session"}
    verdict = {"type": "allow_always", "rule": rule}
    return falconer.answer_request(asked["id"], digest=asked["digest"], verdict=verdict)

def follow(client, done):
    for frame in client.follow(session["id"], after=len(log)):
        if frame.event == "hello":
            hellos.append(frame.data["resume"])
        if frame.event != "event":
            continue
        assert frame.id == len(log) + 1 == frame.data["seq"]
        log.append(frame.data)
        if frame.data["type"] == "permission.requested":
            # Nothing comes until it is answered, and the connection is cut meanwhile.
            while len(hellos) < 3:
                hellos.append(next(f for f in client.follow(session["id"], len(log)) if f.event == "hello").data["resume"])
                for _ in client.stream("/v1/sessions/" + session["id"] + "/stream", len(log)):
                    pass
            by = answer()["request"]["decision"]["by"]
        if frame.data["type"] == done:
            return by

by = follow(Falconer(cut, token), "turn.completed")
rules = falconer.list_rules()["rules"]
why = falconer.explain_rule(tool="Bash", input={"command": "echo one"}, session=session["id"])
falconer.remove_rule(rules[0]["id"])
stored = falconer.export_session(session["id"], format="jsonl").splitlines()
page = falconer.list_events(session["id"], after=0, limit=1000)
refused = []
for attempt in (lambda: falconer.get_session("none"), lambda: Falconer(url, "flc_wrong").me()):
    try:
        attempt()
    except FalconerError as error:
        refused.append([error.status, error.code, str(error) != ""])
falconer.change_session(session["id"], title="renamed")
listed = falconer.list_sessions(q=cwd, limit=5)["sessions"]
content = falconer.get_attachment(file["id"])
falconer.delete_session(session["id"])
print(json.dumps({
    "name": me["name"], "by": by, "is_stored": [json.loads(line) for line in stored][: len(log)] == log,
    "is_page": page["events"][: len(log)] == log, "hellos": hellos[:3], "title": listed[0]["title"],
    "rule": [rules[0]["text"], rules[0]["created_by"]], "effect": why["effect"],
    "rules": falconer.list_rules()["rules"], "refused": refused, "content": content.decode(),
}))
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_works_in_python_and_comes_back_when_it_is_cut() {
    let place = Place::new();
    let cutting = Cutting::bind(Duration::from_millis(300)).await;
    let name = cutting.address().to_string();
    let server = place
        .serve_with(|config| config.host_names.push(name))
        .await;
    let cutting = cutting.between(server.address);
    let python = std::env::var_os("FALCONER_PYTHON").unwrap_or_else(|| "python3".into());
    let program = place.root().join("program.py");
    std::fs::write(&program, PYTHON).unwrap();
    let clients = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../clients/python");
    let mut command = Command::new(python);
    command
        .args(["-I", "-B", "-X", "utf8"])
        .arg(&program)
        .arg(clients)
        .args([&server.url, &server.token])
        .arg(place.work())
        .arg(cutting.url());
    let told = told(&mut command).await;
    let expected = json!({
        "name": "anna", "by": "anna", "is_stored": true, "is_page": true,
        "hellos": ["fresh", "resumed", "resumed"], "title": "renamed",
        "rule": ["Bash", "anna"], "effect": "allow", "rules": [],
        "refused": [[404, "not_found", true], [401, "unauthenticated", true]], "content": "notes",
    });
    assert_eq!(told, expected);
    assert!(cutting.cuts() >= 2, "it was cut {} times", cutting.cuts());
    assert_eq!(place.read("one.txt").as_deref(), Some("one\n"));
    server.stop().await;
}
