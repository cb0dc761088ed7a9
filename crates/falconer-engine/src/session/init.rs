//! `system/init` and the answer to `initialize`: what the session is and can do.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use falconer_model::FoundPrice;
use falconer_protocol::MessageUuid;
use serde_json::{Value, json};

use super::commands;
use super::core::Core;
use crate::frame::untyped;
use crate::tool::{Tool, registry};

/// What this engine can do beyond the basics, in the CLI's words. Only what is true.
const CAPABILITIES: &[&str] = &[
    "interrupt_receipt_v1",
    "interrupt_cancel_queued_v1",
    "msg_lifecycle_v1",
    "request_marker_lists_v1",
    "ask_user_question_unanswered_v1",
    "sdk_mcp_tools_list_changed",
    "sdk_mcp_manifests",
    "mcp_read_resource_v1",
];

impl Core {
    /// The first line of every turn.
    pub(crate) async fn say_init(&self, prompts: &[MessageUuid]) {
        let mut frame = self.init_frame();
        if !prompts.is_empty() {
            frame["user_message_uuids"] = json!(prompts);
        }
        if self.options.output.tool_schemas && !self.schemas_told.swap(true, Ordering::Relaxed) {
            frame["tool_schemas"] = self.tool_schemas();
        }
        self.speaker.say(untyped(frame)).await;
    }

    fn init_frame(&self) -> Value {
        let names: Vec<String> = self.tools().iter().map(|it| it.name().to_owned()).collect();
        let directories: Vec<String> = {
            let permissions = self.permissions();
            let others = permissions.dirs().into_iter().skip(1);
            others.map(|it| it.display().to_string()).collect()
        };
        let style = self.output_style();
        json!({
            "type": "system",
            "subtype": "init",
            "cwd": self.workbench.cwd(),
            "tools": names,
            "mcp_servers": self.server_listing(),
            "model": self.model(),
            "permissionMode": self.permission_mode(),
            "slash_commands": commands::NAMES,
            "apiKeySource": self.provider.key_source(),
            "claude_code_version": self.options.version,
            "output_style": style,
            "agents": [],
            "skills": [],
            "plugins": [],
            "capabilities": CAPABILITIES,
            "analytics_disabled": true,
            "product_feedback_disabled": true,
            "original_cwd": self.workbench.original_cwd,
            "additional_directories": directories,
            "fast_mode_state": "off",
            "fast_mode_disabled_reason": "sdk_opt_in_required",
            "per_turn_effort_active": self.knows_effort(),
            "ultrathink_available": false,
            "ultrathink_typed_raises": false,
            "view_mode": "default",
        })
    }

    /// What the tools take, as the model is told.
    fn tool_schemas(&self) -> Value {
        let schema = |tool: &Arc<dyn Tool>| {
            let mut definition = registry::definition(tool);
            (tool.name().to_owned(), definition["input_schema"].take())
        };
        self.tools().iter().map(schema).collect()
    }

    /// The payload of the answer to `initialize`.
    pub(crate) fn introduction(&self) -> Value {
        json!({
            "commands": commands::listing(),
            "agents": [],
            "output_style": self.output_style(),
            "available_output_styles": ["default"],
            "models": falconer_model::list_models(),
            "account": self.account(),
            "pid": std::process::id(),
            "claude_code_version": self.options.version,
            "current_permission_mode": self.permission_mode(),
            "hook_on_failure_supported": true,
            "other_hook_ask_outranks_host": true,
            "feedback_mode": {"kind": "disabled"},
            "analytics_disabled": true,
            "fast_mode_state": "off",
            "fast_mode_disabled_reason": "sdk_opt_in_required",
            "capabilities": CAPABILITIES,
        })
    }

    fn account(&self) -> Value {
        let bedrock = self.workbench.environment.is_on("CLAUDE_CODE_USE_BEDROCK");
        let mut account = json!({
            "tokenSource": "none",
            "apiProvider": if bedrock { "bedrock" } else { "firstParty" },
        });
        let source = self.provider.key_source();
        if source != "none" {
            account["apiKeySource"] = json!(source);
        }
        account
    }

    /// Whether the model is one that is known to take an effort.
    fn knows_effort(&self) -> bool {
        let model = self.model();
        matches!(self.prices.find(&model), FoundPrice::Listed(_))
            && falconer_model::takes_effort(&model)
    }

    fn output_style(&self) -> String {
        let settings = self.settings();
        settings.output_style().unwrap_or("default").to_owned()
    }
}
