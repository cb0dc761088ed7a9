//! Replays recordings of the official CLI: the same lines in, the same lines out.

use std::time::Duration;

use falconer_protocol::permission::PermissionMode;
use falconer_scenario::{ApiError, Scenario, Usage, any, message, status, text};
use futures_util::StreamExt;
use serde_json::Value;

use super::cassette::{Cassette, Step};
use super::drive::{Drive, config, scripted, token, tokens};
use crate::session::config::{Input, PermissionPrompt, SessionConfig};
use crate::settings::Settings;
use crate::tool::registry::ToolChoice;

/// How long a frame may take before the replay gives up on the order and goes on.
const PATIENCE: Duration = Duration::from_secs(10);

/// A recording, and what cannot be seen in it.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) usage: Option<Usage>,
    pub(super) stop: Option<&'static str>,
    pub(super) scenario: Option<Scenario>,
}

impl Case {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            usage: None,
            stop: None,
            scenario: None,
        }
    }
}

fn configure(cassette: &Cassette, config: &mut SessionConfig) {
    let list = |text: String| -> Vec<String> {
        let names = text.split(',').map(str::trim).filter(|it| !it.is_empty());
        names.map(str::to_owned).collect()
    };
    if !cassette.has("--input-format") {
        let prompt = cassette.argv.last().cloned().unwrap_or_default();
        config.input = Input::OneShot(prompt);
    }
    config.permissions.prompt = match cassette.flag("--permission-prompt-tool").as_deref() {
        Some("stdio") => PermissionPrompt::Host,
        Some(tool) => PermissionPrompt::McpTool(tool.to_owned()),
        None => PermissionPrompt::Nobody,
    };
    config.permissions.allowed = cassette
        .flag("--allowedTools")
        .map(list)
        .unwrap_or_default();
    let denied = cassette.flag("--disallowedTools");
    config.permissions.disallowed = denied.map(list).unwrap_or_default();
    let mode = cassette.flag("--permission-mode");
    config.permissions.mode = mode.map(|mode| PermissionMode::from(mode.as_str()));
    if cassette.has("--dangerously-skip-permissions") {
        config.permissions.bypass_available = true;
        config.permissions.mode = Some(PermissionMode::BypassPermissions);
    }
    if let Some(tools) = cassette.flag("--tools") {
        config.tools = ToolChoice::Only(list(tools));
    }
    let max_turns = cassette.flag("--max-turns");
    config.limits.max_turns = max_turns.and_then(|it| it.parse().ok());
    let budget = cassette.flag("--max-budget-usd");
    config.limits.max_budget_usd = budget.and_then(|it| it.parse().ok());
    config.model.model = cassette.flag("--model");
    let schema = cassette.flag("--json-schema");
    config.json_schema = schema.and_then(|it| serde_json::from_str(&it).ok());
    config.output.partial = cassette.has("--include-partial-messages");
    config.output.hook_events = cassette.has("--include-hook-events");
    config.output.replay = cassette.has("--replay-user-messages");
    config.history.mirror = cassette.has("--session-mirror");
    if let Input::Lines { await_initialize } = &mut config.input {
        *await_initialize = cassette.has("--await-initialize");
    }
    let settings = cassette.flag("--settings");
    if let Some(flag) = settings.and_then(|it| serde_json::from_str(&it).ok()) {
        config.settings.settings = Settings::default().with_flag(flag);
    }
    let servers = cassette.flag("--mcp-config");
    let servers = servers.and_then(|it| serde_json::from_str::<Value>(&it).ok());
    if let Some(servers) = servers.as_ref().and_then(|it| it["mcpServers"].as_object()) {
        config.mcp.servers = servers.clone();
    }
}

/// The n-th question of ours has another id than the n-th of the recording.
fn translate(line: &Value, recorded: &[Value], ours: &[Value]) -> Value {
    let mut line = line.clone();
    if line["type"] != "control_response" {
        return line;
    }
    let asks = |frame: &&Value| frame["type"] == "control_request";
    let theirs: Vec<&Value> = recorded.iter().filter(asks).collect();
    let ours: Vec<&Value> = ours.iter().filter(asks).collect();
    let id = line["response"]["request_id"].clone();
    let place = theirs.iter().position(|it| it["request_id"] == id);
    if let Some(question) = place.and_then(|place| ours.get(place)) {
        line["response"]["request_id"] = question["request_id"].clone();
    }
    line
}

pub(super) struct Replayed {
    pub(super) recorded: Vec<Value>,
    pub(super) ours: Vec<Value>,
    pub(super) recorded_exit: Option<i64>,
    pub(super) code: i32,
}

