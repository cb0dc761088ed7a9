//! Asking about a call: hooks and the host side by side, and what their answer means.

use std::time::Duration;

use falconer_protocol::Object;
use falconer_protocol::control::EngineRequest;
use falconer_protocol::hook::HookEvent;
use falconer_protocol::message::{
    DecisionKind, DecisionSource, NonExecutionKind, PermissionDecision, ToolResultMeta,
};
use falconer_protocol::permission::{DecisionReasonType, PermissionResult, PermissionUpdate};
use falconer_protocol::system::SessionState;
use serde_json::{Value, json};

use super::answer::{self, HostDecision};
use super::call::{Context, Ready, Wanted};
use super::hooks::Base;
use super::permit::{self, Denial, Permit, Telling};
use super::question;
use super::tool_hooks::{denied_by_hook, hook_decision};
use crate::frame::user;
use crate::permission::{Ask, Because, Target, Verdict};
use crate::session::config::PermissionPrompt;
use crate::tool::{Bounds, Outcome};

/// After this long an open question is worth a notification.
const UNATTENDED: Duration = Duration::from_secs(6);

/// Who answered, and what.
enum Answered {
    Host(HostDecision),
    Hook(PermissionResult),
    Interrupted,
}

/// How often an answer may change the input into something that has to be asked about again.
const MOST_EDITS: usize = 3;

/// What an answer comes to.
enum Reply {
    Grant(Grant),
    Settled(Permit),
}

/// A yes.
struct Grant {
    by: Answerer,
    /// Instead of the input that was asked about.
    input: Option<Object>,
    updates: Vec<PermissionUpdate>,
    decision: PermissionDecision,
}

/// Who says yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answerer {
    Host,
    Hook,
}

/// Asks until there is an answer, or the turn is interrupted. Input that comes with the answer is
/// judged again.
pub(super) async fn ask(context: &Context, ready: &Ready, target: &Target, ask: Ask) -> Permit {
    let (mut asked, mut target, mut ask) = (ready.clone(), target.clone(), ask);
    for _ in 0..MOST_EDITS {
        let grant = match ask_once(context, &asked, &target, &ask).await {
            Reply::Settled(permit) => return permit,
            Reply::Grant(grant) => grant,
        };
        let Some(input) = grant.input.clone() else {
            return give(context, asked, grant).await;
        };
        let is_same = is_asked_about(context, &asked.wanted, &input);
        let edited = match asked.edited(input) {
            Ok(edited) => edited,
            Err(why) => {
                return Permit::Misused(format!(
                    "The permission handler returned updatedInput for {} that failed schema \
                     validation: {why}",
                    asked.wanted.name
                ));
            }
        };
        if is_same {
            return give(context, edited, grant).await;
        }
        match permit::judge_edited(context, &edited, grant.by).await {
            Some(Verdict::Deny {
                message,
                reason_type,
                reason,
            }) => {
                let denial = Denial {
                    text: message,
                    reason_type,
                    reason,
                    telling: Telling::Aloud,
                };
                return permit::refuse(context, &edited.wanted, &target, denial).await;
            }
            Some(Verdict::Ask(next)) if next.because != ask.because => {
                target = edited.target(&context.core.workbench);
                (asked, ask) = (edited, *next);
            }
            Some(Verdict::Ask(_) | Verdict::Allow { .. }) | None => {
                return give(context, edited, grant).await;
            }
        }
    }
    let text = "This call was not run: each answer changed it into another one that needs approval";
    Permit::Denied {
        text: text.to_owned(),
        meta: rejected(
            DecisionSource::Config,
            Some(DecisionReasonType::Unclassified),
        ),
    }
}

/// Returns `true` if an answer's input is the one that was asked about.
fn is_asked_about(context: &Context, asked: &Wanted, input: &Object) -> bool {
    *input == asked.input || *input == asked.observed(&context.core.workbench)
}

