//! One example of each message, from the recordings and from the published types.

use falconer_protocol::{HostLine, Message, RawMessage};
use serde_json::{Value, json};

/// Reads the example as `tag`/`subtype`, with no field unknown, and writes it back.
fn check(value: &Value) {
    let raw = RawMessage::new(value.to_string().into()).expect("object");
    let decoded = raw.decode_with_notes().expect("message");
    assert_eq!(decoded.misfit, None, "{value}");
    assert!(!matches!(decoded.message, Message::Unknown(_)), "{value}");
    if let Message::System(message) = &decoded.message {
        assert!(!format!("{message:?}").starts_with("Unknown"), "{value}");
        assert_eq!(message.tag(), value["subtype"].as_str());
    }
    assert_eq!(decoded.message.tag(), value["type"].as_str());
    assert_eq!(
        serde_json::to_value(&decoded.message).expect("written"),
        *value
    );
    let debug = format!("{:?}", decoded.message);
    assert!(
        !debug.contains("extra: {\""),
        "a field is unknown in {debug}"
    );
}

fn tail(mut value: Value) -> Value {
    value["uuid"] = json!("9f2c7c4e-0000-4000-8000-000000000000");
    value["session_id"] = json!("s");
    value
}

#[test]
fn each_message_beside_the_conversation_is_typed() {
    for value in [
        json!({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning",
            "resetsAt": 1_770_000_000, "rateLimitType": "five_hour", "utilization": 0.91,
            "isUsingOverage": false, "surpassedThreshold": 0.9}}),
        json!({"type": "auth_status", "isAuthenticating": true, "output": ["open the page"],
            "error": "expired"}),
        json!({"type": "prompt_suggestion", "suggestion": "run the tests"}),
        json!({"type": "active_goal", "value": {"condition": "green", "iterations": 2,
            "set_at": 1, "tokens_at_start": 10, "last_reason": "red"}}),
        json!({"type": "tool_progress", "tool_use_id": "t-heartbeat-0", "tool_name": "Bash",
            "parent_tool_use_id": "t", "elapsed_time_seconds": 30.2, "heartbeat": true,
            "subagent_retry": {"agent_id": "a", "attempt": 1, "max_retries": 10,
                "retry_delay_ms": 500, "error_status": null, "error_category": "overloaded"}}),
        json!({"type": "tool_use_summary", "summary": "ran", "preceding_tool_use_ids": ["t"]}),
        json!({"type": "command_lifecycle", "command_uuid": "u", "state": "queued"}),
        json!({"type": "conversation_reset", "new_conversation_id": "n", "trigger": "clear",
            "user_message_uuid": "u", "timestamp": "2026-01-01T00:00:00Z"}),
    ] {
        check(&tail(value));
    }
    check(&json!({"type": "keep_alive"}));
    check(&json!({"type": "transcript_mirror", "filePath": "/f", "entries": [{"type": "user"}]}));
    check(&json!({"type": "control_cancel_request", "request_id": "r"}));
}

