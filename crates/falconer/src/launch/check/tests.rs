//! Tables for `check`.

use falconer_protocol::mcp::{McpHttpConfig, McpSdkConfig, McpServerConfig, McpStdioConfig};
use falconer_protocol::permission::PermissionMode;
use falconer_protocol::sandbox::SandboxSettings;
use serde_json::json;

use super::super::{
    HostFeatures, LaunchWarning, OptionProblem, SdkServer, SettingsVariable, Surroundings,
};
use crate::error::Error;
use crate::options::{
    Auth, Options, PermissionPrompts, Settings, Skills, Thinking, ThinkingDisplay, TraceContext,
};

const ID: &str = "7f4c1b9e-3d2a-4a5b-9c8d-1e2f3a4b5c6d";

fn surroundings() -> Surroundings {
    Surroundings::new("/bin/claude").with_uid(1000)
}

fn problems(options: &Options, host: &HostFeatures, machine: &Surroundings) -> Vec<OptionProblem> {
    match options.plan(host, machine) {
        Ok(_) => Vec::new(),
        Err(Error::InvalidOptions { problems }) => problems.to_vec(),
        Err(other) => panic!("{other}"),
    }
}

fn prompting() -> HostFeatures {
    HostFeatures {
        prompts_permissions: true,
        ..HostFeatures::default()
    }
}

fn mirroring() -> HostFeatures {
    HostFeatures {
        mirrors_session: true,
        ..HostFeatures::default()
    }
}

fn serving(name: &str) -> HostFeatures {
    HostFeatures {
        sdk_servers: vec![SdkServer::new(name)],
        ..HostFeatures::default()
    }
}

fn stdio() -> McpServerConfig {
    McpServerConfig::Stdio(McpStdioConfig::new("x"))
}

#[test]
fn contradictions_are_refused_with_what_to_change() {
    let new = Options::new;
    let none = HostFeatures::default;
    let long = "x".repeat(200 << 10);
    let tolerant = SandboxSettings {
        enabled: Some(true),
        fail_if_unavailable: Some(false),
        ..SandboxSettings::default()
    };
    let table: Vec<(Options, HostFeatures, &str)> = vec![
        (
            new().model("opus").fallback_model("opus"),
            none(),
            "fallback model opus",
        ),
        (
            new().fallback_model("a").fallback_model("a"),
            none(),
            "fallback model a",
        ),
        (
            new().permission_prompt_tool("mcp__a__b"),
            prompting(),
            "only one can answer",
        ),
        (
            new().session_id(ID).resume("x"),
            none(),
            "add `fork_session`",
        ),
        (
            new().session_id(ID).continue_latest(),
            none(),
            "add `fork_session`",
        ),
        (new().session_id("abc"), none(), "UUID with hyphens"),
        (
            new().session_id(ID.replace('-', "")),
            none(),
            "UUID with hyphens",
        ),
        (
            new().continue_latest().resume("x"),
            none(),
            "continue_latest and resume",
        ),
        (new().resume_at(ID), none(), "resume_at needs resume"),
        (
            new().resume("x").resume_drops_turn(ID),
            none(),
            "resume_drops_turn needs resume_at",
        ),
        (new().fork_session(), none(), "fork_session needs resume"),
        (
            new().without_persistence(),
            mirroring(),
            "a store needs the transcript",
        ),
        (
            new().checkpoint_files(),
            mirroring(),
            "checkpoints are not mirrored",
        ),
        (
            new().permission_mode(PermissionMode::BypassPermissions),
            none(),
            "`allow_dangerously_skip_permissions`",
        ),
        (new().max_turns(0), none(), "0 for no limit"),
        (
            new().max_budget_usd(-1.0),
            none(),
            "positive number of dollars",
        ),
        (
            new().max_budget_usd(0.0),
            none(),
            "positive number of dollars",
        ),
        (
            new().max_budget_usd(f64::NAN),
            none(),
            "positive number of dollars",
        ),
        (
            new().max_budget_usd(f64::INFINITY),
            none(),
            "positive number of dollars",
        ),
        (new().task_budget(0), none(), "positive number of tokens"),
        (
            new().skills(Skills::Only(vec!["a),Bash(rm".into()])),
            none(),
            "skill name",
        ),
        (
            new().skills(Skills::Only(vec!["a,b".into()])),
            none(),
            "skill name",
        ),
        (
            new().skills(Skills::Only(vec!["*".into()])),
            none(),
            "skill name",
        ),
        (
            new().skills(Skills::Only(vec![String::new()])),
            none(),
            "skill name",
        ),
        (
            new().skills(Skills::Only(vec!["a\nb".into()])),
            none(),
            "skill name",
        ),
        (
            new().mcp_server("a", stdio()).mcp_server("a", stdio()),
            none(),
            "two MCP servers are called \"a\"",
        ),
        (
            new().mcp_server("a b", stdio()).mcp_server("a_b", stdio()),
            none(),
            "two MCP servers are called \"a_b\"",
        ),
        (
            new().mcp_server("a", stdio()),
            serving("a"),
            "two MCP servers",
        ),
        (
            new().mcp_server("a", McpServerConfig::Sdk(McpSdkConfig::new("a"))),
            none(),
            "register it as a tool server",
        ),
        (
            new().mcp_server("", stdio()),
            none(),
            "the name of an MCP server",
        ),
        (new().model(""), none(), "--model has an empty value"),
        (new().resume(""), none(), "--resume has an empty value"),
        (new().model("a\0b"), none(), "--model contains a NUL byte"),
        (
            new().env("A", "b\0c"),
            none(),
            "variable A contains a NUL byte",
        ),
        (new().env("", "b"), none(), "name of a variable"),
        (new().env("A=B", "b"), none(), "name of a variable"),
        (new().env_remove("A\0"), none(), "name of a variable"),
        (
            new().settings(Settings::Inline(json!({"a": long}))),
            none(),
            "put it in a file",
        ),
        (
            new()
                .settings(Settings::Inline(json!([])))
                .sandbox(SandboxSettings::required()),
            none(),
            "not a JSON object",
        ),
        (
            new().sandbox(tolerant),
            none(),
            "`allow_unsandboxed_fallback`",
        ),
        (
            new().output_schema(json!("x")),
            none(),
            "a JSON schema is an object",
        ),
        (
            new()
                .thinking(Thinking::Disabled)
                .thinking_display(ThinkingDisplay::Omitted),
            none(),
            "nothing to show",
        ),
        (
            new().extra_switch("dangerously-skip-permissions"),
            none(),
            "would work around",
        ),
        (
            new().extra_arg("permission-mode", "bypassPermissions"),
            none(),
            "would work around",
        ),
        (
            new().extra_switch("--x"),
            none(),
            "name of an extra argument",
        ),
        (
            new().extra_switch("a=b"),
            none(),
            "name of an extra argument",
        ),
        (
            new().trace_context(TraceContext::new("nope")),
            none(),
            "32 hex digits",
        ),
        (new().base_url("ftp://x"), none(), "http:// or https://"),
        (
            new().auth(Auth::ApiKey("hunter22".into())),
            none(),
            "does not begin with sk-ant-",
        ),
        (
            new().auth(Auth::BearerToken("".into())),
            none(),
            "token given is empty",
        ),
        (
            new().auth(Auth::SubscriptionToken(" ".into())),
            none(),
            "claude setup-token",
        ),
        (
            new().auth(Auth::AnthropicFromEnvironment),
            none(),
            "set ANTHROPIC_API_KEY",
        ),
        (
            new().auth(Auth::Bedrock { region: None }),
            none(),
            "AWS_REGION",
        ),
        (
            new().auth(Auth::Vertex {
                project: None,
                region: None,
            }),
            none(),
            "CLOUD_ML_REGION",
        ),
        (
            new().parameter("top_p", &json!(1)),
            none(),
            "no agent can honour top_p",
        ),
        (
            new().parameter("colour", &json!(1)),
            none(),
            "unknown parameters colour",
        ),
        (new().parameter("model", &json!(1)), none(), "wrong type"),
    ];
    for (options, host, expected) in table {
        let found = problems(&options, &host, &surroundings());
        let text: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1, "{expected}: {text:?}");
        assert!(
            text[0].contains(expected),
            "{expected:?} is not in {text:?}"
        );
        assert!(!text[0].contains("hunter22"), "{text:?}");
    }
}

