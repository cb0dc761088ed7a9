//! `get_hooks_listing`: the hooks of settings files, and all events there could be hooks for.

use serde_json::{Value, json};

use crate::frame::reply::Reply;
use crate::session::core::Core;
use crate::session::preferences::source_name;
use crate::settings::{SettingsHook, Source};

/// Whether hooks for an event choose by a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Matching {
    ByName,
    Always,
}

use Matching::{Always, ByName};

/// Events in the order of a session's life.
const EVENTS: &[(&str, Matching, &str)] = &[
    ("PreToolUse", ByName, "A tool is about to run"),
    ("PostToolUse", ByName, "A tool has run"),
    ("PostToolUseFailure", ByName, "A tool has failed"),
    ("PostToolBatch", Always, "All tools of an answer have run"),
    ("PermissionDenied", ByName, "A tool was not permitted"),
    ("Notification", ByName, "A person should look"),
    ("UserPromptSubmit", Always, "A prompt has come"),
    ("UserPromptExpansion", ByName, "A command became a prompt"),
    ("SessionStart", ByName, "A session begins"),
    ("Stop", Always, "The model is done"),
    ("StopFailure", ByName, "A turn ends with an error"),
    ("SubagentStart", ByName, "An agent begins"),
    ("SubagentStop", ByName, "An agent is done"),
    (
        "PreCompact",
        ByName,
        "The conversation is about to be shortened",
    ),
    ("PostCompact", ByName, "The conversation was shortened"),
    (
        "PreModelSwitch",
        ByName,
        "Another model is about to take over",
    ),
    ("PostModelSwitch", ByName, "Another model has taken over"),
    ("SessionEnd", ByName, "A session ends"),
    ("PermissionRequest", ByName, "Permission is asked for"),
    ("Setup", ByName, "A project is set up"),
    ("TeammateIdle", Always, "A teammate has nothing to do"),
    ("TaskCreated", Always, "A task was written down"),
    ("TaskCompleted", Always, "A task was ticked off"),
    ("Elicitation", ByName, "A server asks a person"),
    (
        "ElicitationResult",
        ByName,
        "A person has answered a server",
    ),
    ("ConfigChange", ByName, "A settings file has changed"),
    ("InstructionsLoaded", ByName, "Instructions were read"),
    ("WorktreeCreate", Always, "A worktree is wanted"),
    ("WorktreeRemove", Always, "A worktree is no longer wanted"),
    ("CwdChanged", Always, "The directory is another one"),
    ("FileChanged", ByName, "A file was changed by somebody else"),
    (
        "DirectoryAdded",
        ByName,
        "The session works in one more directory",
    ),
    ("MessageDisplay", Always, "Text is shown"),
];

/// The hooks in force.
pub(super) fn list(core: &Core) -> Reply {
    let settings = core.settings();
    let written = settings.hooks();
    let rows: Vec<Value> = EVENTS
        .iter()
        .flat_map(|(event, ..)| written.iter().filter(move |hook| hook.event == *event))
        .flat_map(rows)
        .collect();
    let with_hooks = EVENTS.iter().filter_map(|event| {
        let count = rows.iter().filter(|row| row["event"] == event.0).count();
        let mut entry = describe(event);
        entry["hookCount"] = json!(count);
        (count > 0).then_some(entry)
    });
    let managed = written.iter().filter(|it| it.source == Source::Managed);
    Reply::Success(json!({
        "events": with_hooks.collect::<Vec<_>>(),
        "hooks": rows,
        "eventCatalog": EVENTS.iter().map(describe).collect::<Vec<_>>(),
        "policy": {
            "disabledByPolicy": settings.managed_switch("disableAllHooks"),
            "managedOnly": settings.managed_switch("allowManagedHooksOnly"),
            "pluginOnly": false,
            "allDisabled": settings.disable_all_hooks(),
            "policyHookCount": managed.flat_map(rows_of).count(),
        },
    }))
}

fn describe((name, matching, summary): &(&str, Matching, &str)) -> Value {
    json!({"name": name, "summary": summary, "supportsMatcher": *matching == ByName})
}

/// The handlers of one entry.
fn rows_of(hook: &SettingsHook) -> impl Iterator<Item = &Value> {
    hook.matcher["hooks"].as_array().into_iter().flatten()
}

fn rows(hook: &SettingsHook) -> Vec<Value> {
    let row = |handler: &Value| {
        let text = |name: &str| handler[name].as_str().unwrap_or_default();
        let kind = text("type");
        let (label, identity) = match kind {
            "command" => ("Command", text("command")),
            "http" => ("URL", text("url")),
            _ => ("Prompt", text("prompt")),
        };
        let shown = match text("statusMessage") {
            "" => identity,
            message => message,
        };
        let mut row = json!({
            "event": hook.event,
            "matcher": hook.matcher["matcher"].as_str().unwrap_or_default(),
            "source": source_name(hook.source),
            "sourceLabel": hook.source.of_rules().words(),
            "type": kind,
            "displayText": revealed(shown),
            "commandText": revealed(identity),
            "contentLabel": label,
        });
        for (from, to) in [
            ("timeout", "timeout"),
            ("once", "runsOnce"),
            ("async", "runsInBackground"),
        ] {
            if let Some(value) = handler.get(from) {
                row[to] = value.clone();
            }
        }
        row
    };
    rows_of(hook).map(row).collect()
}

/// A text in which nothing is hidden.
fn revealed(text: &str) -> String {
    let show = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(show).collect()
}
