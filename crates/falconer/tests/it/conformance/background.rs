//! Work that outlives its turn: background shells and sub-agents.

use std::time::Duration;

use falconer::protocol::agent::AgentDefinition;
use falconer::protocol::message::MessageOrigin;
use falconer::protocol::system::{SessionState, SystemMessage};
use falconer::{Decision, Message, Options, query};
use falconer_testkit::scenario::{Scenario, any, system_contains, text, tool_use};
use serde_json::{Value, json};

use super::evidence::{PATIENT, command, processes_in, until, wait_for};
use super::{Stage, next_result};
use crate::scripted::LIMIT;

fn background_shell() -> Value {
    json!({ "command": PATIENT, "description": "wait", "run_in_background": true })
}

fn agent_call(background: bool) -> Value {
    json!({ "description": "look around", "prompt": "look around", "subagent_type": "scout",
            "run_in_background": background })
}

fn with_scout(options: Options) -> Options {
    let scout = json!({ "description": "a scout", "prompt": "YOU-ARE-THE-SCOUT" });
    let scout: AgentDefinition = serde_json::from_value(scout).unwrap();
    options.agent("scout", scout).allow_tools(["Bash"])
}

fn is_of_task(origin: Option<&MessageOrigin>) -> bool {
    origin.is_some_and(MessageOrigin::is_task_notification)
}

#[tokio::test]
async fn a_query_with_a_background_shell_has_two_results_and_ends_after_both() {
    let scenario = Scenario::new()
        .turn(tool_use("Bash", background_shell()))
        .turn(text("it runs"))
        .turn(text("it has ended"));
    let stage = Stage::new(scenario);
    let mut run = query("go", stage.options().allow_tools(["Bash"]))
        .await
        .unwrap();
    let reading = async {
        let mut results = Vec::new();
        while let Some(message) = run.next().await {
            if let Message::Result(result) = message.unwrap() {
                results.push(result);
                // Only now may the shell end: the run has had a result and must go on.
                std::fs::write(stage.file("go"), "").unwrap();
            }
        }
        results
    };
    let results = tokio::time::timeout(LIMIT * 3, reading)
        .await
        .expect("the run hangs");
    let texts: Vec<_> = results.iter().map(|result| result.text()).collect();
    assert_eq!(texts, ["it runs", "it has ended"]);
    assert!(!is_of_task(results[0].origin.as_ref()) && is_of_task(results[1].origin.as_ref()));
    assert_eq!(stage.server.unmatched(), Vec::<String>::new());
}

#[tokio::test]
async fn the_turn_of_a_background_shell_can_still_ask_for_permission() {
    let scenario = Scenario::new()
        .turn(tool_use("Bash", background_shell()))
        .turn(text("it runs"))
        .turn(tool_use("Bash", command("touch afterwards.txt")))
        .turn(text("it has ended"));
    let stage = Stage::new(scenario);
    let options = stage
        .options()
        .on_permission(|_| async { Decision::allow() });
    let mut run = query("go", options).await.unwrap();
    let reading = async {
        while let Some(message) = run.next().await {
            if let Message::System(SystemMessage::SessionStateChanged(line)) = message.unwrap()
                && line.state == SessionState::Idle
            {
                // The engine calls itself idle while the shell runs.
                std::fs::write(stage.file("go"), "").unwrap();
            }
        }
    };
    tokio::time::timeout(LIMIT * 3, reading)
        .await
        .expect("the run hangs");
    assert!(
        stage.file("afterwards.txt").exists(),
        "the input was closed too early"
    );
    assert_eq!(stage.server.unused_rules(), Vec::<usize>::new());
}

#[tokio::test]
async fn a_background_shell_that_never_ends_is_ended_at_the_ceiling() {
    let scenario = Scenario::new()
        .turn(tool_use("Bash", background_shell()))
        .turn(text("it runs"));
    let stage = Stage::new(scenario);
    let options = stage
        .options()
        .allow_tools(["Bash"])
        .idle_ceiling(Duration::from_millis(500))
        .close_grace(Duration::from_millis(500));
    let outcome = stage.run("go", options).await;
    assert_eq!(outcome.text(), "it runs");
    assert_eq!(processes_in(stage.project()), Vec::<u32>::new());
}

#[tokio::test]
async fn a_query_with_a_background_agent_has_two_results_and_ends_after_both() {
    let scenario = Scenario::new()
        .on(system_contains("YOU-ARE-THE-SCOUT"))
        .reply(text("I see ").hold("scout").text("land"))
        .turn(tool_use("Agent", agent_call(true)))
        .on(any())
        .reply(text("the scout is out"))
        .on(any())
        .reply(text("the scout is back"));
    let stage = Stage::new(scenario);
    let mut run = query("go", with_scout(stage.options())).await.unwrap();
    let reading = async {
        let mut results = Vec::new();
        while let Some(message) = run.next().await {
            if let Message::Result(result) = message.unwrap() {
                results.push(result);
                stage.server.release("scout");
            }
        }
        results
    };
    let results = tokio::time::timeout(LIMIT * 3, reading)
        .await
        .expect("the run hangs");
    let texts: Vec<_> = results.iter().map(|result| result.text()).collect();
    assert_eq!(texts, ["the scout is out", "the scout is back"]);
    assert!(is_of_task(results[1].origin.as_ref()));
    assert_eq!(stage.server.unmatched(), Vec::<String>::new());
}