async fn give(context: &Context, call: Ready, grant: Grant) -> Permit {
    context.core.apply_updates(&grant.updates).await;
    Permit::Granted {
        edited: Some(Box::new(call)),
        decision: grant.decision,
        bounds: Bounds::default(),
    }
}

async fn ask_once(context: &Context, ready: &Ready, target: &Target, ask: &Ask) -> Reply {
    let speaker = &context.core.speaker;
    speaker.state(SessionState::RequiresAction).await;
    let answered = tokio::select! {
        biased;
        () = context.interrupt.token().cancelled() => Answered::Interrupted,
        answered = race(context, ready, target, ask) => answered,
    };
    speaker.state(SessionState::Running).await;
    match answered {
        Answered::Interrupted => Reply::Settled(Permit::Interrupted { counted: true }),
        Answered::Hook(result) => by_request_hook(context, &result),
        Answered::Host(decision) => by_host(context, decision),
    }
}

/// Hooks and the host are asked at once; the first decision counts, the other is taken back.
async fn race(context: &Context, ready: &Ready, target: &Target, ask: &Ask) -> Answered {
    let host = ask_host(context, ready, target, ask);
    let hooks = ask_request_hooks(context, &ready.wanted, ask);
    let notice = notify_if_unattended(context, &ready.wanted);
    tokio::pin!(host, hooks, notice);
    let (mut hooks_done, mut noticed) = (false, false);
    loop {
        tokio::select! {
            biased;
            decision = &mut host => return Answered::Host(decision),
            decision = &mut hooks, if !hooks_done => {
                hooks_done = true;
                if let Some(decision) = decision.filter(|it| may_answer(it, ask)) {
                    return Answered::Hook(decision);
                }
            }
            () = &mut notice, if !noticed => noticed = true,
        }
    }
}