#[test]
fn what_looks_like_a_contradiction_but_is_none_passes() {
    let new = Options::new;
    let none = HostFeatures::default;
    let sandbox = || SandboxSettings {
        enabled: Some(true),
        fail_if_unavailable: Some(false),
        ..SandboxSettings::default()
    };
    let table = [
        (new(), none()),
        (
            new().session_id(ID).resume("not a uuid").fork_session(),
            none(),
        ),
        (new().resume("-dash"), none()),
        (new().setting_sources([]), none()),
        (new().only_tools::<String>([]), none()),
        (
            new().skills(Skills::Only(vec!["plugin:my skill".into()])),
            none(),
        ),
        (
            new().sandbox(sandbox()).allow_unsandboxed_fallback(),
            none(),
        ),
        (
            new().permission_prompts(PermissionPrompts::None),
            prompting(),
        ),
        (
            new()
                .auth(Auth::ApiKey("gateway-key".into()))
                .base_url("https://gw"),
            none(),
        ),
        (
            new().auth(Auth::Bedrock {
                region: Some("eu-west-1".into()),
            }),
            none(),
        ),
        (
            new()
                .parameter("seed", &json!(null))
                .parameter("max_turns", &json!(3)),
            none(),
        ),
        (
            new().mcp_server("a", McpServerConfig::Http(McpHttpConfig::new("https://h"))),
            serving("b"),
        ),
    ];
    for (options, host) in table {
        assert_eq!(problems(&options, &host, &surroundings()), []);
    }
}

