//! Numbers and names: context, cost, version, title.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Outcome, text};
use crate::frame::reply::Reply;
use crate::frame::system;
use crate::session::core::Core;

pub(super) fn context_usage(core: &Arc<Core>) -> Outcome {
    let core = Arc::clone(core);
    Outcome::Later(Box::pin(async move {
        Reply::Success(core.context_usage().await)
    }))
}

pub(super) fn usage(core: &Core) -> Reply {
    let ledger = core.ledger();
    let session = json!({
        "total_cost_usd": ledger.total_cost(),
        "total_api_duration_ms": u64::try_from(ledger.api_time().as_millis()).unwrap_or(u64::MAX),
        "total_duration_ms": u64::try_from(ledger.wall_time().as_millis()).unwrap_or(u64::MAX),
        "total_lines_added": ledger.lines().added,
        "total_lines_removed": ledger.lines().removed,
        "model_usage": ledger.model_usage(),
    });
    Reply::Success(json!({
        "session": session,
        "subscription_type": null,
        "behaviors": null,
        "rate_limits_available": false,
        "rate_limits": null,
    }))
}

pub(super) fn cost(core: &Core) -> Reply {
    Reply::Success(json!({"text": core.ledger().words()}))
}

/// There are no plugins yet, so nothing can have changed.
pub(super) fn plugins(core: &Core) -> Reply {
    let introduction = core.introduction();
    Reply::Success(json!({
        "commands": introduction["commands"],
        "agents": introduction["agents"],
        "plugins": [],
        "mcpServers": core.servers.status(),
        "error_count": 0,
    }))
}

pub(super) fn version(core: &Core) -> Reply {
    Reply::Success(json!({"version": core.options.version, "buildTime": ""}))
}

pub(super) fn status(core: &Core) -> Reply {
    let row = |label: &str, value: Value| json!({"label": label, "value": value});
    let session = json!({"title": "Session", "rows": [
        row("Version", json!(core.options.version)),
        row("Session ID", json!(core.session_id())),
        row("Directory", json!(core.workbench.cwd())),
        row("Permission mode", json!(core.permission_mode())),
    ]});
    let environment = json!({"title": "Environment", "rows": [row("Model", json!(core.model()))]});
    Reply::Success(json!({"sections": [session, environment]}))
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
