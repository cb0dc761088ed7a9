//! How the engine reaches the session: permissions, forms, and hooks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use falconer::protocol::hook::{HookEvent, HookOutput};
use falconer::{
    Decision, ElicitationAnswer, ElicitationRequest, Hook, HookCall, OnFailure, Options,
    PermissionRequest,
};
use falconer_secret::Redactor;
use tokio::sync::{mpsc, oneshot};

use super::gate::{Gate, Judged, denied};
use crate::pending::{Ask, Asked};
use crate::transcript::archive;

/// How long archiving a transcript may take; less than an engine waits for a hook.
const ARCHIVING: Duration = Duration::from_secs(50);

/// Everything the engine asks comes to the session.
pub(super) fn listen(options: Options, asks: mpsc::Sender<Asked>, gate: Arc<Gate>) -> Options {
    let (forms, calls) = (asks.clone(), asks.clone());
    let judge = gate.clone();
    options
        // The session has a limit of its own, which it tells about.
        .without_permission_timeout()
        .hook(Hook::new(HookEvent::PreToolUse, move |call| {
            let (gate, calls) = (gate.clone(), calls.clone());
            async move { Ok(before_tool(&gate, calls, call).await) }
        }))
        .on_permission(move |request| ask_tool(judge.clone(), asks.clone(), request))
        .on_elicitation(move |request| ask_form(forms.clone(), request))
}

/// Keeps the engine's transcript before it is compacted. What cannot be kept is not compacted.
pub(super) fn archiving(directory: PathBuf, redactor: Redactor, asks: mpsc::Sender<Asked>) -> Hook {
    let archived = move |call: HookCall| {
        let (directory, redactor) = (directory.clone(), redactor.clone());
        let asks = asks.clone();
        async move {
            let input = call.input_json();
            let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
            let (path, session) = (PathBuf::from(text("transcript_path")), text("session_id"));
            let place = directory.display().to_string();
            let copying = tokio::task::spawn_blocking(move || {
                archive(&path, &directory, &session, &redactor)
            });
            let error = match tokio::time::timeout(ARCHIVING, copying).await {
                Ok(Ok(Ok(_))) => return Ok(HookOutput::default()),
                Ok(Ok(Err(error))) => error.to_string(),
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("it took longer than {ARCHIVING:?}"),
            };
            let text = format!(
                "the conversation is not compacted, because it could not be archived in {place}: \
                 {error}; make room there, or archive elsewhere"
            );
            tracing::warn!("{text}");
            // A session that is over tells nobody.
            let _ = asks
                .send(Asked::Warning("archive_failed", text.clone()))
                .await;
            Ok(HookOutput::block(text))
        }
    };
    Hook::new(HookEvent::PreCompact, archived).on_failure(OnFailure::Continue)
}

/// What a run has used is known to the session only, once it has read what came before the call.
async fn before_tool(gate: &Arc<Gate>, calls: mpsc::Sender<Asked>, call: HookCall) -> HookOutput {
    if gate.is_metered() {
        let (reply, caught_up) = oneshot::channel();
        let is_heard = calls.send(Asked::Call(reply)).await.is_ok();
        if !is_heard || caught_up.await.is_err() {
            return denied("the session is over, so this was denied".to_owned());
        }
    }
    gate.before_tool(call.input).await
}

async fn ask_tool(
    gate: Arc<Gate>,
    asks: mpsc::Sender<Asked>,
    request: PermissionRequest,
) -> Decision {
    let judged = gate.judge(&request.ask).await;
    let (reply, answer) = oneshot::channel();
    let asked = Asked::Request {
        ask: Ask::Tool(Box::new(request.ask), reply),
        judged,
        withdrawn: request.withdrawn,
    };
    let over = || Decision::deny("the session is over, so this was denied");
    match asks.send(asked).await {
        Ok(()) => answer.await.unwrap_or_else(|_| over()),
        Err(_) => over(),
    }
}

async fn ask_form(asks: mpsc::Sender<Asked>, request: ElicitationRequest) -> ElicitationAnswer {
    let (reply, answer) = oneshot::channel();
    let asked = Asked::Request {
        ask: Ask::Form(Box::new(request.ask), reply),
        judged: Judged::default(),
        withdrawn: request.withdrawn,
    };
    match asks.send(asked).await {
        Ok(()) => answer.await.unwrap_or(ElicitationAnswer::Cancel),
        Err(_) => ElicitationAnswer::Cancel,
    }
}
