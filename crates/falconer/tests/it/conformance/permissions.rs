//! Who may do what: handlers, rules, modes.

use std::future::pending;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use falconer::protocol::control::{ListPermissionRules, ListPermissionRulesResponse};
use falconer::protocol::permission::{AddRules, PermissionDestination};
use falconer::protocol::system::SystemMessage;
use falconer::{
    Answers, Decision, Error, FailureClass, Message, OptionProblem, PermissionMode,
    PermissionRequest, PermissionUpdate, QuestionRequest, Tool, ToolServer, query,
};
use falconer_testkit::RealCli;
use falconer_testkit::scenario::{MessageReply, Scenario, message, text, tool_use};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::watch;

use super::seen::{Asked, Seen};
use super::{Stage, next_result};
use crate::scripted::LIMIT;

/// A call of `Bash`.
fn bash(command: &str) -> MessageReply {
    tool_use(
        "Bash",
        json!({ "command": command, "description": "a command" }),
    )
}

/// A call of `Write` for a file of the project.
fn write(stage_file: &Path) -> MessageReply {
    tool_use(
        "Write",
        json!({ "file_path": stage_file, "content": "text" }),
    )
}

/// A project directory that is known before the stage, for scenarios that name its files.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }
}

/// Makes an executable script.
fn script(path: &Path, command: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{command}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// One command, then a last word.
fn one_command(command: &str) -> Stage {
    Stage::new(Scenario::new().turn(bash(command)).turn(text("done")))
}

#[tokio::test]
async fn an_allowed_call_runs_and_the_handler_was_told_what_it_does() {
    let stage = one_command("touch made.txt && echo made");
    let asked = Asked::default();
    let options = stage
        .options()
        .on_permission(asked.answering(Decision::allow()));
    let outcome = stage.run("go", options).await;
    let asked = asked.all();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].tool_name, "Bash");
    assert_eq!(asked[0].input["command"], "touch made.txt && echo made");
    assert_eq!(
        asked[0].tool_use_id.as_ref().unwrap().as_str(),
        "toolu_scripted_0001"
    );
    assert!(!asked[0].permission_suggestions.as_ref().unwrap().is_empty());
    assert!(stage.file("made.txt").exists());
    assert!(outcome.last().unwrap().permission_denials.is_empty());
    assert!(stage.result_in(2).text.contains("made"));
}

#[tokio::test]
async fn an_edited_input_runs_instead_of_the_original() {
    let stage = one_command("touch old.txt");
    let edited = Decision::allow_with_input(json!({ "command": "touch new.txt" }));
    let options = stage
        .options()
        .on_permission(Asked::default().answering(edited));
    stage.run("go", options).await;
    assert!(stage.file("new.txt").exists());
    assert!(!stage.file("old.txt").exists());
}

#[tokio::test]
async fn an_edited_input_that_the_tool_cannot_take_is_an_error_the_model_reads() {
    let stage = one_command("touch old.txt");
    let edited = Decision::allow_with_input(json!({ "command": 7 }));
    let options = stage
        .options()
        .on_permission(Asked::default().answering(edited));
    let outcome = stage.run("go", options).await;
    assert!(stage.result_in(2).is_error);
    assert!(!stage.file("old.txt").exists());
    assert_eq!(outcome.text(), "done");
}

/// The suggestion that adds a rule, kept at the destination.
fn suggested_rule(request: &PermissionRequest, destination: &PermissionDestination) -> AddRules {
    let found = request
        .suggestions()
        .iter()
        .find_map(|suggestion| match suggestion {
            PermissionUpdate::AddRules(rules) => Some(rules.clone()),
            _ => None,
        });
    let mut rules = found.expect("a rule is suggested");
    rules.destination = destination.clone();
    rules
}

