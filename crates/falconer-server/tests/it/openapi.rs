//! The committed description and client are those of the code, and the client works.

use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::place::{LIMIT, Place};
use crate::typescript::{Flavour, client};

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
fn the_committed_description_and_client_are_those_of_the_code() {
    check("openapi.json", &falconer_server::openapi());
    let text = client(&document(), Flavour::TypeScript);
    check("../../clients/typescript/falconer.ts", &text);
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
        let run = tokio::process::Command::new(&node)
            .args(flags)
            .arg(&file)
            .args([&server.url, &server.token])
            .arg(place.work())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(LIMIT, run).await.unwrap().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
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
