//! Views of the messages that pass by, with no more than the router needs.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::run_state::Signal;

/// The fields of a `system` message that tell whether work is going on.
#[derive(Deserialize)]
pub(super) struct SystemView<'a> {
    #[serde(borrow, default)]
    subtype: Cow<'a, str>,
    #[serde(borrow, default)]
    state: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    task_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tasks: Option<Vec<TaskView<'a>>>,
    #[serde(borrow, default)]
    patch: Option<PatchView<'a>>,
    #[serde(default)]
    ambient: Option<bool>,
    #[serde(borrow, default)]
    session_id: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct TaskView<'a> {
    #[serde(borrow)]
    task_id: Cow<'a, str>,
    #[serde(default)]
    ambient: Option<bool>,
}

#[derive(Deserialize)]
struct PatchView<'a> {
    #[serde(borrow, default)]
    status: Option<Cow<'a, str>>,
}

impl SystemView<'_> {
    /// Returns the signal in this message, if there is one.
    pub(super) fn signal(&self) -> Option<Signal<'_>> {
        let task = || self.task_id.as_deref();
        match self.subtype.as_ref() {
            "session_state_changed" => Some(match self.state.as_deref() {
                Some("idle") => Signal::Idle,
                _ => Signal::Busy,
            }),
            // Ambient tasks, such as watchers, are no activity and may never end.
            "task_started" if self.ambient == Some(true) => None,
            "task_started" => task().map(Signal::TaskStarted),
            "task_notification" => task().map(Signal::TaskEnded),
            "task_updated" => match self.patch.as_ref()?.status.as_deref()? {
                "completed" | "failed" | "killed" | "stopped" => task().map(Signal::TaskEnded),
                _ => None,
            },
            "background_tasks_changed" => {
                let tasks = self.tasks.as_ref()?;
                let active = tasks.iter().filter(|task| task.ambient != Some(true));
                Some(Signal::Tasks(
                    active.map(|task| task.task_id.as_ref()).collect(),
                ))
            }
            _ => None,
        }
    }

    /// The session, where the message opens a turn.
    pub(super) fn session_of_init(&self) -> Option<&str> {
        if self.subtype != "init" {
            return None;
        }
        self.session_id.as_deref()
    }
}

/// The fields of a `result` message the router acts on.
#[derive(Deserialize)]
pub(super) struct ResultView {
    #[serde(default)]
    pub(super) is_error: bool,
    #[serde(default)]
    user_message_uuid: Option<String>,
    #[serde(default)]
    user_message_uuids: Option<Vec<String>>,
}

impl ResultView {
    /// The prompts this result answers.
    pub(super) fn prompts(self) -> Vec<String> {
        let mut prompts = self.user_message_uuids.unwrap_or_default();
        prompts.extend(self.user_message_uuid);
        prompts
    }
}

/// A `command_lifecycle` message.
#[derive(Deserialize)]
pub(super) struct LifecycleView<'a> {
    #[serde(borrow)]
    command_uuid: Cow<'a, str>,
    #[serde(borrow)]
    state: Cow<'a, str>,
}

impl LifecycleView<'_> {
    pub(super) fn signal(&self) -> Option<Signal<'_>> {
        match self.state.as_ref() {
            "completed" | "cancelled" => Some(Signal::PromptSettled(&self.command_uuid)),
            _ => None,
        }
    }
}

/// The envelope of a `control_response`.
#[derive(Deserialize)]
pub(super) struct ResponseView {
    pub(super) response: ResponseBody,
}

#[derive(Deserialize)]
pub(super) struct ResponseBody {
    #[serde(default)]
    pub(super) subtype: String,
    #[serde(default)]
    pub(super) request_id: String,
    #[serde(default)]
    pub(super) response: Value,
    #[serde(default)]
    pub(super) error: Option<String>,
    #[serde(default)]
    pub(super) error_code: Option<String>,
    #[serde(default)]
    pub(super) pending_permission_requests: Vec<Value>,
    #[serde(default)]
    pub(super) pending_user_dialog_requests: Vec<Value>,
}

/// A `control_cancel_request`.
#[derive(Deserialize)]
pub(super) struct CancelView<'a> {
    #[serde(borrow)]
    pub(super) request_id: Cow<'a, str>,
}