/// Asks for the same command twice and then for a write; the first is remembered.
async fn remember(destination: PermissionDestination) -> (Stage, Vec<String>, Vec<String>) {
    let place = Place::new();
    // Not `touch a && echo b`: with the rule suggested for that the CLI asks again.
    let command = "./make.sh";
    script(&place.file("make.sh"), "touch made.txt");
    let scenario = Scenario::new()
        .turn(bash(command))
        .turn(bash(command))
        .turn(write(&place.file("written.txt")))
        .turn(text("done"));
    let stage = Stage::new(scenario);
    let asked = Seen::default();
    let notes = asked.clone();
    let options =
        stage
            .options()
            .cwd(place.0.path())
            .on_permission(move |request: PermissionRequest| {
                notes.add(request.tool_name().to_owned());
                let decision = match request.tool_name() {
                    "Bash" => {
                        let rule = suggested_rule(&request, &destination);
                        Decision::allow_always(PermissionUpdate::AddRules(rule))
                    }
                    _ => Decision::deny("not this one"),
                };
                std::future::ready(decision)
            });
    let (client, mut messages) = stage.connect(options).await;
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    let rules = client
        .request(ListPermissionRules::default().into())
        .await
        .unwrap();
    let rules: ListPermissionRulesResponse = serde_json::from_value(rules).unwrap();
    let rules = rules
        .state
        .rules
        .into_iter()
        .map(|rule| rule.source)
        .collect();
    let local = place.file(".claude/settings.local.json");
    if local.exists() {
        let settings = std::fs::read_to_string(local).unwrap();
        std::fs::write(stage.file("local.json"), settings).unwrap();
    }
    client.close().await.unwrap();
    (stage, asked.all(), rules)
}

#[tokio::test]
async fn a_rule_remembered_for_the_session_silences_the_next_call_and_nothing_else() {
    let (stage, asked, rules) = remember(PermissionDestination::Session).await;
    // A switched mode would have let the write pass without a question.
    assert_eq!(asked, ["Bash", "Write"]);
    assert_eq!(rules, ["session"]);
    assert!(!stage.file("local.json").exists());
}

#[tokio::test]
async fn a_rule_remembered_in_local_settings_is_written_there_and_nothing_else() {
    let (stage, asked, rules) = remember(PermissionDestination::LocalSettings).await;
    assert_eq!(asked, ["Bash", "Write"]);
    assert_eq!(rules, ["localSettings"]);
    let settings = std::fs::read_to_string(stage.file("local.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    assert_eq!(
        settings["permissions"]["allow"].as_array().unwrap().len(),
        1
    );
    assert_eq!(settings["permissions"].as_object().unwrap().len(), 1);
}

#[tokio::test]
async fn the_model_reads_why_a_call_was_denied_and_the_denial_is_counted() {
    let stage = one_command("touch made.txt");
    let denied = Decision::deny("not on a Sunday: \"ask\" again\ntomorrow");
    let options = stage
        .options()
        .on_permission(Asked::default().answering(denied));
    let outcome = stage.run("go", options).await;
    let result = stage.result_in(2);
    assert_eq!(result.text, "not on a Sunday: \"ask\" again\ntomorrow");
    assert!(result.is_error);
    let denials = &outcome.last().unwrap().permission_denials;
    assert_eq!(denials.len(), 1);
    assert_eq!(denials[0].tool_name, "Bash");
    assert_eq!(denials[0].tool_input["command"], "touch made.txt");
    assert!(!stage.file("made.txt").exists());
    assert_eq!(outcome.text(), "done");
}

#[tokio::test]
async fn denying_and_stopping_aborts_the_turn() {
    let stage = one_command("touch made.txt");
    let stop = Decision::deny_and_stop("enough");
    let options = stage
        .options()
        .on_permission(Asked::default().answering(stop));
    let error = stage.try_run("go", options).await.unwrap_err();
    let Error::Failed(failure) = error else {
        panic!("{error:?}")
    };
    assert_eq!(failure.class, FailureClass::Aborted);
    assert_eq!(stage.server.messages().len(), 1);
    assert!(!stage.file("made.txt").exists());
}

#[tokio::test]
async fn without_a_handler_the_cli_denies_and_reports_what_it_would_have_asked() {
    let stage = one_command("touch made.txt");
    let messages = stage.all_messages("go", stage.options()).await;
    let denied = messages.iter().find_map(|message| match message {
        Message::System(SystemMessage::PermissionDenied(denied)) => Some(denied),
        _ => None,
    });
    assert_eq!(denied.expect("a denial is reported").tool_name, "Bash");
    let result = messages.iter().find_map(|message| match message {
        Message::Result(result) => Some(result),
        _ => None,
    });
    assert_eq!(result.unwrap().permission_denials.len(), 1);
    assert!(!stage.file("made.txt").exists());
}

#[tokio::test]
async fn with_a_handler_for_questions_only_every_other_call_is_denied() {
    let stage = one_command("touch made.txt");
    let options = stage
        .options()
        .on_question(async |_: QuestionRequest| Answers::new());
    let outcome = stage.run("go", options).await;
    assert_eq!(
        stage.result_in(2).text,
        "nobody is there to allow this call"
    );
    assert_eq!(outcome.last().unwrap().permission_denials.len(), 1);
    assert!(!stage.file("made.txt").exists());
}

#[tokio::test]
async fn a_tool_of_ours_may_decide_about_permissions() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Ask {
        tool_name: String,
        input: serde_json::Value,
    }
    let stage = one_command("touch made.txt");
    let asked = Seen::default();
    let notes = asked.clone();
    let decide = move |ask: Ask| {
        notes.add((ask.tool_name, ask.input["command"].clone()));
        let denied = json!({ "behavior": "deny", "message": "the gate is closed" });
        std::future::ready(denied.to_string())
    };
    let server = ToolServer::new("gate").tool(Tool::new("decide", "decides", decide));
    let options = stage
        .options()
        .permission_prompt_tool("mcp__gate__decide")
        .tool_server(server);
    stage.run("go", options).await;
    assert_eq!(asked.all(), [("Bash".to_owned(), json!("touch made.txt"))]);
    assert_eq!(stage.result_in(2).text, "the gate is closed");
    assert!(!stage.file("made.txt").exists());
}

