//! Modes and rules.

use falconer_protocol::permission::PermissionMode;
use serde_json::{Value, json};

use super::{Outcome, text};
use crate::frame::reply::Reply;
use crate::permission::ModeRefused;
use crate::session::core::Core;

/// Changes the mode.
pub(super) fn set_mode(core: &Core, body: &Value) -> Outcome {
    let mode = match text(body, "mode") {
        Ok("manual") => PermissionMode::Default,
        Ok(mode) => PermissionMode::from(mode),
        Err(reply) => return reply.into(),
    };
    match core.switch_mode(mode.clone()) {
        Ok(told) => {
            let reply = Reply::Success(json!({"mode": mode}));
            Outcome::Then(reply, told.into_iter().collect())
        }
        Err(ModeRefused::BypassLocked) => Reply::coded(
            "bypass_not_launched",
            "Cannot set permission mode to bypassPermissions because the session was not launched \
             with --dangerously-skip-permissions",
        )
        .into(),
        Err(error @ ModeRefused::Unknown(_)) => {
            Reply::coded("invalid_mode", error.to_string()).into()
        }
    }
}

/// The rules in force.
pub(super) fn list(core: &Core) -> Reply {
    let rules = core.settings_rules();
    let permissions = core.permissions();
    let directories = permissions
        .dirs()
        .into_iter()
        .map(|path| json!({"path": path}));
    let state = json!({
        "rules": rules,
        "workspaceDirectories": directories.collect::<Vec<_>>(),
        "originalCwd": core.workbench.original_cwd,
        "managedOnly": false,
        "errors": permissions.problems(),
    });
    Reply::Success(json!({"state": state}))
}
