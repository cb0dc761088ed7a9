//! What a server offers, cut to what a conversation can bear.

use rmcp::RoleClient;
use rmcp::model::{PaginatedRequestParams, Resource, Tool};
use rmcp::service::{Peer, ServiceError};
use serde_json::{Value, json};

use super::name;
use crate::tool::readable;

/// Most pages of a list that are asked for: a server may invent them without end.
const PAGES: usize = 100;
/// Most tools of one server.
const TOOLS: usize = 1000;
/// Most resources of one server.
const RESOURCES: usize = 2000;
/// Longest description, in characters.
const DESCRIPTION: usize = 2048;
/// Largest schema, in bytes.
const SCHEMA: usize = 64 * 1024;

/// A tool as we know it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Listed {
    /// Towards the model.
    pub(super) name: String,
    /// Towards the server.
    pub(super) own_name: String,
    /// Towards people.
    pub(super) title: String,
    pub(super) description: String,
    pub(super) schema: Value,
    pub(super) read_only: Option<bool>,
    pub(super) destructive: Option<bool>,
    pub(super) open_world: Option<bool>,
}

/// All tools of a server. Those with impossible schemas are left out.
pub(super) async fn tools(
    server: &str,
    peer: &Peer<RoleClient>,
) -> Result<Vec<Listed>, ServiceError> {
    let offers = peer
        .peer_info()
        .is_some_and(|info| info.capabilities.tools.is_some());
    let mut listed: Vec<Listed> = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES {
        if !offers || listed.len() >= TOOLS {
            break;
        }
        let page = peer.list_tools(next_page(cursor.take())).await?;
        let room = TOOLS - listed.len();
        listed.extend(
            page.tools
                .into_iter()
                .take(room)
                .filter_map(|it| accept(server, &it)),
        );
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let mut names = std::collections::HashSet::new();
    listed.retain(|tool| {
        let first = names.insert(tool.name.clone());
        if !first {
            tracing::warn!(
                server,
                tool = tool.name,
                "left out a second tool of this name"
            );
        }
        first
    });
    Ok(listed)
}

/// All resources of a server.
pub(super) async fn resources(peer: &Peer<RoleClient>) -> Result<Vec<Resource>, ServiceError> {
    let mut listed = Vec::new();
    let mut cursor = None;
    for _ in 0..PAGES {
        let page = peer.list_resources(next_page(cursor.take())).await?;
        let room = RESOURCES - listed.len();
        listed.extend(page.resources.into_iter().take(room));
        cursor = page.next_cursor;
        if cursor.is_none() || listed.len() >= RESOURCES {
            break;
        }
    }
    Ok(listed)
}

fn next_page(cursor: Option<String>) -> Option<PaginatedRequestParams> {
    let page = |cursor| PaginatedRequestParams::default().with_cursor(Some(cursor));
    cursor.map(page)
}

fn accept(server: &str, tool: &Tool) -> Option<Listed> {
    let mut schema = tool.input_schema.as_ref().clone();
    schema.entry("type").or_insert_with(|| json!("object"));
    let schema = Value::Object(schema);
    let size = serde_json::to_vec(&schema).map_or(usize::MAX, |text| text.len());
    if tool.name.trim().is_empty() || schema["type"] != "object" || size > SCHEMA {
        tracing::warn!(
            server,
            size,
            "left out a tool with an impossible name or schema"
        );
        return None;
    }
    let description = tool.description.as_deref().unwrap_or_default();
    let hints = tool.annotations.as_ref();
    Some(Listed {
        name: name::of_tool(server, &tool.name),
        own_name: tool.name.to_string(),
        title: title(tool),
        description: cut(description),
        schema,
        read_only: hints.and_then(|hints| hints.read_only_hint),
        destructive: hints.and_then(|hints| hints.destructive_hint),
        open_world: hints.and_then(|hints| hints.open_world_hint),
    })
}

/// The title that the server gives, or the name made readable.
fn title(tool: &Tool) -> String {
    let annotated = || tool.annotations.as_ref()?.title.clone();
    let given = tool.title.clone().or_else(annotated);
    let given = given.filter(|title| !title.trim().is_empty());
    given.map_or_else(|| readable(&tool.name), |title| cut(&title))
}

fn cut(description: &str) -> String {
    match description.char_indices().nth(DESCRIPTION) {
        Some((end, _)) => format!("{}… (cut)", &description[..end]),
        None => description.to_owned(),
    }
}