#[tokio::test]
async fn a_handler_that_panics_denies_and_the_run_goes_on() {
    let stage = one_command("touch made.txt");
    let options = stage
        .options()
        .on_permission(async |request: PermissionRequest| {
            assert_eq!(request.tool_name(), "nothing", "this handler is broken");
            Decision::allow()
        });
    let outcome = stage.run("go", options).await;
    assert_eq!(outcome.text(), "done");
    assert!(stage.result_in(2).text.contains("panicked"));
    assert!(!stage.file("made.txt").exists());
}

#[tokio::test]
async fn a_handler_that_takes_too_long_denies_and_the_run_goes_on() {
    let stage = one_command("touch made.txt");
    let options = stage
        .options()
        .permission_timeout(Duration::from_millis(50))
        .on_permission(async |_: PermissionRequest| pending::<Decision>().await);
    let outcome = stage.run("go", options).await;
    assert_eq!(outcome.text(), "done");
    assert!(stage.result_in(2).text.contains("no answer within 50ms"));
    assert!(!stage.file("made.txt").exists());
}

#[tokio::test]
async fn parallel_reads_are_asked_at_once_and_may_be_answered_in_any_order() {
    const READS: usize = 3;
    let elsewhere = TempDir::new().unwrap();
    let path = |n: usize| elsewhere.path().join(format!("file{n}.txt"));
    let mut calls = message();
    for n in 0..READS {
        std::fs::write(path(n), format!("content {n}")).unwrap();
        calls = calls.tool_use("Read", json!({ "file_path": path(n) }));
    }
    let stage = Stage::new(Scenario::new().turn(calls).turn(text("done")));
    // Each request waits until all later ones are answered, so all must be open at once.
    let answered = watch::Sender::new(Vec::new());
    let answers = answered.clone();
    let options = stage
        .options()
        .on_permission(move |request: PermissionRequest| {
            let answered = answered.clone();
            async move {
                let file = request.input()["file_path"].as_str().unwrap().to_owned();
                let n = (0..READS)
                    .find(|n| file.ends_with(&format!("file{n}.txt")))
                    .unwrap();
                let mut order = answered.subscribe();
                let _ = order.wait_for(|order| order.len() == READS - 1 - n).await;
                answered.send_modify(|order| order.push(n));
                Decision::allow()
            }
        });
    stage.run("go", options).await;
    assert_eq!(*answers.borrow(), [2, 1, 0]);
    let results = stage.results_in(2);
    assert_eq!(results.len(), READS);
    // They come in the order of the answers; the ids tell which is which.
    for result in &results {
        let n = result
            .tool_use_id
            .trim_start_matches("toolu_scripted_000")
            .parse::<usize>();
        assert!(
            result.text.contains(&format!("content {}", n.unwrap() - 1)),
            "{result:?}"
        );
    }
}

