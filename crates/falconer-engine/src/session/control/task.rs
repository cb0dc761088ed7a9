//! Shells in the background.

use falconer_protocol::control::TaskOutputResponse;
use falconer_protocol::{TaskId, ToolUseId};
use serde::Serialize;
use serde_json::Value;

use super::{empty, text};
use crate::frame::reply::Reply;
use crate::session::core::Core;
use crate::task::StopBy;

/// Stops a task. One that does not run needs no stopping.
pub(super) async fn stop(core: &Core, body: &Value) -> Reply {
    let id = match text(body, "task_id") {
        Ok(id) => TaskId::from(id),
        Err(reply) => return reply,
    };
    let _ = core.workbench.shop.tasks.stop(&id, StopBy::Host).await;
    core.say_task_events().await;
    empty()
}

/// Whether the command is in the background now.
#[derive(Debug, Serialize)]
struct Backgrounded {
    backgrounded: bool,
}

/// Moves commands in front to the background.
pub(super) async fn to_background(core: &Core, body: &Value) -> Reply {
    let call = body["tool_use_id"].as_str().map(ToolUseId::from);
    let moved = core
        .workbench
        .shop
        .tasks
        .move_to_background(call.as_ref())
        .await;
    core.say_task_events().await;
    match call {
        Some(_) => Reply::success(&Backgrounded {
            backgrounded: moved > 0,
        }),
        None => empty(),
    }
}

pub(super) fn output(core: &Core, body: &Value) -> Reply {
    let id = match text(body, "task_id") {
        Ok(id) => TaskId::from(id),
        Err(reply) => return reply,
    };
    match core.workbench.shop.tasks.output(&id) {
        Some(output) => Reply::success(&TaskOutputResponse {
            output: output.output,
            total_bytes: Some(output.total_bytes),
            truncated: Some(output.is_truncated),
            ..TaskOutputResponse::default()
        }),
        None => Reply::failure(format!("No task found with ID: {id}")),
    }
}
