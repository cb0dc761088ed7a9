//! An engine inside the test, and a session that runs on it.

use std::time::Duration;

use falconer::{EngineEnd, Options, channel};
use falconer_event::{Body, Event, Outcome, RunCompleted};
use falconer_session::{EventStream, Session, SessionHandle, SessionLocks, SessionSpec};
use serde_json::{Value, json};

/// How long a test waits for something that has to happen.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// The engine's side of a session.
pub(crate) struct Scripted {
    end: EngineEnd,
}

/// A session on a scripted engine that has said hello.
pub(crate) struct Stage {
    pub(crate) session: SessionHandle,
    pub(crate) events: EventStream,
    pub(crate) engine: Scripted,
    pub(crate) locks: SessionLocks,
    pub(crate) _folder: tempfile::TempDir,
}

pub(crate) fn locks() -> (tempfile::TempDir, SessionLocks) {
    let folder = tempfile::tempdir().unwrap();
    let locks = SessionLocks::new(folder.path());
    (folder, locks)
}

impl Stage {
    pub(crate) async fn new(make: impl FnOnce(SessionSpec) -> SessionSpec) -> Self {
        let (folder, locks) = locks();
        let (transport, end) = channel();
        // The engine of a stage does not leave by itself, so waiting for it is in vain.
        let options = Options::new().close_grace(Duration::from_millis(200));
        let spec = SessionSpec::new(locks.clone())
            .options(options)
            .through(transport);
        let mut engine = Scripted { end };
        let (started, ()) = tokio::join!(Session::start(make(spec)), engine.hello());
        let (session, events) = started.unwrap();
        Self {
            session,
            events,
            engine,
            locks,
            _folder: folder,
        }
    }

    /// The next event that `pick` wants; others are passed over.
    pub(crate) async fn event<T>(&mut self, pick: impl Fn(&Event) -> Option<T>) -> T {
        let search = async {
            while let Some(event) = self.events.next().await {
                if let Some(found) = pick(&event) {
                    return Some(found);
                }
            }
            None
        };
        let found = tokio::time::timeout(LIMIT, search)
            .await
            .expect("no such event");
        found.expect("the run ended first")
    }

    /// Reads to the end.
    pub(crate) async fn rest(&mut self) -> Vec<Event> {
        let all = async {
            let mut all = Vec::new();
            while let Some(event) = self.events.next().await {
                all.push(event);
            }
            all
        };
        tokio::time::timeout(LIMIT, all)
            .await
            .expect("the run does not end")
    }

    pub(crate) async fn completed(&mut self) -> RunCompleted {
        completed(&self.rest().await)
    }
}

/// The end of a run, which has to be its last event and its only one.
pub(crate) fn completed(events: &[Event]) -> RunCompleted {
    let ends = events
        .iter()
        .filter(|event| matches!(event.body, Body::RunCompleted(_)));
    assert_eq!(ends.count(), 1, "{events:#?}");
    match &events[events.len() - 1].body {
        Body::RunCompleted(completed) => completed.as_ref().clone(),
        other => panic!("the run ends with {other:?}"),
    }
}

pub(crate) fn class(completed: &RunCompleted) -> &str {
    assert_eq!(completed.outcome, Outcome::Failed, "{completed:?}");
    completed
        .failure
        .as_ref()
        .map_or("", |failure| &failure.class)
}

impl Scripted {
    pub(crate) fn new(end: EngineEnd) -> Self {
        Self { end }
    }

    pub(crate) async fn hear(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(LIMIT, self.end.recv())
            .await
            .expect("host is silent")?;
        Some(serde_json::from_slice(&line).expect("the host writes JSON"))
    }

    pub(crate) async fn say(&self, message: &Value) {
        // A host that has left hears nothing, which is fine for a script.
        let _ = self.end.send(format!("{message}\n")).await;
    }

    pub(crate) async fn hello(&mut self) {
        let request = self.hear().await.expect("initialize");
        assert_eq!(request["request"]["subtype"], "initialize");
        self.done(
            &request["request_id"],
            &json!({"commands": [], "models": [],
            "claude_code_version": "2.1.325"}),
        )
        .await;
    }

