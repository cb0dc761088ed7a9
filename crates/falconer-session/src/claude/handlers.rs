//! How an engine that speaks the Claude protocol reaches the session: permissions, forms, hooks.

use std::path::PathBuf;

use falconer::protocol::hook::{HookEvent, HookInput, HookOutput};
use falconer::protocol::hook::{HookPermissionDecision, PreToolUseOutput};
use falconer::{
    Decision, ElicitationAnswer, ElicitationRequest, Hook, HookCall, OnFailure, Options,
    PermissionRequest, Position,
};
use tokio::sync::mpsc;

use super::ask;
use crate::engine::{Call, Check, Checked, Question};
use crate::transcript::Archive;

/// What the engine asks, on its way to the session.
#[derive(Debug)]
pub(super) enum Asked {
    Question(Question),
    Check(Check),
    /// Something went wrong that people have to know: a word a program can match, and a text.
    Warning(&'static str, String),
}

/// What the engine asks, and where in its stream of messages.
pub(super) type Placed = (Position, Asked);

const OVER: &str = "the session is over, so this was denied";

/// Has everything the engine asks sent to the session.
pub(super) fn listen(
    options: Options,
    asks: &mpsc::Sender<Placed>,
    archive: Option<Archive>,
) -> Options {
    let (tools, forms, calls) = (asks.clone(), asks.clone(), asks.clone());
    let options = options
        // The session has a limit of its own, which it tells about.
        .without_permission_timeout()
        .hook(Hook::new(HookEvent::PreToolUse, move |call| {
            let calls = calls.clone();
            async move { Ok(before_tool(calls, call).await) }
        }))
        .on_permission(move |request| ask_tool(tools.clone(), request))
        .on_elicitation(move |request| ask_form(forms.clone(), request));
    match archive {
        Some(archive) => options.hook(archiving(archive, asks.clone())),
        None => options,
    }
}

/// Keeps the engine's transcript before it is compacted. What cannot be kept is not compacted.
fn archiving(archive: Archive, asks: mpsc::Sender<Placed>) -> Hook {
    let archived = move |call: HookCall| {
        let (archive, asks) = (archive.clone(), asks.clone());
        async move {
            let input = call.input_json();
            let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
            let (path, session) = (PathBuf::from(text("transcript_path")), text("session_id"));
            let Err(error) = archive.keep(path, session).await else {
                return Ok(HookOutput::default());
            };
            let text = format!(
                "the conversation is not compacted, because it could not be archived in {}: \
                 {error}; make room there, or archive elsewhere",
                archive.directory().display()
            );
            tracing::warn!("{text}");
            let warning = Asked::Warning("archive_failed", text.clone());
            // A session that is over tells nobody.
            let _ = asks.send((call.position, warning)).await;
            Ok(HookOutput::block(text))
        }
    };
    Hook::new(HookEvent::PreCompact, archived).on_failure(OnFailure::Continue)
}

/// Before every tool, also those the engine would allow by itself.
async fn before_tool(calls: mpsc::Sender<Placed>, call: HookCall) -> HookOutput {
    let cwd = call.input.cwd().map(PathBuf::from);
    let HookInput::PreToolUse(about) = call.input else {
        return HookOutput::default();
    };
    let about = Call {
        id: about.tool_use_id.as_ref().map(|id| id.as_str().to_owned()),
        tool: about.tool_name.clone(),
        input: about.tool_input.clone(),
        cwd,
    };
    let (check, answer) = Check::new(about);
    let sent = calls.send((call.position, Asked::Check(check))).await;
    let checked = match sent {
        Ok(()) => answer.await.ok(),
        Err(_) => None,
    };
    match checked.unwrap_or_else(|| Checked::Deny(OVER.to_owned())) {
        Checked::Pass => HookOutput::default(),
        Checked::Ask(reason) => decided(HookPermissionDecision::Ask, reason),
        Checked::Deny(reason) => decided(HookPermissionDecision::Deny, reason),
    }
}

fn decided(decision: HookPermissionDecision, reason: String) -> HookOutput {
    HookOutput::specific(PreToolUseOutput {
        permission_decision: Some(decision),
        permission_decision_reason: Some(reason),
        ..PreToolUseOutput::default()
    })
}

async fn ask_tool(asks: mpsc::Sender<Placed>, request: PermissionRequest) -> Decision {
    let (question, answer) = Question::new(ask::of_tool(&request.ask), request.withdrawn);
    let sent = asks.send((request.position, Asked::Question(question)));
    match sent.await {
        Ok(()) => match answer.await {
            Ok(reply) => ask::decision(&request.ask, reply),
            Err(_) => Decision::deny(OVER),
        },
        Err(_) => Decision::deny(OVER),
    }
}

async fn ask_form(asks: mpsc::Sender<Placed>, request: ElicitationRequest) -> ElicitationAnswer {
    let (question, answer) = Question::new(ask::of_form(&request.ask), request.withdrawn);
    let sent = asks.send((request.position, Asked::Question(question)));
    match sent.await {
        Ok(()) => answer.await.map_or(ElicitationAnswer::Cancel, ask::form),
        Err(_) => ElicitationAnswer::Cancel,
    }
}