pub(super) async fn replay(case: Case) -> Replayed {
    let dir = tempfile::tempdir().unwrap();
    let path = std::fs::canonicalize(dir.path()).unwrap();
    let cassette = Cassette::read(case.name, &path);
    let scenario = case.scenario;
    let scenario = scenario.unwrap_or_else(|| cassette.scenario(case.usage, case.stop));
    let env: Vec<(&str, &str)> = cassette
        .env
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let mut config = config(&path, scripted(scenario), &env);
    std::fs::write(config.cwd.join("a.txt"), "hi\n").unwrap();
    configure(&cassette, &mut config);
    let mut drive = Drive::new(config);
    let mut recorded: Vec<Value> = Vec::new();
    for step in &cassette.steps {
        match step {
            Step::Out(frame) => recorded.push(frame.clone()),
            Step::In(line) => {
                drive.reach(recorded.len(), PATIENCE).await;
                match line {
                    Value::String(raw) => drive.send_raw(raw).await,
                    line => drive.send(&translate(line, &recorded, &drive.frames)).await,
                }
            }
            Step::Eof => {
                drive.reach(recorded.len(), PATIENCE).await;
                drive.close();
            }
            Step::Signal => {
                drive.reach(recorded.len(), PATIENCE).await;
                drive.stop.interrupt();
            }
        }
    }
    let (ours, exit) = drive.finish().await;
    Replayed {
        recorded,
        ours,
        recorded_exit: cassette.exit,
        code: exit.code,
    }
}

/// Fields that are missing or new in a frame, for people.
fn compare_fields(recorded: &Value, ours: &Value) -> Vec<String> {
    let (Some(theirs), Some(mine)) = (recorded.as_object(), ours.as_object()) else {
        return Vec::new();
    };
    let missing = theirs.keys().filter(|key| !mine.contains_key(*key));
    let extra = mine.keys().filter(|key| !theirs.contains_key(*key));
    missing
        .map(|key| format!("-{key}"))
        .chain(extra.map(|key| format!("+{key}")))
        .collect()
}

/// Recordings that need no more than what is seen in them.
const PLAIN: &[&str] = &[
    "ask_user_question",
    "ask_user_question_deny",
    "ask_user_question_headless",
    "await_initialize_not_first",
    "await_initialize_ok",
    "bad_assistant_in",
    "bad_blank_lines",
    "bad_control_cancel_orphan",
    "bad_control_no_id",
    "bad_control_no_request",
    "bad_control_response_orphan",
    "bad_control_unknown",
    "bad_json_line",
    "bad_json_scalar",
    "bad_no_type",
    "bad_system_msg",
    "bad_unknown_type",
    "bad_user_empty_content",
    "bad_user_minimal",
    "bad_user_no_message",
    "bad_user_wrong_role",
    "bash_allowed",
    "bash_bg",
    "bash_interrupt",
    "bidi_no_stdio_flag",
    "bypass_root_is_sandbox",
    "control_bypass_not_allowed",
    "control_cancel_by_host",
    "cwd_missing",
    "disallowed_tool",
    "empty_system_prompt_claude_md",
    "end_session_no_eof",
    "exit_plan_mode",
    "exit_plan_mode_deny",
    "exit_plan_with_file",
    "hook_allow_vs_deny_rule",
    "hook_cancel",
    "hook_deny_and_bypass",
    "hook_notification_and_sessionend",
    "hook_post_block",
    "hook_post_context",
    "hook_post_failure",
    "hook_post_timeout",
    "hook_pre_allow",
    "hook_pre_ask",
    "hook_pre_async",
    "hook_pre_continue_false",
    "hook_pre_deny",
    "hook_pre_empty",
    "hook_pre_error",
    "hook_pre_invalid",
    "hook_pre_legacy_block",
    "hook_pre_timeout",
    "hook_pre_updated_input",
    "hook_pre_updated_input_only",
    "hook_session_start_cb",
    "hook_session_start_noawait",
    "hook_session_start_resume",
    "hook_stop_block",
    "hook_user_prompt",
    "hook_user_prompt_block",
    "hooks_settings_commands",
    "image_input",
    "init_before_model_cmds",
    "init_idle_wait",
    "init_then_hooks_repeat",
    "interrupt_bash",
    "interrupt_idle",
    "interrupt_midstream_nopartial",
    "keep_alive_in",
    "max_turns",
    "max_turns_bidi",
    "max_turns_zero",
    "max_turns_zero_tools",
    "mcp_set_servers_dynamic",
    "mcp_status_env_echo",
    "mcp_stdio_bad_command",
    "no_initialize",
    "no_persistence",
    "no_print_flag",
    "perm_allow_empty_updated",
    "perm_allow_no_updated",
    "perm_allow_null_updated",
    "perm_allow_updated",
    "perm_bad_updated_permissions",
    "perm_cancelled",
    "perm_default_readonly_bash",
    "perm_deny",
    "perm_deny_interrupt",
    "perm_deny_no_message",
    "perm_error_response",
    "perm_garbage",
    "perm_mode_accept_edits",
    "perm_outside_dir",
    "perm_parallel",
    "perm_prompt_mcp_tool",
    "perm_prompts_none",
    "perm_stdin_closed_while_pending",
    "perm_tool_stdio_oneshot",
    "perm_without_initialize",
    "perm_write_tool",
    "permission_mode_default_flag",
    "plain_bidi",
    "plain_oneshot",
    "prompt_suggestions",
    "queue_midtool",
    "replay_user",
    "rewind_no_checkpointing",
    "sdk_mcp_both",
    "sdk_mcp_config",
    "session_state_env",
    "session_state_env_tsonly",
    "set_model_404",
    "setting_sources_default",
    "setting_sources_empty",
    "slash_commands",
    "stdin_closed_early",
    "stdin_closed_no_message",
    "stdin_eof_during_hook",
    "stdin_kept_open_idle",
    "stdin_partial_last_line",
    "structured_always_bad",
    "structured_ok",
    "structured_via_init",
    "system_prompt_empty",
    "system_prompt_init_override",
    "task_list_tools",
    "tools_empty",
    "unknown_tool",
    "update_env_in",
    "user_wrong_session_id",
    "write_denied_headless",
];

