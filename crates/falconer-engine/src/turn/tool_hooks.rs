//! Hooks around a call: what they say before it, and after it.

use falconer_protocol::hook::{HookEvent, HookPermissionDecision};
use falconer_protocol::message::{
    DecisionKind, DecisionSource, NonExecutionKind, PermissionDecision, ToolResultMeta,
};
use falconer_protocol::permission::DecisionReasonType;
use falconer_protocol::system::Informational;
use serde_json::{Value, json};

use super::call::{Context, Done, Fate, REJECTED, Ready, Wanted};
use super::hooks::Base;
use crate::frame::user;
use crate::hook::{Fired, NoVerdict};
use crate::tool::Outcome;

const NOT_NOW: &str = "The host closed its input before its hook answered, so this tool call did \
     not run. Stop, and wait for what the user says next.";

/// What hooks said before the call.
#[derive(Debug, Default)]
pub(super) struct Hooked {
    pub(super) decision: Option<crate::hook::Decision>,
    pub(super) contexts: Vec<String>,
    pub(super) stop: bool,
}

/// Why hooks end a call.
pub(super) enum Refusal {
    Interrupted,
    HostClosed,
    TimedOut,
    Denied(String),
    Deferred,
    BadInput(String),
}

impl Refusal {
    pub(super) fn into_done(self, wanted: Wanted) -> Done {
        match self {
            Self::Interrupted => Done::rejected(wanted, REJECTED),
            Self::HostClosed => {
                let mut done = Done::plain(wanted, Outcome::error(NOT_NOW));
                done.outcome.output = Some(json!(NOT_NOW));
                done.meta.non_execution_kind = Some(NonExecutionKind::Cancelled);
                done
            }
            Self::TimedOut => Done::plain(
                wanted,
                Outcome::error(
                    "PreToolUse hook did not answer within its time limit, so the tool call was \
                     not executed. The host may be out of reach.",
                ),
            ),
            Self::Denied(text) => Done::denied(wanted, text, denied_by_hook()),
            Self::Deferred => Done {
                fate: Fate::Deferred,
                ..Done::plain(wanted, Outcome::error("put off by a hook"))
            },
            Self::BadInput(text) => Done::misuse(wanted, &text),
        }
    }
}

/// Makes the decision of a hook.
pub(super) fn hook_decision(decision: DecisionKind) -> PermissionDecision {
    let reason = Some(DecisionReasonType::Hook);
    user::decision(decision, DecisionSource::Hook, reason)
}

/// Makes the meta of a call that a hook denied.
pub(super) fn denied_by_hook() -> ToolResultMeta {
    ToolResultMeta {
        non_execution_kind: Some(NonExecutionKind::PermissionRule),
        permission_decision: Some(hook_decision(DecisionKind::Reject)),
        ..ToolResultMeta::default()
    }
}

/// Asks hooks before a call, which they may change or end.
pub(super) async fn before(
    context: &Context,
    ready: &mut Ready,
) -> (Vec<Informational>, Result<Hooked, Refusal>) {
    let wanted = &ready.wanted;
    let hooks = &context.core.hooks;
    if !hooks.has(&HookEvent::PreToolUse) {
        return (Vec::new(), Ok(Hooked::default()));
    }
    let base = Base::in_turn(&context.core, &context.prompt_id);
    let observed = wanted.observed(&context.core.workbench);
    let input = base.pre_tool(&wanted.name, &observed, &wanted.id);
    let token = context.interrupt.token();
    let fired = hooks.fire(&input, Some(&wanted.name), token).await;
    let notices = fired.notices(&format!("PreToolUse:{}", wanted.name));
    (notices, read_pre_hooks(fired, ready))
}

fn read_pre_hooks(fired: Fired, ready: &mut Ready) -> Result<Hooked, Refusal> {
    match fired.no_verdict {
        Some(NoVerdict::Cancelled) => return Err(Refusal::Interrupted),
        Some(NoVerdict::HostClosed) => return Err(Refusal::HostClosed),
        Some(NoVerdict::TimedOut(_)) => return Err(Refusal::TimedOut),
        None => {}
    }
    if let Some(decision) = &fired.permission {
        let reason = decision.reason.clone().unwrap_or_default();
        match decision.decision {
            HookPermissionDecision::Deny => {
                let text = format!("PreToolUse:{} hook error: {reason}", ready.wanted.name);
                return Err(Refusal::Denied(text));
            }
            HookPermissionDecision::Defer => return Err(Refusal::Deferred),
            _ => {}
        }
    }
    if let Some(input) = fired.updated_input {
        let reading = ready.prepared.edited(&input);
        ready.wanted.input = input;
        let misread = |why: String| Refusal::BadInput(ready.wanted.misread(&why));
        ready.prepared = reading.map_err(misread)?;
    }
    Ok(Hooked {
        decision: fired.permission,
        contexts: fired.contexts,
        stop: fired.stop.is_some(),
    })
}

/// Tells hooks what a call came to, and takes what they say to it.
pub(super) async fn after(context: &Context, done: &mut Done, millis: u64) {
    let hooks = &context.core.hooks;
    let event = if done.outcome.is_error {
        HookEvent::PostToolUseFailure
    } else {
        HookEvent::PostToolUse
    };
    if !hooks.has(&event) {
        return;
    }
    let Wanted { name, id, .. } = &done.wanted;
    let input = &done.wanted.observed(&context.core.workbench);
    let base = Base::in_turn(&context.core, &context.prompt_id);
    let input = if done.outcome.is_error {
        let error = done.outcome.words();
        base.post_tool_failure(name, input, id, error, millis)
    } else {
        let response = done.outcome.output.clone().unwrap_or(Value::Null);
        base.post_tool(name, input, id, response, millis)
    };
    let fired = hooks
        .fire(&input, Some(name), context.interrupt.token())
        .await;
    take_post_hooks(done, &event, fired);
}

fn take_post_hooks(done: &mut Done, event: &HookEvent, fired: Fired) {
    let name = &done.wanted.name;
    let context = |text: &String| format!("{event}:{name} hook additional context: {text}");
    done.contexts.extend(fired.contexts.iter().map(context));
    done.notices.after = fired.notices(&format!("{event}:{name}"));
    if let Some(block) = fired.block {
        let text = format!(
            "{event}:{name} hook blocking error from {:?}: {}",
            block.source, block.reason
        );
        done.contexts.push(text);
    }
    if fired.stop.is_some() {
        done.fate = Fate::HookStopped;
    }
}
