//! Long conversations: several prompts, interrupts, resuming, closing.

use std::time::Duration;

use falconer::{Client, EngineExit, Message, Messages, ResultMessage, query};
use falconer_native::Scenario;
use falconer_scenario::{hold, last_user_contains, text, tool_use};
use serde_json::json;
use tokio::time::timeout;

use crate::workplace::Workplace;

/// Long enough for a machine that is busy with other things.
const SOON: Duration = Duration::from_secs(60);

async fn result(messages: &mut Messages) -> ResultMessage {
    let next = async {
        while let Some(message) = messages.next().await {
            if let Message::Result(result) = message.unwrap() {
                return *result;
            }
        }
        panic!("no result");
    };
    timeout(SOON, next).await.unwrap()
}

#[tokio::test]
async fn a_conversation_goes_on_until_it_is_closed() {
    let place = Workplace::new();
    let scenario = Scenario::new().turn(text("one")).turn(text("two"));
    let (client, mut messages) = Client::connect(place.options(scenario)).await.unwrap();
    for (prompt, answer) in [("a", "one"), ("b", "two")] {
        let ticket = client.send(prompt).await.unwrap();
        let result = result(&mut messages).await;
        assert_eq!(result.result.as_deref(), Some(answer));
        assert!(ticket.is_answered_by(&result));
    }
    let closed = timeout(SOON, client.close()).await.unwrap().unwrap();
    assert_eq!(closed.exit, EngineExit::Code(0));
}

#[tokio::test]
async fn an_interrupt_ends_the_turn_and_not_the_session() {
    let place = Workplace::new();
    let scenario = Scenario::new()
        .on(last_user_contains("first"))
        .reply(tool_use(
            "Bash",
            json!({ "command": "echo begun > begun.txt; sleep 600" }),
        ))
        .on(last_user_contains("second"))
        .reply(text("still here"));
    let options = place.options(scenario).allow_tools(["Bash"]);
    let (client, mut messages) = Client::connect(options).await.unwrap();
    client.send("first").await.unwrap();
    let begun = async {
        while place.read("begun.txt").is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, begun).await.unwrap();
    client.interrupt().await.unwrap();
    assert!(result(&mut messages).await.is_error);
    client.send("second").await.unwrap();
    assert_eq!(
        result(&mut messages).await.result.as_deref(),
        Some("still here")
    );
    timeout(SOON, client.close()).await.unwrap().unwrap();
}

#[tokio::test]
async fn closing_does_not_wait_for_a_model_that_hangs() {
    let place = Workplace::new();
    let scenario = Scenario::new().turn(hold("never"));
    let options = place
        .options(scenario)
        .close_grace(Duration::from_millis(50));
    let (client, _messages) = Client::connect(options).await.unwrap();
    client.send("hi").await.unwrap();
    let closed = timeout(SOON, client.close()).await.unwrap().unwrap();
    assert_eq!(closed.exit, EngineExit::Code(143));
}

#[tokio::test]
async fn a_session_is_resumed_with_what_was_said() {
    let place = Workplace::new();
    let first = Scenario::new().turn(text("the word is heron"));
    let mut run = query("remember the word", place.options(first))
        .await
        .unwrap();
    let mut id = None;
    while let Some(message) = run.next().await {
        if let Message::Result(result) = message.unwrap() {
            id = result.session_id;
        }
    }
    let id = id.unwrap();
    // Matches only if the first answer is part of the conversation.
    let second = Scenario::new()
        .on(last_user_contains("which word"))
        .reply(text("heron"));
    let options = place.options(second).resume(id.as_str());
    let outcome = query("which word?", options)
        .await
        .unwrap()
        .outcome()
        .await
        .unwrap();
    assert_eq!(outcome.text(), "heron");
    let last = outcome.last().unwrap();
    assert_eq!(last.session_id.as_ref(), Some(&id));
}

#[tokio::test]
async fn the_model_and_the_mode_can_be_changed() {
    let place = Workplace::new();
    let scenario = Scenario::new().turn(text("ok"));
    let (client, _messages) = Client::connect(place.options(scenario)).await.unwrap();
    client
        .set_permission_mode(falconer::PermissionMode::Plan)
        .await
        .unwrap();
    client.set_model("sonnet").await.unwrap();
    timeout(SOON, client.close()).await.unwrap().unwrap();
}

/// Closing a session that has nothing to do is a matter of milliseconds. A busy machine may take
/// its time, but not for each of several; the limit is below the time after which a session is
/// ended by force.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_with_nothing_to_do_closes_at_once() {
    let hello = Scenario::new().turn(text("hello"));
    let command = json!({ "command": "echo hi", "description": "greet" });
    let shell = Scenario::new()
        .turn(tool_use("Bash", command))
        .turn(text("done"));
    for (state, scenario, prompts) in [
        ("new", hello.clone(), 0),
        ("answered", hello, 1),
        ("after a command", shell, 1),
    ] {
        let mut fastest = Duration::MAX;
        for _ in 0..3 {
            let place = Workplace::new();
            let options = place.options(scenario.clone());
            let (client, mut messages) = Client::connect(options).await.unwrap();
            for _ in 0..prompts {
                client.send("go").await.unwrap();
                result(&mut messages).await;
            }
            let begun = std::time::Instant::now();
            let closed = timeout(SOON, client.close()).await.unwrap().unwrap();
            assert_eq!(closed.exit, EngineExit::Code(0), "{state}");
            fastest = fastest.min(begun.elapsed());
        }
        assert!(fastest < Duration::from_secs(1), "{state}: {fastest:?}");
    }
}
