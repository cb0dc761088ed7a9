//! `initialize`: hooks, servers in the host, prompts, schema, title.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use falconer_protocol::control::{InitializeRequest, InitializeResponse};
use falconer_protocol::mcp::{McpSdkConfig, McpServerConfig};
use falconer_protocol::system::SessionState;
use serde_json::Value;

use super::Outcome;
use crate::frame::reply::Reply;
use crate::mcp::{Declared, Manifest, Origin};
use crate::session::actor::Actor;
use crate::session::core::Core;
use crate::session::unsupported;
use crate::tool::Tool;
use crate::tool::structured_output::StructuredOutput;

/// Takes everything an `initialize` brings. A repeated one replaces the hooks.
pub(super) async fn initialize(actor: &mut Actor, body: &Value) -> Outcome {
    let core = Arc::clone(&actor.core);
    if !matches!(body["hooks"], Value::Null | Value::Object(_)) {
        return Reply::failure("initialize cannot be read: hooks is not an object").into();
    }
    if !matches!(body["sdkMcpServers"], Value::Null | Value::Array(_)) {
        return Reply::failure("initialize cannot be read: sdkMcpServers is not a list").into();
    }
    let mut body = body.clone();
    // Read one by one: a broken one concerns its own server only.
    let manifests = body.as_object_mut();
    let manifests = manifests.and_then(|body| body.shift_remove("sdkMcpServerManifests"));
    let request: InitializeRequest = match falconer_protocol::from_value(body) {
        Ok(request) => request,
        Err(error) => return Reply::failure(format!("initialize cannot be read: {error}")).into(),
    };
    let notices = match unsupported::look(&request) {
        Ok(notices) => notices,
        Err(problem) => return Reply::failure(problem).into(),
    };
    core.state().notices.extend(notices);
    let repeated = std::mem::replace(&mut core.state().initialized, true);
    let started = core.state().turns > 0;
    if let Some(schema) = &request.json_schema
        && let Err(error) = set_schema(&core, &Value::Object(schema.clone()))
    {
        return Reply::failure(error).into();
    }
    let has_hooks = request.hooks.is_some();
    let warnings = core
        .hooks
        .set_host_hooks(request.hooks.as_ref().unwrap_or(&BTreeMap::new()));
    for warning in &warnings {
        tracing::warn!(%warning, "a hook of the host");
    }
    take_prompts(&core, &request);
    if let Some(title) = request.title.as_deref() {
        core.set_title(title).await;
    }
    let names = request.sdk_mcp_servers.as_deref().unwrap_or_default();
    let manifests = manifests.map(|manifests| Manifests::read(&core, names, &manifests));
    let parked = manifests.as_ref().map(Manifests::report);
    let asked = core.host.asked() + add_servers(&core, &request, manifests);
    let mut payload = core.introduction();
    payload.session_state = Some(match actor.interrupt() {
        Some(_) => SessionState::Running,
        None => SessionState::Idle,
    });
    payload.hooks_applied = has_hooks.then_some(true);
    payload.sdk_mcp_manifests_parked = parked.filter(|_| !names.is_empty());
    if core.host.asked() < asked {
        return Outcome::Later(Box::pin(async move {
            servers_asked(&core, asked).await;
            introduce(&core, payload)
        }));
    }
    let reply = introduce(&core, payload);
    if repeated || started {
        return Outcome::Then(reply, vec![core.tasks_frame().into()]);
    }
    reply.into()
}

/// The answer also lists the questions that are still open, for a host that connects again.
fn introduce(core: &Core, payload: InitializeResponse) -> Reply {
    Reply::Introduction {
        payload: Box::new(payload),
        open_questions: core.host.open_questions(),
    }
}

/// The CLI greets servers in the host before it answers; hosts have come to expect it.
async fn servers_asked(core: &Core, questions: u64) {
    let asked = core.host.until_asked(questions);
    let _ = tokio::time::timeout(Duration::from_millis(250), asked).await;
}

fn take_prompts(core: &Core, request: &InitializeRequest) {
    let mut state = core.state();
    if let Some(prompt) = &request.system_prompt {
        state.prompt.replace = Some(prompt.join("\n\n"));
    }
    if let Some(text) = &request.append_system_prompt {
        state.prompt.append = Some(text.clone());
    }
    if let Some(exclude) = request.exclude_dynamic_sections {
        state.prompt.exclude_dynamic_sections = exclude;
    }
    if let Some(text) = &request.plan_mode_instructions {
        state.plan_instructions = Some(text.clone());
    }
    if let Some(spared) = request.per_task_stop_affordance {
        state.tasks_are_spared = spared;
    }
    if let Some(aliases) = &request.tool_aliases {
        let entries = aliases
            .iter()
            .map(|(from, to)| (from.clone(), Value::from(to.as_str())));
        state.aliases = entries.collect();
    }
}

/// Asks for structured answers.
pub(crate) fn set_schema(core: &Core, schema: &Value) -> Result<(), String> {
    let tool = StructuredOutput::new(schema.clone())
        .map_err(|error| format!("the schema for answers is not a JSON Schema: {error}"))?;
    let tool: Arc<dyn Tool> = Arc::new(tool);
    let mut state = core.state();
    state.schema = Some(Arc::new(schema.clone()));
    state.structured_tool = Some(tool);
    Ok(())
}

/// What servers in the host have answered already, by name, with what becomes of it.
struct Manifests {
    usable: BTreeMap<String, Manifest>,
    report: BTreeMap<String, String>,
}

impl Manifests {
    fn read(core: &Core, names: &[String], manifests: &Value) -> Self {
        let mut all = Self {
            usable: BTreeMap::new(),
            report: BTreeMap::new(),
        };
        for name in names {
            let manifest = match manifests {
                Value::Object(manifests) => manifests.get(name),
                _ => Some(&Value::Null),
            };
            let Some(manifest) = manifest else { continue };
            let word = match Manifest::read(manifest) {
                Err(why) => why.word(),
                Ok(_) if core.servers.has(name) => "already_connected",
                Ok(manifest) => {
                    all.usable.insert(name.clone(), manifest);
                    "parked"
                }
            };
            all.report.insert(name.clone(), word.to_owned());
        }
        all
    }

    fn report(&self) -> BTreeMap<String, String> {
        self.report.clone()
    }
}

/// Declares the servers that live in the host, and says how many of them will be asked.
fn add_servers(core: &Core, request: &InitializeRequest, manifests: Option<Manifests>) -> u64 {
    let names = request.sdk_mcp_servers.as_deref().unwrap_or_default();
    let configs = request.sdk_mcp_server_configs.as_ref();
    let config = |name: &String| configs.and_then(|configs| configs.get(name)).cloned();
    let mut manifests = manifests.map(|it| it.usable).unwrap_or_default();
    let silent = manifests.len() as u64;
    let declared: Vec<Declared> = names
        .iter()
        .map(|name| {
            let config = config(name).unwrap_or_default();
            Declared {
                manifest: manifests.remove(name),
                name: name.clone(),
                config: McpServerConfig::Sdk(McpSdkConfig {
                    name: name.clone(),
                    timeout: config.timeout,
                    tools: config.tools,
                    ..McpSdkConfig::default()
                }),
                origin: Origin::Initialize,
            }
        })
        .collect();
    let count = declared.len() as u64;
    core.servers.add(declared);
    count.saturating_sub(silent)
}
