//! The messages of the engine, as the real one writes them but shorter.

use serde_json::{Value, json};

/// Makes messages of one session.
pub(crate) struct Messages {
    pub(crate) session_id: String,
    pub(crate) version: String,
    made: u32,
    results: u32,
}

impl Messages {
    pub(crate) fn new(session_id: String, version: String) -> Self {
        Self {
            session_id,
            version,
            made: 0,
            results: 0,
        }
    }

    /// An id as UUIDs look, counted up.
    pub(crate) fn uuid(&mut self) -> String {
        self.made += 1;
        format!("fa1c0000-0000-4000-8000-{:012x}", self.made)
    }

    /// Adds what nearly every message ends with.
    fn with_tail(&mut self, mut message: Value) -> Value {
        message["session_id"] = self.session_id.clone().into();
        message["uuid"] = self.uuid().into();
        message
    }

    pub(crate) fn init(&mut self) -> Value {
        let cwd = std::env::current_dir().unwrap_or_default();
        let version = self.version.clone();
        self.with_tail(json!({
            "type": "system", "subtype": "init", "cwd": cwd.to_string_lossy(),
            "tools": ["Task", "Bash", "Edit", "Read", "Write"], "mcp_servers": [],
            "model": "claude-scripted", "permissionMode": "default", "slash_commands": [],
            "apiKeySource": "none", "claude_code_version": version, "output_style": "default",
            "agents": [], "skills": [], "plugins": [], "capabilities": [],
        }))
    }

    pub(crate) fn assistant(&mut self, text: &str) -> Value {
        let message = json!({
            "id": format!("msg_fake_{:04}", self.made), "type": "message", "role": "assistant",
            "model": "claude-scripted", "content": [{"type": "text", "text": text}],
            "stop_reason": null, "stop_sequence": null, "usage": usage(1),
        });
        self.with_tail(json!({
            "type": "assistant", "message": message, "parent_tool_use_id": null,
        }))
    }

    pub(crate) fn tool_result(&mut self, text: &str) -> Value {
        let block = json!({"type": "tool_result", "tool_use_id": "toolu_fake", "content": text});
        self.with_tail(json!({
            "type": "user", "message": {"role": "user", "content": [block]},
            "parent_tool_use_id": null,
        }))
    }

    pub(crate) fn text_delta(&mut self, text: &str) -> Value {
        let delta = json!({"type": "text_delta", "text": text});
        let event = json!({"type": "content_block_delta", "index": 0, "delta": delta});
        self.with_tail(json!({
            "type": "stream_event", "event": event, "parent_tool_use_id": null,
        }))
    }

    /// The key order is the real one's: `type` is not the first.
    pub(crate) fn result(&mut self, text: &str, is_error: bool, prompt: &Value) -> Value {
        let mut result = self.with_tail(json!({
            "duration_api_ms": 2, "stop_reason": "end_turn", "total_cost_usd": 0.001,
            "usage": usage(5), "modelUsage": {}, "permission_denials": [],
            "type": "result", "subtype": "success", "is_error": is_error, "duration_ms": 3,
            "num_turns": 1, "result": text, "terminal_reason": "completed",
            "result_index": self.results,
        }));
        self.results += 1;
        if is_error {
            result["terminal_reason"] = "api_error".into();
            result["stop_reason"] = "stop_sequence".into();
        }
        if prompt.is_string() {
            result["user_message_uuid"] = prompt.clone();
            result["user_message_uuids"] = json!([prompt]);
        }
        result
    }

    /// As the CLI does, marks it for the SDK alone unless everybody is to see it.
    pub(crate) fn session_state(&mut self, state: &str) -> Value {
        let mut message = self.with_tail(json!({
            "type": "system", "subtype": "session_state_changed", "state": state,
        }));
        let set = |name: &str| std::env::var_os(name).is_some();
        if set("CLAUDE_CODE_SDK_READS_SESSION_STATE")
            && !set("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS")
        {
            message["sdk_host_only"] = true.into();
        }
        message
    }

    pub(crate) fn lifecycle(&mut self, prompt: &Value, state: &str) -> Value {
        self.with_tail(json!({
            "type": "command_lifecycle", "command_uuid": prompt, "state": state,
        }))
    }

    pub(crate) fn initialized(&self) -> Value {
        json!({
            "commands": [{"name": "compact", "description": "Shorten", "argumentHint": ""}],
            "agents": [{"name": "general-purpose", "description": "Any task"}],
            "output_style": "default", "available_output_styles": ["default"],
            "models": [{"value": "default", "displayName": "Default", "description": "Scripted"}],
            "account": {"apiKeySource": "none"}, "pid": std::process::id(),
            "claude_code_version": self.version, "current_permission_mode": "default",
            "hook_on_failure_supported": true, "session_state": "idle", "capabilities": [],
        })
    }
}

fn usage(output: u32) -> Value {
    json!({"input_tokens": 10, "cache_creation_input_tokens": 0,
           "cache_read_input_tokens": 0, "output_tokens": output})
}

/// A successful answer to a control request.
pub(crate) fn success(request_id: &Value, response: Value) -> Value {
    let mut answer = json!({"subtype": "success", "request_id": request_id});
    if !response.is_null() {
        answer["response"] = response;
    }
    json!({"type": "control_response", "response": answer})
}

/// A failed answer to a control request.
pub(crate) fn failure(request_id: &Value, error: &str, code: Option<&str>) -> Value {
    let mut answer = json!({"subtype": "error", "request_id": request_id, "error": error});
    if let Some(code) = code {
        answer["error_code"] = code.into();
    }
    json!({"type": "control_response", "response": answer})
}
