//! An engine inside the test: reads what the host says, answers what the test wants.

use std::time::Duration;

use falconer::{Client, EngineEnd, Error, Messages, Options, channel};
use serde_json::{Value, json};

/// How long a test waits for something that has to happen.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// The engine's side of a connection.
pub(crate) struct Scripted {
    end: EngineEnd,
}

impl Scripted {
    pub(crate) fn new(end: EngineEnd) -> Self {
        Self { end }
    }

    /// Connects a client to a scripted engine that has answered initialize.
    pub(crate) async fn connect(options: Options) -> (Client, Messages, Self) {
        let (transport, end) = channel();
        let mut engine = Self { end };
        let (connected, ()) =
            tokio::join!(Client::connect_through(transport, options), engine.hello());
        let (client, messages) = connected.expect("the scripted engine said hello");
        (client, messages, engine)
    }

    /// Connects with an engine that does as `play` says.
    pub(crate) async fn connect_to<F, Fut>(
        options: Options,
        play: F,
    ) -> Result<(Client, Messages), Error>
    where
        F: FnOnce(Self) -> Fut,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let (transport, end) = channel();
        let playing = tokio::spawn(play(Self { end }));
        let connected = Client::connect_through(transport, options).await;
        if connected.is_err() {
            playing.abort();
        }
        connected
    }

    /// The next line of the host; `None` at the end of its input.
    pub(crate) async fn hear(&mut self) -> Option<Value> {
        self.hear_for(LIMIT).await
    }

    /// The next line of the host, if it comes within the limit.
    pub(crate) async fn hear_for(&mut self, limit: Duration) -> Option<Value> {
        let line = tokio::time::timeout(limit, self.end.recv())
            .await
            .expect("host is silent")?;
        assert!(line.ends_with(b"\n"), "a line without its end: {line:?}");
        Some(serde_json::from_slice(&line).expect("the host writes JSON"))
    }

    /// Writes one message.
    pub(crate) async fn say(&self, message: &Value) {
        self.say_text(format!("{message}\n")).await;
    }

    /// Writes bytes as they are.
    pub(crate) async fn say_text(&self, text: impl Into<bytes::Bytes>) {
        // A host that has left hears nothing, which is fine for a script.
        let _ = self.end.send(text.into()).await;
    }

    /// Waits for initialize and answers it.
    pub(crate) async fn hello(&mut self) {
        let request = self.hear().await.expect("initialize");
        assert_eq!(request["request"]["subtype"], "initialize");
        self.done(&request["request_id"], &hello_payload()).await;
    }

    /// Answers a request of the host.
    pub(crate) async fn done(&self, id: &Value, payload: &Value) {
        self.say(&json!({ "type": "control_response", "response": {
            "subtype": "success", "request_id": id, "response": payload } }))
            .await;
    }

    /// Asks the host something.
    pub(crate) async fn ask(&self, id: &str, request: &Value) {
        self.say(&json!({ "type": "control_request", "request_id": id, "request": request }))
            .await;
    }

    /// Asks whether Bash may run.
    pub(crate) async fn ask_bash(&self, id: &str, command: &str) {
        self.ask(id, &can_use_bash(command)).await;
    }

    /// The host's answer to a request, whatever comes in between.
    pub(crate) async fn answer_to(&mut self, id: &str) -> Value {
        loop {
            let line = self.hear().await.expect("the host left without an answer");
            if line["response"]["request_id"] == id {
                return line["response"].clone();
            }
        }
    }

    /// Waits for a prompt; returns its uuid.
    pub(crate) async fn prompt(&mut self) -> String {
        loop {
            let line = self.hear().await.expect("a prompt");
            if line["type"] == "user" {
                return line["uuid"]
                    .as_str()
                    .expect("prompts carry a uuid")
                    .to_owned();
            }
        }
    }

    /// Announces a state of the session.
    pub(crate) async fn state(&self, state: &str) {
        self.say(
            &json!({ "type": "system", "subtype": "session_state_changed", "state": state,
            "session_id": "s", "uuid": "u", "sdk_host_only": true }),
        )
        .await;
    }

    /// Ends a turn.
    pub(crate) async fn result(&self, text: &str, uuids: &[&str]) {
        self.say(
            &json!({ "duration_api_ms": 1, "type": "result", "subtype": "success",
            "is_error": false, "result": text, "session_id": "s", "uuid": "r",
            "num_turns": 1, "total_cost_usd": 0.5, "user_message_uuids": uuids }),
        )
        .await;
    }
}

/// What an engine says to initialize.
pub(crate) fn hello_payload() -> Value {
    json!({ "commands": [], "agents": [], "models": [], "output_style": "default",
            "available_output_styles": ["default"], "account": {}, "pid": 1,
            "claude_code_version": "2.1.325", "hook_on_failure_supported": true })
}

/// A permission request for a command.
pub(crate) fn can_use_bash(command: &str) -> Value {
    json!({ "subtype": "can_use_tool", "tool_name": "Bash", "display_name": "Bash",
            "input": { "command": command }, "tool_use_id": "toolu_1",
            "permission_suggestions": [
                { "type": "addRules", "rules": [{ "toolName": "Bash", "ruleContent": command }],
                  "behavior": "allow", "destination": "localSettings" },
                { "type": "setMode", "mode": "acceptEdits", "destination": "session" } ] })
}