#[tokio::test]
async fn closing_denies_a_pending_call_and_nothing_runs() {
    let stage = one_command("touch made.txt");
    let waiting = watch::Sender::new(None);
    let handler = waiting.clone();
    let options = stage
        .options()
        .on_permission(move |request: PermissionRequest| {
            handler.send_replace(Some(request.withdrawn.clone()));
            pending::<Decision>()
        });
    let (client, mut messages) = stage.connect(options).await;
    client.send("go").await.unwrap();
    let mut waiting = waiting.subscribe();
    let open = waiting.wait_for(Option::is_some);
    let open = tokio::time::timeout(LIMIT * 3, open)
        .await
        .expect("nothing was asked");
    let withdrawn = open.unwrap().clone().unwrap();
    client.close().await.unwrap();
    assert!(withdrawn.is_cancelled());
    assert!(!stage.file("made.txt").exists());
    let result = next_result(&mut messages).await;
    assert_eq!(result.permission_denials.len(), 1);
}

#[tokio::test]
async fn accept_edits_lets_writes_in_the_project_pass_and_asks_for_the_rest() {
    let (place, elsewhere) = (Place::new(), Place::new());
    let scenario = Scenario::new()
        .turn(write(&place.file("inside.txt")))
        .turn(write(&elsewhere.file("outside.txt")))
        .turn(text("done"));
    let stage = Stage::new(scenario);
    let asked = Asked::default();
    let options = stage
        .options()
        .cwd(place.0.path())
        .permission_mode(PermissionMode::AcceptEdits)
        .on_permission(asked.answering(Decision::deny("no")));
    stage.run("go", options).await;
    assert!(place.file("inside.txt").exists());
    assert!(!elsewhere.file("outside.txt").exists());
    assert_eq!(asked.tools(), ["Write"]);
    assert_eq!(
        asked.all()[0].input["file_path"],
        json!(elsewhere.file("outside.txt"))
    );
}

#[tokio::test]
async fn plan_mode_and_dont_ask_mode_let_no_write_pass_unasked() {
    for mode in [PermissionMode::Plan, PermissionMode::DontAsk] {
        let place = Place::new();
        let stage = Stage::new(
            Scenario::new()
                .turn(write(&place.file("made.txt")))
                .turn(text("done")),
        );
        let options = stage
            .options()
            .cwd(place.0.path())
            .permission_mode(mode.clone());
        let outcome = stage.run("go", options).await;
        assert!(!place.file("made.txt").exists(), "{mode:?}");
        assert!(stage.result_in(2).is_error, "{mode:?}");
        assert_eq!(
            outcome.last().unwrap().permission_denials.len(),
            1,
            "{mode:?}"
        );
    }
}

#[tokio::test]
async fn the_mode_can_be_changed_between_turns() {
    let place = Place::new();
    let scenario = Scenario::new()
        .turn(write(&place.file("one.txt")))
        .turn(text("first"))
        .turn(write(&place.file("two.txt")))
        .turn(text("second"));
    let stage = Stage::new(scenario);
    let asked = Asked::default();
    let options = stage
        .options()
        .cwd(place.0.path())
        .on_permission(asked.answering(Decision::deny("no")));
    let (client, mut messages) = stage.connect(options).await;
    assert_eq!(
        client.hello().current_permission_mode,
        Some(PermissionMode::Default)
    );
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    assert_eq!(asked.tools(), ["Write"]);
    client
        .set_permission_mode(PermissionMode::AcceptEdits)
        .await
        .unwrap();
    client.send("again").await.unwrap();
    next_result(&mut messages).await;
    assert_eq!(asked.tools(), ["Write"], "nothing more is asked");
    assert!(!place.file("one.txt").exists());
    assert!(place.file("two.txt").exists());
    client.close().await.unwrap();
}

#[tokio::test]
async fn modes_that_cannot_be_had_are_refused_with_a_code() {
    let stage = Stage::new(Scenario::new());
    let (client, _messages) = stage.connect(stage.options()).await;
    let table = [
        (PermissionMode::BypassPermissions, "bypass_not_launched"),
        (PermissionMode::from("nonsense"), "invalid_mode"),
    ];
    for (mode, expect) in table {
        let error = client.set_permission_mode(mode).await.unwrap_err();
        let Error::Refused { code, .. } = error else {
            panic!("{error:?}")
        };
        assert_eq!(code.as_deref(), Some(expect));
    }
    client.close().await.unwrap();
}

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