    pub(crate) async fn done(&self, id: &Value, payload: &Value) {
        self.say(&json!({"type": "control_response", "response": {
            "subtype": "success", "request_id": id, "response": payload}}))
            .await;
    }

    /// Waits for a prompt; returns its uuid and text.
    pub(crate) async fn prompt(&mut self) -> (String, String) {
        loop {
            let line = self.hear().await.expect("a prompt");
            if line["type"] == "user" {
                let text = match &line["message"]["content"] {
                    Value::String(text) => text.clone(),
                    blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
                };
                return (line["uuid"].as_str().unwrap().to_owned(), text);
            }
        }
    }

    /// Waits for a request of the host; returns its id.
    pub(crate) async fn request(&mut self, subtype: &str) -> Value {
        loop {
            let line = self.hear().await.expect("a request");
            if line["request"]["subtype"] == subtype {
                return line;
            }
        }
    }

    /// The host's answer to a request.
    pub(crate) async fn answer_to(&mut self, id: &str) -> Value {
        loop {
            let line = self.hear().await.expect("the host left without an answer");
            if line["response"]["request_id"] == id {
                return line["response"]["response"].clone();
            }
        }
    }

    pub(crate) async fn init(&self, session: &str) {
        self.say(
            &json!({"type": "system", "subtype": "init", "cwd": "/p", "session_id": session,
            "model": "m", "tools": ["Bash"], "permissionMode": "default"}),
        )
        .await;
    }

    pub(crate) async fn ask(&self, id: &str, tool: &str, input: &Value) {
        self.say(
            &json!({"type": "control_request", "request_id": id, "request": {
            "subtype": "can_use_tool", "tool_name": tool, "input": input,
            "tool_use_id": format!("toolu_{id}")}}),
        )
        .await;
    }

    /// Calls the hook of the session before a tool.
    pub(crate) async fn before_tool(&self, id: &str, tool: &str, input: &Value) {
        self.say(
            &json!({"type": "control_request", "request_id": id, "request": {
            "subtype": "hook_callback", "callback_id": "hook_0", "input": {
                "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/p",
                "tool_name": tool, "tool_input": input, "tool_use_id": "t"}}}),
        )
        .await;
    }

    pub(crate) async fn text(&self, id: &str, text: &str) {
        self.say(
            &json!({"type": "assistant", "session_id": "s", "message": {"id": id,
            "role": "assistant", "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 10, "output_tokens": 10}}}),
        )
        .await;
    }

    pub(crate) async fn call(&self, id: &str, tool: &str, input: &Value) {
        self.say(
            &json!({"type": "assistant", "session_id": "s", "message": {"id": format!("m{id}"),
            "role": "assistant", "content": [{"type": "tool_use", "id": id, "name": tool,
            "input": input}]}}),
        )
        .await;
    }

    pub(crate) async fn result(&self, text: &str, uuids: &[&str]) {
        self.say(
            &json!({"type": "result", "subtype": "success", "is_error": false,
            "result": text, "session_id": "s", "num_turns": 1, "total_cost_usd": 0.5,
            "usage": {"input_tokens": 10, "output_tokens": 20}, "user_message_uuids": uuids}),
        )
        .await;
    }

    /// The result of a turn that was interrupted.
    pub(crate) async fn interrupted(&self) {
        self.say(
            &json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
            "session_id": "s", "num_turns": 1, "terminal_reason": "aborted_tools"}),
        )
        .await;
    }

    /// A result of a service that is overloaded.
    pub(crate) async fn overloaded(&self, uuids: &[&str]) {
        self.say(
            &json!({"type": "result", "subtype": "success", "is_error": true,
            "result": "API Error: 529 Overloaded", "session_id": "s", "num_turns": 1,
            "terminal_reason": "api_error", "api_error_status": 529,
            "user_message_uuids": uuids}),
        )
        .await;
    }
}
