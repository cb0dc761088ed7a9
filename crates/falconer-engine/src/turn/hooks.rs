//! What hooks are told at each point of a turn.

use std::path::Path;

use falconer_protocol::control::{Elicitation, ElicitationReply};
use falconer_protocol::hook::{
    ConfigChangeInput, CwdChangedInput, DirectoryAddedInput, Effort, ElicitationInput,
    ElicitationResultInput, FileChangedInput, HookInput, MessageDisplayInput, NotificationInput,
    PermissionDeniedInput, PermissionRequestInput, PostToolBatchInput, PostToolUseFailureInput,
    PostToolUseInput, PreToolUseInput, SessionEndInput, SessionStartInput, StopFailureInput,
    StopInput, ToolBatchCall, UserPromptSubmitInput,
};
use falconer_protocol::permission::{PermissionMode, PermissionUpdate};
use falconer_protocol::{Object, SessionId, ToolUseId};
use serde_json::Value;

use crate::session::core::Core;

/// What every hook is told.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    pub(crate) session_id: SessionId,
    pub(crate) transcript_path: String,
    pub(crate) cwd: String,
    pub(crate) prompt_id: Option<String>,
    pub(crate) permission_mode: Option<PermissionMode>,
    pub(crate) effort: Option<Effort>,
}

/// Fills the common fields of an input.
macro_rules! input {
    ($base:expr, $variant:ident, $name:ident { $($field:ident: $value:expr),* $(,)? }) => {{
        let base = $base;
        HookInput::$variant(Box::new($name {
            session_id: Some(base.session_id),
            transcript_path: Some(base.transcript_path),
            cwd: Some(base.cwd),
            prompt_id: base.prompt_id,
            permission_mode: base.permission_mode,
            effort: base.effort,
            $($field: $value,)*
            ..$name::default()
        }))
    }};
}

impl Base {
    /// Outside of a turn, and at its very beginning.
    pub(crate) fn of(core: &Core, prompt_id: Option<&str>) -> Self {
        Self {
            session_id: core.speaker.session_id(),
            transcript_path: core.record.path(),
            cwd: core.workbench.cwd().display().to_string(),
            prompt_id: prompt_id.map(str::to_owned),
            permission_mode: Some(core.permission_mode()),
            effort: None,
        }
    }

    /// While the model works.
    pub(crate) fn in_turn(core: &Core, prompt_id: &str) -> Self {
        let level = core.effort_level();
        Self {
            effort: level.map(|level| Effort {
                level,
                ..Effort::default()
            }),
            ..Self::of(core, Some(prompt_id))
        }
    }

    /// When a session begins or ends.
    pub(crate) fn of_session(core: &Core, prompt_id: Option<&str>) -> Self {
        Self {
            permission_mode: None,
            ..Self::of(core, prompt_id)
        }
    }

    pub(crate) fn prompt_submit(self, prompt: String) -> HookInput {
        input!(
            self,
            UserPromptSubmit,
            UserPromptSubmitInput { prompt: prompt }
        )
    }

    pub(crate) fn pre_tool(self, tool: &str, input: &Object, id: &ToolUseId) -> HookInput {
        input!(
            self,
            PreToolUse,
            PreToolUseInput {
                tool_name: tool.to_owned(),
                tool_input: Value::Object(input.clone()),
                tool_use_id: Some(id.clone()),
            }
        )
    }

    pub(crate) fn post_tool(
        self,
        tool: &str,
        input: &Object,
        id: &ToolUseId,
        response: Value,
        millis: u64,
    ) -> HookInput {
        input!(
            self,
            PostToolUse,
            PostToolUseInput {
                tool_name: tool.to_owned(),
                tool_input: Value::Object(input.clone()),
                tool_response: response,
                tool_use_id: Some(id.clone()),
                duration_ms: Some(millis.into()),
            }
        )
    }

    pub(crate) fn post_tool_failure(
        self,
        tool: &str,
        input: &Object,
        id: &ToolUseId,
        error: String,
        millis: u64,
    ) -> HookInput {
        input!(
            self,
            PostToolUseFailure,
            PostToolUseFailureInput {
                tool_name: tool.to_owned(),
                tool_input: Value::Object(input.clone()),
                tool_use_id: Some(id.clone()),
                error: error,
                is_interrupt: Some(false),
                duration_ms: Some(millis.into()),
            }
        )
    }

