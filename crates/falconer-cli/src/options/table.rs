//! The table itself.

use super::Honours::{Around, Refused, Warned, Yes};
use super::Row;
use super::Way::{self, By, Not};

const CODE: Way = Not("code of the program");
const PROFILE: Way = Not("by `profile`: it starts programs or names files");
const OWNER: Way = Not("by `profile`: accounts and addresses are the owner's");
const NO_AGENTS: &str = "it has no agents, and their limits would not hold";
const BY_SETTINGS: Way = Not("the settings files of the engine");

const fn row(name: &'static str, library: &'static [&'static str], ways: [Way; 3]) -> Row {
    let [flag, key, http] = ways;
    Row {
        name,
        library,
        flag,
        key,
        http,
        claude: Yes,
        native: Yes,
    }
}

const fn around(mut row: Row) -> Row {
    row.claude = Around;
    row.native = Around;
    row
}

const fn native(honours: super::Honours, mut row: Row) -> Row {
    row.native = honours;
    row
}

#[rustfmt::skip]
pub(super) const TABLE: &[Row] = &[
    // Engine and model.
    around(row("engine", &["engine", "shared_engine", "new", "spec.new", "spec.engine", "spec.options", "spec.about"],
        [By(&["--engine"]), By(&["run.engine"]), By(&["engine"])])),
    around(row("scripted model", &[],
        [By(&["--scenario"]), Not("for demonstrations"), Not("`falconer serve --engine-scenario`")])),
    row("executable", &["executable", "check_version", "cli_version", "runs_cli"],
        [Not("`FALCONER_CLAUDE_PATH`"), By(&["claude.path"]), PROFILE]),
    row("model", &["model", "parameter", "parameters"],
        [By(&["--model"]), By(&["run.model"]), By(&["model"])]),
    row("fallback models", &["fallback_model"],
        [By(&["--fallback-model"]), By(&["run.fallback_models"]), By(&["options.fallback_models"])]),
    row("effort", &["effort"],
        [By(&["--effort"]), By(&["run.effort"]), By(&["options.effort"])]),
    row("thinking", &["thinking"],
        [By(&["--thinking"]), By(&["run.thinking"]), By(&["options.thinking"])]),
    row("form of thoughts", &["thinking_display"],
        [Not("events show what there is"), Not("events show what there is"), Not("events show what there is")]),
    row("betas", &["beta"],
        [By(&["--betas"]), By(&["run.betas"]), By(&["options.betas"])]),
    native(Warned("the model is not told"), row("token budget of the task", &["task_budget"],
        [By(&["--task-budget"]), By(&["run.task_budget"]), By(&["options.task_budget"])])),

    // Accounts.
    native(Refused("it takes keys, tokens and Bedrock only"), row("account", &["auth"],
        [By(&["--account"]), By(&["run.account", "claude.use_api_billing"]), OWNER])),
    row("credential files", &[],
        [By(&["--credential-file"]), By(&["run.credential_files"]), OWNER]),
    row("address of the service", &["base_url"],
        [By(&["--base-url"]), By(&["run.base_url"]), OWNER]),

    // Prompts.
    row("system prompt", &["system_prompt"],
        [By(&["--system-prompt", "--system-prompt-file", "--append-system-prompt"]),
         By(&["run.system_prompt", "run.append_system_prompt"]),
         By(&["options.system_prompt", "options.append_system_prompt"])]),
    row("instructions of plan mode", &["plan_mode_instructions"],
        [By(&["--plan-mode-instructions"]), By(&["run.plan_mode_instructions"]), By(&["options.plan_mode_instructions"])]),
    row("verbatim prompts", &["verbatim_prompts"],
        [By(&["--verbatim-prompts"]), By(&["run.verbatim_prompts"]), By(&["options.verbatim_prompts"])]),
    row("answers by a schema", &["output_schema"],
        [By(&["--output-schema"]), Not("belongs to a prompt"), By(&["options.output_schema"])]),
    native(Warned("the next prompt is not guessed"), row("guess at the next prompt", &["prompt_suggestions"],
        [Not("nothing shows it"), Not("nothing shows it"), Not("nothing shows it")])),
    row("title", &["title"],
        [Not("the engine finds one"), Not("belongs to a session"), By(&["title"])]),
    around(row("prompt", &[],
        [By(&["--file", "--attach"]), Not("belongs to a session"), By(&["message"])])),

    // Tools, agents, programs.
    row("built-in tools", &["builtin_tools", "only_tools"],
        [By(&["--tools"]), By(&["run.tools"]), By(&["options.tools"])]),
    row("allow rules", &["allow_tools", "allow_mcp_server", "allow_mcp_tool"],
        [By(&["--allow"]), By(&["run.allow"]), Not("`POST /v1/rules`, with the scope `approve`")]),
    row("deny rules", &["disallow_tools"],
        [By(&["--deny"]), By(&["run.deny"]), By(&["options.deny"])]),
    row("tool aliases", &["tool_alias"],
        [CODE, CODE, CODE]),
    row("previews in questions", &["question_previews"],
        [Not("Markdown is shown everywhere"), Not("Markdown is shown everywhere"), Not("Markdown is shown everywhere")]),
    native(Warned("it has no skills, so `*` is none"), row("skills", &["skills"],
        [By(&["--skills"]), By(&["run.skills"]), By(&["options.skills"])])),
    native(Refused(NO_AGENTS), row("agents", &["agent", "main_agent"],
        [By(&["--agents", "--agent"]), By(&["run.agents", "run.agent"]), By(&["options.agents", "options.agent"])])),
    native(Warned("it has no agents"), row("reports of agents", &["agent_progress_summaries", "forward_subagent_text"],
        [Not("events tell what agents do"), Not("events tell what agents do"), Not("events tell what agents do")])),
    native(Warned("plugins are not loaded"), row("plugins", &["plugin", "plugins_in_initialize"],
        [By(&["--plugin-dir"]), By(&["run.plugins"]), PROFILE])),
    row("MCP servers", &["mcp_config_file", "mcp_server", "strict_mcp_config"],
        [By(&["--mcp-config", "--strict-mcp-config"]), By(&["run.mcp_config", "run.strict_mcp_config"]), PROFILE]),
    around(row("tools in the program", &["tool_server", "mount", "tool_schemas"],
        [CODE, CODE, CODE])),

    // Permissions and isolation.
    row("permission mode", &["permission_mode", "permission_mode_from_settings"],
        [By(&["--permission-mode"]), By(&["run.permission_mode"]), By(&["mode"])]),
    row("second switch for `bypassPermissions`", &["allow_dangerously_skip_permissions"],
        [By(&["--allow-dangerously-skip-permissions"]), Not("a flag only, each time"), Not("`falconer serve --allow-bypass`")]),
    around(row("policy", &["spec.policy", "spec.restrictions"],
        [By(&["--policy"]), By(&["run.policy"]), Not("`run.policy` of the server")])),
    around(row("trust in the project", &[],
        [By(&["--trust-project"]), Not("`falconer trust`"), Not("`POST /v1/trust`")])),
    native(Refused("it runs inside the program that starts it"), row("isolation", &["isolation"],
        [By(&["--isolation", "--domains", "--sandboxed-commands"]),
         By(&["run.isolation", "run.isolated_skills", "run.domains", "run.sandboxed_commands"]), By(&["isolation"])])),
    native(Refused("it has no sandbox of its own"), row("sandbox of the engine", &["sandbox", "allow_unsandboxed_fallback"],
        [Not("`--isolation`"), Not("`run.isolation`"), Not("`isolation`")])),
    around(row("who answers", &["on_permission", "permission_handler", "on_question", "question_handler", "on_plan",
            "plan_handler", "on_elicitation", "elicitation_handler", "on_dialog", "permission_prompt_tool",
            "permission_prompts"],
        [Not("the terminal"), Not("the terminal"), Not("`POST /v1/requests/{id}/answer`")])),
    around(row("time for answers", &["spec.answer_within"],
        [By(&["--answer-within"]), By(&["run.answer_seconds"]), Not("`run.answer_seconds` of the server")])),
    row("hooks", &["hook"], [BY_SETTINGS, BY_SETTINGS, BY_SETTINGS]),
    row("settings", &["settings", "managed_settings", "setting_sources"],
        [BY_SETTINGS, BY_SETTINGS, BY_SETTINGS]),
    row("interrupts spare tasks", &["per_task_stop"],
        [Not("an interrupt stops them"), Not("an interrupt stops them"), Not("an interrupt stops them")]),

    // Where.
    row("directory", &["cwd", "project_config_root"],
        [By(&["--cwd"]), Not("belongs to a run"), By(&["cwd"])]),
    row("more directories", &["additional_directory"],
        [By(&["--add-dir"]), Not("belongs to a run"), Not("a session works in its `cwd`")]),
    row("environment", &["env", "env_remove", "env_inherit", "env_clear", "trace_context", "client_app"],
        [Not("the environment of the command"), Not("the environment of the command"), Not("the environment of the server")]),
    native(Warned("unknown ones are named; the commands refuse them"), row("further arguments", &["extra_arg", "extra_switch"],
        [By(&["--engine-arg"]), By(&["claude.args"]), PROFILE])),
    row("debug log of the engine", &["debug", "debug_file"],
        [By(&["--verbose", "--log", "--log-file", "--log-format"]),
         By(&["log.filter", "log.file", "log.format"]), Not("`serve.log`")]),

    // Limits.
    around(row("limits", &["max_turns", "max_budget_usd", "spec.limits"],
        [By(&["--max-turns", "--max-budget-usd", "--max-tokens", "--deadline", "--silence"]),
         By(&["run.max_turns", "run.max_usd", "run.max_tokens", "run.deadline_seconds", "run.silence_seconds"]),
         By(&["limits"])])),
    around(row("times and sizes", &["initialize_timeout", "request_timeout", "permission_timeout",
            "without_permission_timeout", "hook_timeout", "max_line_bytes", "stop_block_limit", "stderr_lines",
            "idle_ceiling", "close_grace", "kill_grace", "backlog_limits", "spec.backlog", "spec.queue"],
        [Not("fixed, see the page on limits"), Not("fixed, see the page on limits"), Not("fixed, see the page on limits")])),

    around(row("retries of a turn", &["spec.retries"],
        [Not("`run.retries`"), By(&["run.retries"]), Not("`run.retries` of the server")])),

    // Which session.
    row("session to go on with", &["continue_latest", "resume", "resume_at", "resume_drops_turn", "fork_session",
            "session_id", "spec.resume", "spec.name", "spec.run", "spec.on_missing"],
        [By(&["--continue", "--resume", "--fork"]), Not("belongs to a run"), By(&["id"])]),
    around(row("wait for a session that runs elsewhere", &["spec.wait", "spec.waits"],
        [By(&["--wait"]), Not("belongs to a run"), Not("messages are queued")])),
    around(row("where it is kept", &["without_persistence", "checkpoint_files", "session_store", "shared_session_store",
            "spec.transcript"],
        [By(&["--store", "--no-store"]), Not("belongs to a run"), Not("`falconer serve --store`")])),
    around(row("archive before compaction", &["spec.archive"],
        [Not("`run.archive`"), By(&["run.archive"]), Not("`run.archive` of the server")])),
    around(row("profile", &[],
        [By(&["--profile"]), By(&["serve.profiles"]), By(&["profile"])])),
    around(row("output", &["include_partial_messages", "includes_partial_messages", "include_hook_events",
            "replay_user_messages", "on_stderr", "around_transport", "spec.until_idle", "spec.through",
            "spec.warning", "spec.redactor", "spec.clock", "spec.resumed", "plan", "dry_run"],
        [By(&["--json", "--quiet"]),
         By(&["display.color", "display.motion", "server.url", "server.token_file", "version"]),
         Not("the routes of events and streams")])),
];
