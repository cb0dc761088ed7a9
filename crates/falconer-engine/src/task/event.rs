//! What the session is told about tasks, as the frames the host will see.

use falconer_protocol::Number;
use falconer_protocol::system::{
    BackgroundTask, BackgroundTasksChanged, TaskNotification, TaskPatch, TaskStarted, TaskStatus,
    TaskUpdated,
};

use super::TaskInfo;
use super::id::unix_millis;

/// Something happened to a task. In the order in which the host is to see it.
///
/// `uuid` and `session_id` of the frames are left for the session to fill in. Everything a call
/// causes before it returns is in the queue before it returns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TaskEvent {
    Started(TaskStarted),
    Updated(TaskUpdated),
    Finished {
        notification: TaskNotification,
        /// Whether the model has to be told, with a turn of its own if there is none.
        wakes_model: bool,
    },
    /// All tasks in the background.
    Changed(BackgroundTasksChanged),
}

pub(super) fn started(info: &TaskInfo) -> TaskEvent {
    TaskEvent::Started(TaskStarted {
        task_id: info.id.clone(),
        run_id: Some(info.run.clone()),
        tool_use_id: Some(info.tool_use.clone()),
        description: Some(info.description.clone()),
        is_backgrounded: Some(info.is_background),
        task_type: Some(info.kind.wire_name().to_owned()),
        ..TaskStarted::default()
    })
}

pub(super) fn moved_to_background(info: &TaskInfo) -> TaskEvent {
    updated(
        info,
        TaskPatch {
            is_backgrounded: Some(true),
            ..TaskPatch::default()
        },
    )
}

/// The status here is `killed` where the notification says `stopped`, as the CLI has it.
pub(super) fn ended(info: &TaskInfo, status: &TaskStatus) -> TaskEvent {
    let status = match status {
        TaskStatus::Stopped => TaskStatus::Killed,
        other => other.clone(),
    };
    updated(
        info,
        TaskPatch {
            status: Some(status),
            end_time: Some(Number::from(unix_millis())),
            ..TaskPatch::default()
        },
    )
}

fn updated(info: &TaskInfo, patch: TaskPatch) -> TaskEvent {
    TaskEvent::Updated(TaskUpdated {
        task_id: info.id.clone(),
        run_id: Some(info.run.clone()),
        patch,
        ..TaskUpdated::default()
    })
}

pub(super) fn notification(
    info: &TaskInfo,
    status: TaskStatus,
    output_file: String,
    summary: String,
) -> TaskNotification {
    TaskNotification {
        task_id: info.id.clone(),
        run_id: Some(info.run.clone()),
        tool_use_id: Some(info.tool_use.clone()),
        status,
        output_file: Some(output_file),
        summary: Some(summary),
        ..TaskNotification::default()
    }
}

pub(super) fn changed(tasks: &[TaskInfo]) -> TaskEvent {
    let task = |info: &TaskInfo| BackgroundTask {
        task_id: info.id.clone(),
        run_id: Some(info.run.clone()),
        task_type: Some(info.kind.wire_name().to_owned()),
        description: Some(info.description.clone()),
        ..BackgroundTask::default()
    };
    TaskEvent::Changed(BackgroundTasksChanged {
        tasks: tasks.iter().map(task).collect(),
        ..BackgroundTasksChanged::default()
    })
}