    pub(crate) fn permission_request(
        self,
        tool: &str,
        input: &Object,
        suggestions: Vec<PermissionUpdate>,
    ) -> HookInput {
        input!(
            self,
            PermissionRequest,
            PermissionRequestInput {
                tool_name: tool.to_owned(),
                tool_input: Value::Object(input.clone()),
                permission_suggestions: Some(suggestions),
            }
        )
    }

    pub(crate) fn permission_denied(
        self,
        tool: &str,
        input: &Object,
        id: &ToolUseId,
        reason: String,
    ) -> HookInput {
        input!(
            self,
            PermissionDenied,
            PermissionDeniedInput {
                tool_name: tool.to_owned(),
                tool_input: Value::Object(input.clone()),
                tool_use_id: Some(id.clone()),
                reason: reason,
            }
        )
    }

    pub(crate) fn stop(self, active: bool, last_text: String) -> HookInput {
        input!(
            self,
            Stop,
            StopInput {
                stop_hook_active: active,
                last_assistant_message: Some(last_text),
                background_tasks: Some(Vec::new()),
                session_crons: Some(Vec::new()),
            }
        )
    }

    pub(crate) fn post_tool_batch(self, calls: Vec<ToolBatchCall>) -> HookInput {
        input!(
            self,
            PostToolBatch,
            PostToolBatchInput { tool_calls: calls }
        )
    }

    pub(crate) fn stop_failure(self, class: &str, text: &str) -> HookInput {
        let base = Self {
            permission_mode: None,
            ..self
        };
        input!(
            base,
            StopFailure,
            StopFailureInput {
                error: class.into(),
                last_assistant_message: Some(text.to_owned()),
            }
        )
    }

    pub(crate) fn message_display(self, turn: &str, message: String, text: &str) -> HookInput {
        input!(
            self,
            MessageDisplay,
            MessageDisplayInput {
                turn_id: turn.to_owned(),
                message_id: message,
                index: 0,
                final_: true,
                delta: text.to_owned(),
            }
        )
    }

    pub(crate) fn cwd_changed(self, old: &Path, new: &Path) -> HookInput {
        input!(
            self,
            CwdChanged,
            CwdChangedInput {
                old_cwd: old.display().to_string(),
                new_cwd: new.display().to_string(),
            }
        )
    }

    pub(crate) fn directory_added(self, directory: &Path, source: &str) -> HookInput {
        input!(
            self,
            DirectoryAdded,
            DirectoryAddedInput {
                directory: directory.display().to_string(),
                source: Some(source.to_owned()),
            }
        )
    }

    pub(crate) fn file_changed(self, file: &Path, event: &str) -> HookInput {
        input!(
            self,
            FileChanged,
            FileChangedInput {
                file_path: file.display().to_string(),
                event: event.to_owned(),
            }
        )
    }

    pub(crate) fn notification(self, message: String, kind: &str) -> HookInput {
        input!(
            self,
            Notification,
            NotificationInput {
                message: message,
                notification_type: kind.to_owned().into(),
            }
        )
    }

    pub(crate) fn elicitation(self, question: &Elicitation) -> HookInput {
        let question = question.clone();
        input!(
            self,
            Elicitation,
            ElicitationInput {
                mcp_server_name: question.mcp_server_name,
                message: question.message,
                mode: question.mode,
                url: question.url,
                elicitation_id: question.elicitation_id,
                requested_schema: question.requested_schema,
            }
        )
    }

    pub(crate) fn elicitation_result(
        self,
        question: &Elicitation,
        reply: &ElicitationReply,
    ) -> HookInput {
        input!(
            self,
            ElicitationResult,
            ElicitationResultInput {
                mcp_server_name: question.mcp_server_name.clone(),
                elicitation_id: question.elicitation_id.clone(),
                mode: question.mode.clone(),
                action: reply.action.as_str().to_owned(),
                content: reply.content.clone(),
            }
        )
    }

    pub(crate) fn config_change(self, source: &str, file: &Path) -> HookInput {
        input!(
            self,
            ConfigChange,
            ConfigChangeInput {
                source: source.to_owned(),
                file_path: Some(file.display().to_string()),
            }
        )
    }

    pub(crate) fn session_start(self, source: &str) -> HookInput {
        input!(
            self,
            SessionStart,
            SessionStartInput {
                source: source.to_owned()
            }
        )
    }

    pub(crate) fn session_end(self, reason: &str) -> HookInput {
        input!(
            self,
            SessionEnd,
            SessionEndInput {
                reason: reason.to_owned()
            }
        )
    }
}
