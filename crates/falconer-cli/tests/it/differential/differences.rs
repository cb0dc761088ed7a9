//! Where `falconer-claude` is meant to differ from the official CLI, and why.
//!
//! `docs/differences.md` is this list for people; a test keeps the two together.

use std::collections::BTreeSet;

use falconer_testkit::scenario::{Scenario, text};

use super::Case;
use super::frames::kind;
use super::stage::{self, Engine};

/// What is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// The value; the field must be there on both sides, with the same type.
    Value,
    /// The field may be missing on one side.
    Field,
    /// The value where it is a text; otherwise it is compared.
    Text,
    /// The value where the engine speaks in its own name: synthetic messages, failed results.
    Spoken,
    /// The whole frame.
    Frame,
}

/// One intended difference.
#[derive(Debug)]
pub(super) struct Difference {
    /// The kind of frame, `*` for all.
    pub(super) frame: &'static str,
    /// The path to the field; `*` stands for any key or index.
    pub(super) path: &'static str,
    pub(super) what: What,
    pub(super) why: &'static str,
}

const fn differ(
    frame: &'static str,
    path: &'static str,
    what: What,
    why: &'static str,
) -> Difference {
    Difference {
        frame,
        path,
        what,
        why,
    }
}

use What::{Field, Frame, Spoken, Text, Value};

const LISTS: &str = "the lists of tools, commands, agents, skills and styles are our own";
const TEXTS: &str = "what the engine says in its own name is in our own words";
const DESKTOP: &str = "remote control, editor and messaging features of the desktop are not there";
const CONTEXT: &str = "prompt and tools are our own, so what fills the context is, too";
const COMPACTION: &str = "compaction and skills come with a later release";
const MIRROR: &str =
    "session files hold fewer kinds of entries, so what is mirrored of them differs";
const MEMORY: &str = "memory and output styles come with a later release";
const THINKING: &str = "thinking is not asked for in the form that needs a private beta";

const ALWAYS: &str = "\"always\" offers what was seen, and nothing wider for most programs";

