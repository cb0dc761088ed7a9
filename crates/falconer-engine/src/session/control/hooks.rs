//! `get_hooks_listing`: the hooks of settings files, and all events there could be hooks for.

use serde::Serialize;
use serde_json::Value;

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

/// The answer to `get_hooks_listing`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Listing<'a> {
    events: Vec<EventRow>,
    hooks: Vec<HookRow<'a>>,
    event_catalog: Vec<EventRow>,
    policy: PolicyRow,
}

/// An event there could be hooks for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct EventRow {
    name: &'static str,
    summary: &'static str,
    supports_matcher: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_count: Option<usize>,
}

/// A hook of a settings file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HookRow<'a> {
    event: &'a str,
    matcher: &'a str,
    source: &'static str,
    source_label: &'static str,
    #[serde(rename = "type")]
    kind: &'a str,
    display_text: String,
    command_text: String,
    content_label: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_once: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_in_background: Option<&'a Value>,
}

/// What managed settings say about hooks.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PolicyRow {
    disabled_by_policy: bool,
    managed_only: bool,
    plugin_only: bool,
    all_disabled: bool,
    policy_hook_count: usize,
}

/// The hooks in force.
pub(super) fn list(core: &Core) -> Reply {
    let settings = core.settings();
    let written = settings.hooks();
    let hooks: Vec<HookRow<'_>> = EVENTS
        .iter()
        .flat_map(|(event, ..)| written.iter().filter(move |hook| hook.event == *event))
        .flat_map(rows)
        .collect();
    let with_hooks = EVENTS.iter().filter_map(|event| {
        let count = hooks.iter().filter(|row| row.event == event.0).count();
        (count > 0).then(|| EventRow {
            hook_count: Some(count),
            ..describe(event)
        })
    });
    let managed = written.iter().filter(|it| it.source == Source::Managed);
    Reply::success(&Listing {
        events: with_hooks.collect(),
        event_catalog: EVENTS.iter().map(describe).collect(),
        policy: PolicyRow {
            disabled_by_policy: settings.managed_switch("disableAllHooks"),
            managed_only: settings.managed_switch("allowManagedHooksOnly"),
            plugin_only: false,
            all_disabled: settings.disable_all_hooks(),
            policy_hook_count: managed.flat_map(handlers).count(),
        },
        hooks,
    })
}

fn describe((name, matching, summary): &(&'static str, Matching, &'static str)) -> EventRow {
    EventRow {
        name,
        summary,
        supports_matcher: *matching == ByName,
        hook_count: None,
    }
}

/// The handlers of one entry.
fn handlers(hook: &SettingsHook) -> impl Iterator<Item = &Value> {
    let handlers = hook.matcher.get("hooks").and_then(Value::as_array);
    handlers.into_iter().flatten()
}

fn rows(hook: &SettingsHook) -> impl Iterator<Item = HookRow<'_>> {
    handlers(hook).map(|handler| row(hook, handler))
}

fn row<'a>(hook: &'a SettingsHook, handler: &'a Value) -> HookRow<'a> {
    let text = |name: &str| text_in(handler, name);
    let kind = text("type");
    let (content_label, identity) = match kind {
        "command" => ("Command", text("command")),
        "http" => ("URL", text("url")),
        _ => ("Prompt", text("prompt")),
    };
    let shown = match text("statusMessage") {
        "" => identity,
        message => message,
    };
    HookRow {
        event: &hook.event,
        matcher: text_in(&hook.matcher, "matcher"),
        source: source_name(hook.source),
        source_label: hook.source.of_rules().words(),
        kind,
        display_text: revealed(shown),
        command_text: revealed(identity),
        content_label,
        timeout: handler.get("timeout"),
        runs_once: handler.get("once"),
        runs_in_background: handler.get("async"),
    }
}

fn text_in<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A text in which nothing is hidden.
fn revealed(text: &str) -> String {
    let show = |c: char| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    };
    text.chars().map(show).collect()
}
