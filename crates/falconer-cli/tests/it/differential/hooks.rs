//! Hooks of the host and of settings files.

use std::path::Path;

use falconer_testkit::scenario::{Scenario, any, text, tool_use};
use serde_json::{Value, json};

use super::Case;
use super::case::Answer;

fn touch(_: &Path) -> Scenario {
    Scenario::new()
        .turn(text("I make it.").tool_use(
            "Bash",
            json!({"command": "touch made.txt", "description": "make"}),
        ))
        .turn(text("done"))
}

fn hooked(event: &str, matcher: &Value) -> Case {
    let mut hooks = json!({});
    hooks[event] = json!([matcher]);
    Case::bidi(touch)
        .args(["--permission-prompt-tool=stdio"])
        .hello(json!({"hooks": hooks}))
        .say("go")
        .until("result")
        .eof()
        .allow()
}

fn on_bash(event: &str) -> Case {
    hooked(
        event,
        &json!({"matcher": "Bash", "hookCallbackIds": ["hook_0"]}),
    )
}

fn before(fields: &Value) -> Case {
    let mut output = json!({"hookEventName": "PreToolUse"});
    for (name, value) in fields.as_object().unwrap() {
        output[name] = value.clone();
    }
    on_bash("PreToolUse").hook(json!({"hookSpecificOutput": output}))
}

#[test]
fn no_opinion() {
    on_bash("PreToolUse").hook(json!({})).same();
}

#[test]
fn denied_by_a_hook() {
    before(&json!({"permissionDecision": "deny", "permissionDecisionReason": "no"})).same();
}

#[test]
fn allowed_by_a_hook() {
    before(&json!({"permissionDecision": "allow"})).same();
}

#[test]
fn a_hook_wants_to_be_asked() {
    before(&json!({"permissionDecision": "ask", "permissionDecisionReason": "careful"})).same();
}

#[test]
fn a_hook_changes_the_input() {
    let input = json!({"command": "echo changed", "description": "changed"});
    before(&json!({"permissionDecision": "allow", "updatedInput": input})).same();
}

#[test]
fn a_hook_only_changes_the_input() {
    before(&json!({"updatedInput": {"command": "echo changed", "description": "changed"}})).same();
}

#[test]
fn a_hook_defers_the_call() {
    before(&json!({"permissionDecision": "defer"})).same();
}

#[test]
fn the_old_way_to_block() {
    on_bash("PreToolUse")
        .hook(json!({"decision": "block", "reason": "old style"}))
        .same();
}

#[test]
fn stopping_before_a_tool_lets_it_run_and_ends_the_turn() {
    on_bash("PreToolUse")
        .hook(json!({"continue": false, "stopReason": "enough"}))
        .same();
}

#[test]
fn a_hook_that_goes_on_by_itself() {
    on_bash("PreToolUse").hook(json!({"async": true})).same();
}

#[test]
fn a_hook_that_fails_is_passed_over() {
    on_bash("PreToolUse")
        .answer("hook_callback", Answer::Error("broken".to_owned()))
        .same();
}

#[test]
fn a_hook_that_must_not_fail_blocks() {
    let matcher = json!({"matcher": "Bash", "hookCallbackIds": ["hook_0"], "onFailure": "block"});
    hooked("PreToolUse", &matcher)
        .answer("hook_callback", Answer::Error("broken".to_owned()))
        .same();
}

#[test]
fn a_hook_that_takes_too_long_keeps_the_tool_from_running() {
    let matcher = json!({"matcher": "Bash", "hookCallbackIds": ["hook_0"], "timeout": 1});
    hooked("PreToolUse", &matcher)
        .answer("hook_callback", Answer::Silence)
        .same();
}

#[test]
fn two_hooks_and_the_denial_wins() {
    let deny = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "permissionDecision": "deny", "permissionDecisionReason": "no"}});
    let matcher = json!({"matcher": "Bash", "hookCallbackIds": ["hook_0", "hook_1"]});
    hooked("PreToolUse", &matcher)
        .hook(json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}))
        .hook(deny)
        .same();
}

#[test]
fn a_matcher_that_does_not_match_is_not_asked() {
    hooked(
        "PreToolUse",
        &json!({"matcher": "Write|Edit", "hookCallbackIds": ["hook_0"]}),
    )
    .hook(json!({}))
    .same();
}

#[test]
fn context_after_a_tool() {
    on_bash("PostToolUse")
        .hook(json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "note"}}))
        .same();
}

#[test]
fn blocking_after_a_tool() {
    on_bash("PostToolUse")
        .hook(json!({"decision": "block", "reason": "look again"}))
        .same();
}