/// Recordings whose model did something that its lines do not show.
fn scripted_cases() -> Vec<Case> {
    let case = |name, scenario: Scenario| Case {
        scenario: Some(scenario),
        ..Case::new(name)
    };
    let ends = |name, stop| Case {
        stop: Some(stop),
        ..Case::new(name)
    };
    let costs = |name| Case {
        usage: Some(Usage {
            input_tokens: 100_000,
            output_tokens: 20_000,
            ..Usage::default()
        }),
        ..Case::new(name)
    };
    let always = |error: ApiError| Scenario::new().on(any()).always().reply(error);
    let words = "first answer ".repeat(40);
    let cut = Scenario::new()
        .turn(text("truncated text").stop_reason("max_tokens"))
        .turn(text("rest"));
    vec![
        case(
            "api_400_invalid",
            always(status(400).message("messages: bad thing")),
        ),
        case("api_401_maxretry0", always(status(401))),
        case("api_403", always(status(403))),
        case(
            "api_404_model",
            always(status(404).message("model: claude-bogus")),
        ),
        case(
            "api_413_prompt_too_long",
            always(status(400).message("prompt is too long: 250000 tokens > 200000 maximum")),
        ),
        case("api_429_forever", always(status(429))),
        case("api_500_forever", always(status(500))),
        case("api_500_forever_oneshot", always(status(500))),
        case("max_tokens_stop", cut),
        ends("max_tokens_forever", "max_tokens"),
        ends("pause_turn", "pause_turn"),
        costs("max_budget"),
        costs("max_budget_bidi"),
        case(
            "empty_reply",
            Scenario::new()
                .on(any())
                .always()
                .reply(message().stop_reason("end_turn")),
        ),
        case(
            "queue_second_message",
            Scenario::new()
                .turn(
                    text(words)
                        .delta_chars(12)
                        .delta_delay(Duration::from_millis(40)),
                )
                .turn(text("second answer")),
        ),
    ]
}

/// The same lines in the same order with the same exit code, and no field lost or made up.
async fn check(case: Case) -> Result<(), String> {
    let name = case.name;
    let mut replayed = replay(case).await;
    replayed.ours.retain(|frame| !is_notice_of_omission(frame));
    let (theirs, mine) = (tokens(&replayed.recorded), tokens(&replayed.ours));
    if theirs != mine || replayed.recorded_exit != Some(i64::from(replayed.code)) {
        return Err(format!(
            "{name}\n   cli : {} [{:?}]\n   ours: {} [{}]",
            theirs.join(" "),
            replayed.recorded_exit,
            mine.join(" "),
            replayed.code
        ));
    }
    let pairs = replayed.recorded.iter().zip(&replayed.ours);
    let fields = pairs.flat_map(|(theirs, mine)| {
        let differences = compare_fields(theirs, mine).into_iter();
        let kind = token(theirs);
        differences.map(move |field| format!("{kind} {field}"))
    });
    let unknown: Vec<String> = fields.filter(|it| !is_intended(it)).collect();
    if unknown.is_empty() {
        Ok(())
    } else {
        Err(format!("{name}: {}", unknown.join(", ")))
    }
}

/// A line in which only this engine says that it leaves something out.
fn is_notice_of_omission(frame: &Value) -> bool {
    let says = frame["content"].as_str().unwrap_or_default();
    frame["subtype"] == "informational" && says.contains(" is ignored: ")
}

/// Fields that differ on purpose.
fn is_intended(difference: &str) -> bool {
    const INTENDED: &[&str] = &[
        // Things of the CLI that this engine does not have.
        "S:init -terminal_slash_commands",
        "S:init -memory_paths",
        "S:init -messaging_socket_path",
        // The scripted model gives failures no id.
        "A -request_id",
        // Names for display of tools of servers.
        "A -tool_use_meta",
        // Nobody to ask is told in one way, whatever flag said so.
        "S:permission_denied -decision_reason_type",
        "S:permission_denied -decision_reason",
    ];
    INTENDED.contains(&difference)
}

async fn check_all(cases: Vec<Case>) {
    let mut failures: Vec<String> = futures_util::stream::iter(cases.into_iter().map(check))
        .buffer_unordered(8)
        .filter_map(|checked| async move { checked.err() })
        .collect()
        .await;
    failures.sort();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn recordings_are_replayed_line_by_line() {
    check_all(PLAIN.iter().map(|name| Case::new(name)).collect()).await;
}

#[tokio::test]
async fn failures_and_limits_are_told_as_recorded() {
    check_all(scripted_cases()).await;
}
