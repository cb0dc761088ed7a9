//! Names that collide, or say something they must not.

use falconer_protocol::mcp::McpServerConfig;

use crate::options::{EnvironmentChange, LaunchOptions, sanitised};

use super::super::{HostFeatures, OptionProblem};

/// Arguments that have an option; passing them otherwise would slip past its checks.
const RESERVED: &[(&str, &str)] = &[
    ("print", "nothing: falconer always talks over pipes"),
    ("output-format", "nothing: falconer sets it"),
    ("input-format", "nothing: falconer sets it"),
    ("verbose", "nothing: falconer sets it"),
    (
        "dangerously-skip-permissions",
        "`permission_mode` and `allow_dangerously_skip_permissions`",
    ),
    (
        "allow-dangerously-skip-permissions",
        "`allow_dangerously_skip_permissions`",
    ),
    ("permission-mode", "`permission_mode`"),
    (
        "permission-prompt-tool",
        "`permission_prompt_tool` or a permission handler",
    ),
    ("permission-prompts", "`permission_prompts`"),
    ("continue", "`continue_latest`"),
    ("resume", "`resume`"),
    ("fork-session", "`fork_session`"),
    ("session-id", "`session_id`"),
    ("settings", "`settings` and `sandbox`"),
    ("managed-settings", "`managed_settings`"),
    ("model", "`model`"),
    ("fallback-model", "`fallback_model`"),
    ("max-turns", "`max_turns`"),
    ("max-budget-usd", "`max_budget_usd`"),
    ("system-prompt", "`system_prompt`"),
    ("append-system-prompt", "`SystemPrompt::append`"),
];

pub(super) fn check(
    options: &LaunchOptions,
    host: &HostFeatures,
    problems: &mut Vec<OptionProblem>,
) {
    servers(options, host, problems);
    extra_arguments(options, problems);
    variables(options, problems);
}

fn servers(options: &LaunchOptions, host: &HostFeatures, problems: &mut Vec<OptionProblem>) {
    let external = options.mcp.servers.iter().map(|(name, _)| name);
    let ours = host.sdk_servers.iter().map(|server| &server.name);
    let mut seen: Vec<String> = Vec::new();
    for name in external.chain(ours) {
        if name.is_empty() {
            let flag = "the name of an MCP server".to_owned();
            problems.push(OptionProblem::EmptyValue { flag });
            continue;
        }
        let name = sanitised(name);
        if seen.contains(&name) {
            problems.push(OptionProblem::DuplicateServer { name });
        } else {
            seen.push(name);
        }
    }
    for (name, server) in &options.mcp.servers {
        use McpServerConfig::{ClaudeAiProxy, Sdk};
        if matches!(server, Sdk(_) | ClaudeAiProxy(_)) {
            let name = name.clone();
            problems.push(OptionProblem::NotExternal { name });
        }
    }
}

fn extra_arguments(options: &LaunchOptions, problems: &mut Vec<OptionProblem>) {
    for (name, _) in &options.process.extra_args {
        let reserved = RESERVED.iter().find(|(other, _)| name == other);
        if let Some((_, instead)) = reserved {
            let name = name.clone();
            problems.push(OptionProblem::ReservedArgument { name, instead });
        }
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        if name.is_empty() || name.starts_with('-') || !name.bytes().all(plain) {
            problems.push(OptionProblem::InvalidValue {
                option: "the name of an extra argument",
                value: name.clone(),
                reason: "it has letters, digits and inner dashes only",
            });
        }
    }
}

fn variables(options: &LaunchOptions, problems: &mut Vec<OptionProblem>) {
    for change in &options.environment.changes {
        let (name, value) = match change {
            EnvironmentChange::Set(name, value) => (name, Some(value)),
            EnvironmentChange::Remove(name) | EnvironmentChange::Keep(name) => (name, None),
        };
        let bytes = name.as_encoded_bytes();
        let text = name.to_string_lossy().into_owned();
        if bytes.is_empty() || bytes.contains(&b'=') || bytes.contains(&0) {
            problems.push(OptionProblem::InvalidValue {
                option: "the name of a variable",
                value: text,
                reason: "it must not be empty nor contain = or NUL",
            });
        } else if value.is_some_and(|value| value.as_encoded_bytes().contains(&0)) {
            let what = format!("the value of variable {text}");
            problems.push(OptionProblem::NulByte { what });
        }
    }
}
