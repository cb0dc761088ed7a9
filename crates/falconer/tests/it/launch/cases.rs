//! The same request to all three: one option at a time.

use std::collections::BTreeMap;

use falconer::{
    BuiltinTools, Effort, HostFeatures, Options, PermissionPrompts, Plugin, PreviewFormat,
    SdkServer, SettingSource, Settings, Skills, SystemPrompt, Thinking, ThinkingDisplay,
};
use falconer_protocol::Number;
use falconer_protocol::agent::AgentDefinition;
use falconer_protocol::hook::{HookEvent, HookMatcher, OnFailure};
use falconer_protocol::mcp::{McpHttpConfig, McpServerConfig, McpSseConfig, McpStdioConfig};
use falconer_protocol::permission::PermissionMode;
use falconer_protocol::sandbox::SandboxSettings;
use serde_json::{Value, json};

/// One setting, in three languages; an SDK that does not know it has none.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) options: Options,
    pub(super) host: HostFeatures,
    pub(super) typescript: Option<Value>,
    pub(super) python: Option<Value>,
    /// What cannot be said in JSON: callbacks and servers, by name.
    pub(super) with: &'static [&'static str],
}

impl Case {
    fn hosting(
        mut self,
        change: impl FnOnce(&mut HostFeatures),
        with: &'static [&'static str],
    ) -> Self {
        change(&mut self.host);
        self.with = with;
        self
    }
}

fn both(name: &'static str, options: Options, typescript: Value, python: Value) -> Case {
    Case {
        name,
        options,
        host: HostFeatures::default(),
        typescript: Some(typescript),
        python: Some(python),
        with: &[],
    }
}

/// The same JSON in both.
fn same(name: &'static str, options: Options, json: Value) -> Case {
    both(name, options, json.clone(), json)
}

/// Known to the TypeScript SDK only.
fn ts(name: &'static str, options: Options, typescript: Value) -> Case {
    Case {
        python: None,
        ..both(name, options, typescript, Value::Null)
    }
}

/// Known to the Python SDK only.
fn py(name: &'static str, options: Options, python: Value) -> Case {
    Case {
        typescript: None,
        ..both(name, options, Value::Null, python)
    }
}

const ID: &str = "7f4c1b9e-3d2a-4a5b-9c8d-1e2f3a4b5c6d";

pub(super) fn cases() -> Vec<Case> {
    let groups = [
        prompts(),
        models(),
        tools(),
        permissions(),
        servers(),
        sessions(),
        places(),
        refusals(),
    ];
    groups.into_iter().flatten().collect()
}

fn new() -> Options {
    Options::new()
}

fn prompts() -> Vec<Case> {
    let preset = |extra: Value| {
        let mut prompt = json!({"type": "preset", "preset": "claude_code"});
        prompt
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        prompt
    };
    let append = json!({"append": "x"});
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let format = json!({"type": "json_schema", "schema": schema});
    let prompt = |value: Value| {
        (
            json!({"systemPrompt": value}),
            json!({"system_prompt": value}),
        )
    };
    let (ts_text, py_text) = prompt(json!("be brief"));
    let (ts_preset, py_preset) = prompt(preset(json!({})));
    let (ts_append, py_append) = prompt(preset(append));
    let claude_code = SystemPrompt::claude_code;
    vec![
        same("nothing", new(), json!({})),
        both(
            "prompt_text",
            new().system_prompt("be brief"),
            ts_text,
            py_text,
        ),
        both(
            "prompt_preset",
            new().system_prompt(claude_code()),
            ts_preset,
            py_preset,
        ),
        both(
            "prompt_append",
            new().system_prompt(claude_code().append("x")),
            ts_append,
            py_append,
        ),
        both(
            "prompt_static",
            new().system_prompt(claude_code().exclude_dynamic_sections().rendered_fresh()),
            json!({"systemPrompt": preset(json!({"excludeDynamicSections": true, "snapshot": false}))}),
            json!({"system_prompt": preset(json!({"exclude_dynamic_sections": true, "snapshot": false}))}),
        ),
        ts(
            "prompt_parts",
            new().system_prompt(SystemPrompt::parts(["a", "b"]).recorded_once()),
            json!({"systemPrompt": {"type": "custom", "prompt": ["a", "b"], "snapshot": true}}),
        ),
        py(
            "prompt_file",
            new().system_prompt(SystemPrompt::file("/p.md")),
            json!({"system_prompt": {"type": "file", "path": "/p.md"}}),
        ),
        both(
            "schema",
            new().output_schema(schema),
            json!({"outputFormat": format}),
            json!({"output_format": format}),
        ),
        ts("title", new().title("t"), json!({"title": "t"})),
        ts(
            "suggestions",
            new().prompt_suggestions(),
            json!({"promptSuggestions": true}),
        ),
        ts(
            "plan_mode",
            new().plan_mode_instructions("p"),
            json!({"planModeInstructions": "p"}),
        ),
        both(
            "verbatim",
            new().verbatim_prompts(),
            json!({"verbatimPrompts": true}),
            json!({"verbatim_prompts": true}),
        ),
    ]
}

