//! The question about a call as the host sees it.

use falconer_protocol::control::CanUseTool;
use falconer_protocol::mcp::McpServerProvenance;
use falconer_protocol::permission::DecisionReasonType;
use serde_json::Value;

use super::call::{Context, Ready};
use crate::permission::{Ask, Because, Target};
use crate::tool::{self, place};

pub(super) fn about(context: &Context, ready: &Ready, target: &Target, ask: &Ask) -> CanUseTool {
    let Ready { wanted, prepared } = ready;
    let origin = prepared.tool().origin();
    let title = match &origin {
        Some(origin) => tool::readable(&origin.own_name),
        None => wanted.name.clone(),
    };
    let workbench = &context.core.workbench;
    let mut input = wanted.observed(workbench);
    prepared.tool().present(&mut input, workbench);
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
        description: description(context, ready, target),
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
        suppress_always_allow_rule: matches!(ask.because, Because::MayBeForbidden(_))
            .then_some(true),
        ..CanUseTool::default()
    }
}

/// Whether it is asked only because nothing allows it: no rule, mode or check speaks against it.
fn asks_by_default(target: &Target, ask: &Ask) -> bool {
    let by_default = matches!(ask.reason_type, None | Some(DecisionReasonType::WorkingDir));
    by_default && !matches!(target, Target::Command { .. } | Target::User)
}

/// A line for the user: the path of a file, or what the model says of the call.
fn description(context: &Context, ready: &Ready, target: &Target) -> Option<String> {
    match target {
        Target::Read(path) | Target::Write(path) => {
            let cwd = context.core.workbench.cwd();
            let path = &place::tidy(path);
            if let Ok(short) = path.strip_prefix(&cwd) {
                return Some(short.display().to_string());
            }
            let home = context.core.workbench.shop.environment.text("HOME");
            let home = home.as_deref().filter(|home| home.starts_with('/'));
            Some(match home.and_then(|home| path.strip_prefix(home).ok()) {
                Some(short) => format!("~/{}", short.display()),
                None => path.display().to_string(),
            })
        }
        _ => ready.prepared.summary(),
    }
}