/// The list.
pub(super) const INTENDED: &[Difference] = &[
    differ(
        "control_request/can_use_tool",
        "request.permission_suggestions.*.rules.*.ruleContent",
        Value,
        ALWAYS,
    ),
    differ("system/init", "tools", Value, LISTS),
    differ("system/init", "slash_commands", Value, LISTS),
    differ("system/init", "terminal_slash_commands", Field, LISTS),
    differ("system/init", "agents", Value, LISTS),
    differ("system/init", "skills", Value, LISTS),
    differ("system/init", "plugins", Value, LISTS),
    differ("system/init", "capabilities", Value, LISTS),
    differ(
        "control_response",
        "response.response.commands",
        Value,
        LISTS,
    ),
    differ("control_response", "response.response.agents", Value, LISTS),
    differ("control_response", "response.response.models", Value, LISTS),
    differ(
        "control_response",
        "response.response.plugins",
        Value,
        LISTS,
    ),
    differ(
        "control_response",
        "response.response.available_output_styles",
        Value,
        LISTS,
    ),
    differ(
        "control_response",
        "response.response.capabilities",
        Value,
        LISTS,
    ),
    differ("user", "message.content.*.content", Value, TEXTS),
    differ("user", "message.content.*.text", Value, TEXTS),
    differ("user", "tool_use_result", Text, TEXTS),
    differ("user", "tool_use_result.message", Value, TEXTS),
    differ("user", "tool_use_result.error", Value, TEXTS),
    differ("user", "tool_use_result.content.*.text", Value, TEXTS),
    differ(
        "user",
        "tool_use_result.returnCodeInterpretation",
        Value,
        TEXTS,
    ),
    differ("assistant", "message.content.*.text", Spoken, TEXTS),
    differ("assistant", "local_command_source", Spoken, TEXTS),
    differ("result", "result", Spoken, TEXTS),
    differ("result", "errors.*", Value, TEXTS),
    differ("system/permission_denied", "message", Value, TEXTS),
    differ("system/permission_denied", "decision_reason", Field, TEXTS),
    differ("system/informational", "content", Value, TEXTS),
    differ("system/notification", "text", Value, TEXTS),
    differ("system/model_fallback", "content", Value, TEXTS),
    differ("system/model_refusal_fallback", "content", Value, TEXTS),
    differ("system/model_refusal_no_fallback", "content", Value, TEXTS),
    differ(
        "control_request/can_use_tool",
        "request.decision_reason",
        Field,
        TEXTS,
    ),
    differ(
        "control_request/hook_callback",
        "request.input.error",
        Value,
        TEXTS,
    ),
    differ("control_response", "response.error", Value, TEXTS),
    differ("control_response", "response.response.text", Value, TEXTS),
    differ(
        "control_response",
        "response.response.errors.*",
        Value,
        TEXTS,
    ),
    differ(
        "control_response",
        "response.response.events.*.summary",
        Value,
        TEXTS,
    ),
    differ(
        "control_response",
        "response.response.eventCatalog.*.summary",
        Value,
        TEXTS,
    ),
    differ(
        "control_response",
        "response.response.hooks.*.sourceLabel",
        Value,
        TEXTS,
    ),
    differ(
        "control_response",
        "response.response.sections",
        Value,
        TEXTS,
    ),
    differ(
        "control_response",
        "response.response.mcpServers.*.error",
        Value,
        TEXTS,
    ),
    differ(
        "control_request/mcp_message",
        "request.message.params.clientInfo",
        Value,
        TEXTS,
    ),
    differ("system/init", "messaging_socket_path", Field, DESKTOP),
    differ(
        "control_response",
        "response.response.ide_rc_auto_enable_gate",
        Field,
        DESKTOP,
    ),
    differ(
        "control_response",
        "response.response.remote_control_auto_connect_default",
        Field,
        DESKTOP,
    ),
    differ(
        "control_response",
        "response.response.remote_control_auto_enable",
        Field,
        DESKTOP,
    ),
    differ(
        "control_response",
        "response.response.remote_control_auto_on_by_default",
        Field,
        DESKTOP,
    ),
    differ(
        "control_response",
        "response.response.remote_control_available",
        Field,
        DESKTOP,
    ),
    differ("assistant", "context_usage.categories", Value, CONTEXT),
    differ("assistant", "context_usage.skills", Value, CONTEXT),
    differ("assistant", "context_usage.percentage", Value, CONTEXT),
    differ("assistant", "context_usage.total_tokens", Value, CONTEXT),
    differ(
        "control_response",
        "response.response.categories",
        Value,
        CONTEXT,
    ),
    differ(
        "control_response",
        "response.response.gridRows",
        Value,
        CONTEXT,
    ),
    differ(
        "control_response",
        "response.response.totalTokens",
        Value,
        CONTEXT,
    ),
    differ(
        "control_response",
        "response.response.percentage",
        Value,
        CONTEXT,
    ),
    differ(
        "control_response",
        "response.response.messageBreakdown",
        Value,
        CONTEXT,
    ),
    differ(
        "control_response",
        "response.response.autoCompactThreshold",
        Field,
        COMPACTION,
    ),
    differ(
        "control_response",
        "response.response.autocompactSource",
        Field,
        COMPACTION,
    ),
    differ(
        "control_response",
        "response.response.isAutoCompactEnabled",
        Value,
        COMPACTION,
    ),
    differ(
        "control_response",
        "response.response.slashCommands",
        Field,
        COMPACTION,
    ),
    differ(
        "control_response",
        "response.response.skills",
        Field,
        COMPACTION,
    ),
    differ("transcript_mirror", "", Frame, MIRROR),
    differ("system/init", "memory_paths", Field, MEMORY),
    differ(
        "control_response",
        "response.response.user_output_styles_dir",
        Field,
        MEMORY,
    ),
    differ("assistant", "thinking_display", Field, THINKING),
    differ("stream_event", "thinking_display", Field, THINKING),
    differ("system/thinking_tokens", "", Frame, THINKING),
];

#[test]
fn the_page_for_people_names_every_reason() {
    let page = include_str!("../../../../../docs/differences.md");
    for difference in INTENDED {
        assert!(page.contains(difference.why), "missing: {}", difference.why);
        let place = format!("{} {}", difference.frame, difference.path);
        assert!(page.contains(place.trim()), "missing: {place}");
    }
}

/// The tools in the first frame of an engine.
fn tools(engine: Engine) -> BTreeSet<String> {
    let case = Case::one_shot("go", &[], |_| Scenario::new().turn(text("done")));
    let trace = stage::run(&case, engine);
    let init = trace.frames.iter().find(|it| kind(it) == "system/init");
    let names = init.expect("an init frame")["tools"].as_array().unwrap();
    names
        .iter()
        .map(|it| it.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_page_for_people_names_the_tools_that_only_one_engine_has() {
    let page = include_str!("../../../../../docs/differences.md");
    let section = page.split("## Tools").nth(1).unwrap();
    let section = section.split("## ").next().unwrap();
    let listed: BTreeSet<String> = section
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    let (official, ours) = (tools(Engine::Official), tools(Engine::Ours));
    let found: BTreeSet<String> = official.symmetric_difference(&ours).cloned().collect();
    assert_eq!(found, listed);
}
