//! Requests of the host that ask for something or change something, several to a session.

use falconer_testkit::scenario::{Scenario, any, text, tool_use};
use serde_json::{Value, json};

use super::{Case, all_same};

fn session() -> Case {
    Case::bidi(|_| Scenario::new().on(any()).always().reply(text("Hello."))).hello(json!({}))
}

/// These requests before the first turn, then after it.
fn requests(requests: &[Value]) -> Case {
    let ask = |case: Case, when: &str| {
        let numbered = requests.iter().enumerate();
        numbered.fold(case, |case, (index, request)| {
            case.control(&format!("{when} {index}"), request.clone())
        })
    };
    let case = ask(session(), "before").say("hi").until("result");
    ask(case, "after").eof()
}

fn named(subtypes: &[&str]) -> Case {
    let bare = |subtype: &&str| json!({"subtype": subtype});
    requests(&subtypes.iter().map(bare).collect::<Vec<_>>())
}

#[test]
fn the_context() {
    named(&["get_context_usage"]).same();
}

#[test]
fn the_usage_and_the_cost() {
    named(&["get_usage", "get_session_cost"]).same();
}

#[test]
fn changed_lines_are_counted() {
    Case::bidi(|project| {
        let file = project.join("a.txt");
        Scenario::new()
            .turn(tool_use(
                "Write",
                json!({"file_path": file, "content": "one\ntwo\n"}),
            ))
            .turn(tool_use(
                "Edit",
                json!({"file_path": file, "old_string": "two", "new_string": "2\n3"}),
            ))
            .turn(tool_use(
                "Write",
                json!({"file_path": file, "content": "none\n"}),
            ))
            .turn(text("done"))
    })
    .args(["--permission-mode=acceptEdits"])
    .hello(json!({}))
    .say("go")
    .until("result")
    .control("usage", json!({"subtype": "get_usage"}))
    .eof()
    .same();
}

#[test]
fn the_models() {
    named(&["list_models"]).same();
}

#[test]
fn the_hooks() {
    let hook = |command: &str| json!({"type": "command", "command": command, "timeout": 5});
    let hooks = json!({
        "Stop": [{"hooks": [hook("true")]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [hook("echo one"), hook("echo two")]}],
    });
    named(&["get_hooks_listing"])
        .args([format!("--settings={}", json!({"hooks": hooks})).as_str()])
        .same();
}

#[test]
fn things_are_read_again() {
    named(&["reload_skills", "reload_plugins", "reload_output_styles"]).same();
}

#[test]
fn requests_without_a_type() {
    named(&["get_status"]).same();
}

#[test]
fn requests_without_their_fields() {
    named(&[
        "set_permission_mode",
        "mcp_set_servers",
        "mcp_reconnect",
        "mcp_toggle",
        "mcp_call",
        "mcp_read_resource",
        "rewind_files",
        "get_task_output",
        "apply_flag_settings",
        "update_settings",
        "file_suggestions",
        "read_file",
        "rename_session",
        "register_repo_root",
        "set_color",
    ])
    .same();
}

#[test]
fn the_model_and_its_thinking() {
    requests(&[
        json!({"subtype": "set_model"}),
        json!({"subtype": "set_model", "model": null}),
        json!({"subtype": "set_model", "model": "default"}),
        json!({"subtype": "set_model", "model": "haiku"}),
        json!({"subtype": "set_max_thinking_tokens"}),
        json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 0}),
        json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": null}),
        json!({"subtype": "set_max_thinking_tokens", "thinking_display": "omitted"}),
    ])
    .same();
}

#[test]
fn names_and_watchers() {
    requests(&[
        json!({"subtype": "rename_session", "title": "A name"}),
        json!({"subtype": "rename_session", "title": ""}),
        json!({"subtype": "rename_session", "title": "Another", "source": "host"}),
        json!({"subtype": "set_has_subscribers", "has_subscribers": false}),
        json!({"subtype": "set_color", "color": "red"}),
    ])
    .same();
}