fn models() -> Vec<Case> {
    let thinking = |value: Value| json!({"thinking": value});
    vec![
        same("model", new().model("sonnet"), json!({"model": "sonnet"})),
        both(
            "fallback",
            new().fallback_model("haiku"),
            json!({"fallbackModel": "haiku"}),
            json!({"fallback_model": "haiku"}),
        ),
        same(
            "thinking_adaptive",
            new().thinking(Thinking::Adaptive),
            thinking(json!({"type": "adaptive"})),
        ),
        same(
            "thinking_disabled",
            new().thinking(Thinking::Disabled),
            thinking(json!({"type": "disabled"})),
        ),
        both(
            "thinking_budget",
            new().thinking(Thinking::Budget(4000)),
            thinking(json!({"type": "enabled", "budgetTokens": 4000})),
            thinking(json!({"type": "enabled", "budget_tokens": 4000})),
        ),
        same(
            "thinking_display",
            new()
                .thinking(Thinking::Adaptive)
                .thinking_display(ThinkingDisplay::Summarized),
            thinking(json!({"type": "adaptive", "display": "summarized"})),
        ),
        ts(
            "thinking_zero",
            new().thinking(Thinking::Budget(0)),
            json!({"maxThinkingTokens": 0}),
        ),
        same(
            "effort",
            new().effort(Effort::High),
            json!({"effort": "high"}),
        ),
        same(
            "betas",
            new().beta("a").beta("b"),
            json!({"betas": ["a", "b"]}),
        ),
        both(
            "turns",
            new().max_turns(3),
            json!({"maxTurns": 3}),
            json!({"max_turns": 3}),
        ),
        both(
            "budget",
            new().max_budget_usd(2.0),
            json!({"maxBudgetUsd": 2.0}),
            json!({"max_budget_usd": 2.0}),
        ),
        both(
            "task_budget",
            new().task_budget(50_000),
            json!({"taskBudget": {"total": 50_000}}),
            json!({"task_budget": {"total": 50_000}}),
        ),
    ]
}

