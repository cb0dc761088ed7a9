//! The real CLI accepts every flag in the spelling used here.
//!
//! It gets a home of its own and an address nobody listens on, and no prompt.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use falconer::{
    BuiltinTools, Effort, HostFeatures, LaunchPlan, Options, PermissionPrompts, Plugin,
    SettingSource, Settings, Skills, Surroundings, SystemPrompt, TESTED_CLI_VERSION, Thinking,
    ThinkingDisplay,
};
use falconer_protocol::agent::AgentDefinition;
use falconer_protocol::mcp::{McpHttpConfig, McpServerConfig};
use serde_json::{Value, json};

use super::dump::run;

fn cli() -> PathBuf {
    let path = std::env::var_os("FALCONER_CLAUDE_PATH");
    path.expect("set FALCONER_CLAUDE_PATH to a claude executable")
        .into()
}

/// Everything that needs no login, no session and no network.
fn everything(home: &Path) -> Options {
    let agent = AgentDefinition {
        description: "d".into(),
        prompt: "p".into(),
        ..AgentDefinition::default()
    };
    Options::new()
        .executable(cli())
        .cwd(home)
        .model("sonnet")
        .fallback_model("haiku")
        .thinking(Thinking::Adaptive)
        .thinking_display(ThinkingDisplay::Summarized)
        .effort(Effort::High)
        .beta("context-1m-2025-08-07")
        .output_schema(json!({"type": "object", "properties": {}}))
        .max_turns(3)
        .max_budget_usd(1.5)
        .task_budget(50_000)
        .only_tools(["Bash", "Read"])
        .allow_tools(["Read", "Bash(git *)"])
        .disallow_tools(["WebFetch"])
        .tool_alias("Shell", "Bash")
        .agent("helper", agent)
        .skills(Skills::Only(vec!["pdf".into()]))
        .plugin(Plugin::new(home))
        .plugin(Plugin::new(home).without_mcp_servers())
        .permission_prompts(PermissionPrompts::Host)
        .mcp_server(
            "web",
            McpServerConfig::Http(McpHttpConfig::new("http://127.0.0.1:9/mcp")),
        )
        .strict_mcp_config()
        .session_id("7f4c1b9e-3d2a-4a5b-9c8d-1e2f3a4b5c6d")
        .without_persistence()
        .additional_directory(home)
        .additional_directory("/usr")
        .project_config_root(home)
        .settings(Settings::Inline(json!({"env": {"A": "b"}})))
        .managed_settings(json!({}))
        .setting_sources([SettingSource::User, SettingSource::Project])
        .include_partial_messages()
        .include_hook_events()
        .replay_user_messages()
        .debug_file(home.join("debug.log"))
        .title("t")
        .plan_mode_instructions("p")
        .prompt_suggestions()
        .agent_progress_summaries()
        .forward_subagent_text()
        .per_task_stop()
        .check_version()
}

fn surroundings(home: &Path) -> Surroundings {
    let inherited = std::env::var("PATH").unwrap();
    [
        ("PATH", inherited.as_str()),
        ("HOME", home.to_str().unwrap()),
        ("ANTHROPIC_API_KEY", "sk-ant-fake-key-for-tests"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ]
    .iter()
    .fold(Surroundings::new(cli()), |machine, (name, value)| {
        machine.with_variable(name, value)
    })
}

/// Starts the CLI and returns its answer to the first request.
fn answer(plan: &LaunchPlan) -> Value {
    let mut command = Command::new(&plan.program);
    command
        .args(&plan.args)
        .env_clear()
        .envs(plan.env.iter().cloned());
    command.current_dir(plan.cwd.as_ref().unwrap());
    let line = json!({"type": "control_request", "request_id": "r1", "request": plan.initialize});
    let output = run(&mut command, format!("{line}\n"), Duration::from_secs(120));
    let lines = output
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut answers = lines.filter(|line| line["type"] == "control_response");
    answers
        .next()
        .unwrap_or_else(|| panic!("no answer: {output}"))
}

#[test]
fn every_flag_is_accepted_in_our_spelling() {
    let home = tempfile::tempdir().unwrap();
    let host = HostFeatures::default();
    let machine = surroundings(home.path()).with_version(TESTED_CLI_VERSION);
    let prompting = {
        let mut host = HostFeatures::default();
        host.prompts_permissions = true;
        host.dialog_kinds = vec!["refusal_fallback_prompt".into()];
        host
    };
    let new = || Options::new().cwd(home.path());
    let table = [
        (everything(home.path()), &prompting),
        (
            new()
                .builtin_tools(BuiltinTools::None)
                .setting_sources([])
                .debug(),
            &host,
        ),
        (
            new()
                .builtin_tools(BuiltinTools::Preset)
                .thinking(Thinking::Disabled),
            &host,
        ),
        (
            new().thinking(Thinking::Budget(2000)).continue_latest(),
            &host,
        ),
        (
            new()
                .system_prompt(SystemPrompt::file("/etc/hostname").append("-x"))
                .plugin(Plugin::new(home.path()))
                .plugins_in_initialize()
                .permission_prompts(PermissionPrompts::None)
                .main_agent("general-purpose"),
            &host,
        ),
    ];
    for (options, host) in table {
        let plan = options.plan(host, &machine).unwrap();
        let answer = answer(&plan);
        assert_eq!(answer["response"]["subtype"], "success", "{plan}\n{answer}");
        let reply = &answer["response"]["response"];
        assert_eq!(reply["current_permission_mode"], "default", "{plan}");
    }
}

#[tokio::test]
async fn a_dry_run_on_this_machine_knows_the_version() {
    let home = tempfile::tempdir().unwrap();
    let options = everything(home.path());
    let version = options.cli_version().await.unwrap();
    assert!(version >= falconer::OLDEST_CLI_VERSION, "{version}");
    let plan = options.dry_run().await.unwrap();
    assert_eq!(plan.program, cli());
    assert!(plan.to_string().contains("--model=sonnet"));
}
