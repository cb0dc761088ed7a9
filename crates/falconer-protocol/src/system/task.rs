//! Sub-agents and shells, in front and in the background.

use serde_json::Value;

use crate::id::{MessageUuid, RunId, SessionId, TaskId, ToolUseId};
use crate::number::Number;
use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// A task starts.
    pub struct TaskStarted ["type" = "system", "subtype" = "task_started"] {
        pub task_id: TaskId,
        pub run_id ? RunId,
        pub tool_use_id ? ToolUseId,
        pub description ? String,
        pub is_backgrounded ? bool,
        /// `local_agent`, `local_bash` and others.
        pub task_type ? String,
        pub subagent_type ? String,
        pub spawn_depth ? u64,
        pub parent_task_id ? TaskId,
        pub workflow_name ? String,
        pub prompt ? String,
        pub skip_transcript ? bool,
        pub ambient ? bool,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A sub-agent used a tool.
    pub struct TaskProgress ["type" = "system", "subtype" = "task_progress"] {
        pub task_id: TaskId,
        pub run_id ? RunId,
        pub tool_use_id ? ToolUseId,
        pub description ? String,
        pub subagent_type ? String,
        pub usage ? TaskUsage,
        pub last_tool_name ? String,
        pub summary ? String,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// What a task has used so far.
    pub struct TaskUsage {
        pub total_tokens ? u64,
        pub tool_uses ? u64,
        pub duration_ms ? Number,
    }
}

wire_struct! {
    /// A task changes.
    pub struct TaskUpdated ["type" = "system", "subtype" = "task_updated"] {
        pub task_id: TaskId,
        pub run_id ? RunId,
        pub patch: TaskPatch,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// What changed.
    pub struct TaskPatch {
        pub status ? TaskStatus,
        pub description ? String,
        pub end_time ? Number,
        pub total_paused_ms ? Number,
        pub error ? String,
        pub is_backgrounded ? bool,
    }
}

open_enum! {
    /// The state of a task.
    pub enum TaskStatus {
        Pending = "pending",
        Running = "running",
        Paused = "paused",
        Completed = "completed",
        Failed = "failed",
        Killed = "killed",
        Stopped = "stopped",
    }
}

wire_struct! {
    /// A task is over.
    pub struct TaskNotification ["type" = "system", "subtype" = "task_notification"] {
        pub task_id: TaskId,
        pub run_id ? RunId,
        pub tool_use_id ? ToolUseId,
        pub status: TaskStatus,
        pub reason ? String,
        /// Where its output is; empty for a task in front.
        pub output_file ? String,
        pub summary ? String,
        pub usage ? TaskUsage,
        pub resource_links ? Vec<Value>,
        pub skip_transcript ? bool,
        pub ambient ? bool,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// All tasks in the background, replacing what was known.
    pub struct BackgroundTasksChanged ["type" = "system", "subtype" = "background_tasks_changed"] {
        pub tasks: Vec<BackgroundTask>,
        pub uuid ? MessageUuid,
        pub session_id ? SessionId,
    }
}

wire_struct! {
    /// A task in the background.
    pub struct BackgroundTask {
        pub task_id: TaskId,
        pub run_id ? RunId,
        pub task_type ? String,
        pub subagent_type ? String,
        pub description ? String,
        pub parent_task_id ? TaskId,
        pub ambient ? bool,
    }
}