#[test]
fn files_are_shown_to_the_host() {
    requests(&[
        json!({"subtype": "read_file", "path": "a.txt"}),
        json!({"subtype": "read_file", "path": "<project>/a.txt", "max_bytes": 2}),
        json!({"subtype": "read_file", "path": "a.txt", "encoding": "base64"}),
        json!({"subtype": "read_file", "path": "binary"}),
        json!({"subtype": "read_file", "path": "missing.txt"}),
        json!({"subtype": "read_file", "path": "."}),
        json!({"subtype": "read_file", "path": "/etc/hostname"}),
        json!({"subtype": "read_file", "path": "secret.txt"}),
    ])
    .args([r#"--settings={"permissions":{"deny":["Read(./secret.txt)"]}}"#])
    .file("a.txt", "one\ntwo\n")
    .file("binary", b"a\xffb")
    .file("secret.txt", "secret\n")
    .same();
}

#[test]
fn files_are_suggested() {
    requests(&[json!({"subtype": "file_suggestions", "query": ""})])
        .file("README.md", "")
        .same();
}

#[test]
fn directories_are_registered() {
    requests(&[
        json!({"subtype": "register_repo_root", "directory": "<project>/sub"}),
        json!({"subtype": "register_repo_root", "directory": "/opt"}),
        json!({"subtype": "register_repo_root", "directory": "<project>/missing"}),
    ])
    .file("sub/a.txt", "")
    .same();
}

#[test]
fn settings_are_changed() {
    requests(&[
        json!({"subtype": "apply_flag_settings", "settings": {"model": "sonnet"}}),
        json!({"subtype": "apply_flag_settings", "settings": {"permissions": {"allow": ["Bash(touch:*)"]}}}),
        json!({"subtype": "apply_flag_settings", "settings": "none"}),
        json!({"subtype": "update_settings", "source": "localSettings", "settings": {"outputStyle": "default"}}),
        json!({"subtype": "update_settings", "source": "localSettings", "settings": {"model": "sonnet"}}),
        json!({"subtype": "update_settings", "source": "userSettings", "settings": {"effortLevel": "high"}}),
        json!({"subtype": "update_settings", "source": "policySettings", "settings": {}}),
    ])
    .leaves(".claude/settings.local.json")
    .leaves("~/.claude/settings.json")
    .same();
}

#[test]
fn a_rule_of_the_flags_layer_is_in_force() {
    Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use("Bash", json!({"command": "touch a", "description": "a"})))
            .turn(text("done"))
    })
    .hello(json!({}))
    .control(
        "allow",
        json!({"subtype": "apply_flag_settings", "settings": {"permissions": {"allow": ["Bash(touch:*)"]}}}),
    )
    .say("go")
    .until("result")
    .eof()
    .leaves("a")
    .same();
}

#[test]
fn messages_and_tasks_that_are_not_there() {
    requests(&[
        json!({"subtype": "cancel_async_message", "message_uuid": "33333333-3333-4333-8333-333333333333"}),
        json!({"subtype": "background_tasks"}),
        json!({"subtype": "background_tasks", "tool_use_id": "toolu_none"}),
        json!({"subtype": "get_task_output", "task_id": "none"}),
        json!({"subtype": "rewind_files", "user_message_id": "33333333-3333-4333-8333-333333333333"}),
        json!({"subtype": "mcp_message", "server_name": "none", "message": {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}}),
    ])
    .env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true")
    .same();
}

#[test]
fn a_question_beside_the_conversation() {
    session()
        .say("hi")
        .until("result")
        .control(
            "aside",
            json!({"subtype": "side_question", "question": "What was it?"}),
        )
        .say("again")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_file_that_the_host_has_read() {
    session()
        .file("a.txt", "one\n")
        .control(
            "seed",
            json!({"subtype": "seed_read_state", "path": "<project>/a.txt", "mtime": 1}),
        )
        .control(
            "missing",
            json!({"subtype": "seed_read_state", "path": "<project>/none", "mtime": 1}),
        )
        .eof()
        .same();
}

#[test]
fn a_hello_with_everything() {
    Case::bidi(|_| Scenario::new().turn(text("Hello.")))
        .hello(
            json!({"hooks": null, "title": "A name", "agents": {}, "skills": [],
            "toolAliases": {}, "promptSuggestions": false, "agentProgressSummaries": false,
            "forwardSubagentText": false, "supportedDialogKinds": [], "perTaskStopAffordance": true,
            "planModeInstructions": "plan well", "surprise": 1}),
        )
        .say("hi")
        .until("result")
        .eof()
        .same();
}

#[test]
fn a_hello_that_does_not_fit() {
    all_same(
        [
            json!({"hooks": 7}),
            json!({"hooks": {"NoSuchEvent": [{"hookCallbackIds": ["a"]}]}}),
            json!({"systemPrompt": "text"}),
            json!({"sdkMcpServers": "calc"}),
        ]
        .map(|fields| {
            Case::bidi(|_| Scenario::new().turn(text("Hello.")))
                .hello(fields)
                .say("hi")
                .until("result")
                .eof()
        }),
    );
}

#[test]
fn a_schema_that_is_none_is_refused() {
    let trace = Case::bidi(|_| Scenario::new())
        .hello(json!({"jsonSchema": {"type": "bogus"}}))
        .eof()
        .only_ours();
    assert_eq!(trace.frames[0]["response"]["subtype"], "error");
}

#[test]
fn requests_that_no_type_describes_are_unsupported() {
    let trace = session()
        .control("plan", json!({"subtype": "get_plan"}))
        .control("diff", json!({"subtype": "get_workspace_diff"}))
        .control("export", json!({"subtype": "export_conversation"}))
        .eof()
        .only_ours();
    let codes = trace.frames[1..]
        .iter()
        .map(|it| &it["response"]["error_code"]);
    assert_eq!(codes.collect::<Vec<_>>(), vec!["unsupported_request"; 3]);
}
