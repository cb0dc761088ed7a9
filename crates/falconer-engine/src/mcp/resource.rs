//! Two tools for the resources of all servers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use falconer_protocol::Object;
use futures_util::future::BoxFuture;
use rmcp::model::ResourceContents;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::outcome::{Overflow, extension};
use super::servers::{CallFailure, Servers};
use crate::permission::Target;
use crate::tool::{Call, Outcome, Tool};
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

impl Tool for ListResources {
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

    fn check(&self, input: &Object) -> Result<(), String> {
        match input.get("server") {
            None | Some(Value::String(_)) => Ok(()),
            Some(_) => Err("`server` must be a string".to_owned()),
        }
    }

    fn is_read_only(&self, _input: &Object) -> bool {
        true
    }

    fn target(&self, _input: &Object, _workbench: &Workbench) -> Target {
        Target::Nothing
    }

    fn run(&self, call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            let workbench = &call.workbench;
            let overflow = Overflow::new(&workbench.overflow, "", &workbench.environment);
            self.perform(&call.input, &call.cancelled, &overflow).await
        })
    }
}

impl ListResources {
    pub(super) async fn perform(
        &self,
        input: &Object,
        cancelled: &CancellationToken,
        overflow: &Overflow<'_>,
    ) -> Outcome {
        let only = input.get("server").and_then(Value::as_str);
        let listed = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Outcome::error("interrupted"),
            listed = self.servers.resources(only) => listed,
        };
        match listed {
            Ok(resources) if resources.is_empty() => {
                Outcome::text("No server offers any resource.", json!([]))
            }
            Ok(resources) => {
                let value = Value::Array(resources);
                Outcome::text(cut(value.to_string(), overflow), value)
            }
            Err(failure) => Outcome::error(failure.to_string()),
        }
    }
}

impl Tool for ReadResource {
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

    fn check(&self, input: &Object) -> Result<(), String> {
        let text = |field: &str| input.get(field).is_some_and(Value::is_string);
        if text("server") && text("uri") {
            return Ok(());
        }
        Err("`server` and `uri` are needed, both strings".to_owned())
    }

    fn is_read_only(&self, _input: &Object) -> bool {
        true
    }

    fn target(&self, _input: &Object, _workbench: &Workbench) -> Target {
        Target::Nothing
    }

    fn run(&self, call: Call) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            let workbench = &call.workbench;
            let server = text(&call.input, "server");
            let overflow = Overflow::new(&workbench.overflow, server, &workbench.environment);
            self.perform(&call.input, &call.cancelled, &overflow).await
        })
    }
}

impl ReadResource {
    pub(super) async fn perform(
        &self,
        input: &Object,
        cancelled: &CancellationToken,
        overflow: &Overflow<'_>,
    ) -> Outcome {
        let (server, uri) = (text(input, "server"), text(input, "uri"));
        let contents = match self.servers.read_resource(server, uri, cancelled).await {
            Ok(contents) => contents,
            // What is not there is news, not a failure.
            Err(failure @ CallFailure::NoSuchResource(_)) => {
                let output = json!({"contents": [], "error": failure.to_string()});
                return Outcome::text(output.to_string(), output);
            }
            Err(failure) => return Outcome::error(failure.to_string()),
        };
        let mut shown = Vec::new();
        for content in contents {
            shown.push(show(content, overflow).await);
        }
        let output = json!({ "contents": shown });
        Outcome::text(cut(output.to_string(), overflow), output)
    }
}

fn text<'a>(input: &'a Object, field: &str) -> &'a str {
    input.get(field).and_then(Value::as_str).unwrap_or_default()
}

async fn show(content: ResourceContents, overflow: &Overflow<'_>) -> Value {
    match content {
        ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text,
            ..
        } => with_kind(json!({"uri": uri, "text": text}), mime_type),
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
            let shown = match saved {
                Ok(path) => json!({"uri": uri, "blobSavedTo": path}),
                Err(error) => json!({"uri": uri, "text": format!("(could not be saved: {error})")}),
            };
            with_kind(shown, mime_type)
        }
        _ => json!({"uri": "", "text": "(content of an unknown kind)"}),
    }
}

fn with_kind(mut value: Value, kind: Option<String>) -> Value {
    if let Some(kind) = kind {
        value["mimeType"] = Value::String(kind);
    }
    value
}

/// Keeps a text within what a conversation can bear.
fn cut(text: String, overflow: &Overflow<'_>) -> String {
    match text.char_indices().nth(overflow.characters) {
        Some((end, _)) => format!("{}… (cut: it is too long)", &text[..end]),
        None => text,
    }
}