#[test]
fn each_system_message_is_typed() {
    for (subtype, fields) in [
        (
            "model_fallback",
            json!({"trigger": "overloaded", "original_model": "a",
            "fallback_model": "b", "content": "c"}),
        ),
        ("session_title_changed", json!({"title": "t"})),
        (
            "control_request_progress",
            json!({"request_id": "r", "status": "api_retry",
            "attempt": 1, "max_retries": 2, "retry_delay_ms": 5, "error_status": null}),
        ),
        (
            "commands_changed",
            json!({"commands": [{"name": "compact", "description": "d",
            "argumentHint": "", "aliases": ["c"], "builtin": true}]}),
        ),
        (
            "plugin_install",
            json!({"status": "failed", "name": "p", "error": "e"}),
        ),
        (
            "files_persisted",
            json!({"files": [{"filename": "f", "file_id": "i"}],
            "failed": [{"filename": "g", "error": "e"}], "processed_at": "t"}),
        ),
        (
            "memory_recall",
            json!({"mode": "select",
            "memories": [{"path": "p", "scope": "team", "content": "c"}]}),
        ),
        (
            "elicitation_complete",
            json!({"mcp_server_name": "m", "elicitation_id": "e"}),
        ),
        (
            "mirror_error",
            json!({"error": "e", "key": {"projectKey": "p", "sessionId": "s",
            "subpath": "x"}}),
        ),
        ("worker_shutting_down", json!({"reason": "r"})),
        ("local_command_output", json!({"content": "c"})),
        (
            "session_writes_lost",
            json!({"error_code": "ENOSPC", "lost": ["transcript"],
            "transcript_session_ids": ["s"]}),
        ),
        (
            "hook_progress",
            json!({"hook_id": "h", "hook_name": "n", "hook_event": "PreToolUse",
            "stdout": "", "stderr": "", "output": ""}),
        ),
        (
            "api_retry",
            json!({"attempt": 1, "max_retries": 10, "retry_delay_ms": 512.5,
            "error_status": 529, "error": "overloaded",
            "no_response": {"waited_ms": 1, "retry_wait_ms": 2}}),
        ),
        (
            "task_started",
            json!({"task_id": "t", "run_id": "r", "tool_use_id": "u",
            "description": "d", "subagent_type": "x", "is_backgrounded": true, "spawn_depth": 1,
            "parent_task_id": "p", "task_type": "local_agent", "workflow_name": "w",
            "prompt": "p", "skip_transcript": false, "ambient": false}),
        ),
        (
            "task_notification",
            json!({"task_id": "t", "status": "stopped",
            "reason": "worker_restart", "output_file": "", "summary": "s",
            "usage": {"total_tokens": 1, "tool_uses": 2, "duration_ms": 3},
            "resource_links": [{"uri": "u", "name": "n"}]}),
        ),
        (
            "compact_boundary",
            json!({"compact_metadata": {"trigger": "auto", "pre_tokens": 9,
            "preserved_segment": {"head_uuid": "h", "anchor_uuid": "a", "tail_uuid": "t"},
            "preserved_messages": {"anchor_uuid": "a", "uuids": ["u"]}}}),
        ),
    ] {
        let mut value = tail(fields);
        value["type"] = json!("system");
        value["subtype"] = json!(subtype);
        check(&value);
    }
}

#[test]
fn each_content_block_is_typed() {
    let source = json!({"type": "base64", "media_type": "image/png", "data": "AA=="});
    for block in [
        json!({"type": "text", "text": "t", "citations": [
            {"type": "char_location", "cited_text": "c", "document_index": 0,
                "document_title": null, "start_char_index": 0, "end_char_index": 1},
            {"type": "page_location", "cited_text": "c", "document_index": 0,
                "start_page_number": 1, "end_page_number": 2},
            {"type": "web_search_result_location", "cited_text": "c", "url": "u", "title": "t",
                "encrypted_index": "e"}]}),
        json!({"type": "thinking", "thinking": "t", "signature": "s"}),
        json!({"type": "redacted_thinking", "data": "d"}),
        json!({"type": "tool_use", "id": "i", "name": "n", "input": {"a": 1}}),
        json!({"type": "tool_result", "tool_use_id": "t", "is_error": true,
            "content": [{"type": "text", "text": "x"}, {"type": "image", "source": source}]}),
        json!({"type": "image", "source": {"type": "url", "url": "u"}}),
        json!({"type": "document", "source": {"type": "text", "media_type": "text/plain",
            "data": "d"}, "title": "t", "context": null, "citations": {"enabled": true}}),
        json!({"type": "search_result", "source": "s", "title": "t", "content": []}),
        json!({"type": "server_tool_use", "id": "i", "name": "web_search", "input": {}}),
        json!({"type": "web_search_tool_result", "tool_use_id": "t", "content": []}),
        json!({"type": "web_fetch_tool_result", "tool_use_id": "t", "content": {}}),
        json!({"type": "code_execution_tool_result", "tool_use_id": "t", "content": {}}),
        json!({"type": "bash_code_execution_tool_result", "tool_use_id": "t", "content": {}}),
        json!({"type": "text_editor_code_execution_tool_result", "tool_use_id": "t",
            "content": {}}),
        json!({"type": "tool_search_tool_result", "tool_use_id": "t", "content": {}}),
        json!({"type": "tool_reference", "tool_name": "n"}),
        json!({"type": "mcp_tool_use", "id": "i", "name": "n", "server_name": "s", "input": {}}),
        json!({"type": "mcp_tool_result", "tool_use_id": "t", "is_error": false,
            "content": "text"}),
        json!({"type": "advisor_tool_result", "tool_use_id": "t", "content": {}}),
        json!({"type": "container_upload", "file_id": "f"}),
        json!({"type": "compaction", "content": "c"}),
    ] {
        let value = json!({"type": "assistant", "message": {"content": [block]}});
        let Ok(Message::Assistant(message)) = serde_json::from_value(value.clone()) else {
            panic!("{value}");
        };
        let is_unknown = format!("{:?}", message.message.content[0]).starts_with("Unknown");
        assert!(!is_unknown, "{value}");
        check(&value);
    }
}

