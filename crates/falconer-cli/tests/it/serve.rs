//! `falconer serve` as a person starts it, used as `docs/server.md` says.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(60);

const SCENARIO: &str = r#"{ "name": "demo", "about": "Writes a file, then says so.", "rules": [
  { "when": { "tool_result_contains": "" }, "times": "always", "reply": { "text": "It is written." } },
  { "when": { "last_user_contains": "write" }, "times": "always", "reply": { "message": { "content": [
    { "type": "tool_use", "name": "Bash", "input": { "command": "sh -c 'echo hello > hello.txt'" } } ] } } } ] }"#;

struct Server {
    child: Child,
    address: String,
    link: String,
    token: String,
}

fn command(place: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_falconer"));
    command
        .arg("serve")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", place)
        .env("FALCONER_STATE_DIR", place.join("state"))
        .current_dir(place.join("work"))
        .stdin(Stdio::null());
    command
}

impl Server {
    fn start(place: &Path) -> Self {
        let mut child = command(place)
            .args(["--listen", "127.0.0.1:0", "--engine-scenario"])
            .arg(place.join("demo.json"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut link = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut link).unwrap();
        let link = link.trim().to_owned();
        let rest = link.strip_prefix("http://").expect("it prints a link");
        let address = rest.split('/').next().unwrap().to_owned();
        let token = std::fs::read_to_string(place.join("state/token")).unwrap();
        Self {
            child,
            address,
            link,
            token: token.trim().to_owned(),
        }
    }

    /// The status and the body.
    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    fn until<T>(&self, mut test: impl FnMut() -> Option<T>) -> T {
        let end = Instant::now() + LIMIT;
        loop {
            if let Some(found) = test() {
                return found;
            }
            assert!(Instant::now() < end, "it comes to that in time");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Tells it to end and waits for it.
    fn end(mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn a_server_is_started_used_ended_and_started_again() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path().canonicalize().unwrap();
    std::fs::create_dir(place.join("work")).unwrap();
    std::fs::write(place.join("demo.json"), SCENARIO).unwrap();
    let server = Server::start(&place);
    assert!(server.link.contains("/#code="), "{}", server.link);
    assert!(!server.link.contains(&server.token));
    let mode = std::fs::metadata(place.join("state/token"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let (status, me) = server.call("GET", "/v1/me", None);
    assert_eq!((status, &me["roots"][0]), (200, &json!(place.join("work"))));
    let (_, engines) = server.call("GET", "/v1/engines", None);
    let names = engines["engines"].as_array().unwrap().iter();
    let script = names
        .clone()
        .find(|engine| engine["name"] == "script")
        .unwrap();
    assert_eq!(script["available"], true, "{engines}");

    let new = json!({"engine": "script", "cwd": place.join("work"),
        "message": {"client_msg_id": "1", "text": "write a file"}});
    let (status, session) = server.call("POST", "/v1/sessions", Some(&new));
    assert_eq!(status, 201, "{session}");
    let request = server.until(|| {
        let (_, open) = server.call("GET", "/v1/requests", None);
        open["requests"].get(0).cloned()
    });
    assert!(!place.join("work/hello.txt").exists());
    let path = format!("/v1/requests/{}/answer", request["id"].as_str().unwrap());
    let answer = json!({"digest": request["digest"], "verdict": {"type": "allow"}});
    assert_eq!(server.call("POST", &path, Some(&answer)).0, 200);
    let url = session["url"].as_str().unwrap().to_owned();
    let events = format!("{url}/events?types=turn.completed");
    server.until(|| {
        server.call("GET", &events, None).1["events"]
            .get(0)
            .cloned()
    });
    let written = std::fs::read_to_string(place.join("work/hello.txt")).unwrap();
    assert_eq!(written, "hello\n");
    let token = server.token.clone();
    server.end();

    let server = Server::start(&place);
    assert_eq!(server.token, token, "the token stays");
    let (status, again) = server.call("GET", &url, None);
    assert_eq!((status, &again["id"]), (200, &session["id"]));
    assert_eq!(again["state"], "idle");
    // A second one on the same store is fine; it says so if the address is taken.
    let taken = command(&place)
        .args(["--listen", &server.address])
        .output()
        .unwrap();
    assert_eq!(taken.status.code(), Some(3));
    let text = String::from_utf8(taken.stderr).unwrap();
    assert!(
        text.contains("failed to listen") && text.contains("hint:"),
        "{text}"
    );
    server.end();
}

#[test]
fn a_server_for_everybody_is_refused_with_words() {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("work")).unwrap();
    let refused = command(place.path())
        .args(["--listen", "0.0.0.0:0"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(3));
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(
        text.contains("without TLS") && text.contains("--trusted-proxy"),
        "{text}"
    );
    assert!(refused.stdout.is_empty());
    assert!(
        !place.path().join("state/token").exists(),
        "no token was made"
    );
}
