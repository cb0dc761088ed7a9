//! Limits the caller sets: turns, money, the sandbox.

use falconer::protocol::sandbox::SandboxSettings;
use falconer::{Error, Failure, FailureClass, Options};
use falconer_testkit::scenario::{Scenario, Usage, any, text, tool_use};
use serde_json::json;
use tempfile::TempDir;

use super::Stage;
use super::evidence::{command, conversation};

/// Runs into a failure of this class.
async fn fails(stage: &Stage, options: Options, class: &FailureClass) -> Failure {
    let outcome = stage.try_run("go", options).await;
    let Err(Error::Failed(failure)) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(&failure.class, class, "{failure}");
    assert!(!failure.is_retryable());
    assert!(!failure.advice().is_empty() && !failure.message.is_empty());
    failure
}

#[tokio::test]
async fn the_limit_of_turns_is_a_typed_failure_with_its_cost() {
    let scenario = Scenario::new()
        .on(any())
        .always()
        .reply(tool_use("Bash", command("echo again")));
    let stage = Stage::new(scenario);
    let options = stage.options().allow_tools(["Bash"]).max_turns(2);
    let failure = fails(&stage, options, &FailureClass::MaxTurns).await;
    assert_eq!(stage.server.messages().len(), 2);
    assert!(failure.result.total_cost_usd.unwrap().as_f64() > 0.0);
}

#[tokio::test]
async fn the_limit_of_money_is_a_typed_failure() {
    let dear = Usage {
        input_tokens: 100_000,
        output_tokens: 100_000,
        ..Usage::default()
    };
    let reply = tool_use("Bash", command("echo again")).usage(dear);
    let stage = Stage::new(Scenario::new().on(any()).always().reply(reply));
    let options = stage.options().allow_tools(["Bash"]).max_budget_usd(0.01);
    fails(&stage, options, &FailureClass::Budget).await;
    assert_eq!(stage.server.messages().len(), 1);
}

#[tokio::test]
async fn a_sandbox_that_cannot_be_had_is_a_refusal_to_start() {
    let empty = TempDir::new().unwrap();
    let stage = Stage::new(Scenario::new());
    let options = stage
        .options()
        .sandbox(SandboxSettings::required())
        .env("PATH", empty.path());
    let class = FailureClass::Startup("sandbox_required_unavailable".to_owned());
    let failure = fails(&stage, options, &class).await;
    assert!(
        failure.message.to_lowercase().contains("sandbox"),
        "{failure}"
    );
    assert_eq!(stage.server.requests().len(), 0, "nothing has run");
}

#[tokio::test]
async fn a_sandboxed_command_cannot_write_outside_of_its_directory() {
    let outside = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let target = outside.path().join("escaped");
    let script = format!("touch inside; touch {} ; echo status $?", target.display());
    let scenario = Scenario::new()
        .turn(tool_use("Bash", command(&script)))
        .turn(text("done"));
    let stage = Stage::new(scenario);
    let mut sandbox = SandboxSettings::required();
    sandbox.auto_allow_bash_if_sandboxed = Some(true);
    let outcome = stage.run("go", stage.options().sandbox(sandbox)).await;
    assert_eq!(outcome.text(), "done");
    assert!(stage.file("inside").exists() && !target.exists());
    let said = conversation(&stage.server.messages()[1]);
    assert!(
        said.contains("Read-only file system") && said.contains("status 1"),
        "{said}"
    );
}

#[tokio::test]
async fn a_configuration_file_that_is_no_json_is_a_refusal_to_start() {
    let stage = Stage::new(Scenario::new());
    std::fs::write(stage.home.path().join(".claude.json"), "{ not json").unwrap();
    let class = FailureClass::Startup("config_file_invalid".to_owned());
    let failure = fails(&stage, stage.options(), &class).await;
    let file = failure.result.invalid_config_file.as_ref().unwrap();
    assert!(file.path.ends_with(".claude.json"), "{file:?}");
}

#[tokio::test]
async fn an_unknown_flag_is_an_error_with_the_words_of_the_engine() {
    let stage = Stage::new(Scenario::new());
    let refused = stage
        .try_run("go", stage.options().extra_switch("no-such-flag"))
        .await;
    let Err(error @ Error::EngineEnded { .. }) = &refused else {
        panic!("{refused:?}")
    };
    assert!(error.to_string().contains("no-such-flag"), "{error}");
    assert!(error.to_string().contains("exit code 1"), "{error}");
}

#[tokio::test]
async fn settings_that_deny_are_kept_whatever_is_allowed() {
    let scenario = Scenario::new()
        .turn(tool_use("Bash", command("touch made.txt")))
        .turn(text("refused"));
    let stage = Stage::new(scenario);
    let deny = json!({ "permissions": { "deny": ["Bash(touch:*)"] } });
    let options = stage
        .options()
        .allow_tools(["Bash"])
        .settings(falconer::Settings::Inline(deny));
    let outcome = stage.run("go", options).await;
    assert_eq!(outcome.last().unwrap().permission_denials.len(), 1);
    assert!(!stage.file("made.txt").exists());
}