#[test]
fn each_stream_event_is_typed() {
    for event in [
        json!({"type": "message_start", "message": {"id": "m", "type": "message",
            "role": "assistant", "content": [], "model": "x", "stop_reason": null,
            "usage": {"input_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": "i", "name": "n", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": "t"}}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": "{"}}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "t"}}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "signature_delta", "signature": "s"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta",
            "citation": {"type": "search_result_location", "cited_text": "c", "source": "s",
                "title": null, "search_result_index": 0, "start_block_index": 0,
                "end_block_index": 0}}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn",
            "stop_sequence": null}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
        json!({"type": "ping"}),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}),
    ] {
        let value = tail(json!({"type": "stream_event", "event": event,
            "parent_tool_use_id": null, "ttft_ms": 3}));
        let Ok(Message::StreamEvent(message)) = serde_json::from_value(value.clone()) else {
            panic!("{value}");
        };
        assert!(
            !format!("{:?}", message.event).contains("Unknown"),
            "{value}"
        );
        check(&value);
    }
}

#[test]
fn each_question_of_the_engine_is_typed() {
    for request in [
        json!({"subtype": "can_use_tool", "tool_name": "Bash", "display_name": "Bash",
            "input": {"command": "ls"}, "tool_use_id": "t", "description": "d", "title": "t",
            "blocked_path": "/x", "decision_reason": "r", "decision_reason_type": "workingDir",
            "mcp_server": {"name": "m", "source": "sdk"}, "agent_id": "a",
            "requires_user_interaction": true, "server_policy_ask_only": true,
            "classifier_approvable": true, "suppress_always_allow_rule": true,
            "default_to_no": true,
            "matched_ask_rule": {"source": "s", "tool_name": "Bash", "rule_content": "c"},
            "permission_suggestions": [
                {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls"}],
                    "behavior": "allow", "destination": "localSettings"},
                {"type": "replaceRules", "rules": [], "behavior": "deny",
                    "destination": "userSettings"},
                {"type": "removeRules", "rules": [], "behavior": "ask",
                    "destination": "projectSettings"},
                {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
                {"type": "addDirectories", "directories": ["/x"], "destination": "cliArg"},
                {"type": "removeDirectories", "directories": [], "destination": "session"}]}),
        json!({"subtype": "mcp_message", "server_name": "calc",
            "message": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}}),
        json!({"subtype": "elicitation", "mcp_server_name": "m", "message": "q", "mode": "form",
            "url": "u", "elicitation_id": "e", "requested_schema": {"type": "object"},
            "property_order": ["a"], "title": "t", "display_name": "d", "description": "x"}),
        json!({"subtype": "request_user_dialog", "dialog_kind": "k", "payload": {"a": 1},
            "tool_use_id": "t"}),
        json!({"subtype": "oauth_token_refresh"}),
        json!({"subtype": "host_auth_token_refresh"}),
    ] {
        let value = json!({"type": "control_request", "request_id": "r", "request": request});
        let Ok(Message::ControlRequest(message)) = serde_json::from_value(value.clone()) else {
            panic!("{value}");
        };
        assert!(
            !format!("{:?}", message.request).contains("Unknown"),
            "{value}"
        );
        check(&value);
    }
}

