//! Two tools for the resources of all servers.

use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use falconer_protocol::Object;
use futures_util::future::BoxFuture;
use rmcp::model::ResourceContents;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::outcome::{Overflow, extension};
use super::servers::{CallFailure, Servers};
use crate::permission::Target;
use crate::tool::{Call, Describe, Outcome, TypedTool};
use crate::workbench::Workbench;

/// Lists what servers offer to read.
#[derive(Debug)]
pub(super) struct ListResources {
    servers: Servers,
}

/// Reads one of those.
#[derive(Debug)]
pub(super) struct ReadResource {
    servers: Servers,
}

impl ListResources {
    pub(super) fn new(servers: Servers) -> Self {
        Self { servers }
    }
}

impl ReadResource {
    pub(super) fn new(servers: Servers) -> Self {
        Self { servers }
    }
}

impl Describe for ListResources {
    fn name(&self) -> &str {
        "ListMcpResourcesTool"
    }

    fn description(&self) -> String {
        "Lists the resources that connected MCP servers offer to read, each with its URI and the \
         server it belongs to. Give `server` to see those of one server only."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object", "additionalProperties": false, "properties": {
            "server": {"type": "string", "description": "Only the resources of this server"}}})
    }

    fn is_read_only(&self) -> bool {
        true
    }
}

impl TypedTool for ListResources {
    /// The server whose resources are wanted; all servers if there is none.
    type Input = Option<String>;

    fn parse(&self, input: &Object) -> Result<Option<String>, String> {
        match input.get("server") {
            None => Ok(None),
            Some(Value::String(server)) => Ok(Some(server.clone())),
            Some(_) => Err("`server` must be a string".to_owned()),
        }
    }

    fn target(&self, _server: &Option<String>, _workbench: &Workbench) -> Target {
        Target::Nothing
    }

    fn run(&self, server: Arc<Option<String>>, call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            let workbench = &call.workbench;
            let overflow = Overflow::new(&workbench.shop.overflow, "", &workbench.shop.environment);
            self.perform(server.as_deref(), &call.cancelled, &overflow)
                .await
        })
    }
}

impl ListResources {
    pub(super) async fn perform(
        &self,
        only: Option<&str>,
        cancelled: &CancellationToken,
        overflow: &Overflow<'_>,
    ) -> Outcome {
        let listed = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Outcome::error("interrupted"),
            listed = self.servers.resources(only) => listed,
        };
        match listed {
            Ok(resources) if resources.is_empty() => {
                Outcome::text("No server offers any resource.", resources)
            }
            Ok(resources) => {
                let value = Value::Array(resources);
                Outcome::text(cut(value.to_string(), overflow), value)
            }
            Err(failure) => Outcome::error(failure.to_string()),
        }
    }
}

impl Describe for ReadResource {
    fn name(&self) -> &str {
        "ReadMcpResourceTool"
    }

    fn description(&self) -> String {
        "Reads a resource of an MCP server, named by the server and the resource's URI as \
         ListMcpResourcesTool shows them. Binary contents are saved to a file."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        json!({"type": "object", "additionalProperties": false, "required": ["server", "uri"],
            "properties": {
                "server": {"type": "string", "description": "The server's name"},
                "uri": {"type": "string", "description": "The resource's URI"}}})
    }

    fn is_read_only(&self) -> bool {
        true
    }
}

/// A resource by its server and URI.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) server: String,
    pub(super) uri: String,
}

impl TypedTool for ReadResource {
    type Input = Named;

    fn parse(&self, input: &Object) -> Result<Named, String> {
        let text = |field: &str| Some(input.get(field)?.as_str()?.to_owned());
        let named = text("server").zip(text("uri"));
        let (server, uri) = named.ok_or("`server` and `uri` are needed, both strings")?;
        Ok(Named { server, uri })
    }

    fn target(&self, _named: &Named, _workbench: &Workbench) -> Target {
        Target::Nothing
    }

    fn run(&self, named: Arc<Named>, call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            let workbench = &call.workbench;
            let overflow = Overflow::new(
                &workbench.shop.overflow,
                &named.server,
                &workbench.shop.environment,
            );
            self.perform(&named, &call.cancelled, &overflow).await
        })
    }
}

impl ReadResource {
    pub(super) async fn perform(
        &self,
        named: &Named,
        cancelled: &CancellationToken,
        overflow: &Overflow<'_>,
    ) -> Outcome {
        let Named { server, uri } = named;
        let contents = match self.servers.read_resource(server, uri, cancelled).await {
            Ok(contents) => contents,
            // What is not there is news, not a failure.
            Err(failure @ CallFailure::NoSuchResource(_)) => {
                let output = Output {
                    contents: Vec::new(),
                    error: Some(failure.to_string()),
                };
                return Outcome::text(output.text(), output);
            }
            Err(failure) => return Outcome::error(failure.to_string()),
        };
        let mut shown = Vec::new();
        for content in contents {
            shown.push(show(content, overflow).await);
        }
        let output = Output {
            contents: shown,
            error: None,
        };
        Outcome::text(cut(output.text(), overflow), output)
    }
}

/// What was read.
#[derive(Debug, Serialize)]
struct Output {
    contents: Vec<Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Output {
    /// The model reads the same as the host.
    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// One content: text, or the file that it was saved to.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob_saved_to: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<String>,
}

async fn show(content: ResourceContents, overflow: &Overflow<'_>) -> Shown {
    match content {
        ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text,
            ..
        } => Shown {
            uri,
            text: Some(text),
            mime_type,
            ..Shown::default()
        },
        ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => {
            let kind = mime_type.clone().unwrap_or_default();
            let saved = match STANDARD.decode(&blob) {
                Ok(bytes) => overflow.save(&bytes, extension(&kind)).await,
                Err(_) => Err(std::io::Error::other("it is not valid base64")),
            };
            let problem = |error| format!("(could not be saved: {error})");
            Shown {
                uri,
                text: saved.as_ref().err().map(problem),
                blob_saved_to: saved.ok(),
                mime_type,
            }
        }
        _ => Shown {
            text: Some("(content of an unknown kind)".to_owned()),
            ..Shown::default()
        },
    }
}

/// Keeps a text within what a conversation can bear.
fn cut(text: String, overflow: &Overflow<'_>) -> String {
    match text.char_indices().nth(overflow.characters) {
        Some((end, _)) => format!("{}… (cut: it is too long)", &text[..end]),
        None => text,
    }
}
