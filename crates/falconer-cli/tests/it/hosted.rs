//! A server of ours that runs, as a person starts it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::Place;

const LIMIT: Duration = Duration::from_secs(60);

/// `falconer serve` with a scripted model, in a place of its own.
pub(crate) struct Hosted<'a> {
    place: &'a Place,
    child: Child,
    pub(crate) address: String,
    token: String,
}

impl<'a> Hosted<'a> {
    /// With this scenario, on a port of its own.
    pub(crate) fn start(place: &'a Place, scenario: &str) -> Self {
        std::fs::write(place.path().join("scenario.json"), scenario).unwrap();
        Self::at(place, "127.0.0.1:0", |_| ())
    }

    /// Where it is told to listen, with a change to how it is started.
    pub(crate) fn at(place: &'a Place, address: &str, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = place.falconer();
        command
            .args(["serve", "--listen", address, "--engine-scenario"])
            .arg(place.path().join("scenario.json"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        change(&mut command);
        let mut child = command.spawn().unwrap();
        let mut link = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut link).unwrap();
        let link = link
            .trim()
            .strip_prefix("http://")
            .expect("it prints a link");
        let address = link.split('/').next().unwrap().to_owned();
        let state = place.path().join("home/.local/state/falconer");
        let token = std::fs::read_to_string(state.join("token")).unwrap();
        Self {
            place,
            child,
            address,
            token: token.trim().to_owned(),
        }
    }

    /// `falconer` that talks to it.
    pub(crate) fn falconer(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.falconer();
        command.args(arguments).args(["--server", &self.url()]);
        command
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it says on stderr, line by line.
    pub(crate) fn stderr(&mut self) -> impl Iterator<Item = String> + use<> {
        BufReader::new(self.child.stderr.take().unwrap())
            .lines()
            .map_while(Result::ok)
    }

    /// The status and the body.
    pub(crate) fn call(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let (address, token, length) = (&self.address, &self.token, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }

    /// A session, told this if it is told anything.
    pub(crate) fn session(&self, message: Option<&str>) -> String {
        let mut new = json!({"engine": "script", "cwd": self.place.path().join("work")});
        if let Some(text) = message {
            new["message"] = json!({"client_msg_id": "1", "text": text});
        }
        let (status, session) = self.call("POST", "/v1/sessions", &new);
        assert_eq!(status, 201, "{session}");
        session["id"].as_str().unwrap().to_owned()
    }

    /// Looks again and again until there is something to see.
    pub(crate) fn until<T>(&self, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        let end = Instant::now() + LIMIT;
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            assert!(Instant::now() < end, "it comes to that in time");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The request that waits.
    pub(crate) fn request(&self) -> Value {
        self.until(|server| {
            let (_, open) = server.call("GET", "/v1/requests?state=pending", &Value::Null);
            open["requests"].get(0).cloned()
        })
    }

    /// The state of a session, once it is this one.
    pub(crate) fn until_state(&self, session: &str, state: &str) {
        self.until(|server| {
            let path = format!("/v1/sessions/{session}");
            let (_, session) = server.call("GET", &path, &Value::Null);
            (session["state"] == state).then_some(())
        });
    }

    /// A turn of the session is over.
    pub(crate) fn until_turn(&self, session: &str) {
        let path = format!("/v1/sessions/{session}/events?types=turn.completed");
        self.until(|server| {
            let (_, found) = server.call("GET", &path, &Value::Null);
            found["events"].get(0).map(drop)
        });
    }

    /// As the power goes.
    pub(crate) fn kill(mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.address.clone()
    }
}

impl Drop for Hosted<'_> {
    fn drop(&mut self) {
        // Told to end, it ends its agents; a server that was killed is gone already.
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-s", "TERM", &pid]).output();
        let deadline = Instant::now() + LIMIT;
        while let Ok(None) = self.child.try_wait() {
            if Instant::now() > deadline {
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
