//! Asking about a call: hooks and the host side by side, and what their answer means.

use std::time::Duration;

use falconer_protocol::Object;
use falconer_protocol::control::EngineRequest;
use falconer_protocol::hook::HookEvent;
use falconer_protocol::permission::{PermissionResult, PermissionUpdate};
use serde_json::{Value, json};

use super::answer::{self, HostDecision};
use super::call::{Context, Wanted, text_of};
use super::hooks::Base;
use super::permit::Permit;
use super::question;
use super::tool_hooks::by_hook;
use crate::frame::user::{Decision, ResultMeta};
use crate::permission::Ask;
use crate::session::config::PermissionPrompt;
use crate::tool::{Call, Target, Tool};

/// After this long an open question is worth a notification.
const UNATTENDED: Duration = Duration::from_secs(6);

/// Who answered, and what.
enum Answered {
    Host(HostDecision),
    Hook(PermissionResult),
    Interrupted,
}

/// Asks until there is an answer, or the turn is interrupted.
pub(super) async fn ask(
    context: &Context,
    tool: &dyn Tool,
    wanted: &Wanted,
    target: &Target,
    ask: Ask,
) -> Permit {
    let speaker = &context.core.speaker;
    speaker.state("requires_action").await;
    let answered = tokio::select! {
        biased;
        () = context.interrupt.token().cancelled() => Answered::Interrupted,
        answered = race(context, tool, wanted, target, &ask) => answered,
    };
    speaker.state("running").await;
    match answered {
        Answered::Interrupted => Permit::Interrupted { counted: true },
        Answered::Hook(result) => by_request_hook(context, tool, wanted, result).await,
        Answered::Host(decision) => by_host(context, tool, wanted, decision).await,
    }
}

/// Hooks and the host are asked at once; the first decision counts, the other is taken back.
async fn race(
    context: &Context,
    tool: &dyn Tool,
    wanted: &Wanted,
    target: &Target,
    ask: &Ask,
) -> Answered {
    let host = ask_host(context, tool, wanted, target, ask);
    let hooks = ask_request_hooks(context, wanted, ask);
    let notice = notify_if_unattended(context, wanted);
    tokio::pin!(host, hooks, notice);
    let (mut hooks_done, mut noticed) = (false, false);
    loop {
        tokio::select! {
            biased;
            decision = &mut host => return Answered::Host(decision),
            decision = &mut hooks, if !hooks_done => {
                hooks_done = true;
                if let Some(decision) = decision {
                    return Answered::Hook(decision);
                }
            }
            () = &mut notice, if !noticed => noticed = true,
        }
    }
}

async fn ask_request_hooks(
    context: &Context,
    wanted: &Wanted,
    ask: &Ask,
) -> Option<PermissionResult> {
    let hooks = &context.core.hooks;
    if !hooks.has(&HookEvent::PermissionRequest) {
        return None;
    }
    let base = Base::in_turn(&context.core, &context.prompt_id);
    let observed = wanted.observed(&context.core.workbench);
    let input = base.permission_request(&wanted.name, &observed, ask.suggestions.clone());
    let token = context.interrupt.token();
    let fired = hooks.fire_about(&input, Some(&wanted.name), Some(&wanted.id), token);
    fired.await.permission_request
}

async fn notify_if_unattended(context: &Context, wanted: &Wanted) {
    let hooks = &context.core.hooks;
    if !hooks.has(&HookEvent::Notification) {
        return;
    }
    tokio::time::sleep(UNATTENDED).await;
    let text = format!("Falconer needs your permission to use {}", wanted.name);
    let base = Base::of(&context.core, Some(&context.prompt_id));
    let input = base.notification(text, "permission_prompt");
    hooks
        .fire(&input, Some("permission_prompt"), context.interrupt.token())
        .await;
}

