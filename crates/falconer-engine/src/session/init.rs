//! `system/init` and the answer to `initialize`: what the session is and can do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use falconer_model::FoundPrice;
use falconer_protocol::MessageUuid;
use falconer_protocol::control::{AccountInfo, FeedbackMode, InitializeResponse};
use falconer_protocol::system::Init;
use serde_json::Value;

use super::commands;
use super::core::Core;
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
    /// Sends the first line of every turn.
    pub(crate) async fn say_init(&self, prompts: &[MessageUuid]) {
        let tells_schemas =
            self.options.output.tool_schemas && !self.schemas_told.swap(true, Ordering::Relaxed);
        let init = Init {
            user_message_uuids: (!prompts.is_empty()).then(|| prompts.to_vec()),
            tool_schemas: tells_schemas.then(|| self.tool_schemas()),
            ..self.init()
        };
        self.speaker.say(init).await;
    }

    fn init(&self) -> Init {
        let directories: Vec<String> = {
            let permissions = self.permissions();
            let others = permissions.dirs().into_iter().skip(1);
            others.map(|it| it.display().to_string()).collect()
        };
        let init = Init {
            cwd: self.workbench.cwd().display().to_string(),
            tools: self.tools().iter().map(|it| it.name().to_owned()).collect(),
            mcp_servers: self.server_listing(),
            model: Some(self.model()),
            permission_mode: Some(self.permission_mode()),
            slash_commands: owned(commands::NAMES),
            api_key_source: Some(self.provider.key_source().to_owned()),
            claude_code_version: Some(self.options.version.clone()),
            output_style: Some(self.output_style()),
            agents: Some(Vec::new()),
            skills: Some(Vec::new()),
            plugins: Some(Vec::new()),
            capabilities: Some(owned(CAPABILITIES)),
            analytics_disabled: Some(true),
            product_feedback_disabled: Some(true),
            original_cwd: Some(self.workbench.original_cwd.display().to_string()),
            additional_directories: Some(directories),
            fast_mode_state: Some("off".to_owned()),
            fast_mode_disabled_reason: Some("sdk_opt_in_required".to_owned()),
            per_turn_effort_active: Some(self.knows_effort()),
            ultrathink_available: Some(false),
            ultrathink_typed_raises: Some(false),
            view_mode: Some("default".to_owned()),
            ..Init::default()
        };
        init.with_empty("tools").with_empty("mcp_servers")
    }

    /// What the tools take, as the model is told.
    fn tool_schemas(&self) -> BTreeMap<String, Value> {
        let schema = |tool: &Arc<dyn Tool>| {
            let mut definition = registry::definition(tool);
            (tool.name().to_owned(), definition["input_schema"].take())
        };
        self.tools().iter().map(schema).collect()
    }

    /// The payload of the answer to `initialize`.
    pub(crate) fn introduction(&self) -> InitializeResponse {
        let introduction = InitializeResponse {
            commands: commands::listing(),
            output_style: Some(self.output_style()),
            available_output_styles: vec!["default".to_owned()],
            models: falconer_model::list_models(),
            account: Some(self.account()),
            pid: Some(std::process::id()),
            claude_code_version: Some(self.options.version.clone()),
            current_permission_mode: Some(self.permission_mode()),
            hook_on_failure_supported: Some(true),
            other_hook_ask_outranks_host: Some(true),
            feedback_mode: Some(FeedbackMode {
                kind: "disabled".to_owned(),
                ..FeedbackMode::default()
            }),
            analytics_disabled: Some(true),
            fast_mode_state: Some("off".to_owned()),
            fast_mode_disabled_reason: Some("sdk_opt_in_required".to_owned()),
            capabilities: Some(owned(CAPABILITIES)),
            ..InitializeResponse::default()
        };
        introduction.with_empty("agents")
    }

    fn account(&self) -> AccountInfo {
        let environment = &self.workbench.shop.environment;
        let bedrock = environment.is_on("CLAUDE_CODE_USE_BEDROCK");
        let provider = if bedrock { "bedrock" } else { "firstParty" };
        let source = self.provider.key_source();
        AccountInfo {
            token_source: Some("none".to_owned()),
            api_provider: Some(provider.to_owned()),
            api_key_source: (source != "none").then(|| source.to_owned()),
            ..AccountInfo::default()
        }
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

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
