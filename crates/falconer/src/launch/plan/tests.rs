//! Tables for `plan`.

use std::collections::BTreeMap;
use std::ffi::OsString;

use falconer_protocol::agent::AgentDefinition;
use falconer_protocol::control::SdkMcpServerManifest;
use falconer_protocol::hook::{HookEvent, HookMatcher, OnFailure};
use falconer_protocol::mcp::{McpHttpConfig, McpServerConfig, McpStdioConfig};
use falconer_protocol::permission::PermissionMode;
use falconer_protocol::sandbox::SandboxSettings;
use serde_json::{Value, json};

use crate::account::models;

use super::super::{HostFeatures, LaunchPlan, LaunchWarning, SdkServer, Surroundings};
use crate::options::{
    Auth, Billing, BuiltinTools, Effort, Options, PermissionPrompts, Plugin, PreviewFormat,
    SettingSource, Settings, Skills, SystemPrompt, Thinking, ThinkingDisplay, TraceContext,
};

const BASE_ARGS: &[&str] = &[
    "--output-format=stream-json",
    "--verbose",
    "--input-format=stream-json",
];
const ASK: &str = "--permission-mode=default";
const ID: &str = "7f4c1b9e-3d2a-4a5b-9c8d-1e2f3a4b5c6d";
const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn plan(options: &Options, host: &HostFeatures) -> LaunchPlan {
    let surroundings = Surroundings::new("/bin/claude").with_uid(1000);
    options.plan(host, &surroundings).unwrap()
}

fn strings(args: &[OsString]) -> Vec<&str> {
    args.iter().map(|arg| arg.to_str().unwrap()).collect()
}

/// Which arguments an option adds, besides the base and the mode.
#[track_caller]
fn adds_args(options: &Options, expected: &[&str]) {
    let plan = plan(options, &HostFeatures::default());
    let args: Vec<_> = strings(&plan.args)
        .into_iter()
        .filter(|arg| *arg != ASK)
        .collect();
    assert_eq!(args[..3], *BASE_ARGS);
    assert_eq!(args[3..], *expected);
    let empty_prompt = json!({"subtype": "initialize", "systemPrompt": [""]});
    let request = serde_json::to_value(&plan.initialize).unwrap();
    let is_schema = expected.iter().any(|arg| arg.starts_with("--json-schema"));
    let carried_twice = is_schema || options.launch.extensions.skills.is_some();
    if !carried_twice
        && !expected
            .iter()
            .any(|arg| arg.starts_with("--system-prompt-file"))
    {
        assert_eq!(request, empty_prompt);
    }
}

#[test]
fn the_default_asks_and_has_an_empty_prompt() {
    let plan = plan(&Options::new(), &HostFeatures::default());
    assert_eq!(strings(&plan.args), [BASE_ARGS, &[ASK]].concat());
    let request = serde_json::to_value(&plan.initialize).unwrap();
    assert_eq!(
        request,
        json!({"subtype": "initialize", "systemPrompt": [""]})
    );
    let env: Vec<_> = plan
        .env
        .iter()
        .map(|(k, v)| (k.to_str().unwrap(), v.to_str().unwrap()))
        .collect();
    let expected = [
        ("CLAUDE_AGENT_SDK_VERSION", env!("CARGO_PKG_VERSION")),
        ("CLAUDE_CODE_ENTRYPOINT", "sdk-rs"),
        ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"),
        ("CLAUDE_CODE_STARTUP_FAILURE_RESULTS", "1"),
    ];
    assert_eq!(env, expected);
    assert_eq!((plan.cwd, plan.warnings), (None, vec![]));
}

