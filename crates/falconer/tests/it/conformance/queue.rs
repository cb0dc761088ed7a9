//! Messages that are sent while the agent is at work.

use falconer::protocol::message::TerminalReason;
use falconer::{Message, Priority, Prompt};
use falconer_testkit::scenario::{Scenario, any, text, tool_use};

use super::evidence::{PATIENT, command, conversation, until, wait_for, wait_queued};
use super::{Stage, next_result};
use crate::scripted::LIMIT;

#[tokio::test]
async fn a_message_sent_while_text_streams_gets_a_turn_and_a_result_of_its_own() {
    let stage = Stage::new(
        Scenario::new()
            .turn(text("half ").hold("gate").text("done"))
            .turn(text("second")),
    );
    let (client, mut messages) = stage.connect(stage.options()).await;
    let first = client.send("one").await.unwrap();
    stage.server.wait_held("gate").await.unwrap();
    let second = client.send("two").await.unwrap();
    wait_queued(&mut messages, &second).await;
    stage.server.release("gate");
    let result = next_result(&mut messages).await;
    assert_eq!(result.text(), "half done");
    assert!(first.is_answered_by(&result) && !second.is_answered_by(&result));
    let result = next_result(&mut messages).await;
    assert_eq!(result.text(), "second");
    assert!(second.is_answered_by(&result) && !first.is_answered_by(&result));
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_message_sent_while_a_tool_runs_is_read_along_the_way() {
    let stage = Stage::new(
        Scenario::new()
            .turn(tool_use("Bash", command(PATIENT)))
            .turn(text("both")),
    );
    let (client, mut messages) = stage.connect(stage.options().allow_tools(["Bash"])).await;
    let first = client.send("wait").await.unwrap();
    until("the tool runs", || stage.file("started").exists()).await;
    let second = client.send("and hurry up").await.unwrap();
    wait_queued(&mut messages, &second).await;
    std::fs::write(stage.file("go"), "").unwrap();
    let result = next_result(&mut messages).await;
    assert!(
        first.is_answered_by(&result) && second.is_answered_by(&result),
        "{result:?}"
    );
    assert!(conversation(&stage.server.messages()[1]).contains("and hurry up"));
    tokio::time::timeout(LIMIT, client.idle())
        .await
        .expect("one result answers both");
    client.close().await.unwrap();
}

#[tokio::test]
async fn each_message_of_a_burst_is_answered_by_exactly_one_result() {
    let stage = Stage::new(Scenario::new().on(any()).always().reply(text("ok")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    let mut open = Vec::new();
    for prompt in ["one", "two", "three"] {
        open.push(client.send(prompt).await.unwrap());
    }
    let mut results = 0;
    while !open.is_empty() {
        let result = next_result(&mut messages).await;
        results += 1;
        let before = open.len();
        open.retain(|ticket| !ticket.is_answered_by(&result));
        assert!(open.len() < before, "a result for nobody: {result:?}");
    }
    tokio::time::timeout(LIMIT, client.idle())
        .await
        .expect("all are answered");
    assert_eq!(stage.server.messages().len(), results);
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_queued_message_can_be_taken_back_once() {
    let stage = Stage::new(Scenario::new().turn(text("half ").hold("gate").text("done")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("one").await.unwrap();
    stage.server.wait_held("gate").await.unwrap();
    let second = client.send("two").await.unwrap();
    wait_queued(&mut messages, &second).await;
    assert!(client.cancel_message(&second).await.unwrap());
    assert!(!client.cancel_message(&second).await.unwrap());
    stage.server.release("gate");
    let result = next_result(&mut messages).await;
    assert_eq!(result.text(), "half done");
    assert!(!second.is_answered_by(&result));
    tokio::time::timeout(LIMIT, client.idle())
        .await
        .expect("the other was taken back");
    assert_eq!(stage.server.messages().len(), 1);
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_message_of_priority_now_stops_the_turn_without_failing_it() {
    let stage = Stage::new(
        Scenario::new()
            .turn(text("half ").hold("gate").text("done"))
            .turn(text("at once")),
    );
    let (client, mut messages) = stage
        .connect(stage.options().include_partial_messages())
        .await;
    client.send("one").await.unwrap();
    // A turn without any text yet would be a failed one.
    wait_for(&mut messages, |message| match message {
        Message::StreamEvent(event) => event.text_delta().map(drop),
        _ => None,
    })
    .await;
    let urgent = client
        .send(Prompt::from("stop that").priority(Priority::Now))
        .await
        .unwrap();
    let result = next_result(&mut messages).await;
    assert!(result.is_success(), "{result:?}");
    assert_eq!(
        result.terminal_reason,
        Some(TerminalReason::AbortedStreaming)
    );
    let result = next_result(&mut messages).await;
    assert_eq!(result.text(), "at once");
    assert!(urgent.is_answered_by(&result));
    tokio::time::timeout(LIMIT, client.idle())
        .await
        .expect("nothing is left to do");
    client.close().await.unwrap();
}