#[test]
fn each_hook_input_is_typed() {
    use falconer_protocol::hook::{HookEvent, HookInput};

    // Together they have every required field of every event.
    let fields = json!({
        "session_id": "s", "transcript_path": "/t", "cwd": "/", "prompt_id": "p",
        "permission_mode": "default", "agent_id": "a", "agent_type": "x",
        "effort": {"level": "high"}, "tool_name": "Bash", "tool_input": {}, "tool_response": {},
        "tool_use_id": "t", "error": "unknown", "tool_calls": [], "reason": "r", "prompt": "p",
        "expansion_type": "slash_command", "command_name": "c", "source": "startup",
        "trigger": "manual", "stop_hook_active": false, "from_model": "a", "to_model": "b",
        "message": "m", "mcp_server_name": "m", "action": "accept", "task_id": "t",
        "task_subject": "s", "teammate_name": "n", "team_name": "t", "file_path": "/f",
        "directory": "/d", "old_cwd": "/", "new_cwd": "/n", "event": "add", "name": "n",
        "worktree_path": "/w", "turn_id": "t", "message_id": "m", "index": 0, "final": true,
        "delta": "d"
    });
    assert_eq!(HookEvent::KNOWN.len(), 33);
    for event in HookEvent::KNOWN {
        let mut value = fields.clone();
        value["hook_event_name"] = json!(event.as_str());
        let input: HookInput = serde_json::from_value(value.clone()).expect("input");
        assert!(!matches!(input, HookInput::Unknown(_)), "{event}");
        assert_eq!(input.event(), *event);
        assert_eq!((input.cwd(), input.agent_id()), (Some("/"), Some("a")));
        assert_eq!(serde_json::to_value(&input).expect("written"), value);
    }
}

#[test]
fn each_hook_output_is_typed() {
    use falconer_protocol::hook::{HookOutput, HookSpecificOutput};

    for event in [
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "PermissionRequest",
        "PermissionDenied",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "SessionStart",
        "Setup",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreModelSwitch",
        "PostModelSwitch",
        "Notification",
        "Elicitation",
        "ElicitationResult",
        "CwdChanged",
        "FileChanged",
        "WorktreeCreate",
        "MessageDisplay",
    ] {
        let value = json!({"continue": true, "hookSpecificOutput": {"hookEventName": event,
            "decision": {"behavior": "deny", "message": "no"}, "worktreePath": "/w",
            "fromTheFuture": 1}});
        let output: HookOutput = serde_json::from_value(value.clone()).expect("output");
        let specific = output.hook_specific_output.as_ref().expect("specific");
        assert!(
            !matches!(specific, HookSpecificOutput::Unknown(_)),
            "{event}"
        );
        assert_eq!(serde_json::to_value(&output).expect("written"), value);
    }
}

