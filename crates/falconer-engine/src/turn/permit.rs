//! Whether a call may run: rules and mode first, then hooks and the host side by side.

use std::time::Duration;

use falconer_protocol::Object;
use falconer_protocol::control::{CanUseTool, EngineRequest};
use falconer_protocol::hook::{HookEvent, HookPermissionDecision};
use falconer_protocol::mcp::McpServerProvenance;
use falconer_protocol::permission::{DecisionReasonType, PermissionResult};
use serde_json::{Value, json};

use super::answer::{self, HostDecision};
use super::call::{Context, Wanted, by_hook, text_of};
use super::hooks::Base;
use crate::frame::system;
use crate::frame::user::{Decision, ResultMeta};
use crate::hook;
use crate::permission::{Ask, Because, HookDecision, Question, RuleSource, Verdict};
use crate::session::config::PermissionPrompt;
use crate::tool::{Call, Target, Tool, place, plan_mode};

/// After this long an open question is worth a notification.
const UNATTENDED: Duration = Duration::from_secs(6);

/// What may happen to a call.
#[derive(Debug)]
pub(crate) enum Permit {
    Granted {
        /// Instead of the model's input.
        input: Option<Object>,
        decision: Decision,
    },
    /// The host changed the input into something the tool does not take.
    Misused(String),
    Denied {
        text: String,
        meta: ResultMeta,
    },
    Interrupted {
        /// It goes into `permission_denials`.
        counted: bool,
    },
}

/// Decides about a call.
pub(crate) async fn decide(
    context: &Context,
    tool: &dyn Tool,
    wanted: &Wanted,
    hook: Option<hook::Decision>,
) -> Permit {
    let core = &context.core;
    let target = tool.target(&wanted.input, &core.workbench);
    // A hook that allowed the call is told of the denial by its result only, as the CLI does.
    let telling = match hook.as_ref().map(|hook| &hook.decision) {
        Some(HookPermissionDecision::Allow) => Telling::Quiet,
        Some(HookPermissionDecision::Ask) => Telling::UnlessByRule,
        _ => Telling::Aloud,
    };
    let verdict = {
        let cwd = core.workbench.cwd();
        let question = Question {
            tool: &wanted.name,
            target: &target,
            input: &wanted.input,
            read_only: tool.is_read_only(&wanted.input),
            hook: hook.map(|it| HookDecision {
                decision: it.decision,
                reason: it.reason,
            }),
            host_can_ask: core.can_ask(),
            cwd: &cwd,
        };
        core.permissions().judge(&question)
    };
    match verdict {
        Verdict::Allow { reason } => Permit::Granted {
            input: None,
            decision: accepted(&reason),
        },
        Verdict::Deny {
            message,
            reason_type,
            reason,
        } => {
            let denial = Denial {
                text: message,
                reason_type: reason_type.map(|it| it.as_str().to_owned()),
                reason,
                telling,
            };
            refuse(context, wanted, &target, denial).await
        }
        Verdict::Ask(ask) => ask_somebody(context, tool, wanted, &target, *ask).await,
    }
}

/// Whether what a call is about to change may be read without asking.
pub(crate) fn may_look(context: &Context, target: &Target) -> bool {
    let (Target::Read(path) | Target::Write(path)) = target else {
        return false;
    };
    let core = &context.core;
    let cwd = core.workbench.cwd();
    let question = Question {
        tool: "Read",
        target: &Target::Read(path.clone()),
        input: &Object::new(),
        read_only: true,
        hook: None,
        host_can_ask: true,
        cwd: &cwd,
    };
    matches!(core.permissions().judge(&question), Verdict::Allow { .. })
}

/// How an allowed call is explained on the wire.
fn accepted(because: &Because) -> Decision {
    let (source, reason_type) = match because {
        Because::Hook(_) => ("hook", Some("hook")),
        Because::Rule {
            source: RuleSource::Session,
            ..
        } => ("user_temporary", Some("rule")),
        Because::Rule {
            source: RuleSource::User | RuleSource::Local,
            ..
        } => ("user_permanent", Some("rule")),
        Because::Rule { .. } => ("config", Some("rule")),
        Because::EveryPart(_) | Because::ReadOnlyCommand => ("config", Some("subcommandResults")),
        Because::Mode(_) | Because::ReadInside => ("config", Some("mode")),
        _ => ("config", None),
    };
    Decision {
        accepted: true,
        source,
        reason_type: reason_type.map(str::to_owned),
    }
}

/// A denial without a question.
#[derive(Debug)]
struct Denial {
    text: String,
    reason_type: Option<String>,
    reason: Because,
    telling: Telling,
}

/// Whether the host hears of a denial by a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    Aloud,
    /// A hook wanted somebody asked; a rule made that needless.
    UnlessByRule,
    Quiet,
}

impl Telling {
    fn is_aloud(self, reason: &Because) -> bool {
        match self {
            Self::Aloud => true,
            Self::UnlessByRule => {
                !matches!(reason, Because::Rule { .. } | Because::PartForbidden { .. })
            }
            Self::Quiet => false,
        }
    }
}

