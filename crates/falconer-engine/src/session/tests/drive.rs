//! Drives a session line by line.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use falconer_model::Scripted;
use falconer_scenario::Scenario;
use falconer_secret::Environment;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::session::config::SessionConfig;
use crate::session::open::SessionHandle;
use crate::session::stop::Exit;
use crate::session::{Stop, open};

/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// A session and everything it has said.
pub(super) struct Drive {
    input: Option<mpsc::Sender<Bytes>>,
    output: mpsc::Receiver<Bytes>,
    pub(super) stop: Stop,
    ended: futures_util::future::BoxFuture<'static, Exit>,
    pub(super) frames: Vec<Value>,
}

/// A configuration for tests: a project and a home below `dir`, a scripted model.
pub(super) fn config(dir: &Path, model: Arc<Scripted>, env: &[(&str, &str)]) -> SessionConfig {
    let (home, project) = (dir.join("home"), dir.join("project"));
    std::fs::create_dir_all(&home).unwrap();
    std::fs::create_dir_all(&project).unwrap();
    let mut variables: Vec<(OsString, OsString)> = vec![
        ("HOME".into(), home.into()),
        ("TMPDIR".into(), dir.into()),
        ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
    ];
    variables.extend(env.iter().map(|(name, value)| (name.into(), value.into())));
    SessionConfig::new(Arc::new(Environment::new(variables)), project, model)
}

pub(super) fn scripted(scenario: Scenario) -> Arc<Scripted> {
    Arc::new(Scripted::new(scenario))
}

impl Drive {
    pub(super) fn new(config: SessionConfig) -> Self {
        let handle: SessionHandle = open(config).expect("the session opens");
        Self {
            input: Some(handle.input),
            output: handle.output,
            stop: handle.stop,
            ended: handle.ended,
            frames: Vec::new(),
        }
    }

    pub(super) async fn send(&self, line: &Value) {
        self.send_raw(&line.to_string()).await;
    }

    pub(super) async fn send_raw(&self, line: &str) {
        if let Some(input) = &self.input {
            let _ = input.send(Bytes::from(format!("{line}\n"))).await;
        }
    }

    pub(super) fn close(&mut self) {
        self.input = None;
    }

    /// Reads until so many frames have come. False if they do not.
    pub(super) async fn reach(&mut self, count: usize, patience: Duration) -> bool {
        while self.frames.len() < count {
            match tokio::time::timeout(patience, self.output.recv()).await {
                Ok(Some(line)) => self.frames.push(parse(&line)),
                Ok(None) | Err(_) => return false,
            }
        }
        true
    }

    /// Reads until a frame fits, and returns it.
    pub(super) async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let line = tokio::time::timeout(PATIENCE, self.output.recv()).await;
            let line = line.unwrap_or_else(|_| panic!("nothing fits in {:#?}", self.frames));
            let line = line.unwrap_or_else(|| panic!("the session ended: {:#?}", self.frames));
            self.frames.push(parse(&line));
            if fits(&self.frames[self.frames.len() - 1]) {
                return self.frames[self.frames.len() - 1].clone();
            }
        }
    }

    /// Reads to the end.
    pub(super) async fn finish(mut self) -> (Vec<Value>, Exit) {
        self.input = None;
        loop {
            match tokio::time::timeout(PATIENCE, self.output.recv()).await {
                Ok(Some(line)) => self.frames.push(parse(&line)),
                Ok(None) => break,
                Err(_) => panic!("the session does not end: {:#?}", self.frames),
            }
        }
        (self.frames, self.ended.await)
    }
}

fn parse(line: &[u8]) -> Value {
    serde_json::from_slice(line).expect("a frame is JSON")
}

/// A frame in the words of the cassettes' index.
pub(super) fn token(frame: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match frame["type"].as_str().unwrap_or_default() {
        "assistant" => "A".to_owned(),
        "user" => "U".to_owned(),
        "system" => format!("S:{}", text(&frame["subtype"])),
        "result" => format!("R:{}", text(&frame["subtype"])),
        "control_request" => format!("cQ:{}", text(&frame["request"]["subtype"])),
        "control_response" => "cR".to_owned(),
        "control_cancel_request" => "cancel".to_owned(),
        "stream_event" => "se".to_owned(),
        "command_lifecycle" => format!("cl:{}", text(&frame["state"])),
        other => other.to_owned(),
    }
}

pub(super) fn tokens(frames: &[Value]) -> Vec<String> {
    frames.iter().map(token).collect()
}