/// Hooks may deny everything, but do not speak for a person where a place is protected, a rule may
/// deny, or a rule, a hook or the plan mode wants somebody asked.
fn may_answer(decision: &PermissionResult, ask: &Ask) -> bool {
    match &ask.because {
        _ if matches!(decision, PermissionResult::Deny(_)) => true,
        Because::Protected(_)
        | Because::MayBeForbidden(_)
        | Because::Rule { .. }
        | Because::PartForbidden { .. }
        | Because::Hook(_)
        | Because::Mode(_)
        | Because::NeedsUser => false,
        Because::EveryPart(_)
        | Because::Outside(_)
        | Because::ReadInside
        | Because::ReadOnlyCommand
        | Because::Writes(_)
        | Because::Harmless
        | Because::NotUnderstood(_)
        | Because::Part(_)
        | Because::NoRule => true,
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

async fn ask_host(context: &Context, ready: &Ready, target: &Target, ask: &Ask) -> HostDecision {
    match &context.core.options.permission_prompt {
        PermissionPrompt::McpTool(name) => ask_mcp_tool(context, &ready.wanted, name).await,
        PermissionPrompt::Host | PermissionPrompt::Nobody | PermissionPrompt::Off => {
            let request = question::about(context, ready, target, ask);
            let request = EngineRequest::CanUseTool(Box::new(request));
            answer::read(context.core.host.ask(request).await)
        }
    }
}

/// Asks a tool of an MCP server instead of the host.
async fn ask_mcp_tool(context: &Context, wanted: &Wanted, name: &str) -> HostDecision {
    let Some(tool) = context.core.find_tool(name) else {
        let text = format!("Tool permission request failed: Error: no permission tool {name}");
        return HostDecision::Failed(text);
    };
    let mut input = Object::new();
    input.insert("tool_name".to_owned(), json!(wanted.name));
    let observed = wanted.observed(&context.core.workbench);
    input.insert("input".to_owned(), Value::Object(observed));
    input.insert("tool_use_id".to_owned(), json!(wanted.id));
    let outcome = match tool.prepare(&input) {
        Ok(question) => question.run(context.call(wanted, Bounds::default())).await,
        Err(why) => Outcome::error(why),
    };
    let text = outcome.words();
    if outcome.is_error {
        return HostDecision::Failed(format!("Tool permission request failed: Error: {text}"));
    }
    answer::read(Ok(serde_json::from_str(&text).unwrap_or(Value::Null)))
}

fn by_request_hook(context: &Context, result: &PermissionResult) -> Reply {
    let value = serde_json::to_value(result).unwrap_or(Value::Null);
    match answer::read(Ok(value)) {
        HostDecision::Allow { input, updates } => Reply::Grant(Grant {
            by: Answerer::Hook,
            input,
            updates,
            decision: hook_decision(DecisionKind::Accept),
        }),
        HostDecision::Deny(text) | HostDecision::Failed(text) => Reply::Settled(Permit::Denied {
            text,
            meta: denied_by_hook(),
        }),
        HostDecision::DenyAndInterrupt => interrupted_by_denial(context),
    }
}

/// The user allowed it, this once.
fn by_user() -> PermissionDecision {
    user::decision(DecisionKind::Accept, DecisionSource::UserTemporary, None)
}

fn by_host(context: &Context, decision: HostDecision) -> Reply {
    match decision {
        HostDecision::Allow { input, updates } => Reply::Grant(Grant {
            by: Answerer::Host,
            input,
            updates,
            decision: by_user(),
        }),
        HostDecision::Deny(text) => Reply::Settled(Permit::Denied {
            text,
            meta: rejected(DecisionSource::UserReject, None),
        }),
        HostDecision::Failed(text) => Reply::Settled(Permit::Denied {
            text,
            meta: rejected(
                DecisionSource::Config,
                Some(DecisionReasonType::Unclassified),
            ),
        }),
        HostDecision::DenyAndInterrupt => interrupted_by_denial(context),
    }
}

fn rejected(source: DecisionSource, reason_type: Option<DecisionReasonType>) -> ToolResultMeta {
    user::rejected(Some(NonExecutionKind::PermissionRule), source, reason_type)
}

fn interrupted_by_denial(context: &Context) -> Reply {
    context.interrupt.pull(super::interrupt::Cause::User, None);
    Reply::Settled(Permit::Interrupted { counted: true })
}

#[cfg(test)]
mod tests {
    use falconer_protocol::permission::PermissionMode;
    use falconer_rule::Effect;

    use super::*;
    use crate::permission::RuleSource;

    fn asked(because: Because) -> Ask {
        Ask {
            reason_type: None,
            reason: None,
            suggestions: Vec::new(),
            blocked_path: None,
            requires_user: false,
            because,
            unanswered: String::new(),
        }
    }

    #[test]
    fn a_hook_denies_everything_and_allows_only_what_nobody_wants_asked() {
        let rule = || Because::Rule {
            behavior: Effect::Ask,
            rule: "Bash(git push:*)".to_owned(),
            source: RuleSource::User,
        };
        let table = [
            (Because::NoRule, true),
            (Because::Part("make".to_owned()), true),
            (Because::Outside("/x".into()), true),
            (Because::NotUnderstood("x".to_owned()), true),
            (rule(), false),
            (Because::Hook(None), false),
            (Because::Mode(PermissionMode::Plan), false),
            (Because::Protected("/x".into()), false),
            (Because::MayBeForbidden("x".to_owned()), false),
            (Because::NeedsUser, false),
        ];
        let result = |value: Value| serde_json::from_value::<PermissionResult>(value).unwrap();
        let allow = result(json!({"behavior": "allow"}));
        let deny = result(json!({"behavior": "deny", "message": "no"}));
        for (because, expected) in table {
            let ask = asked(because);
            assert_eq!(may_answer(&allow, &ask), expected, "{:?}", ask.because);
            assert!(may_answer(&deny, &ask), "{:?}", ask.because);
        }
    }
}
