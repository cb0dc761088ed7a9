//! Files: undoing changes, reading, what the model is known to have read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use falconer_protocol::control::{ReadFileResponse, RewindResponse};
use falconer_protocol::{MessageUuid, Object};
use serde_json::Value;

use super::{Outcome, text};
use crate::frame::reply::Reply;
use crate::permission::Target;
use crate::permission::{Question, Verdict};
use crate::session::core::Core;
use falconer_transcript::Rewind;

/// How much of a file is handed out at most.
const MAX_READ: u64 = 10 << 20;

/// Undoes changes of files back to a prompt.
pub(super) fn rewind(core: &Arc<Core>, body: &Value) -> Outcome {
    let prompt = match text(body, "user_message_id") {
        Ok(prompt) => MessageUuid::from(prompt),
        Err(reply) => return reply.into(),
    };
    let how = match body["dry_run"] {
        Value::Bool(true) => Rewind::Preview,
        _ => Rewind::Restore,
    };
    let core = Arc::clone(core);
    Outcome::Later(Box::pin(async move {
        let undo = move || core.workbench.shop.checkpoints.rewind(&prompt, how);
        match tokio::task::spawn_blocking(undo).await {
            // Whoever only asks what would happen is told, not refused.
            Ok(Err(error)) if how == Rewind::Preview => Reply::success(&RewindResponse {
                can_rewind: false,
                error: Some(error.to_string()),
                ..RewindResponse::default()
            }),
            Ok(Ok(response)) => Reply::success(&response),
            Ok(Err(error)) => Reply::failure(error.to_string()),
            Err(error) => Reply::failure(format!("rewinding files failed: {error}")),
        }
    }))
}

/// Reads a file for the host, if the model might read it unasked.
pub(super) fn read(core: &Arc<Core>, body: &Value) -> Outcome {
    let asked = match text(body, "path") {
        Ok(path) => path.to_owned(),
        Err(reply) => return reply.into(),
    };
    let path = core.workbench.cwd().join(&asked);
    if !may_read(core, &path) {
        return Reply::failure("read denied").into();
    }
    let limit = body["max_bytes"].as_u64().unwrap_or(MAX_READ).min(MAX_READ);
    let encoded = body["encoding"] == "base64";
    Outcome::Later(Box::pin(async move {
        let reading = tokio::task::spawn_blocking(move || read_up_to(&path, limit, encoded));
        match reading.await {
            Ok(Ok(response)) => Reply::success(&ReadFileResponse {
                requested_path: Some(asked),
                ..response
            }),
            Ok(Err(error)) => Reply::failure(error.to_string()),
            Err(error) => Reply::failure(format!("reading failed: {error}")),
        }
    }))
}

fn may_read(core: &Core, path: &Path) -> bool {
    let cwd = core.workbench.cwd();
    let question = Question {
        tool: "Read",
        target: &Target::Read(path.to_owned()),
        input: &Object::default(),
        read_only: true,
        hook: None,
        host_can_ask: false,
        cwd: &cwd,
    };
    matches!(core.permissions().judge(&question), Verdict::Allow { .. })
}

fn read_up_to(path: &PathBuf, limit: u64, encoded: bool) -> std::io::Result<ReadFileResponse> {
    use std::io::Read;

    let file = std::fs::File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    let truncated = bytes.len() as u64 > limit;
    bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let response = ReadFileResponse {
        abs_path: Some(path.display().to_string()),
        truncated: truncated.then_some(true),
        ..ReadFileResponse::default()
    };
    Ok(if encoded {
        ReadFileResponse {
            contents: base64::engine::general_purpose::STANDARD.encode(&bytes),
            encoding: Some("base64".to_owned()),
            ..response
        }
    } else {
        ReadFileResponse {
            contents: String::from_utf8_lossy(&bytes).into_owned(),
            lossy: Some(std::str::from_utf8(&bytes).is_err()),
            ..response
        }
    })
}

/// The host says that the model knows a file. It counts only if the file is as it was then.
pub(super) fn seed(core: &Arc<Core>, body: &Value) -> Outcome {
    let path = match text(body, "path") {
        Ok(path) => core.workbench.cwd().join(path),
        Err(reply) => return reply.into(),
    };
    let Some(mtime) = body["mtime"].as_f64() else {
        return Reply::failure("mtime is missing or not a number").into();
    };
    let core = Arc::clone(core);
    Outcome::Later(Box::pin(async move {
        let seeding = tokio::task::spawn_blocking(move || core.seed_read(&path, mtime));
        match seeding.await {
            Ok(()) => Reply::Done,
            Err(error) => Reply::failure(error.to_string()),
        }
    }))
}