#[test]
fn options_on_the_command_line() {
    let new = Options::new;
    adds_args(&new().model("sonnet"), &["--model=sonnet"]);
    adds_args(
        &new().model("a").fallback_model("b").fallback_model("c"),
        &["--model=a", "--fallback-model=b,c"],
    );
    adds_args(
        &new().thinking(Thinking::Adaptive),
        &["--thinking=adaptive"],
    );
    adds_args(
        &new().thinking(Thinking::Disabled),
        &["--thinking=disabled"],
    );
    adds_args(
        &new().thinking(Thinking::Budget(0)),
        &["--thinking=disabled"],
    );
    adds_args(
        &new().thinking(Thinking::Budget(99)),
        &["--max-thinking-tokens=99"],
    );
    adds_args(
        &new().thinking_display(ThinkingDisplay::Omitted),
        &["--thinking-display=omitted"],
    );
    adds_args(&new().effort(Effort::XHigh), &["--effort=xhigh"]);
    adds_args(&new().beta("a").beta("b"), &["--betas=a,b"]);
    adds_args(&new().max_turns(3), &["--max-turns=3"]);
    adds_args(&new().max_budget_usd(1.5), &["--max-budget-usd=1.5"]);
    adds_args(&new().max_budget_usd(2.0), &["--max-budget-usd=2"]);
    adds_args(&new().task_budget(1000), &["--task-budget=1000"]);
    adds_args(&new().only_tools(["Bash", "Read"]), &["--tools=Bash,Read"]);
    adds_args(&new().builtin_tools(BuiltinTools::None), &["--tools="]);
    adds_args(
        &new().builtin_tools(BuiltinTools::Preset),
        &["--tools=default"],
    );
    adds_args(
        &new().allow_tools(["Read"]).allow_tools(["Bash(git *)"]),
        &["--allowedTools=Read,Bash(git *)"],
    );
    adds_args(
        &new().disallow_tools(["WebFetch"]),
        &["--disallowedTools=WebFetch"],
    );
    adds_args(
        &new().allow_mcp_server("my server"),
        &["--allowedTools=mcp__my_server"],
    );
    adds_args(
        &new().allow_mcp_tool("a.b", "add"),
        &["--allowedTools=mcp__a_b__add"],
    );
    adds_args(&new().main_agent("reviewer"), &["--agent=reviewer"]);
    adds_args(
        &new()
            .plugin(Plugin::new("/p"))
            .plugin(Plugin::new("/q").without_mcp_servers()),
        &["--plugin-dir=/p", "--plugin-dir-no-mcp=/q"],
    );
    adds_args(
        &new().permission_prompt_tool("mcp__a__b"),
        &["--permission-prompt-tool=mcp__a__b"],
    );
    adds_args(
        &new().permission_prompts(PermissionPrompts::None),
        &["--permission-prompts=none"],
    );
    adds_args(&new().strict_mcp_config(), &["--strict-mcp-config"]);
    adds_args(
        &new().mcp_config_file("/a.json").mcp_config_file("/b.json"),
        &["--mcp-config=/a.json", "--mcp-config=/b.json"],
    );
    adds_args(&new().continue_latest(), &["--continue"]);
    adds_args(
        &new()
            .resume("x")
            .resume_at(ID)
            .resume_drops_turn(ID)
            .fork_session(),
        &[
            "--resume=x",
            &format!("--resume-session-at={ID}"),
            &format!("--resume-drops-turn={ID}"),
            "--fork-session",
        ],
    );
    adds_args(&new().session_id(ID), &[&format!("--session-id={ID}")]);
    adds_args(&new().without_persistence(), &["--no-session-persistence"]);
    adds_args(
        &new().additional_directory("/a").additional_directory("/b"),
        &["--add-dir=/a", "--add-dir=/b"],
    );
    adds_args(
        &new().project_config_root("/r"),
        &["--project-config-root=/r"],
    );
    adds_args(
        &new().settings(Settings::File("/s.json".into())),
        &["--settings=/s.json"],
    );
    adds_args(
        &new().settings(Settings::Inline(json!({"b": 1, "a": 2}))),
        &[r#"--settings={"b":1,"a":2}"#],
    );
    adds_args(
        &new().managed_settings(json!({"a": 1})),
        &[r#"--managed-settings={"a":1}"#],
    );
    adds_args(
        &new().setting_sources([SettingSource::User, SettingSource::Local]),
        &["--setting-sources=user,local"],
    );
    adds_args(&new().setting_sources([]), &["--setting-sources="]);
    adds_args(
        &new().include_partial_messages(),
        &["--include-partial-messages"],
    );
    adds_args(&new().include_hook_events(), &["--include-hook-events"]);
    adds_args(&new().replay_user_messages(), &["--replay-user-messages"]);
    adds_args(
        &new().debug().debug_file("/d"),
        &["--debug", "--debug-file=/d"],
    );
    adds_args(
        &new()
            .extra_switch("a")
            .extra_arg("b", "v")
            .extra_arg("c", "-x"),
        &["--a", "--b=v", "--c=-x"],
    );
    adds_args(
        &new().system_prompt(SystemPrompt::file("/p.md")),
        &["--system-prompt-file=/p.md"],
    );
    adds_args(
        &new().output_schema(json!({"type": "object"})),
        &[r#"--json-schema={"type":"object"}"#],
    );
    adds_args(
        &new()
            .allow_tools(["Skill(pdf)"])
            .skills(Skills::Only(vec!["pdf".into(), "a:b".into()])),
        &["--allowedTools=Skill(pdf),Skill(a:b)"],
    );
    adds_args(&new().skills(Skills::All), &["--allowedTools=Skill"]);
}

#[test]
fn the_permission_mode_is_always_said_unless_settings_shall_decide() {
    let new = Options::new;
    let table = [
        (new(), Some("default")),
        (new().permission_mode(PermissionMode::Plan), Some("plan")),
        (
            new().permission_mode(PermissionMode::AcceptEdits),
            Some("acceptEdits"),
        ),
        (new().permission_mode_from_settings(), None),
    ];
    for (options, expected) in table {
        let plan = plan(&options, &HostFeatures::default());
        let mut modes = strings(&plan.args).into_iter().filter_map(|arg| {
            let mode = arg.strip_prefix("--permission-mode=")?;
            Some(mode)
        });
        assert_eq!((modes.next(), modes.next()), (expected, None));
    }
    let bypass = new()
        .permission_mode(PermissionMode::BypassPermissions)
        .allow_dangerously_skip_permissions();
    let plan = plan(&bypass, &HostFeatures::default());
    let expected = [
        "--permission-mode=bypassPermissions",
        "--allow-dangerously-skip-permissions",
    ];
    assert_eq!(strings(&plan.args)[3..], expected);
}

#[test]
fn mcp_servers_outside_go_on_the_command_line_and_those_inside_do_not() {
    let stdio = McpStdioConfig {
        args: Some(vec!["-v".into()]),
        ..McpStdioConfig::new("srv")
    };
    let options = Options::new()
        .mcp_server("local", McpServerConfig::Stdio(stdio))
        .mcp_server(
            "web",
            McpServerConfig::Http(McpHttpConfig::new("https://h")),
        );
    let manifest = SdkMcpServerManifest {
        initialize_result: json!({"protocolVersion": "x"}).as_object().unwrap().clone(),
        ..SdkMcpServerManifest::default()
    };
    let host = HostFeatures {
        sdk_servers: vec![
            SdkServer::new("calc"),
            SdkServer {
                manifest: Some(manifest),
                ..SdkServer::new("clock")
            },
        ],
        ..HostFeatures::default()
    };
    let plan = plan(&options, &host);
    let config = strings(&plan.args)
        .into_iter()
        .find_map(|arg| arg.strip_prefix("--mcp-config="));
    assert_eq!(
        serde_json::from_str::<Value>(config.unwrap()).unwrap(),
        json!({"mcpServers": {
            "local": {"command": "srv", "args": ["-v"]},
            "web": {"type": "http", "url": "https://h"},
        }})
    );
    let request = serde_json::to_value(&plan.initialize).unwrap();
    assert_eq!(request["sdkMcpServers"], json!(["calc", "clock"]));
    assert_eq!(
        request["sdkMcpServerManifests"],
        json!({"clock": {"initializeResult": {"protocolVersion": "x"}}})
    );
}

/// Which fields an option adds to the initialize request; `null` takes one away.
#[track_caller]
fn adds_fields(options: &Options, host: &HostFeatures, fields: &Value) {
    let plan = plan(options, host);
    let mut expected = json!({"subtype": "initialize", "systemPrompt": [""]});
    for (name, value) in fields.as_object().unwrap() {
        match value {
            Value::Null => drop(expected.as_object_mut().unwrap().remove(name)),
            _ => expected[name] = value.clone(),
        }
    }
    assert_eq!(serde_json::to_value(&plan.initialize).unwrap(), expected);
}

#[test]
fn options_in_the_initialize_request() {
    let new = Options::new;
    let none = HostFeatures::default();
    let adds = |options: Options, fields: Value| adds_fields(&options, &none, &fields);
    adds(
        new().system_prompt("be brief"),
        json!({"systemPrompt": ["be brief"]}),
    );
    adds(
        new().system_prompt(SystemPrompt::parts(["a", "b"])),
        json!({"systemPrompt": ["a", "b"]}),
    );
    adds(
        new().system_prompt(SystemPrompt::claude_code()),
        json!({"systemPrompt": null}),
    );
    adds(
        new().system_prompt(
            SystemPrompt::claude_code()
                .append("x")
                .exclude_dynamic_sections()
                .recorded_once(),
        ),
        json!({"systemPrompt": null, "appendSystemPrompt": "x", "excludeDynamicSections": true,
            "systemPromptSnapshot": true}),
    );
    adds(
        new().system_prompt(SystemPrompt::custom("a").rendered_fresh()),
        json!({"systemPrompt": ["a"], "systemPromptSnapshot": false}),
    );
    adds(
        new().system_prompt(SystemPrompt::file("/p")),
        json!({"systemPrompt": null}),
    );
    adds(
        new().output_schema(json!({"type": "object"})),
        json!({"jsonSchema": {"type": "object"}}),
    );
    adds(new().title("t"), json!({"title": "t"}));
    adds(
        new().prompt_suggestions(),
        json!({"promptSuggestions": true}),
    );
    adds(
        new().plan_mode_instructions("p"),
        json!({"planModeInstructions": "p"}),
    );
    adds(
        new().tool_alias("a", "b"),
        json!({"toolAliases": {"a": "b"}}),
    );
    adds(
        new().agent_progress_summaries(),
        json!({"agentProgressSummaries": true}),
    );
    adds(
        new().forward_subagent_text(),
        json!({"forwardSubagentText": true}),
    );
    adds(
        new().per_task_stop(),
        json!({"perTaskStopAffordance": true}),
    );
    adds(new().skills(Skills::Only(vec![])), json!({"skills": []}));
    adds(
        new().skills(Skills::Only(vec!["a".into()])),
        json!({"skills": ["a"]}),
    );
    adds(new().skills(Skills::All), json!({}));
    adds(
        new()
            .plugin(Plugin::new("/p").without_mcp_servers())
            .plugins_in_initialize(),
        json!({"plugins": [{"type": "local", "path": "/p", "skipMcpDiscovery": true}]}),
    );
    let agent = |prompt: &str| AgentDefinition {
        description: "d".into(),
        prompt: prompt.into(),
        ..AgentDefinition::default()
    };
    adds(
        new().agent("a", agent("old")).agent("a", agent("new")),
        json!({"agents": {"a": {"description": "d", "prompt": "new"}}}),
    );
}

#[test]
fn handlers_in_the_launch() {
    let block = HookMatcher {
        matcher: Some("Bash".into()),
        on_failure: Some(OnFailure::Block),
        ..HookMatcher::new("h1")
    };
    let hooks = BTreeMap::from([(HookEvent::PreToolUse, vec![block])]);
    let host = HostFeatures {
        hooks,
        ..HostFeatures::default()
    };
    let matcher = json!({"matcher": "Bash", "hookCallbackIds": ["h1"], "onFailure": "block"});
    adds_fields(
        &Options::new(),
        &host,
        &json!({"hooks": {"PreToolUse": [matcher]}}),
    );

    let dialog_kinds = vec!["a".to_owned()];
    let host = HostFeatures {
        dialog_kinds,
        ..HostFeatures::default()
    };
    adds_fields(
        &Options::new(),
        &host,
        &json!({"supportedDialogKinds": ["a"]}),
    );

    let host = HostFeatures {
        prompts_permissions: true,
        mirrors_session: true,
        ..HostFeatures::default()
    };
    let plan = plan(&Options::new(), &host);
    let expected = [ASK, "--permission-prompt-tool=stdio", "--session-mirror"];
    assert_eq!(strings(&plan.args)[3..], expected);
}

#[test]
fn plugins_in_the_request_make_the_engine_wait_for_it() {
    let options = Options::new()
        .plugin(Plugin::new("/p"))
        .plugins_in_initialize();
    let waiting = plan(&options, &HostFeatures::default());
    assert!(strings(&waiting.args).contains(&"--await-initialize"));
    let none = plan(
        &Options::new().plugins_in_initialize(),
        &HostFeatures::default(),
    );
    assert!(!strings(&none.args).contains(&"--await-initialize"));
}

#[test]
fn an_enabled_sandbox_is_required_and_merged_into_the_settings() {
    let sandbox = |enabled| SandboxSettings {
        enabled: Some(enabled),
        ..SandboxSettings::default()
    };
    let new = Options::new;
    let required = json!({"enabled": true, "failIfUnavailable": true});
    let table = [
        (new().sandbox(sandbox(true)), json!({"sandbox": required})),
        (
            new().sandbox(sandbox(false)),
            json!({"sandbox": {"enabled": false}}),
        ),
        (
            new().sandbox(sandbox(true)).allow_unsandboxed_fallback(),
            json!({"sandbox": {"enabled": true}}),
        ),
        (
            new()
                .sandbox(sandbox(true))
                .settings(Settings::Inline(json!({"env": {"A": "b"}}))),
            json!({"env": {"A": "b"}, "sandbox": required}),
        ),
        (
            new()
                .sandbox(sandbox(true))
                .settings(Settings::File("/s.json".into())),
            json!({"model": "x", "sandbox": required}),
        ),
    ];
    for (options, expected) in table {
        let mut surroundings = Surroundings::new("/bin/claude");
        surroundings.settings_file = Some(Ok("\u{feff}{\"model\": \"x\"}".to_owned()));
        let plan = options
            .plan(&HostFeatures::default(), &surroundings)
            .unwrap();
        let settings = strings(&plan.args)
            .into_iter()
            .find_map(|a| a.strip_prefix("--settings="));
        assert_eq!(
            serde_json::from_str::<Value>(settings.unwrap()).unwrap(),
            expected
        );
    }
}

/// Which variables differ from those inherited; `None` means removed.
#[track_caller]
fn changes_env(options: &Options, inherited: &[(&str, &str)], expected: &[(&str, Option<&str>)]) {
    let machine = inherited.iter().fold(
        Surroundings::new("/bin/claude"),
        |machine, (name, value)| machine.with_variable(name, value),
    );
    let plan = options.plan(&HostFeatures::default(), &machine).unwrap();
    let value = |name: &str| plan.variable(name).map(|value| value.to_str().unwrap());
    for (name, expected) in expected {
        assert_eq!(value(name), *expected, "{name}");
    }
}

#[test]
fn the_environment_is_inherited_then_set_then_changed_by_the_caller() {
    let new = Options::new;
    let shell = [
        ("PATH", "/bin"),
        ("CLAUDECODE", "1"),
        ("NODE_OPTIONS", "--inspect"),
        ("DEBUG", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        ("TRACESTATE", "old=1"),
    ];
    changes_env(
        &new(),
        &shell,
        &[
            ("PATH", Some("/bin")),
            ("CLAUDECODE", None),
            ("NODE_OPTIONS", None),
            ("DEBUG", None),
            ("CLAUDE_CODE_ENTRYPOINT", Some("sdk-rs")),
            ("TRACESTATE", Some("old=1")),
        ],
    );
    changes_env(
        &new()
            .env_inherit("DEBUG")
            .env("NODE_OPTIONS", "x")
            .env_remove("PATH"),
        &shell,
        &[
            ("DEBUG", Some("1")),
            ("NODE_OPTIONS", Some("x")),
            ("PATH", None),
        ],
    );
    changes_env(
        &new().env("A", "1").env_clear().env_inherit("PATH"),
        &[("PATH", "/bin"), ("HOME", "/h")],
        &[("A", Some("1")), ("PATH", Some("/bin")), ("HOME", None)],
    );
    changes_env(
        &new()
            .env("A", "1")
            .env_remove("A")
            .env("B", "1")
            .env("B", "2"),
        &[],
        &[("A", None), ("B", Some("2"))],
    );
    changes_env(
        &new().env("CLAUDE_CODE_ENTRYPOINT", "mine"),
        &shell,
        &[("CLAUDE_CODE_ENTRYPOINT", Some("mine"))],
    );
    changes_env(
        &new().trace_context(TraceContext::new(TRACE)),
        &shell,
        &[("TRACEPARENT", Some(TRACE)), ("TRACESTATE", None)],
    );
    changes_env(
        &new().trace_context(TraceContext::new(TRACE).state("a=b")),
        &shell,
        &[("TRACESTATE", Some("a=b"))],
    );
    changes_env(
        &new().cwd("/srv"),
        &[("PWD", "/old")],
        &[("PWD", Some("/srv"))],
    );
    changes_env(
        &new()
            .checkpoint_files()
            .client_app("a/1")
            .question_previews(PreviewFormat::Html),
        &[],
        &[
            ("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", Some("true")),
            ("CLAUDE_AGENT_SDK_CLIENT_APP", Some("a/1")),
            ("CLAUDE_CODE_QUESTION_PREVIEW_FORMAT", Some("html")),
        ],
    );
}

#[test]
fn the_credentials_chosen_are_the_only_ones_left() {
    let shell = [
        ("ANTHROPIC_API_KEY", "sk-ant-shell"),
        ("ANTHROPIC_AUTH_TOKEN", "bearer"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "oauth"),
        ("CLAUDE_CODE_USE_BEDROCK", "1"),
        ("AWS_REGION", "eu-west-1"),
    ];
    let names = shell.map(|(name, _)| name);
    type Row = (Auth, [Option<&'static str>; 5], Billing);
    let table: Vec<Row> = vec![
        (
            Auth::Inherit,
            shell.map(|(_, value)| Some(value)),
            Billing::Cloud,
        ),
        (
            Auth::ApiKey("sk-ant-mine".into()),
            [Some("sk-ant-mine"), None, None, None, Some("eu-west-1")],
            Billing::Api,
        ),
        (
            Auth::BearerToken("mine".into()),
            [None, Some("mine"), None, None, Some("eu-west-1")],
            Billing::Api,
        ),
        (
            Auth::AnthropicFromEnvironment,
            [
                Some("sk-ant-shell"),
                Some("bearer"),
                Some("oauth"),
                None,
                Some("eu-west-1"),
            ],
            Billing::Api,
        ),
        (
            Auth::SubscriptionToken("mine".into()),
            [None, None, Some("mine"), None, Some("eu-west-1")],
            Billing::Subscription,
        ),
        (
            Auth::SubscriptionLogin,
            [None, None, Some("oauth"), None, Some("eu-west-1")],
            Billing::Subscription,
        ),
        (
            Auth::Bedrock {
                region: Some("us-east-1".into()),
            },
            [None, None, None, Some("1"), Some("us-east-1")],
            Billing::Cloud,
        ),
    ];
    for (auth, expected, billing) in table {
        let machine = shell
            .iter()
            .fold(Surroundings::new("/c"), |m, (k, v)| m.with_variable(k, v));
        let options = Options::new().auth(auth.clone());
        let plan = options.plan(&HostFeatures::default(), &machine).unwrap();
        let found = names.map(|name| plan.variable(name).map(|value| value.to_str().unwrap()));
        assert_eq!((found, plan.billing), (expected, billing), "{auth:?}");
        let removed = plan.warnings.iter();
        let removed = removed.filter(|w| matches!(w, LaunchWarning::CredentialRemoved { .. }));
        assert!(
            removed.count() > 0 || matches!(auth, Auth::Inherit),
            "{auth:?}"
        );
    }
}

#[test]
fn models_are_named_for_bedrock_where_the_environment_chooses_it() {
    let machine = Surroundings::new("/c").with_variable("CLAUDE_CODE_USE_BEDROCK", "1");
    let off = Surroundings::new("/c").with_variable("CLAUDE_CODE_USE_BEDROCK", "0");
    let model = |options: Options, machine: &Surroundings| {
        let plan = options.plan(&HostFeatures::default(), machine).unwrap();
        let args = strings(&plan.args);
        let named = args.iter().find_map(|arg| arg.strip_prefix("--model="));
        named.map(str::to_owned)
    };
    let new = Options::new;
    let named = "us.anthropic.claude-sonnet-4-20250514-v1:0";
    let chosen = || new().model("claude-sonnet-4-20250514");
    assert_eq!(model(chosen(), &machine).as_deref(), Some(named));
    assert_eq!(
        model(chosen(), &off).as_deref(),
        Some("claude-sonnet-4-20250514")
    );
    // The official CLI has a default for Bedrock; an engine in this process is told one.
    assert_eq!(model(new(), &machine), None);
    let default = models::default_for(&Auth::Bedrock { region: None });
    assert_eq!(
        model(new().engine(Nothing), &machine).as_deref(),
        Some(default)
    );
    assert_eq!(model(new().engine(Nothing), &off), None);
}

/// An engine that is never opened.
#[derive(Debug)]
struct Nothing;

impl crate::InProcessEngine for Nothing {
    fn name(&self) -> &str {
        "nothing"
    }

    fn open(
        &self,
        _: crate::EngineLaunch,
    ) -> futures_util::future::BoxFuture<'static, Result<crate::Link, crate::Error>> {
        unreachable!("a plan opens nothing")
    }
}

#[test]
fn the_provider_and_address_chosen_are_repeated_where_settings_files_cannot_win() {
    let new = Options::new;
    let none = json!({"CLAUDE_CODE_USE_BEDROCK": "", "CLAUDE_USE_BEDROCK": "", "CLAUDE_CODE_USE_VERTEX": "",
        "CLAUDE_CODE_USE_FOUNDRY": ""});
    let bedrock = json!({"CLAUDE_CODE_USE_BEDROCK": "1", "CLAUDE_USE_BEDROCK": "", "CLAUDE_CODE_USE_VERTEX": "",
        "CLAUDE_CODE_USE_FOUNDRY": ""});
    let table = [
        (new().auth(Auth::ApiKey("sk-ant-mine".into())), none),
        (
            new().auth(Auth::Bedrock {
                region: Some("r".into()),
            }),
            bedrock,
        ),
        (
            new().base_url("http://127.0.0.1:1"),
            json!({"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}),
        ),
        (
            new()
                .base_url("http://h")
                .settings(Settings::Inline(json!({"env": {"A": "b"}}))),
            json!({"A": "b", "ANTHROPIC_BASE_URL": "http://h"}),
        ),
    ];
    for (options, expected) in table {
        let plan = plan(&options, &HostFeatures::default());
        let settings = strings(&plan.args)
            .into_iter()
            .find_map(|a| a.strip_prefix("--settings="));
        let settings: Value = serde_json::from_str(settings.unwrap()).unwrap();
        assert_eq!(settings, json!({"env": expected}));
        assert!(!format!("{:?}", plan.args).contains("sk-ant-mine"));
    }
}

#[test]
fn a_dry_run_can_be_pasted_and_shows_no_secret() {
    let server = McpHttpConfig {
        headers: Some(BTreeMap::from([("X-Team".into(), "hunter2222".into())])),
        ..McpHttpConfig::new("https://me:hunter2222@h/mcp")
    };
    let options = Options::new()
        .cwd("/srv/my project")
        .auth(Auth::ApiKey("sk-ant-hunter2222".into()))
        .env("DEPLOY_TOKEN", "hunter2222")
        .system_prompt("it's\nsk-ant-hunter2222 or plain hunter2222")
        .settings(Settings::Inline(
            json!({"env": {"MY_SECRET": "hunter2222"}}),
        ))
        .mcp_server("web", McpServerConfig::Http(server))
        .disallow_tools(["Bash(rm *)"])
        .model("-x");
    let machine = Surroundings::new("/opt/claude")
        .with_variable("CLAUDECODE", "1")
        .with_variable("PATH", "/bin");
    let plan = options.plan(&HostFeatures::default(), &machine).unwrap();
    let expected = r##"cd '/srv/my project' && \
env -u CLAUDECODE \
  ANTHROPIC_API_KEY='***' \
  CLAUDE_AGENT_SDK_VERSION=0.1.0 \
  CLAUDE_CODE_ENTRYPOINT=sdk-rs \
  CLAUDE_CODE_SDK_READS_SESSION_STATE=1 \
  CLAUDE_CODE_STARTUP_FAILURE_RESULTS=1 \
  DEPLOY_TOKEN='***' \
  PWD='/srv/my project' \
/opt/claude \
  --output-format=stream-json \
  --verbose \
  --input-format=stream-json \
  --model=-x \
  '--disallowedTools=Bash(rm *)' \
  --permission-mode=default \
  '--mcp-config={"mcpServers":{"web":{"type":"http","url":"https://***@h/mcp","headers":{"X-Team":"***"}}}}' \
  '--settings={"env":{"MY_SECRET":"***","CLAUDE_CODE_USE_BEDROCK":"","CLAUDE_USE_BEDROCK":"","CLAUDE_CODE_USE_VERTEX":"","CLAUDE_CODE_USE_FOUNDRY":""}}'
# first line on stdin:
# {"type":"control_request","request_id":"1","request":{"subtype":"initialize","systemPrompt":["it's\n*** or plain ***"]}}
# billing: api
"##;
    assert_eq!(plan.to_string(), expected);
    for text in [
        format!("{plan:?}"),
        format!("{options:?}"),
        format!("{options:#?}"),
    ] {
        assert!(!text.contains("hunter2222"), "{text}");
    }
}
