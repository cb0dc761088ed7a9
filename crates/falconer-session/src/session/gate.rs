//! Whether a tool may run: by the policy, and by whether a limit was reached.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use falconer::protocol::hook::{HookInput, HookOutput, HookPermissionDecision, PreToolUseOutput};
use serde_json::Value;

use crate::limits::Limits;
use crate::policy::{Effect, Explanation, Policy};

/// Open until a limit is reached; then closed for good.
#[derive(Debug, Default)]
pub(super) struct Gate {
    closed: OnceLock<String>,
    policy: Option<Arc<Policy>>,
    /// Where the engine works, as it said before its last tool.
    directory: Mutex<Option<PathBuf>>,
    /// The policy for the directory in which the engine was at first.
    placed: OnceLock<Policy>,
    is_metered: bool,
}

impl Gate {
    pub(super) fn new(policy: Option<Arc<Policy>>, limits: &Limits) -> Self {
        Self {
            closed: OnceLock::new(),
            policy,
            directory: Mutex::new(None),
            placed: OnceLock::new(),
            is_metered: limits.meter_use(),
        }
    }

    /// Whether what the agent says may close it.
    pub(super) fn is_metered(&self) -> bool {
        self.is_metered
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
        let policy = self.policy.as_ref()?;
        let known = self.directory.lock();
        let directory = known.unwrap_or_else(PoisonError::into_inner).clone();
        Some(match directory {
            Some(directory) => self
                .placed
                .get_or_init(|| policy.for_session_in(&directory))
                .explain_in(tool, input, &directory),
            None => policy.explain(tool, input),
        })
    }

    /// Before every tool, also those the engine would allow by itself.
    pub(super) fn before_tool(&self, input: &HookInput) -> HookOutput {
        let HookInput::PreToolUse(call) = input else {
            return HookOutput::default();
        };
        if let Some(directory) = input.cwd() {
            let mut known = self
                .directory
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *known = Some(PathBuf::from(directory));
        }
        if let Some(reason) = self.closed() {
            return denied(reason);
        }
        let explained = self.explain(&call.tool_name, &call.tool_input);
        match explained.as_ref().and_then(decision) {
            Some((decision, reason)) => decided(decision, reason),
            None => HookOutput::default(),
        }
    }
}

/// The tool does not run, for this reason.
pub(super) fn denied(reason: String) -> HookOutput {
    decided(HookPermissionDecision::Deny, reason)
}

fn decided(decision: HookPermissionDecision, reason: String) -> HookOutput {
    HookOutput::specific(PreToolUseOutput {
        permission_decision: Some(decision),
        permission_decision_reason: Some(reason),
        ..PreToolUseOutput::default()
    })
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
