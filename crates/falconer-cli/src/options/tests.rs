//! Holds the table to the library, the flags, the configuration and the API.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use falconer::isolation::IsolationConfig;
use falconer::protocol::agent::AgentDefinition;
use falconer::protocol::sandbox::SandboxSettings;
use falconer::{BuiltinTools, Effort, Options, Plugin, Skills, Thinking, ThinkingDisplay};
use falconer_native::{NativeEngine, Scenario};
use falconer_scenario::text;

use clap::CommandFactory;
use serde_json::Value;

use super::{Honours, Row, TABLE, page};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares, and names what only one side has.
fn same(place: &str, listed: &[&str], found: &BTreeSet<String>) {
    let unique: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(unique.len(), listed.len(), "{place}: twice in {listed:?}");
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    let missing: Vec<_> = found.difference(&unique).collect();
    assert!(missing.is_empty(), "{place}: not in the table: {missing:?}");
    let gone: Vec<_> = unique.difference(&found).collect();
    assert!(gone.is_empty(), "{place}: only in the table: {gone:?}");
}

/// All names in one column.
fn column(names: fn(&Row) -> &'static [&'static str]) -> Vec<&'static str> {
    TABLE.iter().flat_map(names).copied().collect()
}

/// The public methods in the `impl` blocks of a type, below a directory.
fn methods(directory: &Path, of: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(methods(&path, of));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for block in text.split(&format!("\nimpl {of} {{\n")).skip(1) {
            let block = block.split("\n}\n").next().unwrap();
            let public = block.lines().filter_map(|line| {
                let line = line.strip_prefix("    pub ")?;
                let line = line
                    .strip_prefix("async ")
                    .unwrap_or(line)
                    .strip_prefix("fn ")?;
                line.split(['(', '<']).next()
            });
            found.extend(public.map(str::to_owned));
        }
    }
    found
}

#[test]
fn every_method_of_the_library_is_in_the_table() {
    let (spec, options): (Vec<&str>, Vec<&str>) = column(|row| row.library)
        .into_iter()
        .partition(|name| name.starts_with("spec."));
    let spec: Vec<&str> = spec.iter().map(|name| &name["spec.".len()..]).collect();
    let crates = repository().join("crates");
    let found = methods(&crates.join("falconer/src"), "Options");
    assert!(found.len() > 100, "{found:?}");
    same("Options", &options, &found);
    let found = methods(&crates.join("falconer-session/src"), "SessionSpec");
    same("SessionSpec", &spec, &found);
}

#[test]
fn every_flag_of_run_and_chat_is_in_the_table() {
    let mut command = crate::command::Falconer::command();
    command.build();
    let mut flags = BTreeSet::new();
    for name in ["run", "chat"] {
        let subcommand = command.find_subcommand(name).unwrap();
        let long = subcommand.get_arguments().filter_map(|it| it.get_long());
        flags.extend(long.filter(|it| *it != "help").map(|it| format!("--{it}")));
    }
    same("flags", &column(|row| row.flag.names()), &flags);
}

#[test]
fn every_key_of_the_configuration_is_in_the_table() {
    let keys = crate::config::key_names();
    same("keys", &column(|row| row.key.names()), &keys);
}

#[test]
fn every_field_of_a_new_session_is_in_the_table() {
    let document: Value = serde_json::from_str(&falconer_server::openapi()).unwrap();
    let schemas = &document["components"]["schemas"];
    let fields = |name: &str| -> BTreeSet<String> {
        let properties = schemas[name]["properties"].as_object();
        let properties = properties.unwrap_or_else(|| panic!("no schema {name}"));
        properties.keys().cloned().collect()
    };
    let mut found = fields("CreateSession");
    assert!(found.remove("options"));
    let options = fields("SessionOptions").into_iter();
    found.extend(options.map(|name| format!("options.{name}")));
    same("HTTP", &column(|row| row.http.names()), &found);
}

