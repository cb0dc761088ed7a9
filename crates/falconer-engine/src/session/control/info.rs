//! Numbers and names: context, cost, version, title.

use std::collections::BTreeMap;
use std::sync::Arc;

use falconer_protocol::control::{
    BinaryVersionResponse, ReloadOutputStylesResponse, ReloadPluginsResponse, ReloadSkillsResponse,
    SessionCostResponse,
};
use falconer_protocol::usage::ModelUsage;
use serde::Serialize;
use serde_json::Value;

use super::{Outcome, text};
use crate::frame::reply::Reply;
use crate::frame::system;
use crate::session::commands;
use crate::session::core::Core;
use crate::turn::tally::millis;

pub(super) fn context_usage(core: &Arc<Core>) -> Outcome {
    let core = Arc::clone(core);
    Outcome::Later(Box::pin(async move {
        Reply::success(&core.context_usage().await)
    }))
}

/// The answer to `get_usage`.
#[derive(Debug, Serialize)]
struct UsageReport {
    session: SessionUsage,
    // What only accounts with a subscription have.
    subscription_type: Option<String>,
    behaviors: Option<Value>,
    rate_limits_available: bool,
    rate_limits: Option<Value>,
}

#[derive(Debug, Serialize)]
struct SessionUsage {
    total_cost_usd: f64,
    total_api_duration_ms: u64,
    total_duration_ms: u64,
    total_lines_added: u64,
    total_lines_removed: u64,
    model_usage: BTreeMap<String, ModelUsage>,
}

pub(super) fn usage(core: &Core) -> Reply {
    let ledger = core.ledger();
    Reply::success(&UsageReport {
        session: SessionUsage {
            total_cost_usd: ledger.total_cost(),
            total_api_duration_ms: millis(ledger.api_time()),
            total_duration_ms: millis(ledger.wall_time()),
            total_lines_added: ledger.lines().added,
            total_lines_removed: ledger.lines().removed,
            model_usage: ledger.model_usage(),
        },
        subscription_type: None,
        behaviors: None,
        rate_limits_available: false,
        rate_limits: None,
    })
}

pub(super) fn cost(core: &Core) -> Reply {
    Reply::success(&SessionCostResponse {
        text: core.ledger().words(),
        ..SessionCostResponse::default()
    })
}

/// There are no plugins yet, so nothing can have changed.
pub(super) fn plugins(core: &Core) -> Reply {
    let response = ReloadPluginsResponse {
        commands: commands::listing(),
        mcp_servers: core.servers.status(),
        error_count: Some(0),
        ..ReloadPluginsResponse::default()
    };
    Reply::success(
        &response
            .with_empty("agents")
            .with_empty("plugins")
            .with_empty("mcpServers"),
    )
}

/// There are no skills.
pub(super) fn skills() -> Reply {
    Reply::success(&ReloadSkillsResponse::default().with_empty("skills"))
}

pub(super) fn output_styles() -> Reply {
    Reply::success(&ReloadOutputStylesResponse {
        available_output_styles: vec!["default".to_owned()],
        ..ReloadOutputStylesResponse::default()
    })
}

pub(super) fn version(core: &Core) -> Reply {
    Reply::success(&BinaryVersionResponse {
        version: core.options.version.clone(),
        build_time: Some(String::new()),
        ..BinaryVersionResponse::default()
    })
}

/// The answer to `get_status`: tables for people.
#[derive(Debug, Serialize)]
struct Status {
    sections: Vec<Section>,
}

#[derive(Debug, Serialize)]
struct Section {
    title: &'static str,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    label: &'static str,
    value: String,
}

pub(super) fn status(core: &Core) -> Reply {
    let row = |label, value: String| Row { label, value };
    let session = Section {
        title: "Session",
        rows: vec![
            row("Version", core.options.version.clone()),
            row("Session ID", core.session_id().into_string()),
            row("Directory", core.workbench.cwd().display().to_string()),
            row("Permission mode", core.permission_mode().to_string()),
        ],
    };
    let environment = Section {
        title: "Environment",
        rows: vec![row("Model", core.model())],
    };
    Reply::success(&Status {
        sections: vec![session, environment],
    })
}

pub(super) async fn rename(core: &Core, body: &Value) -> Reply {
    match text(body, "title") {
        Ok(title) if title.trim().is_empty() => Reply::failure("the title is empty"),
        Ok(title) => {
            core.set_title(title).await;
            Reply::Done
        }
        Err(reply) => reply,
    }
}

impl Core {
    /// Gives the session a title.
    pub(crate) async fn set_title(&self, title: &str) {
        self.state().title = Some(title.to_owned());
        self.record.titled(title);
        self.speaker.say(system::title_changed(title)).await;
    }
}
