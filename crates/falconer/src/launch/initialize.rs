//! The first request: what would be too long or too awkward for the command line.

use std::collections::BTreeMap;

use falconer_protocol::Object;
use falconer_protocol::control::{InitializeRequest, PluginConfig};
use serde_json::Value;

use crate::options::{LaunchOptions, PluginDelivery, PromptBase, Skills, SystemPrompt};

use super::HostFeatures;
use super::plan::SdkServer;

/// The request for these options and handlers.
pub(super) fn request(options: &LaunchOptions, host: &HostFeatures) -> InitializeRequest {
    let system = &options.prompt.system;
    let extensions = &options.extensions;
    InitializeRequest {
        hooks: (!host.hooks.is_empty()).then(|| host.hooks.clone()),
        sdk_mcp_servers: given(host.sdk_servers.iter().map(|server| server.name.clone())),
        sdk_mcp_server_configs: by_server(host, |server| server.config.clone()),
        sdk_mcp_server_manifests: by_server(host, |server| server.manifest.clone()),
        json_schema: schema(options),
        system_prompt: system_prompt(system),
        append_system_prompt: system.append.clone(),
        system_prompt_snapshot: system.snapshot,
        exclude_dynamic_sections: flag(system.exclude_dynamic_sections),
        plan_mode_instructions: options.prompt.plan_mode_instructions.clone(),
        tool_aliases: given(options.tools.aliases.iter().cloned()),
        agents: given(extensions.agents.iter().cloned()),
        title: options.prompt.title.clone(),
        skills: skills(options),
        prompt_suggestions: flag(options.prompt.suggestions),
        agent_progress_summaries: flag(extensions.progress_summaries),
        forward_subagent_text: flag(extensions.forward_subagent_text),
        supported_dialog_kinds: given(host.dialog_kinds.iter().cloned()),
        per_task_stop_affordance: flag(options.permissions.per_task_stop),
        plugins: plugins(options),
        ..InitializeRequest::default()
    }
}

/// A switch is left out when it is off.
fn flag(on: bool) -> Option<bool> {
    on.then_some(true)
}

/// A collection is left out when it is empty.
fn given<T, C: FromIterator<T>>(items: impl Iterator<Item = T>) -> Option<C> {
    let mut items = items.peekable();
    items.peek().is_some().then(|| items.collect())
}

fn system_prompt(prompt: &SystemPrompt) -> Option<Vec<String>> {
    match &prompt.base {
        PromptBase::Empty => Some(vec![String::new()]),
        PromptBase::Parts(parts) => Some(parts.clone()),
        PromptBase::ClaudeCode | PromptBase::File(_) => None,
    }
}

fn schema(options: &LaunchOptions) -> Option<Object> {
    let schema = options.prompt.output_schema.as_ref();
    schema.and_then(Value::as_object).cloned()
}

fn by_server<T>(
    host: &HostFeatures,
    value: impl Fn(&SdkServer) -> Option<T>,
) -> Option<BTreeMap<String, T>> {
    let values = host.sdk_servers.iter().filter_map(|server| {
        let value = value(server)?;
        Some((server.name.clone(), value))
    });
    given(values)
}

fn skills(options: &LaunchOptions) -> Option<Vec<String>> {
    match &options.extensions.skills {
        Some(Skills::Only(names)) => Some(names.clone()),
        Some(Skills::All) | None => None,
    }
}

fn plugins(options: &LaunchOptions) -> Option<Vec<PluginConfig>> {
    if options.extensions.plugin_delivery == PluginDelivery::Arguments {
        return None;
    }
    given(options.extensions.plugins.iter().map(|plugin| {
        let mut config = PluginConfig::local(plugin.path.to_string_lossy());
        config.skip_mcp_discovery = flag(plugin.skip_mcp);
        config
    }))
}
