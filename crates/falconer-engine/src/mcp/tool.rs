//! A tool of a server, as the model calls it.

use std::path::Path;
use std::sync::Arc;

use falconer_protocol::{Object, ToolUseId};
use falconer_secret::Environment;
use futures_util::future::BoxFuture;
use rmcp::ServiceError;
use rmcp::model::{CallToolRequestParams, CallToolResult, RequestMetaObject};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::listing::Listed;
use super::outcome::{self, Overflow};
use super::server::{Server, State};
use super::servers::CallFailure;
use crate::permission::Target;
use crate::tool::{Call, Describe, Outcome, ToolOrigin, TypedTool};
use crate::workbench::Workbench;

/// A tool of a server.
#[derive(Debug)]
pub(super) struct McpTool {
    pub(super) server: Arc<Server>,
    pub(super) listed: Arc<Listed>,
}

impl Describe for McpTool {
    fn name(&self) -> &str {
        &self.listed.name
    }

    fn description(&self) -> String {
        self.listed.description.clone()
    }

    fn input_schema(&self) -> Value {
        self.listed.schema.clone()
    }

    fn origin(&self) -> Option<ToolOrigin> {
        Some(ToolOrigin {
            server: self.server.declared.name.clone(),
            source: self.server.source().to_owned(),
            own_name: self.listed.own_name.clone(),
            title: self.listed.title.clone(),
        })
    }

    fn is_read_only(&self) -> bool {
        self.listed.read_only == Some(true)
    }
}

impl TypedTool for McpTool {
    type Input = Object;

    /// Takes everything: the server knows better what it takes.
    fn parse(&self, input: &Object) -> Result<Object, String> {
        Ok(input.clone())
    }

    fn target(&self, _input: &Object, _workbench: &Workbench) -> Target {
        self.touched()
    }

    fn summary(&self, input: &Object) -> Option<String> {
        Some(input.get("description")?.as_str()?.to_owned())
    }

    fn run(&self, input: Arc<Object>, call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            let workbench = &call.workbench;
            let overflow = self.overflow(&workbench.shop.overflow, &workbench.shop.environment);
            let input = Arc::unwrap_or_clone(input);
            self.perform(input, &call.id, &call.cancelled, &overflow)
                .await
        })
    }
}

impl McpTool {
    pub(super) fn touched(&self) -> Target {
        Target::Mcp {
            server: self.server.declared.name.clone(),
        }
    }

    pub(super) fn overflow<'a>(
        &self,
        directory: &'a Path,
        environment: &Environment,
    ) -> Overflow<'a> {
        let origin = format!("{}-{}", self.server.declared.name, self.listed.own_name);
        Overflow::new(directory, &origin, environment)
    }

    pub(super) async fn perform(
        &self,
        input: Object,
        id: &ToolUseId,
        cancelled: &CancellationToken,
        overflow: &Overflow<'_>,
    ) -> Outcome {
        let tool = &self.listed.own_name;
        match self.server.call(tool, input, Some(id), cancelled).await {
            Ok(result) => outcome::of_call(result, overflow).await,
            Err(failure) => Outcome::error(failure.to_string()),
        }
    }
}

impl Server {
    /// Calls a tool by its own name. Dropping the future tells the server that it is cancelled.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Object,
        id: Option<&ToolUseId>,
        cancelled: &CancellationToken,
    ) -> Result<CallToolResult, CallFailure> {
        let live = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Err(CallFailure::Interrupted),
            live = self.awake() => live.ok_or_else(|| self.absent())?,
        };
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = Some(arguments);
        if let Some(id) = id {
            let mut meta = RequestMetaObject::new();
            let id = Value::String(id.as_str().to_owned());
            meta.0.0.insert("claudecode/toolUseId".to_owned(), id);
            params.meta = Some(meta);
        }
        let limit = self.call_limit();
        let result = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Err(CallFailure::Interrupted),
            result = live.connection.running.call_tool(params) => result,
            () = live.connection.ended.cancelled() => return Err(self.gone().await),
            () = tokio::time::sleep(limit) => return Err(CallFailure::TimedOut(limit)),
        };
        match result {
            Ok(result) => Ok(result),
            Err(ServiceError::McpError(error)) => Err(CallFailure::Refused(error.message.into())),
            Err(ServiceError::TransportClosed) => Err(self.gone().await),
            Err(other) => Err(CallFailure::Broken(other.to_string())),
        }
    }

    /// Waits until it is known why the connection has ended.
    async fn gone(&self) -> CallFailure {
        let mut states = self.subscribe();
        let known = states.wait_for(|state| !matches!(state, State::Connected(_)));
        let _ = tokio::time::timeout(std::time::Duration::from_secs(5), known).await;
        self.absent()
    }

    pub(super) fn absent(&self) -> CallFailure {
        let why = match self.state() {
            State::Failed(why) | State::Lost { why, .. } => why,
            State::Pending => "it is still connecting".to_owned(),
            State::Disabled => "it is switched off".to_owned(),
            State::NeedsAuth => "it wants a login".to_owned(),
            State::Connected(_) => "it does not answer".to_owned(),
        };
        CallFailure::NotConnected {
            server: self.declared.name.clone(),
            why,
        }
    }
}
