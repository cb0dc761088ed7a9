//! Whole sessions: written, read back, and shared with the official CLI and SDKs.

mod loading;
mod official;
mod opening;
mod trees;
mod writing;

use std::fs;
use std::path::{Path, PathBuf};

use falconer_protocol::{MessageUuid, SessionId};
use falconer_secret::Environment;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    AssistantEntry, Beginning, Entry, OpenError, OpenRequest, Opened, PromptEntry, SessionPlace,
    Stamp, ToolResultEntry, Transcript,
};

/// A configuration directory and a project of its own.
struct Room {
    home: TempDir,
    project: TempDir,
}

impl Room {
    fn new() -> Self {
        Self {
            home: tempfile::tempdir().expect("temp dir"),
            project: tempfile::tempdir().expect("temp dir"),
        }
    }

    fn config(&self) -> PathBuf {
        self.home.path().join(".claude")
    }

    fn project(&self) -> &Path {
        self.project.path()
    }

    fn place(&self) -> SessionPlace {
        SessionPlace::new(&self.config(), self.project())
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "requests are made for the call"
    )]
    fn try_open(&self, request: OpenRequest) -> Result<Opened, OpenError> {
        let stamp = Stamp::new("2.1.325", &Environment::default(), self.project());
        Transcript::open(&request, Some(&self.place()), stamp)
    }

    fn open(&self, request: OpenRequest) -> Opened {
        self.try_open(request).expect("a session")
    }

    fn resume(&self, session: &SessionId) -> Opened {
        self.open(resume(session))
    }

    /// A finished session in which each of these was said and answered.
    fn session(&self, prompts: &[&str]) -> SessionId {
        let opened = self.open(OpenRequest::default());
        for said in prompts {
            exchange(&opened.transcript, said);
        }
        opened.session
    }

    /// Writes lines as the transcript of a session.
    fn write(&self, session: &SessionId, lines: &str) -> PathBuf {
        let path = self.place().file(session);
        fs::create_dir_all(path.parent().expect("has one")).expect("created");
        fs::write(&path, lines).expect("written");
        path
    }
}

fn resume(session: &SessionId) -> OpenRequest {
    OpenRequest {
        origin: Beginning::Resume(session.clone()),
        ..OpenRequest::default()
    }
}

fn new_session() -> SessionId {
    SessionId::new(uuid::Uuid::new_v4().to_string())
}

fn new_uuid() -> MessageUuid {
    crate::id::new_uuid()
}

fn prompt(said: &str) -> Entry {
    prompt_with(new_uuid(), said)
}

fn prompt_with(uuid: MessageUuid, said: &str) -> Entry {
    Entry::prompt(PromptEntry {
        uuid,
        content: json!(said),
        prompt_id: new_uuid().into_string(),
        permission_mode: "default".to_owned(),
        is_meta: false,
    })
}

/// One block of a response.
#[expect(
    clippy::needless_pass_by_value,
    reason = "blocks are made for the call"
)]
fn block(response: &str, block: Value) -> (MessageUuid, Entry) {
    let uuid = new_uuid();
    let message = json!({
        "id": response, "type": "message", "role": "assistant", "model": "claude-opus-5-5",
        "content": [block], "stop_reason": "end_turn", "stop_sequence": null,
        "usage": { "input_tokens": 1, "output_tokens": 1 },
    });
    let entry = Entry::assistant(AssistantEntry {
        uuid: uuid.clone(),
        message,
        block_index: Some(0),
        request_id: Some("req_1".to_owned()),
        requested_model: Some("claude-opus-5-5".to_owned()),
        api_error: None,
    });
    (uuid, entry)
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn call(id: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": "ls" } })
}

fn answer(id: &str) -> Value {
    json!({ "tool_use_id": id, "type": "tool_result", "content": format!("result of {id}") })
}

fn result(id: &str, of: &MessageUuid) -> Entry {
    Entry::tool_result(ToolResultEntry {
        uuid: new_uuid(),
        block: answer(id),
        prompt_id: new_uuid().into_string(),
        call: of.clone(),
        output: Some(json!({ "stdout": "out" })),
        permission: None,
    })
}

/// A prompt and the answer `I see: …`; the id of the answer.
fn exchange(transcript: &Transcript, said: &str) -> MessageUuid {
    transcript.append(Entry::enqueue(json!(said)));
    transcript.append(Entry::dequeue());
    transcript.append(prompt(said));
    let id = format!("msg_{}", new_uuid().as_str());
    let (uuid, entry) = block(&id, text(&format!("I see: {said}")));
    transcript.append(entry);
    transcript.append(Entry::last_prompt(said));
    uuid
}

/// What two exchanges look like for the API.
fn spoken(prompts: &[&str]) -> Vec<Value> {
    let pair = |said: &&str| {
        let answer = text(&format!("I see: {said}"));
        [
            json!({ "role": "user", "content": said }),
            json!({ "role": "assistant", "content": [answer] }),
        ]
    };
    prompts.iter().flat_map(pair).collect()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("readable");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}