#[test]
fn each_question_of_the_host_is_typed() {
    for (subtype, fields) in [
        (
            "initialize",
            json!({"hooks": {"PreToolUse": [{"matcher": "Bash",
            "hookCallbackIds": ["hook_0"], "timeout": 5, "onFailure": "block"}]},
            "sdkMcpServers": ["calc"], "sdkMcpServerConfigs": {"calc": {"timeout": 1000,
                "tools": [{"name": "add", "permission_policy": "always_allow"}]}},
            "sdkMcpServerManifests": {"calc": {"initializeResult": {}, "toolsListResult": {}}},
            "jsonSchema": {"type": "object"}, "systemPrompt": [""], "appendSystemPrompt": "a",
            "systemPromptSnapshot": true, "planModeInstructions": "p",
            "toolAliases": {"a": "b"}, "excludeDynamicSections": true,
            "agents": {"rev": {"description": "d", "prompt": "p", "tools": ["Read"],
                "disallowedTools": [], "model": "haiku", "mcpServers": ["x", {"y": {}}],
                "skills": [], "initialPrompt": "i", "maxTurns": 3, "autoCompactWindow": 1,
                "background": true, "omitClaudeMd": true, "memory": "user", "effort": "high",
                "permissionMode": "plan", "observer": "o", "observerMessage": "m",
                "criticalSystemReminder_EXPERIMENTAL": "c"}},
            "title": "t", "skills": ["pdf"], "promptSuggestions": true,
            "agentProgressSummaries": true, "forwardSubagentText": true,
            "supportedDialogKinds": ["k"], "perTaskStopAffordance": true,
            "plugins": [{"type": "local", "path": "/p", "skipMcpDiscovery": true}]}),
        ),
        ("interrupt", json!({"cancel_queued": true})),
        ("set_model", json!({"model": "opus"})),
        ("set_permission_mode", json!({"mode": "plan"})),
        (
            "set_max_thinking_tokens",
            json!({"max_thinking_tokens": null, "thinking_display": "omitted"}),
        ),
        ("mcp_status", json!({"liveReply": true})),
        (
            "mcp_set_servers",
            json!({"servers": {"a": {"command": "c"}, "b": {"type": "sdk", "name": "b"}}}),
        ),
        ("mcp_reconnect", json!({"serverName": "s"})),
        ("mcp_toggle", json!({"serverName": "s", "enabled": false})),
        ("mcp_message", json!({"server_name": "s", "message": {}})),
        (
            "mcp_call",
            json!({"tool": "t", "arguments": {}, "timeout_ms": 5}),
        ),
        (
            "mcp_read_resource",
            json!({"serverName": "s", "uri": "ui://x"}),
        ),
        ("set_mcp_permission_mode_override", json!({})),
        ("get_context_usage", json!({"detail": "full"})),
        ("get_usage", json!({"skip_behaviors": true})),
        ("get_session_cost", json!({})),
        ("list_models", json!({})),
        ("get_binary_version", json!({})),
        ("get_settings", json!({})),
        ("get_hooks_listing", json!({})),
        ("list_permission_rules", json!({})),
        ("get_plan", json!({})),
        ("get_status", json!({})),
        ("get_task_output", json!({"task_id": "t"})),
        (
            "rewind_files",
            json!({"user_message_id": "u", "dry_run": true}),
        ),
        ("cancel_async_message", json!({"message_uuid": "u"})),
        ("stop_task", json!({"task_id": "t"})),
        ("background_tasks", json!({"tool_use_id": "t"})),
        ("apply_flag_settings", json!({"settings": {"model": "x"}})),
        (
            "update_settings",
            json!({"source": "userSettings", "settings": {}}),
        ),
        ("end_session", json!({})),
        ("side_question", json!({"question": "q"})),
        (
            "rename_session",
            json!({"title": "t", "source": "host", "session_id": "s"}),
        ),
        ("generate_session_title", json!({"description": "d"})),
        ("reload_skills", json!({})),
        (
            "reload_plugins",
            json!({"hold_on_cache_impact": true, "add_plugins": [], "refuse_if_busy": true}),
        ),
        ("reload_output_styles", json!({})),
        ("file_suggestions", json!({"query": "q"})),
        (
            "read_file",
            json!({"path": "p", "max_bytes": 5, "encoding": "base64"}),
        ),
        ("seed_read_state", json!({"path": "p", "mtime": 1.5})),
        ("set_has_subscribers", json!({"has_subscribers": null})),
        (
            "register_repo_root",
            json!({"directory": "d", "reload_skills": true}),
        ),
        ("set_cwd", json!({"cwd": "/x"})),
        ("set_color", json!({"color": "red"})),
    ] {
        let mut request = fields;
        request["subtype"] = json!(subtype);
        let value = json!({"type": "control_request", "request_id": "r", "request": request});
        let decoded = HostLine::decode_with_notes(value.to_string().as_bytes()).expect("line");
        assert_eq!(decoded.misfit, None, "{value}");
        assert_eq!(
            serde_json::to_value(&decoded.message).expect("written"),
            value
        );
        let debug = format!("{:?}", decoded.message);
        assert!(
            !debug.contains("Unknown") && !debug.contains("extra: {\""),
            "{debug}"
        );
    }
}