#[test]
fn a_failed_tool_has_its_own_hook() {
    on_bash("PostToolUseFailure")
        .hook(json!({}))
        .scripted(|_| {
            Scenario::new()
                .turn(tool_use(
                    "Bash",
                    json!({"command": "exit 3", "description": "fail"}),
                ))
                .turn(text("done"))
        })
        .same();
}

#[test]
fn a_prompt_gets_context() {
    hooked("UserPromptSubmit", &json!({"hookCallbackIds": ["hook_0"]}))
        .hook(json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "note"}}))
        .same();
}

#[test]
fn a_prompt_is_blocked() {
    hooked("UserPromptSubmit", &json!({"hookCallbackIds": ["hook_0"]}))
        .hook(json!({"decision": "block", "reason": "not this"}))
        .same();
}

#[test]
fn a_stop_is_blocked_once() {
    hooked("Stop", &json!({"hookCallbackIds": ["hook_0"]}))
        .hook(json!({"decision": "block", "reason": "not yet"}))
        .hook(json!({}))
        .scripted(|_| Scenario::new().turn(text("first")).turn(text("second")))
        .same();
}

#[test]
fn the_hook_on_permissions_races_with_the_host() {
    hooked(
        "PermissionRequest",
        &json!({"matcher": "Bash", "hookCallbackIds": ["hook_0"]}),
    )
    .hook(
        json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
            "decision": {"behavior": "deny", "message": "by hook"}}}),
    )
    .without_answers("can_use_tool")
    .same();
}

#[test]
fn commands_of_settings_are_hooks() {
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "echo blocked by file >&2; exit 2"}]}]}});
    hooked("Notification", &json!({"hookCallbackIds": ["hook_0"]}))
        .args(["--include-hook-events", &format!("--settings={settings}")])
        .same();
}

#[test]
fn a_command_may_allow() {
    let output = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [
        {"type": "command", "command": format!("echo '{output}'")}]}]}});
    Case::bidi(touch)
        .args([format!("--settings={settings}").as_str()])
        .hello(json!({}))
        .say("go")
        .until("result")
        .eof()
        .same();
}

#[test]
fn the_input_ends_while_a_hook_is_asked() {
    Case::bidi(touch)
        .args(["--permission-prompt-tool=stdio"])
        .hello(
            json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook_0"]}]}}),
        )
        .say("go")
        .until("control_request/hook_callback")
        .eof()
        .same();
}

#[test]
fn the_input_ends_while_the_host_is_asked() {
    Case::bidi(touch)
        .args(["--permission-prompt-tool=stdio"])
        .hello(json!({}))
        .say("go")
        .until("control_request/can_use_tool")
        .eof()
        .same();
}

/// Somebody makes a settings file while the session waits.
#[test]
fn hooks_hear_that_settings_files_change() {
    Case::bidi(|_| Scenario::new().turn(text("done")))
        .file(".claude/settings.json", "{}")
        .hello(json!({"hooks": {"ConfigChange": [
            {"matcher": "local_settings", "hookCallbackIds": ["changed"]},
            {"matcher": "user_settings", "hookCallbackIds": ["never"]},
        ]}}))
        .say("go")
        .until("result")
        .touch(".claude/settings.local.json")
        .until("control_request/hook_callback")
        .eof()
        .hook(json!({}))
        .same();
}

/// A command of a settings file that objects with its exit code.
fn objecting(event: &str, command: &str) -> Case {
    let settings =
        json!({"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}});
    Case::bidi(|_| {
        let call = tool_use(
            "Bash",
            json!({"command": "echo hi", "description": "greet"}),
        );
        let answers = Scenario::new().turn(call).on(any()).always();
        answers.reply(text("done"))
    })
    .args(["--max-turns=4", "--allowedTools=Bash"])
    .args([format!("--settings={settings}").as_str()])
    .with_results()
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
}

#[test]
fn commands_object_with_and_without_words() {
    let events = ["PreToolUse", "UserPromptSubmit", "Stop"];
    let commands = [
        "exit 2",
        "echo no >&2; exit 2",
        "echo 'two\nlines' >&2; exit 2",
    ];
    let cases = events
        .into_iter()
        .flat_map(|event| commands.map(|command| objecting(event, command)));
    super::all_same(cases);
}

#[test]
fn a_command_sends_the_model_back_twice() {
    let command = "[ $(ls | grep -c once) -gt 1 ] || { touch once$$; echo again >&2; exit 2; }";
    objecting("Stop", command).same();
}
