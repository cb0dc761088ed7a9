//! Sub-agents and shells, in front and in the background.

use serde_json::Value;

use crate::id::{MessageUuid, RunId, SessionId, TaskId, ToolUseId};
use crate::number::Number;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// A task starts.
    pub struct TaskStarted ["type" = "system", "subtype" = "task_started"] {
        /// Id of the task; kept if it is resumed.
        pub task_id: TaskId,
        /// Id of this run; a resumed task gets a new one.
        pub run_id ? RunId,
        /// Call that started the task.
        pub tool_use_id ? ToolUseId,
        /// Description that the call carried.
        pub description ? String,
        /// `true` if the call does not wait for the task.
        pub is_backgrounded ? bool,
        /// `local_agent`, `local_bash` and others.
        pub task_type ? String,
        /// Type of the sub-agent, with `local_agent`.
        pub subagent_type ? String,
        /// Depth of nesting, 1 for a sub-agent of the main conversation; with `local_agent`.
        pub spawn_depth ? u64,
        /// Sub-agent that started the task; absent for the main conversation.
        pub parent_task_id ? TaskId,
        /// Name of the workflow, with `local_workflow`.
        pub workflow_name ? String,
        /// Prompt of the sub-agent, with `local_agent`.
        pub prompt ? String,
        /// `true` for housekeeping that a transcript should not show.
        pub skip_transcript ? bool,
        /// `true` for tasks that do not count as activity.
        pub ambient ? bool,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A sub-agent used a tool.
    pub struct TaskProgress ["type" = "system", "subtype" = "task_progress"] {
        /// Id of the task.
        pub task_id: TaskId,
        /// Id of this run of the task.
        pub run_id ? RunId,
        /// Call that started the task.
        pub tool_use_id ? ToolUseId,
        /// Present activity, observed as `Running …`; not the task's description.
        pub description ? String,
        /// Type of the sub-agent.
        pub subagent_type ? String,
        /// Use since the start of the run.
        pub usage ? TaskUsage,
        /// Tool that was called last.
        pub last_tool_name ? String,
        /// Line about the progress; for sub-agents only if `agentProgressSummaries` is on.
        pub summary ? String,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// The use of a task so far.
    pub struct TaskUsage {
        /// Tokens, input and output together.
        pub total_tokens ? u64,
        /// Number of tool calls.
        pub tool_uses ? u64,
        /// Milliseconds since the start.
        pub duration_ms ? Number,
    }
}

wire_struct! {
    /// A task changes.
    pub struct TaskUpdated ["type" = "system", "subtype" = "task_updated"] {
        /// Id of the task.
        pub task_id: TaskId,
        /// Id of this run of the task.
        pub run_id ? RunId,
        /// Properties that changed.
        pub patch: TaskPatch,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// The changed properties of a task; absent ones stay.
    pub struct TaskPatch {
        /// New state.
        pub status ? TaskStatus,
        /// New description.
        pub description ? String,
        /// End of the task, in milliseconds since 1970.
        pub end_time ? Number,
        /// Milliseconds the task has been paused in all.
        pub total_paused_ms ? Number,
        /// Reason for people, if it failed.
        pub error ? String,
        /// `true` if the task was moved to the background.
        pub is_backgrounded ? bool,
    }
}

open_enum! {
    /// The state of a task.
    pub enum TaskStatus {
        /// Not started yet.
        Pending = "pending",
        /// At work.
        Running = "running",
        /// Stopped for the moment.
        Paused = "paused",
        /// Ended by itself.
        Completed = "completed",
        /// Ended with an error.
        Failed = "failed",
        /// Ended by the engine or the user, as [`TaskUpdated`] says it.
        Killed = "killed",
        /// The same, as [`TaskNotification`] says it.
        Stopped = "stopped",
    }
}

wire_struct! {
    /// A task is over.
    pub struct TaskNotification ["type" = "system", "subtype" = "task_notification"] {
        /// Id of the task.
        pub task_id: TaskId,
        /// Id of this run of the task.
        pub run_id ? RunId,
        /// Call that started the task.
        pub tool_use_id ? ToolUseId,
        /// `completed`, `failed` or `stopped`.
        pub status: TaskStatus,
        /// Unusual cause, such as `worker_restart`; absent for an ordinary end.
        pub reason ? String,
        /// File with the output; empty for a task in the foreground.
        pub output_file ? String,
        /// Report of the sub-agent, or a line about the command.
        pub summary ? String,
        /// Use of the whole run; absent for commands.
        pub usage ? TaskUsage,
        /// Files that an MCP task returned by reference.
        pub resource_links ? Vec<Value>,
        /// `true` for housekeeping that a transcript should not show.
        pub skip_transcript ? bool,
        /// `true` for tasks that do not count as activity.
        pub ambient ? bool,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// All tasks in the background, replacing what was known.
    pub struct BackgroundTasksChanged ["type" = "system", "subtype" = "background_tasks_changed"] {
        /// All tasks in the background after the change, in place of those known before.
        pub tasks: Vec<BackgroundTask>,
        /// Id of this line, chosen by the engine.
        pub uuid ? MessageUuid,
        /// Session that wrote this line.
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A task in the background.
    pub struct BackgroundTask {
        /// Id of the task.
        pub task_id: TaskId,
        /// Id of this run of the task.
        pub run_id ? RunId,
        /// `local_agent`, `local_bash` and others.
        pub task_type ? String,
        /// Type of the sub-agent, with `local_agent`.
        pub subagent_type ? String,
        /// Description that the call carried.
        pub description ? String,
        /// Sub-agent that started the task; absent for the main conversation.
        pub parent_task_id ? TaskId,
        /// `true` for tasks that do not count as activity.
        pub ambient ? bool,
    }
}
