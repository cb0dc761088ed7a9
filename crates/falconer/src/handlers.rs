//! Everything the host has to say when the engine asks: permissions, questions, hooks, tools.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use falconer_protocol::Number;
use falconer_protocol::hook::{self, HookEvent, HookMatcher};
use serde_json::Value;

use crate::elicitation::{
    DialogAnswer, DialogHandler, DialogRequest, ElicitationAnswer, ElicitationHandler,
    ElicitationRequest,
};
use crate::hook::{Hook, OnFailure};
use crate::launch::{HostFeatures, SdkServer};
use crate::mirror::{FlushMode, SessionStore};
use crate::options::{Options, mcp_tool_name};
use crate::permission::{Decision, PermissionHandler, PermissionRequest};
use crate::question::{
    Answers, PlanDecision, PlanHandler, PlanRequest, QuestionHandler, QuestionRequest,
};
use crate::tool::MountedServer;
use crate::transport::StderrCallback;

/// Seconds that the engine waits longer for a hook than we do.
const HOOK_MARGIN_SECS: u64 = 5;

/// The handlers of one connection.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    pub(crate) permission: Option<Arc<dyn PermissionHandler>>,
    pub(crate) question: Option<Arc<dyn QuestionHandler>>,
    pub(crate) plan: Option<Arc<dyn PlanHandler>>,
    pub(crate) elicitation: Option<Arc<dyn ElicitationHandler>>,
    pub(crate) dialog: Option<Arc<dyn DialogHandler>>,
    pub(crate) dialog_kinds: Vec<String>,
    pub(crate) hooks: Vec<Hook>,
    pub(crate) servers: Vec<Arc<dyn MountedServer>>,
    pub(crate) store: Option<StoreChoice>,
    pub(crate) stderr: Option<StderrCallback>,
}

/// The store that transcripts are copied to.
#[derive(Clone)]
pub(crate) struct StoreChoice {
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) flush: FlushMode,
}

impl Handlers {
    /// Returns `true` if a handler can be asked about tool calls.
    pub(crate) fn prompts_permissions(&self) -> bool {
        self.permission.is_some() || self.question.is_some() || self.plan.is_some()
    }

    /// Returns the consequences of the handlers for the start of the engine.
    fn features(&self, hook_limit: Duration) -> HostFeatures {
        HostFeatures {
            prompts_permissions: self.prompts_permissions(),
            hooks: self.hook_matchers(hook_limit),
            sdk_servers: self
                .servers
                .iter()
                .map(|server| sdk_server(server.as_ref()))
                .collect(),
            dialog_kinds: self.dialog_kinds.clone(),
            mirrors_session: self.store.is_some(),
        }
    }

    /// Returns the registration of the hooks; `limit` is for those that name no time.
    fn hook_matchers(&self, limit: Duration) -> BTreeMap<HookEvent, Vec<HookMatcher>> {
        let mut matchers: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (index, hook) in self.hooks.iter().enumerate() {
            let mut matcher = HookMatcher::new(Self::hook_id(index));
            matcher.matcher.clone_from(&hook.matcher);
            // The engine waits a little longer, so that our own answer comes first. It is
            // always told how long: its own limit could be shorter than ours.
            let seconds = hook.timeout.unwrap_or(limit).as_secs();
            matcher.timeout = Some(Number::from(seconds.saturating_add(HOOK_MARGIN_SECS)));
            if hook.on_failure == OnFailure::Block {
                matcher.on_failure = Some(hook::OnFailure::Block);
            }
            matchers
                .entry(hook.event.clone())
                .or_default()
                .push(matcher);
        }
        matchers
    }

    /// The id under which the engine calls the hook at `index`.
    pub(crate) fn hook_id(index: usize) -> String {
        format!("hook_{index}")
    }

    pub(crate) fn hook(&self, id: &str) -> Option<&Hook> {
        let index: usize = id.strip_prefix("hook_")?.parse().ok()?;
        self.hooks.get(index)
    }

    pub(crate) fn server(&self, name: &str) -> Option<&Arc<dyn MountedServer>> {
        self.servers.iter().find(|server| server.name() == name)
    }
}

/// Describes a server in this process to the engine.
fn sdk_server(server: &dyn MountedServer) -> SdkServer {
    let mut described = SdkServer::new(server.name());
    described.manifest = server.manifest();
    described
}

impl Options {
    /// Returns the consequences of the handlers for the start of the engine.
    pub(crate) fn host_features(&self) -> HostFeatures {
        self.handlers.features(self.limits.hook)
    }

    /// Returns the input schemas of the tools in this process, by the names the model knows them
    /// by.
    #[must_use]
    pub fn tool_schemas(&self) -> BTreeMap<String, Value> {
        let mut schemas = BTreeMap::new();
        for server in &self.handlers.servers {
            let manifest = server.manifest().and_then(|known| known.tools_list_result);
            let tools = manifest.as_ref().and_then(|listed| listed.get("tools"));
            for tool in tools.and_then(Value::as_array).into_iter().flatten() {
                if let Some(name) = tool["name"].as_str() {
                    let name = mcp_tool_name(server.name(), name);
                    schemas.insert(name, tool["inputSchema"].clone());
                }
            }
        }
        schemas
    }