fn tools() -> Vec<Case> {
    let preset = json!({"tools": {"type": "preset", "preset": "claude_code"}});
    let agent = AgentDefinition {
        description: "d".into(),
        prompt: "p".into(),
        tools: Some(vec!["Read".into()]),
        ..AgentDefinition::default()
    };
    let agents = json!({"agents": {"a": {"description": "d", "prompt": "p", "tools": ["Read"]}}});
    let local = |path: &str| json!({"type": "local", "path": path});
    vec![
        same(
            "tools",
            new().only_tools(["Bash", "Read"]),
            json!({"tools": ["Bash", "Read"]}),
        ),
        same(
            "tools_none",
            new().builtin_tools(BuiltinTools::None),
            json!({"tools": []}),
        ),
        same(
            "tools_preset",
            new().builtin_tools(BuiltinTools::Preset),
            preset,
        ),
        both(
            "allowed",
            new().allow_tools(["Read", "Bash(git *)"]),
            json!({"allowedTools": ["Read", "Bash(git *)"]}),
            json!({"allowed_tools": ["Read", "Bash(git *)"]}),
        ),
        both(
            "disallowed",
            new().disallow_tools(["WebFetch"]),
            json!({"disallowedTools": ["WebFetch"]}),
            json!({"disallowed_tools": ["WebFetch"]}),
        ),
        ts(
            "aliases",
            new().tool_alias("a", "b"),
            json!({"toolAliases": {"a": "b"}}),
        ),
        ts(
            "previews",
            new().question_previews(PreviewFormat::Html),
            json!({"toolConfig": {"askUserQuestion": {"previewFormat": "html"}}}),
        ),
        same("agents", new().agent("a", agent), agents),
        ts("main_agent", new().main_agent("a"), json!({"agent": "a"})),
        same(
            "skills",
            new().skills(Skills::Only(vec!["pdf".into(), "a:b".into()])),
            json!({"skills": ["pdf", "a:b"]}),
        ),
        same(
            "skills_all",
            new().skills(Skills::All),
            json!({"skills": "all"}),
        ),
        same(
            "plugins",
            new().plugin(Plugin::new("/p")),
            json!({"plugins": [local("/p")]}),
        ),
        ts(
            "plugins_without_mcp",
            new().plugin(Plugin::new("/p").without_mcp_servers()),
            json!({"plugins": [{"type": "local", "path": "/p", "skipMcpDiscovery": true}]}),
        ),
        ts(
            "plugins_in_request",
            new().plugin(Plugin::new("/p")).plugins_in_initialize(),
            json!({"plugins": [local("/p")], "pluginDelivery": "initialize"}),
        ),
        ts(
            "progress",
            new().agent_progress_summaries(),
            json!({"agentProgressSummaries": true}),
        ),
        both(
            "subagent_text",
            new().forward_subagent_text(),
            json!({"forwardSubagentText": true}),
            json!({"forward_subagent_text": true}),
        ),
    ]
}

fn permissions() -> Vec<Case> {
    let mode = |mode: &str| {
        (
            json!({"permissionMode": mode}),
            json!({"permission_mode": mode}),
        )
    };
    let (ts_plan, py_plan) = mode("plan");
    let (ts_edits, py_edits) = mode("acceptEdits");
    let block = HookMatcher {
        matcher: Some("Bash".into()),
        timeout: Some(Number::from(7)),
        on_failure: Some(OnFailure::Block),
        ..HookMatcher::new("hook_0")
    };
    let hooks = BTreeMap::from([
        (HookEvent::PreToolUse, vec![block]),
        (HookEvent::Stop, vec![HookMatcher::new("hook_1")]),
    ]);
    vec![
        both(
            "mode_plan",
            new().permission_mode(PermissionMode::Plan),
            ts_plan,
            py_plan,
        ),
        both(
            "mode_edits",
            new().permission_mode(PermissionMode::AcceptEdits),
            ts_edits,
            py_edits,
        ),
        same(
            "mode_from_settings",
            new().permission_mode_from_settings(),
            json!({}),
        ),
        ts(
            "bypass",
            new()
                .permission_mode(PermissionMode::BypassPermissions)
                .allow_dangerously_skip_permissions(),
            json!({"permissionMode": "bypassPermissions", "allowDangerouslySkipPermissions": true}),
        ),
        same("handler", new(), json!({}))
            .hosting(|host| host.prompts_permissions = true, &["canUseTool"]),
        both(
            "prompt_tool",
            new().permission_prompt_tool("mcp__a__b"),
            json!({"permissionPromptToolName": "mcp__a__b"}),
            json!({"permission_prompt_tool_name": "mcp__a__b"}),
        ),
        ts(
            "no_prompts",
            new().permission_prompts(PermissionPrompts::None),
            json!({"permissionPrompts": "none"}),
        ),
        ts(
            "task_stop",
            new().per_task_stop(),
            json!({"perTaskStopAffordance": true}),
        ),
        same("hooks", new(), json!({})).hosting(|host| host.hooks = hooks, &["hook"]),
        ts("dialogs", new(), json!({})).hosting(
            |host| host.dialog_kinds = vec!["refusal_fallback_prompt".into()],
            &["dialogs"],
        ),
    ]
}