#[tokio::test]
async fn messages_of_a_sub_agent_name_the_call_that_started_it() {
    let scenario = Scenario::new()
        .on(system_contains("YOU-ARE-THE-SCOUT"))
        .reply(tool_use(
            "Bash",
            json!({ "command": "echo land", "description": "look" }),
        ))
        .on(system_contains("YOU-ARE-THE-SCOUT"))
        .reply(text("land in sight"))
        .on(any())
        .reply(falconer_testkit::scenario::message().tool_use_as(
            "toolu_scout",
            "Agent",
            agent_call(false),
        ))
        .on(any())
        .reply(text("done"));
    let stage = Stage::new(scenario);
    let options = with_scout(stage.options()).forward_subagent_text();
    let messages = stage.all_messages("go", options).await;
    let of_scout: Vec<_> = messages
        .iter()
        .filter(|message| message.parent_tool_use_id() == Some("toolu_scout"))
        .collect();
    let called = |message: &&Message| match message {
        Message::Assistant(answer) => answer.tool_uses().any(|call| call.name == "Bash"),
        _ => false,
    };
    let answered = |message: &&Message| match message {
        Message::User(user) => user.tool_results().next().is_some(),
        _ => false,
    };
    let said = |message: &&Message| match message {
        Message::Assistant(answer) => answer.text() == "land in sight",
        _ => false,
    };
    assert!(of_scout.iter().any(called), "{of_scout:?}");
    assert!(of_scout.iter().any(answered), "{of_scout:?}");
    assert!(of_scout.iter().any(said), "{of_scout:?}");
    let results = messages
        .iter()
        .filter(|message| matches!(message, Message::Result(_)));
    assert_eq!(
        results.count(),
        1,
        "a sub-agent in front has no result of its own"
    );
}

#[tokio::test]
async fn a_background_task_can_be_stopped() {
    let scenario = Scenario::new()
        .turn(tool_use("Bash", background_shell()))
        .turn(text("it runs"))
        .on(any())
        .always()
        .reply(text("it was stopped"));
    let stage = Stage::new(scenario);
    let (client, mut messages) = stage.connect(stage.options().allow_tools(["Bash"])).await;
    client.send("go").await.unwrap();
    assert_eq!(next_result(&mut messages).await.text(), "it runs");
    until("the shell runs", || stage.file("started").exists()).await;
    let tasks = client.background_tasks();
    assert_eq!(tasks.len(), 1);
    client.stop_task(tasks[0].as_str()).await.unwrap();
    let status = wait_for(&mut messages, |message| match message {
        Message::System(SystemMessage::TaskNotification(note)) => Some(note.status.clone()),
        _ => None,
    })
    .await;
    assert_eq!(status.as_str(), "stopped");
    tokio::time::timeout(LIMIT, client.idle())
        .await
        .expect("nothing is left to do");
    assert!(client.background_tasks().is_empty());
    let engine = client.pid().unwrap();
    until("the shell is gone", || {
        processes_in(stage.project()) == [engine]
    })
    .await;
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_client_is_idle_only_after_the_turn_of_the_background_task() {
    let scenario = Scenario::new()
        .turn(tool_use("Bash", background_shell()))
        .turn(text("it runs"))
        .turn(text("it has ended"));
    let stage = Stage::new(scenario);
    let (client, mut messages) = stage.connect(stage.options().allow_tools(["Bash"])).await;
    client.send("go").await.unwrap();
    assert_eq!(next_result(&mut messages).await.text(), "it runs");
    let idle = client.idle();
    tokio::pin!(idle);
    assert!(futures_util::poll!(&mut idle).is_pending(), "a task runs");
    assert_eq!(client.background_tasks().len(), 1);
    std::fs::write(stage.file("go"), "").unwrap();
    tokio::time::timeout(LIMIT * 3, idle)
        .await
        .expect("never idle");
    assert_eq!(
        stage.server.messages().len(),
        3,
        "the task's own turn has been played"
    );
    let result = next_result(&mut messages).await;
    assert_eq!(result.text(), "it has ended");
    assert!(is_of_task(result.origin.as_ref()));
    client.close().await.unwrap();
}

#[tokio::test]
async fn an_interrupt_takes_background_agents_along_unless_told_otherwise() {
    for (spared, left) in [(false, 0), (true, 1)] {
        let scenario = Scenario::new()
            .on(system_contains("YOU-ARE-THE-SCOUT"))
            .reply(text("I see ").hold("scout").text("land"))
            .turn(tool_use("Agent", agent_call(true)))
            .on(any())
            .reply(text("the scout ").hold("main").text("is out"))
            .on(any())
            .always()
            .reply(text("the scout is back"));
        let stage = Stage::new(scenario);
        let mut options = with_scout(stage.options());
        if spared {
            options = options.per_task_stop();
        }
        let (client, mut messages) = stage.connect(options).await;
        client.send("go").await.unwrap();
        stage.server.wait_held("main").await.unwrap();
        stage.server.wait_held("scout").await.unwrap();
        client.interrupt().await.unwrap();
        assert!(next_result(&mut messages).await.is_error);
        until("the tasks are as they should be", || {
            client.background_tasks().len() == left
        })
        .await;
        stage.server.release("scout");
        tokio::time::timeout(LIMIT, client.idle())
            .await
            .expect("never idle");
        assert!(client.background_tasks().is_empty());
        client.close().await.unwrap();
    }
}
