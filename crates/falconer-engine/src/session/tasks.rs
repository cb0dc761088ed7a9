//! What happens to shells in the background: lines for the host, turns for the model.

use std::future::poll_fn;
use std::sync::PoisonError;
use std::time::Duration;

use falconer_protocol::SessionId;
use falconer_protocol::message::MessageOrigin;
use falconer_protocol::system::{BackgroundTask, BackgroundTasksChanged, TaskNotification};
use serde_json::Value;

use super::core::Core;
use super::queue::{Handling, Prompt, Urgency};
use crate::conversation::Conversation;
use crate::task::TaskEvent;

/// How long the list of tasks may take after the end of one.
const LIST_WAIT: Duration = Duration::from_millis(500);

impl Core {
    /// The next event; waits for it.
    pub(crate) async fn next_task_event(&self) -> TaskEvent {
        let next = poll_fn(|context| {
            let events = self.task_events.lock();
            events
                .unwrap_or_else(PoisonError::into_inner)
                .poll_recv(context)
        });
        match next.await {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }

    /// Whether something has happened to a task that was not shown yet.
    pub(crate) fn has_task_events(&self) -> bool {
        let events = self.task_events.lock();
        !events.unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Shows what has happened to tasks until now.
    ///
    /// What a tool caused is in the queue before the tool returns, so its lines come before the
    /// line of its result.
    pub(crate) async fn say_task_events(&self) {
        loop {
            let event = self
                .task_events
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .try_recv();
            match event {
                Ok(event) => self.take_task_event(event).await,
                Err(_) => return,
            }
        }
    }

    /// Shows one event, and wakes the model if it has to know.
    pub(crate) async fn take_task_event(&self, event: TaskEvent) {
        match event {
            TaskEvent::Started(frame) => {
                self.speaker.say(frame).await;
            }
            TaskEvent::Updated(frame) => {
                self.speaker.say(frame).await;
            }
            TaskEvent::Changed(frame) => {
                self.speaker.say(frame).await;
            }
            TaskEvent::Finished {
                notification,
                wakes_model,
            } => {
                self.speaker.say(notification.clone()).await;
                // The new list of tasks follows; it is shown before a turn begins.
                let next = tokio::time::timeout(LIST_WAIT, self.next_task_event()).await;
                if let Ok(next) = next {
                    Box::pin(self.take_task_event(next)).await;
                }
                if wakes_model {
                    self.queue().push(wake_up(&notification));
                }
                self.state().task_ended = true;
            }
        }
    }

    /// Says which tasks are in the background now.
    pub(crate) async fn say_tasks(&self) {
        self.speaker.say(self.tasks_frame()).await;
    }

    /// The tasks in the background, as the host is told of them.
    pub(crate) fn tasks_frame(&self) -> BackgroundTasksChanged {
        let listed = self.workbench.shop.tasks.list().into_iter();
        BackgroundTasksChanged {
            tasks: listed
                .map(|task| BackgroundTask {
                    task_id: task.id,
                    run_id: Some(task.run),
                    task_type: Some(task.kind.wire_name().to_owned()),
                    description: Some(task.description),
                    ..BackgroundTask::default()
                })
                .collect(),
            ..BackgroundTasksChanged::default()
        }
    }

    /// Forgets the conversation.
    pub(crate) fn forget_conversation(&self, new: &SessionId) {
        let title = self.state().title.clone();
        self.record.restart(new, title);
        self.speaker.rename(new.clone());
        self.ledger().restart();
        let mut state = self.state();
        state.conversation = Conversation::default();
        state.introduced = false;
        state.last_answer = None;
        state.last_prompt_id = None;
    }
}

/// The note with which the model hears that a task has ended.
fn wake_up(task: &TaskNotification) -> Prompt {
    let line = |name: &str, value: Option<&str>| {
        value.map_or(String::new(), |value| format!("<{name}>{value}</{name}>\n"))
    };
    let text = format!(
        "<task-notification>\n{}{}{}{}</task-notification>\n\
         This note comes from the engine, not from the user.",
        line("task-id", Some(task.task_id.as_str())),
        line("status", Some(task.status.as_str())),
        line("summary", task.summary.as_deref()),
        line("output-file", task.output_file.as_deref()),
    );
    Prompt {
        content: Value::String(text),
        uuid: None,
        urgency: Urgency::Next,
        handling: Handling::AskVerbatim,
        origin: Some(MessageOrigin {
            kind: "task-notification".to_owned(),
            producer: Some("session-task".to_owned()),
            run_id: task.run_id.as_ref().map(ToString::to_string),
            ..MessageOrigin::default()
        }),
    }
}
