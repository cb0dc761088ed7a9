//! The answers hooks give most.

use serde_json::Value;

use super::{
    BlockDecision, HookInput, HookOutput, HookPermissionDecision, PreToolUseOutput,
    UserPromptSubmitOutput,
};

impl HookOutput {
    /// `PreToolUse`: the tool does not run; the model reads `reason`.
    pub fn deny_tool(reason: impl Into<String>) -> Self {
        Self::about_tool(HookPermissionDecision::Deny, Some(reason.into()))
    }

    /// `PreToolUse`: the tool runs without asking anybody. A deny rule still wins.
    pub fn allow_tool() -> Self {
        Self::about_tool(HookPermissionDecision::Allow, None)
    }

    /// `PreToolUse`: somebody is asked, whatever the rules say.
    pub fn ask_about_tool(reason: impl Into<String>) -> Self {
        Self::about_tool(HookPermissionDecision::Ask, Some(reason.into()))
    }

    /// `PreToolUse`: the tool is judged, and runs, with this input.
    pub fn update_tool_input(input: impl Into<Value>) -> Self {
        Self::specific(PreToolUseOutput {
            updated_input: Some(input.into()),
            ..PreToolUseOutput::default()
        })
    }

    /// `UserPromptSubmit`: the model reads this along with the prompt.
    pub fn add_to_prompt(context: impl Into<String>) -> Self {
        Self::specific(UserPromptSubmitOutput {
            additional_context: Some(context.into()),
            ..UserPromptSubmitOutput::default()
        })
    }

    /// Returns `true` if it blocks in the older way.
    pub fn is_block(&self) -> bool {
        self.decision == Some(BlockDecision::Block)
    }

    fn about_tool(decision: HookPermissionDecision, reason: Option<String>) -> Self {
        Self::specific(PreToolUseOutput {
            permission_decision: Some(decision),
            permission_decision_reason: reason,
            ..PreToolUseOutput::default()
        })
    }
}

impl HookInput {
    /// Returns `Some(true)` for a stop if a hook has already kept the agent from stopping; `None`
    /// for
    /// everything else.
    pub fn stop_hook_active(&self) -> Option<bool> {
        match self {
            Self::Stop(stop) => Some(stop.stop_hook_active),
            Self::SubagentStop(stop) => Some(stop.stop_hook_active),
            _ => None,
        }
    }
}