async fn ask_host(
    context: &Context,
    tool: &dyn Tool,
    wanted: &Wanted,
    target: &Target,
    ask: &Ask,
) -> HostDecision {
    match &context.core.options.permission_prompt {
        PermissionPrompt::McpTool(name) => ask_mcp_tool(context, wanted, name).await,
        PermissionPrompt::Host | PermissionPrompt::Nobody | PermissionPrompt::Off => {
            let request = question::about(context, tool, wanted, target, ask);
            let request = EngineRequest::CanUseTool(Box::new(request));
            answer::read(context.core.workbench.host.ask(request).await)
        }
    }
}

/// Asks a tool of an MCP server instead of the host.
async fn ask_mcp_tool(context: &Context, wanted: &Wanted, name: &str) -> HostDecision {
    let Some(tool) = context.core.find_tool(name) else {
        let text = format!("Tool permission request failed: Error: no permission tool {name}");
        return HostDecision::Failed(text);
    };
    let input = json!({
        "tool_name": wanted.name,
        "input": wanted.observed(&context.core.workbench),
        "tool_use_id": wanted.id,
    });
    let call = Call {
        id: wanted.id.clone(),
        input: input.as_object().cloned().unwrap_or_default(),
        prompt: context.prompt.clone(),
        workbench: std::sync::Arc::clone(&context.core.workbench),
        cancelled: context.interrupt.token().child_token(),
    };
    let outcome = tool.run(call).await;
    let text = text_of(&outcome.content);
    if outcome.is_error {
        return HostDecision::Failed(format!("Tool permission request failed: Error: {text}"));
    }
    answer::read(Ok(serde_json::from_str(&text).unwrap_or(Value::Null)))
}

async fn by_request_hook(
    context: &Context,
    tool: &dyn Tool,
    wanted: &Wanted,
    result: PermissionResult,
) -> Permit {
    let value = serde_json::to_value(&result).unwrap_or(Value::Null);
    match answer::read(Ok(value)) {
        HostDecision::Allow { input, updates } => {
            let decision = by_hook(true).decision.unwrap_or(USER);
            grant(context, tool, wanted, input, updates, decision).await
        }
        HostDecision::Deny(text) | HostDecision::Failed(text) => Permit::Denied {
            text,
            meta: by_hook(false),
        },
        HostDecision::DenyAndInterrupt => interrupted_by_denial(context),
    }
}

/// The user allowed it, this once.
const USER: Decision = Decision {
    accepted: true,
    source: "user_temporary",
    reason_type: None,
};

async fn by_host(
    context: &Context,
    tool: &dyn Tool,
    wanted: &Wanted,
    decision: HostDecision,
) -> Permit {
    let reject = |source, reason_type: Option<&str>| ResultMeta {
        non_execution: Some("permission-rule"),
        decision: Some(Decision {
            accepted: false,
            source,
            reason_type: reason_type.map(str::to_owned),
        }),
    };
    match decision {
        HostDecision::Allow { input, updates } => {
            grant(context, tool, wanted, input, updates, USER).await
        }
        HostDecision::Deny(text) => Permit::Denied {
            text,
            meta: reject("user_reject", None),
        },
        HostDecision::Failed(text) => Permit::Denied {
            text,
            meta: reject("config", Some("other")),
        },
        HostDecision::DenyAndInterrupt => interrupted_by_denial(context),
    }
}

fn interrupted_by_denial(context: &Context) -> Permit {
    context.interrupt.pull(super::interrupt::Cause::User, None);
    Permit::Interrupted { counted: true }
}

async fn grant(
    context: &Context,
    tool: &dyn Tool,
    wanted: &Wanted,
    input: Option<Object>,
    updates: Vec<PermissionUpdate>,
    decision: Decision,
) -> Permit {
    if let Some(why) = input.as_ref().and_then(|input| tool.check(input).err()) {
        return Permit::Misused(format!(
            "The permission handler returned updatedInput for {} that failed schema validation: \
             {why}",
            wanted.name
        ));
    }
    context.core.apply_updates(&updates).await;
    Permit::Granted { input, decision }
}