fn servers() -> Vec<Case> {
    let stdio = McpStdioConfig {
        args: Some(vec!["-v".into()]),
        env: Some(BTreeMap::from([("K".into(), "v".into())])),
        ..McpStdioConfig::new("srv")
    };
    let http = McpHttpConfig {
        headers: Some(BTreeMap::from([("A".into(), "b".into())])),
        ..McpHttpConfig::new("https://h/mcp")
    };
    let mcp = |server: Value| {
        let servers = json!({"s": server});
        (
            json!({"mcpServers": servers}),
            json!({"mcp_servers": servers}),
        )
    };
    let (ts_stdio, py_stdio) = mcp(json!({"command": "srv", "args": ["-v"], "env": {"K": "v"}}));
    let (ts_http, py_http) =
        mcp(json!({"type": "http", "url": "https://h/mcp", "headers": {"A": "b"}}));
    let (ts_sse, py_sse) = mcp(json!({"type": "sse", "url": "https://h/sse"}));
    let server = |config| new().mcp_server("s", config);
    vec![
        both(
            "mcp_stdio",
            server(McpServerConfig::Stdio(stdio)),
            ts_stdio,
            py_stdio,
        ),
        both(
            "mcp_http",
            server(McpServerConfig::Http(http)),
            ts_http,
            py_http,
        ),
        both(
            "mcp_sse",
            server(McpServerConfig::Sse(McpSseConfig::new("https://h/sse"))),
            ts_sse,
            py_sse,
        ),
        py(
            "mcp_file",
            new().mcp_config_file("/m.json"),
            json!({"mcp_servers": "/m.json"}),
        ),
        both(
            "mcp_strict",
            new().strict_mcp_config(),
            json!({"strictMcpConfig": true}),
            json!({"strict_mcp_config": true}),
        ),
        same("sdk_server", new(), json!({})).hosting(
            |host| host.sdk_servers = vec![SdkServer::new("calc")],
            &["sdkServer"],
        ),
    ]
}

fn sessions() -> Vec<Case> {
    vec![
        both(
            "continue",
            new().continue_latest(),
            json!({"continue": true}),
            json!({"continue_conversation": true}),
        ),
        same("resume", new().resume(ID), json!({"resume": ID})),
        both(
            "fork",
            new().resume(ID).fork_session(),
            json!({"resume": ID, "forkSession": true}),
            json!({"resume": ID, "fork_session": true}),
        ),
        both(
            "resume_at",
            new().resume(ID).resume_at(ID).resume_drops_turn(ID),
            json!({"resume": ID, "resumeSessionAt": ID, "resumeDropsTurn": ID}),
            json!({"resume": ID, "resume_session_at": ID, "resume_drops_turn": ID}),
        ),
        both(
            "session_id",
            new().session_id(ID),
            json!({"sessionId": ID}),
            json!({"session_id": ID}),
        ),
        ts(
            "unsaved",
            new().without_persistence(),
            json!({"persistSession": false}),
        ),
        both(
            "checkpoints",
            new().checkpoint_files(),
            json!({"enableFileCheckpointing": true}),
            json!({"enable_file_checkpointing": true}),
        ),
        same("store", new(), json!({})).hosting(|host| host.mirrors_session = true, &["store"]),
    ]
}