#[test]
fn all_refused_parameters_are_named_in_one_message() {
    let parameters = json!({
        "seed": 1, "model": "sonnet", "stop": ["x"], "temperature": 0.5, "top_p": 1, "top_k": 2,
        "presence_penalty": 0, "frequency_penalty": 0,
    });
    let options = Options::new().parameters(parameters.as_object().unwrap());
    let found = problems(&options, &HostFeatures::default(), &surroundings());
    let names = [
        "seed",
        "stop",
        "temperature",
        "top_p",
        "top_k",
        "presence_penalty",
    ];
    let mut names: Vec<String> = names.map(String::from).into();
    names.push("frequency_penalty".to_owned());
    assert_eq!(found, [OptionProblem::RefusedParameters { names }]);
}

#[test]
fn all_problems_are_reported_at_once() {
    let options = Options::new().max_turns(0).session_id("x").fork_session();
    let found = problems(&options, &HostFeatures::default(), &surroundings());
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn bypass_as_root_is_refused_unless_in_a_sandbox() {
    let bypass = || {
        Options::new()
            .permission_mode(PermissionMode::BypassPermissions)
            .allow_dangerously_skip_permissions()
    };
    let switch_alone = Options::new().allow_dangerously_skip_permissions();
    let root = Surroundings::new("/bin/claude").with_uid(0);
    let root_in_sandbox = root.clone().with_variable("IS_SANDBOX", "1");
    let refused = vec![OptionProblem::BypassAsRoot];
    let table = [
        (bypass(), root.clone(), refused.clone()),
        (switch_alone, root.clone(), refused.clone()),
        (bypass(), surroundings(), vec![]),
        (bypass(), root_in_sandbox.clone(), vec![]),
        (bypass().env("IS_SANDBOX", "1"), root.clone(), vec![]),
        (
            bypass().env_remove("IS_SANDBOX"),
            root_in_sandbox.clone(),
            refused.clone(),
        ),
        (bypass().env_clear(), root_in_sandbox, refused),
        (Options::new(), root, vec![]),
    ];
    for (options, machine, expected) in table {
        assert_eq!(
            problems(&options, &HostFeatures::default(), &machine),
            expected
        );
    }
}

/// The three ways out that requirement 33 names, in its words, and two more of the CLI.
#[test]
fn bypass_as_root_names_every_way_out() {
    let text = OptionProblem::BypassAsRoot.to_string();
    for way_out in [
        "non-root user",
        "default permission mode",
        "acceptEdits",
        "dontAsk",
        "IS_SANDBOX=1",
    ] {
        assert!(text.contains(way_out), "{text}");
    }
}

#[test]
fn an_option_the_version_cannot_honour_is_an_error_and_an_untried_one_a_warning() {
    let options = Options::new().permission_prompts(PermissionPrompts::None);
    let host = HostFeatures::default();
    let with = |text: &str| surroundings().with_version(text.parse().unwrap());
    let found = problems(&options, &host, &with("2.1.240"));
    assert!(
        matches!(found[..], [OptionProblem::NeedsNewerCli { .. }]),
        "{found:?}"
    );
    assert!(
        found[0]
            .to_string()
            .contains("`--permission-prompts`; 2.1.260 does"),
        "{}",
        found[0]
    );
    let found = problems(&Options::new(), &host, &with("1.0.128"));
    assert!(
        matches!(found[..], [OptionProblem::CliTooOld { .. }]),
        "{found:?}"
    );

    let warnings =
        |options: &Options, version| options.plan(&host, &with(version)).unwrap().warnings;
    let untried = warnings(&options, "2.1.250");
    assert!(
        matches!(
            untried[..],
            [
                LaunchWarning::OlderThanTested { .. },
                LaunchWarning::UnknownSupport { .. }
            ]
        ),
        "{untried:?}"
    );
    assert_eq!(warnings(&options, "2.1.325"), []);
    let newer = warnings(&Options::new(), "2.2.0");
    assert!(
        matches!(newer[..], [LaunchWarning::NewerThanTested { .. }]),
        "{newer:?}"
    );
}

#[test]
fn a_credential_that_a_settings_file_would_override_is_refused() {
    let file = "/home/u/.claude/settings.json";
    let mut machine = surroundings();
    machine.settings_variables = vec![
        SettingsVariable::new(file, "ANTHROPIC_API_KEY"),
        SettingsVariable::new(file, "CLAUDE_CODE_USE_BEDROCK"),
    ];
    let host = HostFeatures::default();
    let options = Options::new().auth(Auth::ApiKey("sk-ant-mine".into()));
    let found = problems(&options, &host, &machine);
    let name = "ANTHROPIC_API_KEY".to_owned();
    let expected = OptionProblem::SettingsOverrideAuth {
        file: file.into(),
        name,
    };
    assert_eq!(found, [expected]);
    assert_eq!(problems(&Options::new(), &host, &machine), []);
}

#[test]
fn a_handler_that_will_not_be_asked_is_warned_about() {
    let options = Options::new().allow_tools(["Read", "Bash(git *)", "Edit(*)", "Write()"]);
    let plan = options.plan(&prompting(), &surroundings()).unwrap();
    let warned: Vec<_> = plan.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warned.len(), 3, "{warned:?}");
    let plan = options
        .plan(&HostFeatures::default(), &surroundings())
        .unwrap();
    assert_eq!(plan.warnings, []);
}