#[test]
fn sandbox_settings_are_typed_to_the_last_field() {
    use falconer_protocol::sandbox::SandboxSettings;

    let value = json!({"enabled": true, "failIfUnavailable": true,
        "autoAllowBashIfSandboxed": true, "allowUnsandboxedCommands": false,
        "network": {"allowedDomains": ["a"], "deniedDomains": [], "strictAllowlist": true,
            "allowManagedDomainsOnly": true, "allowUnixSockets": ["/s"],
            "allowAllUnixSockets": false, "allowLocalBinding": true, "allowMachLookup": [],
            "httpProxyPort": 8080, "socksProxyPort": 1080,
            "tlsTerminate": {"caCertPath": "/c", "caKeyPath": "/k"}},
        "filesystem": {"allowWrite": ["/w"], "denyWrite": [], "denyRead": [], "allowRead": [],
            "allowManagedReadPathsOnly": true, "disabled": false},
        "credentials": {"files": [{"path": "/p", "mode": "mask", "extract": "x",
            "onExtractNoMatch": "warn", "decode": "jwt", "maskClaims": ["sub"],
            "maskDuplicates": true, "injectHosts": ["h"]}],
            "envVars": [{"name": "N", "mode": "deny"}], "allowPlaintextInject": false,
            "awsPairs": [{"accessKeyIdVar": "A", "secretAccessKeyVar": "S",
                "sessionTokenVar": "T"}],
            "sigv4": {"streaming": "deny", "presigned": "passthrough", "sigv4a": "deny"}},
        "ignoreViolations": {"*": ["/x"]}, "enableWeakerNestedSandbox": false,
        "allowNestedUserNamespaces": false, "enableWeakerNetworkIsolation": false,
        "allowAppleEvents": false, "excludedCommands": ["docker"],
        "ripgrep": {"command": "rg", "args": []}, "bwrapPath": "/b", "socatPath": "/s"});
    let settings: SandboxSettings = serde_json::from_value(value.clone()).expect("settings");
    assert!(!format!("{settings:?}").contains("extra: {\""));
    assert_eq!(serde_json::to_value(settings).expect("written"), value);
}

#[test]
fn what_a_host_builds_is_written_as_the_protocol_wants_it() {
    use falconer_protocol::control::{ControlResponse, HostControlRequest, Interrupt};
    use falconer_protocol::hook::{HookOutput, HookPermissionDecision, PreToolUseOutput};
    use falconer_protocol::permission::PermissionResult;
    use falconer_protocol::{UserInput, to_line};

    let check = |line: bytes::Bytes, expected: &str| {
        assert_eq!(
            std::str::from_utf8(&line).expect("text"),
            format!("{expected}\n")
        );
    };
    check(
        to_line(&UserInput::text("a\nb")).expect("line"),
        r#"{"type":"user","message":{"role":"user","content":"a\nb"}}"#,
    );
    check(
        to_line(&HostControlRequest::new("r1", Interrupt::default())).expect("line"),
        r#"{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}"#,
    );
    let answer = ControlResponse::success("r", &PermissionResult::deny("no")).expect("answer");
    check(
        to_line(&answer).expect("line"),
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"deny","message":"no"}}}"#,
    );
    check(
        to_line(&ControlResponse::error("r", "boom")).expect("line"),
        r#"{"type":"control_response","response":{"subtype":"error","request_id":"r","error":"boom"}}"#,
    );
    let output = HookOutput::specific(PreToolUseOutput {
        permission_decision: Some(HookPermissionDecision::Deny),
        ..PreToolUseOutput::default()
    });
    check(
        to_line(&output).expect("line"),
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#,
    );
}