fn places() -> Vec<Case> {
    let inline = json!({"env": {"A": "b"}});
    let enabled = || SandboxSettings {
        enabled: Some(true),
        ..SandboxSettings::default()
    };
    let disabled = SandboxSettings {
        enabled: Some(false),
        ..SandboxSettings::default()
    };
    let sources = [SettingSource::User, SettingSource::Project];
    vec![
        same("cwd", new().cwd("/"), json!({"cwd": "/"})),
        both(
            "directories",
            new().additional_directory("/a").additional_directory("/b"),
            json!({"additionalDirectories": ["/a", "/b"]}),
            json!({"add_dirs": ["/a", "/b"]}),
        ),
        ts(
            "config_root",
            new().project_config_root("/r"),
            json!({"projectConfigRoot": "/r"}),
        ),
        py("env", new().env("A", "b"), json!({"env": {"A": "b"}})),
        py(
            "client_app",
            new().client_app("a/1"),
            json!({"client_app": "a/1"}),
        ),
        same(
            "settings_file",
            new().settings(Settings::File("/s.json".into())),
            json!({"settings": "/s.json"}),
        ),
        both(
            "settings",
            new().settings(Settings::Inline(inline.clone())),
            json!({"settings": inline}),
            json!({"settings": inline.to_string()}),
        ),
        ts(
            "managed",
            new().managed_settings(json!({"a": 1})),
            json!({"managedSettings": {"a": 1}}),
        ),
        both(
            "sources",
            new().setting_sources(sources),
            json!({"settingSources": ["user", "project"]}),
            json!({"setting_sources": ["user", "project"]}),
        ),
        both(
            "isolated",
            new().setting_sources([]),
            json!({"settingSources": []}),
            json!({"setting_sources": []}),
        ),
        same(
            "sandbox",
            new().sandbox(enabled()),
            json!({"sandbox": {"enabled": true}}),
        ),
        same(
            "sandbox_off",
            new().sandbox(disabled),
            json!({"sandbox": {"enabled": false}}),
        ),
        both(
            "sandbox_and_settings",
            new()
                .sandbox(enabled())
                .settings(Settings::Inline(inline.clone())),
            json!({"sandbox": {"enabled": true}, "settings": inline}),
            json!({"sandbox": {"enabled": true}, "settings": inline.to_string()}),
        ),
        both(
            "partial",
            new().include_partial_messages(),
            json!({"includePartialMessages": true}),
            json!({"include_partial_messages": true}),
        ),
        both(
            "hook_events",
            new().include_hook_events(),
            json!({"includeHookEvents": true}),
            json!({"include_hook_events": true}),
        ),
        ts("debug", new().debug(), json!({"debug": true})),
        ts(
            "debug_file",
            new().debug_file("/d"),
            json!({"debugFile": "/d"}),
        ),
        both(
            "extra",
            new()
                .extra_switch("a")
                .extra_arg("b", "v")
                .extra_arg("c", "-x"),
            json!({"extraArgs": {"a": null, "b": "v", "c": "-x"}}),
            json!({"extra_args": {"a": null, "b": "v", "c": "-x"}}),
        ),
    ]
}

/// What we refuse, and what they do then.
fn refusals() -> Vec<Case> {
    let bad_skill = Skills::Only(vec!["a),Bash(rm".into()]);
    let bypass = PermissionMode::BypassPermissions;
    vec![
        both(
            "model_is_fallback",
            new().model("a").fallback_model("a"),
            json!({"model": "a", "fallbackModel": "a"}),
            json!({"model": "a", "fallback_model": "a"}),
        ),
        same(
            "bad_skill",
            new().skills(bad_skill),
            json!({"skills": ["a),Bash(rm"]}),
        ),
        both(
            "two_prompters",
            new().permission_prompt_tool("mcp__a__b"),
            json!({"permissionPromptToolName": "mcp__a__b"}),
            json!({"permission_prompt_tool_name": "mcp__a__b"}),
        )
        .hosting(|host| host.prompts_permissions = true, &["canUseTool"]),
        ts(
            "store_unsaved",
            new().without_persistence(),
            json!({"persistSession": false}),
        )
        .hosting(|host| host.mirrors_session = true, &["store"]),
        both(
            "bypass_unconfirmed",
            new().permission_mode(bypass),
            json!({"permissionMode": "bypassPermissions"}),
            json!({"permission_mode": "bypassPermissions"}),
        ),
        both(
            "max_turns_zero",
            new().max_turns(0),
            json!({"maxTurns": 0}),
            json!({"max_turns": 0}),
        ),
        both(
            "resume_and_continue",
            new().resume(ID).continue_latest(),
            json!({"resume": ID, "continue": true}),
            json!({"resume": ID, "continue_conversation": true}),
        ),
        both(
            "fork_alone",
            new().fork_session(),
            json!({"forkSession": true}),
            json!({"fork_session": true}),
        ),
    ]
}