    /// Decides about tool calls that no rule has decided.
    ///
    /// Without a handler the engine denies what it would have to ask.
    #[must_use]
    pub fn on_permission<F, Fut>(self, handler: F) -> Self
    where
        F: Fn(PermissionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Decision> + Send + 'static,
    {
        self.permission_handler(handler)
    }

    /// As [`Options::on_permission`], with a handler that is a type of its own.
    #[must_use]
    pub fn permission_handler(mut self, handler: impl PermissionHandler) -> Self {
        self.handlers.permission = Some(Arc::new(handler));
        self
    }

    /// Answers the model's questions to the user.
    ///
    /// Without it they go to the permission handler like any other tool call.
    #[must_use]
    pub fn on_question<F, Fut>(self, handler: F) -> Self
    where
        F: Fn(QuestionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Answers> + Send + 'static,
    {
        self.question_handler(handler)
    }

    /// As [`Options::on_question`], with a handler that is a type of its own.
    #[must_use]
    pub fn question_handler(mut self, handler: impl QuestionHandler) -> Self {
        self.handlers.question = Some(Arc::new(handler));
        self
    }

    /// Approves plans in plan mode.
    ///
    /// Without it they go to the permission handler like any other tool call.
    #[must_use]
    pub fn on_plan<F, Fut>(self, handler: F) -> Self
    where
        F: Fn(PlanRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = PlanDecision> + Send + 'static,
    {
        self.plan_handler(handler)
    }

    /// As [`Options::on_plan`], with a handler that is a type of its own.
    #[must_use]
    pub fn plan_handler(mut self, handler: impl PlanHandler) -> Self {
        self.handlers.plan = Some(Arc::new(handler));
        self
    }

    /// Answers MCP servers that ask for input. Without it they are declined.
    #[must_use]
    pub fn on_elicitation<F, Fut>(self, handler: F) -> Self
    where
        F: Fn(ElicitationRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ElicitationAnswer> + Send + 'static,
    {
        self.elicitation_handler(handler)
    }

    /// As [`Options::on_elicitation`], with a handler that is a type of its own.
    #[must_use]
    pub fn elicitation_handler(mut self, handler: impl ElicitationHandler) -> Self {
        self.handlers.elicitation = Some(Arc::new(handler));
        self
    }

    /// Shows dialogs of these kinds. The engine asks for no others.
    #[must_use]
    pub fn on_dialog<F, Fut>(
        mut self,
        kinds: impl IntoIterator<Item = impl Into<String>>,
        handler: F,
    ) -> Self
    where
        F: Fn(DialogRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = DialogAnswer> + Send + 'static,
    {
        self.handlers.dialog_kinds = kinds.into_iter().map(Into::into).collect();
        self.handlers.dialog = Some(Arc::new(handler));
        self
    }

    /// Adds a hook. Several hooks for one event are asked in parallel; a denial wins.
    #[must_use]
    pub fn hook(mut self, hook: Hook) -> Self {
        self.handlers.hooks.push(hook);
        self
    }

    /// Adds a server of in-process tools.
    ///
    /// Its tools still need permission; [`ToolServer::tool_names`](crate::ToolServer::tool_names)
    /// gives the names for a rule.
    #[must_use]
    pub fn tool_server(self, server: crate::ToolServer) -> Self {
        self.mount(server)
    }

    /// Copies the transcript into a store while it is written, and resumes from there.
    #[must_use]
    pub fn session_store(self, store: impl SessionStore) -> Self {
        self.shared_session_store(Arc::new(store), FlushMode::default())
    }

    /// As [`Options::session_store`], for a store that others use too.
    #[must_use]
    pub fn shared_session_store(mut self, store: Arc<dyn SessionStore>, flush: FlushMode) -> Self {
        self.handlers.store = Some(StoreChoice { store, flush });
        self
    }

    /// Hears every line the engine writes to stderr.
    #[must_use]
    pub fn on_stderr(mut self, callback: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.handlers.stderr = Some(Arc::new(callback));
        self
    }

    /// Adds any MCP server that runs in this process.
    #[must_use]
    pub fn mount(mut self, server: impl MountedServer) -> Self {
        self.handlers.servers.push(Arc::new(server));
        self
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("permission", &self.permission.is_some())
            .field("question", &self.question.is_some())
            .field("plan", &self.plan.is_some())
            .field("elicitation", &self.elicitation.is_some())
            .field("dialog_kinds", &self.dialog_kinds)
            .field("hooks", &self.hooks)
            .field(
                "servers",
                &self.servers.iter().map(|s| s.name()).collect::<Vec<_>>(),
            )
            .field("store", &self.store.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use falconer_protocol::hook::HookOutput;

    use super::*;

    #[test]
    fn the_engine_waits_longer_for_every_hook_than_we_do() {
        let hook = || Hook::new(HookEvent::Stop, async |_| Ok(HookOutput::default()));
        let options = Options::new()
            .hook_timeout(Duration::from_secs(3_600))
            .hook(hook())
            .hook(hook().timeout(Duration::from_millis(1_500)))
            .hook(hook().timeout(Duration::MAX));
        let mut matchers = options.host_features().hooks;
        let stop = matchers.remove(&HookEvent::Stop).unwrap_or_default();
        let limits: Vec<_> = stop
            .into_iter()
            .filter_map(|matcher| matcher.timeout)
            .collect();
        assert_eq!(limits, [3_605, 6, u64::MAX].map(Number::from));
    }
}
