//! Settings and hooks.

use serde_json::{Value, json};

use super::text;
use crate::frame::reply::Reply;
use crate::session::core::Core;
use crate::session::models;
use crate::session::preferences::source_name;

/// Changes settings for this session.
pub(super) fn apply_flag(core: &Core, body: &Value) -> Reply {
    let Value::Object(settings) = &body["settings"] else {
        return Reply::failure("settings is missing or not an object");
    };
    let changed = core.settings().with_flag(Value::Object(settings.clone()));
    if changed.check_sandbox().is_err() {
        return Reply::failure("a sandbox is not available in this engine");
    }
    if let Some(model) = settings.get("model").and_then(Value::as_str) {
        core.state().model = models::resolve(model);
    }
    core.take_settings(changed);
    Reply::Done
}

/// Changes a settings file: permission rules only, the rest is refused and not half done.
pub(super) async fn update(core: &Core, body: &Value) -> Reply {
    let destination = match text(body, "source") {
        Ok(source @ ("userSettings" | "projectSettings" | "localSettings")) => source,
        Ok(other) => return Reply::failure(format!("settings of {other} cannot be changed")),
        Err(reply) => return reply,
    };
    let Some(settings) = body["settings"].as_object() else {
        return Reply::failure("settings is missing or not an object");
    };
    if let Some(key) = settings.keys().find(|key| *key != "permissions") {
        return Reply::failure(format!(
            "changing `{key}` in a settings file is not supported"
        ));
    }
    let mut updates = Vec::new();
    for behavior in ["allow", "ask", "deny"] {
        let rules = settings.get("permissions").and_then(|it| it.get(behavior));
        for rule in rules.and_then(Value::as_array).into_iter().flatten() {
            let Some((tool, content)) = rule.as_str().map(split_rule) else {
                return Reply::failure("a permission rule is not a text");
            };
            updates.push(json!({
                "type": "addRules",
                "rules": [{"toolName": tool, "ruleContent": content}],
                "behavior": behavior,
                "destination": destination,
            }));
        }
    }
    let updates = updates.into_iter();
    let updates: Vec<_> = updates
        .filter_map(|it| falconer_protocol::from_value(it).ok())
        .collect();
    core.apply_updates(&updates).await;
    Reply::Done
}

/// `Tool(content)` in its parts.
fn split_rule(rule: &str) -> (&str, Option<&str>) {
    match rule.split_once('(') {
        Some((tool, rest)) => (tool, rest.strip_suffix(')')),
        None => (rule, None),
    }
}

/// The settings in force, and where they come from.
pub(super) fn get(core: &Core) -> Reply {
    let settings = core.settings();
    let source = |layer: &crate::settings::Layer| json!({"source": source_name(layer.source), "settings": layer.value});
    let sources: Vec<Value> = settings.layers().iter().map(source).collect();
    let effective = settings.effective().clone();
    drop(settings);
    Reply::Success(json!({
        "effective": effective,
        "sources": sources,
        "applied": {"model": core.model(), "effort": core.effort_level()},
    }))
}

/// The hooks in force.
pub(super) fn hooks(core: &Core) -> Reply {
    let settings = core.settings();
    let hook = |hook: &crate::settings::SettingsHook| json!({"event": hook.event, "source": source_name(hook.source), "matcher": hook.matcher});
    let hooks: Vec<Value> = settings.hooks().iter().map(hook).collect();
    let mut events: Vec<&str> = hooks.iter().filter_map(|it| it["event"].as_str()).collect();
    events.sort_unstable();
    events.dedup();
    Reply::Success(json!({
        "events": events,
        "hooks": hooks,
        "eventCatalog": [],
        "policy": {"disabled": settings.disable_all_hooks()},
    }))
}
