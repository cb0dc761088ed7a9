//! Interrupting a turn.

use falconer::protocol::message::TerminalReason;
use falconer::{Error, Failure, FailureClass, query};
use falconer_testkit::scenario::{Scenario, text, tool_use};

use super::evidence::{PATIENT, command, conversation, processes_in, until, wait_queued};
use super::{Stage, next_result};
use crate::scripted::LIMIT;

fn held() -> Scenario {
    Scenario::new().turn(text("half ").hold("gate").text("done"))
}

#[tokio::test]
async fn an_interrupt_in_mid_stream_aborts_the_turn_and_the_conversation_goes_on() {
    let stage = Stage::new(held().turn(text("sure")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    let first = client.send("one").await.unwrap();
    stage.server.wait_held("gate").await.unwrap();
    let answer = client.interrupt().await.unwrap();
    assert!(answer.still_queued.is_empty());
    let result = next_result(&mut messages).await;
    assert_eq!(
        result.terminal_reason,
        Some(TerminalReason::AbortedStreaming)
    );
    let failure = Failure::of(&result).unwrap();
    assert_eq!(failure.class, FailureClass::Aborted);
    assert!(!failure.is_retryable() && !failure.advice().is_empty());
    assert!(first.is_answered_by(&result));
    client.send("go on").await.unwrap();
    let result = next_result(&mut messages).await;
    assert_eq!(result.text(), "sure");
    assert!(conversation(&stage.server.messages()[1]).contains("one"));
    client.close().await.unwrap();
}

#[tokio::test]
async fn an_interrupt_ends_the_tool_that_runs() {
    let stage = Stage::new(
        Scenario::new()
            .turn(tool_use("Bash", command(PATIENT)))
            .turn(text("ok")),
    );
    let (client, mut messages) = stage.connect(stage.options().allow_tools(["Bash"])).await;
    client.send("wait").await.unwrap();
    until("the tool runs", || stage.file("started").exists()).await;
    client.interrupt().await.unwrap();
    let result = next_result(&mut messages).await;
    assert_eq!(result.terminal_reason, Some(TerminalReason::AbortedTools));
    assert_eq!(Failure::of(&result).unwrap().class, FailureClass::Aborted);
    let engine = client.pid().unwrap();
    until("the shell is gone", || {
        processes_in(stage.project()) == [engine]
    })
    .await;
    client.send("never mind").await.unwrap();
    assert_eq!(next_result(&mut messages).await.text(), "ok");
    client.close().await.unwrap();
}

#[tokio::test]
async fn an_interrupt_while_idle_changes_nothing() {
    let stage = Stage::new(Scenario::new().turn(text("one")).turn(text("two")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    assert!(client.interrupt().await.unwrap().still_queued.is_empty());
    for expected in ["one", "two"] {
        client.send("go").await.unwrap();
        assert_eq!(next_result(&mut messages).await.text(), expected);
        tokio::time::timeout(LIMIT, client.idle()).await.unwrap();
        assert!(client.interrupt().await.unwrap().still_queued.is_empty());
    }
    client.close().await.unwrap();
}

#[tokio::test]
async fn queued_messages_survive_an_interrupt_and_run_next() {
    let stage = Stage::new(held().turn(text("second")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("one").await.unwrap();
    stage.server.wait_held("gate").await.unwrap();
    let second = client.send("two").await.unwrap();
    wait_queued(&mut messages, &second).await;
    let answer = client.interrupt().await.unwrap();
    let queued: Vec<_> = answer
        .still_queued
        .iter()
        .map(|uuid| uuid.as_str())
        .collect();
    assert_eq!(queued, [second.uuid()]);
    let result = next_result(&mut messages).await;
    assert_eq!(Failure::of(&result).unwrap().class, FailureClass::Aborted);
    let result = next_result(&mut messages).await;
    assert_eq!(result.text(), "second");
    assert!(second.is_answered_by(&result));
    client.close().await.unwrap();
}

#[tokio::test]
async fn interrupting_all_takes_queued_messages_back() {
    let stage = Stage::new(held());
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("one").await.unwrap();
    stage.server.wait_held("gate").await.unwrap();
    let second = client.send("two").await.unwrap();
    wait_queued(&mut messages, &second).await;
    let answer = client.interrupt_all().await.unwrap();
    assert!(answer.still_queued.is_empty());
    let cancelled = answer.cancelled.unwrap();
    assert_eq!(
        cancelled
            .iter()
            .map(|uuid| uuid.as_str())
            .collect::<Vec<_>>(),
        [second.uuid()]
    );
    let result = next_result(&mut messages).await;
    assert_eq!(Failure::of(&result).unwrap().class, FailureClass::Aborted);
    tokio::time::timeout(LIMIT, client.idle())
        .await
        .expect("nothing is left to do");
    assert_eq!(stage.server.messages().len(), 1);
    client.close().await.unwrap();
}

#[tokio::test]
async fn an_interrupted_query_ends_with_a_typed_failure() {
    let stage = Stage::new(held());
    let run = query("one", stage.options()).await.unwrap();
    stage.server.wait_held("gate").await.unwrap();
    run.client().interrupt().await.unwrap();
    let outcome = tokio::time::timeout(LIMIT, run.outcome())
        .await
        .expect("the run hangs");
    let Err(Error::Failed(failure)) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(failure.class, FailureClass::Aborted);
}