#[test]
fn the_page_is_written_from_the_table() {
    let path = repository().join("docs/options.md");
    let (found, expected) = (std::fs::read_to_string(&path).unwrap_or_default(), page());
    if found != expected && std::env::var_os("FALCONER_UPDATE").is_some() {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    assert_eq!(
        found, expected,
        "docs/options.md: run this test with FALCONER_UPDATE=1"
    );
}

/// An example of the options of a row.
type Example = fn(Options) -> Options;

const EXAMPLES: &[(&str, Example)] = &[
    ("model", |options| options.model("sonnet")),
    ("fallback models", |options| options.fallback_model("haiku")),
    ("effort", |options| options.effort(Effort::High)),
    ("thinking", |options| {
        options.thinking(Thinking::Budget(2_000))
    }),
    ("form of thoughts", |options| {
        options.thinking_display(ThinkingDisplay::Omitted)
    }),
    ("betas", |options| options.beta("context-1m-2025-08-07")),
    ("token budget of the task", |options| {
        options.task_budget(50_000)
    }),
    ("system prompt", |options| {
        options.system_prompt("Be brief.")
    }),
    ("instructions of plan mode", |options| {
        options.plan_mode_instructions("Plan well.")
    }),
    ("verbatim prompts", Options::verbatim_prompts),
    ("guess at the next prompt", Options::prompt_suggestions),
    ("title", |options| options.title("A title")),
    ("built-in tools", |options| {
        options.builtin_tools(BuiltinTools::None)
    }),
    ("allow rules", |options| options.allow_tools(["Read"])),
    ("deny rules", |options| options.disallow_tools(["Bash"])),
    ("tool aliases", |options| {
        options.tool_alias("Shell", "Bash")
    }),
    ("skills", |options| {
        options.skills(Skills::Only(vec!["pdf".to_owned()]))
    }),
    ("agents", |options| {
        options.agent("a", AgentDefinition::new("d", "p"))
    }),
    ("agents", |options| options.main_agent("a")),
    ("reports of agents", Options::agent_progress_summaries),
    ("reports of agents", Options::forward_subagent_text),
    ("plugins", |options| options.plugin(Plugin::new("/nowhere"))),
    ("MCP servers", Options::strict_mcp_config),
    ("isolation", |options| {
        options.isolation(IsolationConfig::with_api_key("sk-ant-example"))
    }),
    ("sandbox of the engine", |options| {
        options.sandbox(SandboxSettings {
            enabled: Some(true),
            ..SandboxSettings::default()
        })
    }),
    ("interrupts spare tasks", Options::per_task_stop),
    ("further arguments", |options| {
        options.extra_switch("future")
    }),
];

/// Runs with these options, and returns what was warned about.
async fn warnings(example: Example) -> Result<Vec<String>, falconer::Error> {
    let place = tempfile::tempdir().unwrap();
    let said = Arc::new(Mutex::new(Vec::new()));
    let heard = said.clone();
    let options = Options::new()
        .engine(NativeEngine::scripted(Scenario::new().turn(text("done"))))
        .cwd(place.path())
        .env_clear()
        .env("HOME", place.path())
        .on_stderr(move |line| heard.lock().unwrap().push(line.to_owned()));
    let mut run = falconer::query("hi", example(options)).await?;
    while let Some(message) = run.next().await {
        if let falconer::Message::System(system) = message? {
            let frame = serde_json::to_value(&system).unwrap();
            if frame["subtype"] == "informational" {
                let text = frame["content"].as_str().unwrap_or_default();
                said.lock().unwrap().push(text.to_owned());
            }
        }
    }
    let said = said.lock().unwrap();
    Ok(said.clone())
}

#[tokio::test]
async fn the_native_engine_does_what_the_table_says() {
    for (name, example) in EXAMPLES {
        let row = TABLE.iter().find(|row| row.name == *name);
        let row = row.unwrap_or_else(|| panic!("no row {name}"));
        let came = warnings(*example).await;
        let fits = match (row.native, &came) {
            (Honours::Yes | Honours::Around, Ok(said)) => said.is_empty(),
            (Honours::Warned(_), Ok(said)) => !said.is_empty(),
            (Honours::Refused(_), Err(_)) => true,
            _ => false,
        };
        assert!(fits, "{name}: {came:?}");
    }
    // Whatever is not honoured has an example.
    let examples: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
    for row in TABLE {
        let is_honoured = matches!(row.native, Honours::Yes | Honours::Around);
        let is_elsewhere = row.name == "account";
        assert!(
            is_honoured || is_elsewhere || examples.contains(&row.name),
            "{}",
            row.name
        );
    }
}
