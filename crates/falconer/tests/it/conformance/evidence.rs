//! What the tests look at: messages, requests, processes.

use std::path::Path;
use std::time::{Duration, Instant};

use falconer::protocol::message::CommandState;
use falconer::protocol::system::SystemMessage;
use falconer::{Message, Messages, Ticket};
use falconer_testkit::RecordedRequest;
use serde_json::{Value, json};

use crate::scripted::LIMIT;

/// A command that says that it runs, then waits for the file `go`.
pub(super) const PATIENT: &str = "touch started; until [ -e go ]; do sleep 0.05; done; echo gone";

/// As [`PATIENT`], with processes that have sessions of their own; one ignores SIGTERM.
pub(super) const WITH_ORPHANS: &str = "(setsid sleep 1000 &); \
     (setsid sh -c 'trap \"\" TERM; touch ignoring; while :; do sleep 0.05; done' &); \
     until [ -e ignoring ]; do sleep 0.05; done; \
     touch started; until [ -e go ]; do sleep 0.05; done";

/// The input of a command.
pub(super) fn command(command: &str) -> Value {
    json!({ "command": command, "description": "a command" })
}

/// Reads until `pick` finds something.
pub(super) async fn wait_for<T>(
    messages: &mut Messages,
    mut pick: impl FnMut(&Message) -> Option<T>,
) -> T {
    let reading = async {
        loop {
            let message = messages.next().await.expect("the messages ended").unwrap();
            if let Some(found) = pick(&message) {
                return found;
            }
        }
    };
    tokio::time::timeout(LIMIT * 3, reading)
        .await
        .expect("it never came")
}

/// Reads until the engine has put this message into its queue.
pub(super) async fn wait_queued(messages: &mut Messages, ticket: &Ticket) {
    wait_for(messages, |message| match message {
        Message::CommandLifecycle(line) if line.state == CommandState::Queued => {
            (line.command_uuid.as_str() == ticket.uuid()).then_some(())
        }
        _ => None,
    })
    .await;
}

/// Waits for something that nobody announces.
pub(super) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT * 3;
    while !condition() {
        assert!(Instant::now() < deadline, "gave up waiting until {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The living processes that have this working directory.
pub(super) fn processes_in(directory: &Path) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == directory)
        })
        .collect()
}

/// Everything a request says to the model, as JSON text.
pub(super) fn conversation(request: &RecordedRequest) -> String {
    request.body["messages"].to_string()
}

/// The texts of the last user message of a request.
pub(super) fn last_user_texts(request: &RecordedRequest) -> Vec<String> {
    let messages = request.body["messages"].as_array().unwrap();
    let last = messages
        .iter()
        .rfind(|message| message["role"] == "user")
        .unwrap();
    match &last["content"] {
        Value::String(text) => vec![text.clone()],
        blocks => {
            let texts = blocks
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|block| block["text"].as_str());
            texts.map(str::to_owned).collect()
        }
    }
}

/// The messages of type `system`.
pub(super) fn system_messages(messages: &[Message]) -> impl Iterator<Item = &SystemMessage> {
    messages.iter().filter_map(|message| match message {
        Message::System(system) => Some(system),
        _ => None,
    })
}
