//! What of a session goes into its transcript.

use std::sync::{Mutex, PoisonError};

use falconer_protocol::message::TranscriptMirrorMessage;
use falconer_protocol::permission::PermissionMode;
use falconer_protocol::{MessageUuid, SessionId};
use falconer_transcript::{self as transcript, Entry, SessionPlace, Transcript};
use serde_json::Value;

use super::core::Core;
use super::queue::Prompt;
use crate::frame::assistant::Head;
use crate::turn::call::Done;

/// The transcript of a session.
#[derive(Debug)]
pub(crate) struct Record {
    transcript: Transcript,
    place: Option<SessionPlace>,
    /// The name the session was started with. It is written with the first prompt, so that a
    /// session in which nothing was said leaves nothing behind.
    name: Mutex<Option<String>>,
}

impl Record {
    pub(crate) fn new(
        transcript: Transcript,
        place: Option<SessionPlace>,
        name: Option<String>,
    ) -> Self {
        Self {
            transcript,
            place,
            name: Mutex::new(name),
        }
    }

    /// Where it is, for hooks; empty if it is nowhere.
    pub(crate) fn path(&self) -> String {
        let path = self.transcript.path();
        path.map_or(String::new(), |path| path.display().to_string())
    }

    pub(crate) fn enqueued(&self, prompt: &Prompt) {
        self.write_name();
        self.transcript
            .append(Entry::enqueue(prompt.content.clone()));
    }

    pub(crate) fn dequeued(&self) {
        self.transcript.append(Entry::dequeue());
    }

    pub(crate) fn cancelled(&self, prompt: &Prompt) {
        self.transcript
            .append(Entry::cancelled(prompt.content.clone()));
    }

    /// A prompt joined the running turn.
    pub(crate) fn folded(&self, prompt: &Prompt) {
        self.transcript
            .append(Entry::absorbed(prompt.content.clone()));
        let fresh = || MessageUuid::new(uuid::Uuid::new_v4().to_string());
        let attachment = transcript::AttachmentEntry::QueuedPrompt {
            uuid: prompt.uuid.clone().unwrap_or_else(fresh),
            content: prompt.content.clone(),
        };
        self.transcript.append(Entry::attachment(attachment));
    }

    pub(crate) fn prompt(
        &self,
        uuid: &MessageUuid,
        content: &Value,
        prompt_id: &str,
        mode: &PermissionMode,
        contexts: &[String],
    ) {
        self.write_name();
        self.transcript
            .append(Entry::prompt(transcript::PromptEntry {
                uuid: uuid.clone(),
                content: content.clone(),
                prompt_id: prompt_id.to_owned(),
                permission_mode: mode.as_str().to_owned(),
                is_meta: false,
            }));
        if !contexts.is_empty() {
            let attachment = transcript::AttachmentEntry::HookContext {
                event: "UserPromptSubmit".to_owned(),
                contexts: contexts.to_vec(),
            };
            self.transcript.append(Entry::attachment(attachment));
        }
        let text = match content {
            Value::String(text) => text.clone(),
            other => crate::turn::call::text_of(other),
        };
        self.transcript.append(Entry::last_prompt(&text));
    }

    /// A note of the engine in the user's place.
    pub(crate) fn note(
        &self,
        line: &MessageUuid,
        block: &Value,
        prompt_id: &str,
        mode: &PermissionMode,
    ) {
        self.transcript
            .append(Entry::prompt(transcript::PromptEntry {
                uuid: line.clone(),
                content: vec![block.clone()].into(),
                prompt_id: prompt_id.to_owned(),
                permission_mode: mode.as_str().to_owned(),
                is_meta: true,
            }));
    }

    pub(crate) fn block(
        &self,
        line: &MessageUuid,
        head: &Head,
        block: &Value,
        index: u64,
        model: &str,
    ) {
        let mut message = head.message.clone();
        message.insert("content".to_owned(), vec![block.clone()].into());
        self.transcript
            .append(Entry::assistant(transcript::AssistantEntry {
                uuid: line.clone(),
                message: Value::Object(message),
                block_index: Some(index),
                request_id: head.request_id.clone(),
                requested_model: Some(model.to_owned()),
                api_error: None,
            }));
    }

    pub(crate) fn synthetic(&self, line: &MessageUuid, message: Value, class: &str) {
        self.transcript
            .append(Entry::assistant(transcript::AssistantEntry {
                uuid: line.clone(),
                message,
                block_index: None,
                request_id: None,
                requested_model: None,
                api_error: Some(class.to_owned()),
            }));
    }

    pub(crate) fn tool_result(
        &self,
        line: &MessageUuid,
        block: &Value,
        done: &Done,
        prompt_id: &str,
    ) {
        let permission = done.meta.permission_decision.as_ref();
        let permission = permission.map(|it| transcript::RecordedDecision {
            decision: it.decision.clone().unwrap_or_default().to_string(),
            source: it.source.clone().unwrap_or_default().to_string(),
            reason_type: it.reason_type.as_ref().map(ToString::to_string),
        });
        self.transcript
            .append(Entry::tool_result(transcript::ToolResultEntry {
                uuid: line.clone(),
                block: block.clone(),
                prompt_id: prompt_id.to_owned(),
                call: done.wanted.line.clone(),
                output: done.outcome.output.clone(),
                permission,
            }));
    }

    fn write_name(&self) {
        let name = self
            .name
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(name) = name {
            self.titled(&name);
            self.transcript.append(Entry::agent_name(&name));
        }
    }

    pub(crate) fn titled(&self, title: &str) {
        self.transcript.append(Entry::custom_title(title));
    }

    /// The end of a turn: totals, and everything to the disk.
    pub(crate) fn turn_ended(&self, core: &Core) {
        let ledger = core.ledger();
        let cost = transcript::CostState {
            total_cost_usd: ledger.total_cost(),
            api_duration_ms: u64::try_from(ledger.api_time().as_millis()).unwrap_or(u64::MAX),
            duration_ms: u64::try_from(ledger.wall_time().as_millis()).unwrap_or(u64::MAX),
            model_usage: ledger
                .model_usage()
                .into_iter()
                .map(|(model, usage)| (model, serde_json::to_value(usage).unwrap_or_default()))
                .collect(),
            ..transcript::CostState::default()
        };
        drop(ledger);
        self.transcript.change_cwd(&core.workbench.cwd());
        // A conversation in which no model was asked has no totals.
        if !cost.model_usage.is_empty() {
            self.transcript.append(Entry::cost_state(cost));
        }
        self.transcript.flush();
    }

    /// The conversation was cleared: what follows belongs to another session.
    /// What follows belongs to another session, which has the same name.
    pub(crate) fn restart(&self, session: &SessionId, name: Option<String>) {
        self.transcript.restart(self.place.as_ref(), session);
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }

    pub(crate) fn take_mirror(&self) -> Option<TranscriptMirrorMessage> {
        self.transcript.take_mirror()
    }

    pub(crate) fn take_warnings(&self) -> Vec<String> {
        self.transcript.take_warnings()
    }

    pub(crate) async fn close(&self) {
        self.transcript.close().await;
    }
}