/// Denies a call. Where nobody could be asked, the host hears of it.
async fn refuse(context: &Context, wanted: &Wanted, target: &Target, denial: Denial) -> Permit {
    let Denial {
        text,
        reason_type,
        reason,
        telling,
    } = denial;
    let core = &context.core;
    let unwatched = core.options.permission_prompt == PermissionPrompt::Off;
    let by_rule = matches!(
        reason,
        Because::Rule { .. } | Because::PartForbidden { .. } | Because::Mode(_) | Because::Hook(_)
    );
    let (by_rule, reason_type) = match unwatched && !by_rule {
        true => (true, Some("asyncAgent".to_owned())),
        false => (by_rule, reason_type),
    };
    let said = match &reason {
        Because::Hook(Some(words)) => Some(words.clone()),
        _ => by_rule.then(|| reason.to_string()),
    };
    let frame = system::permission_denied(
        &wanted.name,
        &wanted.id,
        &text,
        reason_type.as_deref().filter(|_| by_rule),
        said.as_deref(),
    );
    // A file that a rule closes is to the CLI an input that does not fit, not a decision worth
    // telling.
    let is_hidden = matches!(
        (target, &reason),
        (Target::Read(_) | Target::Write(_), Because::Rule { .. })
    );
    if telling.is_aloud(&reason) && !is_hidden {
        core.speaker.say(frame).await;
    }
    let kind = if by_rule {
        "permission-rule"
    } else {
        "user-rejected"
    };
    let meta = ResultMeta {
        non_execution: (!is_hidden).then_some(kind),
        decision: Some(Decision {
            accepted: false,
            source: match reason.source() {
                Some(RuleSource::User | RuleSource::Local) => "user_reject",
                _ => "config",
            },
            reason_type: reason_type.filter(|_| by_rule),
        }),
    };
    Permit::Denied { text, meta }
}

/// Who answered, and what.
enum Answered {
    Host(HostDecision),
    Hook(PermissionResult),
    Interrupted,
}

async fn ask_somebody(
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
            let request = question(context, tool, wanted, target, ask);
            let request = EngineRequest::CanUseTool(Box::new(request));
            answer::read(context.core.workbench.host.ask(request).await)
        }
    }
}

/// The question as the host sees it.
fn question(
    context: &Context,
    tool: &dyn Tool,
    wanted: &Wanted,
    target: &Target,
    ask: &Ask,
) -> CanUseTool {
    let origin = tool.origin();
    let title = match &origin {
        Some(origin) => crate::mcp::readable(&origin.own_name),
        None => wanted.name.clone(),
    };
    let workbench = &context.core.workbench;
    let mut input = wanted.observed(workbench);
    if wanted.name == "ExitPlanMode"
        && let Some(plan) = plan_mode::plan(workbench)
    {
        input.insert("plan".to_owned(), json!(plan));
        input.insert("planFilePath".to_owned(), json!(workbench.plan_file));
    }
    let by_hook = ask.reason_type == Some(DecisionReasonType::Hook);
    let by_rule = ask.because.source();
    let is_protected = ask.reason_type == Some(DecisionReasonType::SafetyCheck);
    CanUseTool {
        tool_name: wanted.name.clone(),
        display_name: Some(title),
        mcp_server: origin.map(|origin| McpServerProvenance {
            name: origin.server,
            source: origin.source,
            ..McpServerProvenance::default()
        }),
        input: Value::Object(input),
        tool_use_id: Some(wanted.id.clone()),
        description: description(context, wanted, target),
        permission_suggestions: (!ask.suggestions.is_empty() || is_protected)
            .then(|| ask.suggestions.clone()),
        blocked_path: ask.blocked_path.clone(),
        decision_reason: ask.reason.clone(),
        decision_reason_type: ask.reason_type.clone(),
        decision_reason_hook_event: by_hook.then(|| "PreToolUse".to_owned()),
        // The CLI says so of the host's own hooks, too.
        decision_reason_hook_source: by_hook.then(|| "settings".to_owned()),
        requires_user_interaction: ask.requires_user.then_some(true),
        decision_reason_rule_source: by_rule.map(|source| source.wire_name().to_owned()),
        server_policy_ask_only: match by_rule {
            Some(_) => Some(false),
            None => asks_by_default(target, ask).then_some(true),
        },
        classifier_approvable: is_protected.then_some(true),
        ..CanUseTool::default()
    }
}

/// Whether it is asked only because nothing allows it: no rule, mode or check speaks against it.
fn asks_by_default(target: &Target, ask: &Ask) -> bool {
    let by_default = matches!(ask.reason_type, None | Some(DecisionReasonType::WorkingDir));
    by_default && !matches!(target, Target::Command { .. } | Target::User)
}

/// A line for the user: what the model says of a command, or the path of a file.
fn description(context: &Context, wanted: &Wanted, target: &Target) -> Option<String> {
    match target {
        Target::Read(path) | Target::Write(path) => {
            let cwd = context.core.workbench.cwd();
            let path = &place::tidy(path);
            if let Ok(short) = path.strip_prefix(&cwd) {
                return Some(short.display().to_string());
            }
            let home = context.core.workbench.environment.text("HOME");
            let home = home.as_deref().filter(|home| home.starts_with('/'));
            Some(match home.and_then(|home| path.strip_prefix(home).ok()) {
                Some(short) => format!("~/{}", short.display()),
                None => path.display().to_string(),
            })
        }
        Target::Command { command, .. } => {
            let said = wanted.input.get("description").and_then(Value::as_str);
            Some(said.unwrap_or(command).to_owned())
        }
        _ => Some(wanted.input.get("description")?.as_str()?.to_owned()),
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
    updates: Vec<falconer_protocol::permission::PermissionUpdate>,
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
