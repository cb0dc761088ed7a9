//! `TaskStop`: ends something that runs in the background.

use falconer_protocol::{Object, TaskId};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{Call, Outcome, Target, Tool};
use crate::task::StopBy;
use crate::workbench::Workbench;

/// The tool.
#[derive(Debug, Default)]
pub(crate) struct TaskStop;

impl Tool for TaskStop {
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

    fn check(&self, input: &Object) -> Result<(), String> {
        match task_id(input) {
            Some(_) => Ok(()),
            None => Err("Missing required parameter: task_id".to_owned()),
        }
    }

    fn is_read_only(&self, _input: &Object) -> bool {
        false
    }

    fn target(&self, _input: &Object, _workbench: &Workbench) -> Target {
        Target::Nothing
    }

    fn run(&self, call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            let id = task_id(&call.input).unwrap_or_default();
            match call.workbench.tasks.stop(&id, StopBy::Model).await {
                Ok(shell) => stopped(&shell),
                Err(_) => unknown(&id),
            }
        })
    }
}

fn task_id(input: &Object) -> Option<TaskId> {
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    text("task_id")
        .or_else(|| text("shell_id"))
        .map(TaskId::from)
}

fn stopped(shell: &crate::task::Shell) -> Outcome {
    let info = shell.info();
    let output = json!({
        "message": format!("Stopped task {} ({})", info.id.as_str(), shell.command()),
        "task_id": info.id.as_str(),
        "task_type": info.kind.wire_name(),
        "command": shell.command(),
    });
    Outcome::text(output.to_string(), output)
}

fn unknown(id: &TaskId) -> Outcome {
    Outcome::refused(format!("No task found with ID: {}", id.as_str()))
}
