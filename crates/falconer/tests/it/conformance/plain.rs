//! Plain turns.

use std::process::Command;

use falconer::protocol::system::SystemMessage;
use falconer::{Message, Options, SystemPrompt};
use falconer_testkit::scenario::{Scenario, text, tool_use};
use falconer_testkit::{RealCli, clean_env};
use serde_json::json;

use super::Stage;

#[tokio::test]
async fn a_plain_query_has_one_good_result_with_cost_usage_and_session() {
    let stage = Stage::new(Scenario::new().turn(text("hello there")));
    let outcome = stage.run("say hello", stage.options()).await;
    assert_eq!(outcome.results.len(), 1);
    let result = outcome.last().unwrap();
    assert_eq!(outcome.text(), "hello there");
    assert!(result.is_success());
    assert!(outcome.cost_usd() > 0.0);
    assert!(result.usage.is_some() && !result.model_usage.is_empty());
    assert!(result.session_id.is_some());
    assert_eq!(stage.server.unmatched(), Vec::<String>::new());
}

#[tokio::test]
async fn init_comes_before_the_answer_and_names_tools_and_version() {
    let stage = Stage::new(Scenario::new().turn(text("hi")));
    let messages = stage.all_messages("go", stage.options()).await;
    let kinds: Vec<_> = messages.iter().filter_map(Message::tag).collect();
    let position = |kind| kinds.iter().position(|k| *k == kind).unwrap();
    assert!(position("system") < position("assistant"));
    assert!(position("assistant") < position("result"));
    let init = messages.iter().find_map(|message| match message {
        Message::System(SystemMessage::Init(init)) => Some(init),
        _ => None,
    });
    let init = init.expect("an init message");
    for tool in ["Bash", "Read", "Edit", "Write"] {
        assert!(
            init.tools.iter().any(|name| name == tool),
            "{:?}",
            init.tools
        );
    }
    let said = init.claude_code_version.as_deref().unwrap_or_default();
    let printed = Command::new(RealCli::find().unwrap().path())
        .arg("--version")
        .env_clear()
        .envs(clean_env(
            stage.file("home").as_path(),
            "http://127.0.0.1:9",
        ))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
    assert_eq!(printed.split_whitespace().next(), Some(said), "{printed}");
}

#[tokio::test]
async fn an_allowed_tool_runs_and_its_result_reaches_the_model() {
    let scenario = Scenario::new()
        .turn(tool_use(
            "Bash",
            json!({ "command": "touch made.txt && echo made" }),
        ))
        .turn(text("done"));
    let stage = Stage::new(scenario);
    let outcome = stage.run("go", stage.options().allow_tools(["Bash"])).await;
    assert_eq!(outcome.text(), "done");
    assert!(stage.file("made.txt").exists());
}

#[tokio::test]
async fn the_system_prompt_is_what_was_asked_for() {
    let custom = |options: Options| options.system_prompt("You are a falcon.");
    let preset =
        |options: Options| options.system_prompt(SystemPrompt::claude_code().append("And a bird."));
    for (configure, expect) in [
        (custom as fn(Options) -> Options, "You are a falcon."),
        (preset, "And a bird."),
    ] {
        let stage = Stage::new(Scenario::new().turn(text("hi")));
        stage.run("go", configure(stage.options())).await;
        let request = &stage.server.messages()[0];
        assert!(
            request.body["system"].to_string().contains(expect),
            "{expect}"
        );
    }
}
