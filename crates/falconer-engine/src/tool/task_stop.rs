//! `TaskStop`: ends something that runs in the background.

use std::sync::Arc;

use falconer_protocol::{Object, TaskId};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Call, Describe, Outcome, Target, TypedTool};
use crate::task::StopBy;
use crate::workbench::Workbench;

/// The tool.
#[derive(Debug, Default)]
pub(crate) struct TaskStop;

impl Describe for TaskStop {
    fn name(&self) -> &str {
        "TaskStop"
    }

    fn description(&self) -> String {
        "Stops a task that runs in the background, such as a command started with \
         run_in_background, and everything it started. Give the ID from the result that \
         announced it."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "task_id": {"type": "string", "description": "The ID of the task"},
                "shell_id": {"type": "string", "description": "The old name of task_id"}
            },
            "additionalProperties": false
        })
    }

    fn is_read_only(&self) -> bool {
        false
    }
}

impl TypedTool for TaskStop {
    type Input = TaskId;

    fn parse(&self, input: &Object) -> Result<TaskId, String> {
        let text = |name: &str| input.get(name).and_then(Value::as_str);
        let id = text("task_id").or_else(|| text("shell_id"));
        id.map(TaskId::from)
            .ok_or_else(|| "Missing required parameter: task_id".to_owned())
    }

    fn target(&self, _id: &TaskId, _workbench: &Workbench) -> Target {
        Target::Nothing
    }

    fn run(&self, id: Arc<TaskId>, call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            match call.workbench.shop.tasks.stop(&id, StopBy::Model).await {
                Ok(shell) => stopped(&shell),
                Err(_) => unknown(&id),
            }
        })
    }
}

/// The task that was stopped.
#[derive(Debug, Serialize)]
struct Output<'a> {
    message: String,
    task_id: &'a TaskId,
    task_type: &'static str,
    command: &'a str,
}

fn stopped(shell: &crate::task::Shell) -> Outcome {
    let info = shell.info();
    let output = Output {
        message: format!("Stopped task {} ({})", info.id.as_str(), shell.command()),
        task_id: &info.id,
        task_type: info.kind.wire_name(),
        command: shell.command(),
    };
    // The model reads the same as the host.
    Outcome::text(serde_json::to_string(&output).unwrap_or_default(), output)
}

fn unknown(id: &TaskId) -> Outcome {
    Outcome::refused(format!("No task found with ID: {}", id.as_str()))
}
