//! Modes and rules.

use falconer_protocol::Message;
use falconer_protocol::permission::PermissionMode;
use serde_json::{Value, json};

use super::{Outcome, text};
use crate::frame::reply::Reply;
use crate::permission::{Effect, ModeRefused, RuleSource, WrittenRule};
use crate::session::core::Core;

/// Changes the mode.
pub(super) fn set_mode(core: &Core, body: &Value) -> Outcome {
    let mode = match text(body, "mode") {
        Ok("manual") => PermissionMode::Default,
        Ok(mode) => PermissionMode::from(mode),
        Err(_) => return Reply::coded("invalid_mode", "mode is missing or not a text").into(),
    };
    match core.switch_mode(mode.clone()) {
        Ok(told) => {
            let reply = Reply::Success(json!({"mode": mode}));
            Outcome::Then(reply, told.into_iter().map(Message::from).collect())
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
    let permissions = core.permissions();
    let mut rules: Vec<&WrittenRule> = permissions.written().collect();
    rules.sort_by_key(|rule| (listed_behavior(rule.behavior), listed_source(rule.source).0));
    // The first is where the session works, which is told beside.
    let directories = permissions.dirs().into_iter().skip(1);
    let directories = directories.map(|path| json!({"path": path}));
    let mut state = json!({
        "rules": rules.into_iter().map(listed).collect::<Vec<_>>(),
        "workspaceDirectories": directories.collect::<Vec<_>>(),
        "originalCwd": core.workbench.original_cwd,
        "managedOnly": false,
    });
    if !permissions.problems().is_empty() {
        state["errors"] = json!(permissions.problems());
    }
    Reply::Success(json!({"state": state}))
}

/// What allows comes first.
fn listed_behavior(behavior: Effect) -> u8 {
    match behavior {
        Effect::Allow => 0,
        Effect::Ask => 1,
        Effect::Deny => 2,
    }
}

/// The place of a source in the list, its name, and where its rules can be changed.
fn listed_source(source: RuleSource) -> (u8, &'static str, &'static str) {
    match source {
        RuleSource::User => (0, "userSettings", "persistent"),
        RuleSource::Project => (1, "projectSettings", "persistent"),
        RuleSource::Local => (2, "localSettings", "persistent"),
        RuleSource::Flag => (3, "flagSettings", "readonly"),
        RuleSource::Managed => (4, "policySettings", "readonly"),
        RuleSource::CliArg => (5, "cliArg", "session"),
        RuleSource::Session => (6, "session", "session"),
    }
}

fn listed(rule: &WrittenRule) -> Value {
    let (_, source, editability) = listed_source(rule.source);
    let mut entry = json!({
        "behavior": rule.behavior.key(),
        "source": source,
        "rule": rule.text,
        "editability": editability,
    });
    if let Some(description) = described(&rule.text) {
        entry["description"] = description;
    }
    entry
}

/// A rule in words, where that is simple.
fn described(rule: &str) -> Option<Value> {
    match rule.split_once('(') {
        None => Some(json!({"prefix": "Every use of ", "emphasis": rule})),
        Some(("Bash", rest)) => {
            let content = rest.strip_suffix(')')?;
            let start = content.strip_suffix(" *").or(content.strip_suffix(":*"));
            Some(match start {
                Some(start) => json!({"prefix": "Commands that begin with ", "emphasis": start}),
                None => json!({"prefix": "The command ", "emphasis": content}),
            })
        }
        Some(_) => None,
    }
}