#[tokio::test]
async fn bypassing_as_root_is_refused_before_anything_starts() {
    let stage = one_command("touch made.txt");
    let options = stage
        .options()
        .permission_mode(PermissionMode::BypassPermissions)
        .allow_dangerously_skip_permissions();
    match stage.try_run("go", options).await {
        Err(Error::InvalidOptions { problems }) if is_root() => {
            assert_eq!(*problems, [OptionProblem::BypassAsRoot]);
            assert!(stage.server.requests().is_empty());
        }
        Ok(_) if !is_root() => assert!(stage.file("made.txt").exists()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_cli_itself_refuses_to_bypass_as_root() {
    let stage = one_command("touch made.txt");
    // Our own check would catch the option, so it is slipped in behind our back.
    let wrapper = stage.file("claude");
    let cli = RealCli::find().unwrap();
    let cli = cli.path().display();
    script(
        &wrapper,
        &format!("exec '{cli}' \"$@\" --dangerously-skip-permissions"),
    );
    match stage
        .try_run("go", stage.options().executable(&wrapper))
        .await
    {
        Err(Error::Failed(failure)) if is_root() => {
            assert_eq!(
                failure.class,
                FailureClass::Startup("bypass_root".to_owned())
            );
            assert!(stage.server.requests().is_empty());
        }
        Ok(_) if !is_root() => assert!(stage.file("made.txt").exists()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn bypassing_in_a_declared_sandbox_asks_nothing() {
    let stage = one_command("touch made.txt");
    let asked = Asked::default();
    let options = stage
        .options()
        .env("IS_SANDBOX", "1")
        .permission_mode(PermissionMode::BypassPermissions)
        .allow_dangerously_skip_permissions()
        .on_permission(asked.answering(Decision::deny("no")));
    stage.run("go", options).await;
    assert!(stage.file("made.txt").exists());
    assert_eq!(asked.all(), []);
}

#[tokio::test]
async fn a_disallowed_tool_is_taken_away_and_a_disallowed_call_is_denied_unasked() {
    let scenario = Scenario::new()
        .turn(tool_use(
            "WebFetch",
            json!({ "url": "http://127.0.0.1:1/", "prompt": "x" }),
        ))
        .turn(bash("touch made.txt"))
        .turn(text("done"));
    let stage = Stage::new(scenario);
    let asked = Asked::default();
    let options = stage
        .options()
        .disallow_tools(["WebFetch", "Bash(touch:*)"])
        .on_permission(asked.answering(Decision::allow()));
    stage.run("go", options).await;
    let first = stage.server.messages()[0].model_request();
    assert!(!first.tool_names().contains(&"WebFetch"));
    assert!(first.tool_names().contains(&"Bash"));
    assert!(stage.result_in(2).is_error);
    assert!(stage.result_in(3).is_error);
    assert!(!stage.file("made.txt").exists());
    assert_eq!(asked.all(), []);
}

#[tokio::test]
async fn a_request_of_a_sub_agent_names_the_agent() {
    let agent = json!({
        "description": "make a file", "prompt": "make it",
        "subagent_type": "general-purpose", "run_in_background": false,
    });
    let scenario = Scenario::new()
        .turn(tool_use("Agent", agent))
        .turn(bash("touch made.txt"))
        .turn(text("made it"))
        .turn(text("done"));
    let stage = Stage::new(scenario);
    let asked = Asked::default();
    let options = stage
        .options()
        .on_permission(asked.answering(Decision::allow()));
    let outcome = stage.run("go", options).await;
    assert_eq!(outcome.text(), "done");
    assert_eq!(
        asked.tools(),
        ["Bash"],
        "the agent itself is not asked about"
    );
    assert!(asked.all()[0].agent_id.is_some());
    assert!(stage.file("made.txt").exists());
}

#[tokio::test]
async fn a_run_that_is_dropped_leaves_its_open_question_unanswered_and_nothing_runs() {
    let stage = one_command("touch made.txt");
    let waiting = watch::Sender::new(None);
    let handler = waiting.clone();
    let options = stage
        .options()
        .on_permission(move |request: PermissionRequest| {
            handler.send_replace(Some(request.withdrawn.clone()));
            pending::<Decision>()
        });
    let run = query("go", options).await.unwrap();
    let mut waiting = waiting.subscribe();
    let open = tokio::time::timeout(LIMIT * 3, waiting.wait_for(Option::is_some)).await;
    let withdrawn = open.expect("nothing was asked").unwrap().clone().unwrap();
    drop(run);
    let gone = tokio::time::timeout(LIMIT * 3, withdrawn.cancelled()).await;
    assert!(gone.is_ok(), "the handler is not told");
    assert!(!stage.file("made.txt").exists());
}
