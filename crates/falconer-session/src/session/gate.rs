//! Whether a tool may run: by the policy, and by whether a limit was reached.

use std::sync::{Arc, OnceLock};

use falconer::protocol::hook::{HookInput, HookOutput, HookPermissionDecision, PreToolUseOutput};
use serde_json::Value;

use crate::policy::{Effect, Explanation, Policy};

/// Open until a limit is reached; then closed for good.
#[derive(Debug, Default)]
pub(super) struct Gate {
    closed: OnceLock<String>,
    policy: Option<Arc<Policy>>,
}

impl Gate {
    pub(super) fn new(policy: Option<Arc<Policy>>) -> Self {
        Self {
            closed: OnceLock::new(),
            policy,
        }
    }

    /// Closes it; the first reason stays.
    pub(super) fn close(&self, reason: String) {
        let _ = self.closed.set(reason);
    }

    /// Why it is closed, if it is.
    pub(super) fn closed(&self) -> Option<String> {
        self.closed.get().cloned()
    }

    /// What the policy says about a call.
    pub(super) fn explain(&self, tool: &str, input: &Value) -> Option<Explanation> {
        Some(self.policy.as_ref()?.explain(tool, input))
    }

    /// Before every tool, also those the engine would allow by itself.
    pub(super) fn before_tool(&self, input: &HookInput) -> HookOutput {
        let HookInput::PreToolUse(call) = input else {
            return HookOutput::default();
        };
        let ruled = match self.closed() {
            Some(reason) => Some((HookPermissionDecision::Deny, reason)),
            None => self
                .explain(&call.tool_name, &call.tool_input)
                .as_ref()
                .and_then(decision),
        };
        let Some((decision, reason)) = ruled else {
            return HookOutput::default();
        };
        HookOutput::specific(PreToolUseOutput {
            permission_decision: Some(decision),
            permission_decision_reason: Some(reason),
            ..PreToolUseOutput::default()
        })
    }
}

/// Allowing is left to the permission request, where it goes on record: a hook that allows would
/// also overrule what the engine itself wants to have asked.
fn decision(explained: &Explanation) -> Option<(HookPermissionDecision, String)> {
    let decision = match explained.effect? {
        Effect::Deny => HookPermissionDecision::Deny,
        Effect::Ask => HookPermissionDecision::Ask,
        Effect::Allow => return None,
    };
    Some((decision, format!("policy: {}", explained.reason)))
}
