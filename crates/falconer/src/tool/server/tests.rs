//! The server over its JSON-RPC face.

use std::time::Duration;

use super::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

fn calc() -> Arc<ToolServer> {
    let add = |Add { a, b }: Add| async move { format!("{}", a + b) };
    let fail = |(): ()| async { Err::<String, _>("out of paper") };
    let panics = |_: Add| -> std::future::Ready<String> { panic!("no") };
    let hang = |_: Add| std::future::pending::<String>();
    let who = |call: crate::ToolCall<Add>| async move { call.tool_use_id.unwrap_or_default() };
    Arc::new(
        ToolServer::new("calc")
            .tool(Tool::new("add", "adds", add).read_only())
            .tool(Tool::new("fail", "fails", fail))
            .tool(Tool::new("panics", "panics", panics))
            .tool(Tool::new("hang", "hangs", hang).timeout(Duration::from_millis(1)))
            .tool(Tool::new("slow", "hangs longer", hang))
            .tool(Tool::with_call("who", "says its id", who)),
    )
}

/// What becomes of one of several equal calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Answered,
    Cancelled,
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        cases: 64, max_shrink_iters: 0, failure_persistence: None, ..Default::default()
    })]

    /// Equal calls of one tool, ended in any order: each gets its own answer, and is forgotten.
    #[test]
    fn equal_calls_keep_their_ids_in_whatever_order_they_end(
        fates in proptest::collection::vec(
            (proptest::prelude::any::<u16>(), proptest::bool::ANY), 1..8)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(end_in_order(&fates));
    }
}

async fn end_in_order(fates: &[(u16, bool)]) {
    let gates: Vec<_> = fates
        .iter()
        .map(|_| Arc::new(tokio::sync::Notify::new()))
        .collect();
    let held = gates.clone();
    let wait = move |call: crate::ToolCall<Add>| {
        let id = call.tool_use_id.unwrap_or_default();
        let gate = held[id.parse::<usize>().unwrap()].clone();
        async move {
            gate.notified().await;
            id
        }
    };
    let tool = Tool::with_call("wait", "waits", wait);
    let server = Arc::new(ToolServer::new("calc").tool(tool));
    let calls: Vec<_> = (0..fates.len())
        .map(|number| {
            let mut message = call("wait", &json!({ "a": 1, "b": 1 }));
            message["id"] = json!(number);
            message["params"]["_meta"]["claudecode/toolUseId"] = json!(number.to_string());
            let server = server.clone();
            tokio::spawn(async move { ask(&server, message).await })
        })
        .collect();
    while server.calls.lock().unwrap().len() < fates.len() {
        tokio::task::yield_now().await;
    }
    let mut order: Vec<(u16, usize, Fate)> = fates
        .iter()
        .enumerate()
        .map(|(number, fate)| {
            (
                fate.0,
                number,
                if fate.1 {
                    Fate::Answered
                } else {
                    Fate::Cancelled
                },
            )
        })
        .collect();
    order.sort_by_key(|(when, number, _)| (*when, *number));
    for (_, number, fate) in &order {
        match fate {
            Fate::Answered => gates[*number].notify_one(),
            Fate::Cancelled => server.cancel(Some(&json!({ "requestId": number }))),
        }
        tokio::task::yield_now().await;
    }
    for (number, running) in calls.into_iter().enumerate() {
        let ended = tokio::time::timeout(Duration::from_secs(30), running).await;
        let answer = ended.expect("it gets the answer of another").unwrap();
        let text = answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap_or_default();
        if fates[number].1 {
            assert_eq!(
                (&answer["id"], text),
                (&json!(number), number.to_string().as_str())
            );
        } else {
            assert!(
                answer["result"]["isError"] == true || answer.is_null(),
                "{answer}"
            );
        }
    }
    assert!(
        server.calls.lock().unwrap().is_empty(),
        "a call was not forgotten"
    );
}

/// Older engines do not say which call it is: it runs all the same, and has no id but a wrong one.
#[tokio::test]
async fn a_call_without_an_id_is_run_and_has_none() {
    let mut message = call("who", &json!({ "a": 1, "b": 1 }));
    message["params"].as_object_mut().unwrap().remove("_meta");
    let answer = ask(&calc(), message).await;
    assert_eq!(answer["result"]["content"][0]["text"], "", "{answer}");
    assert_ne!(answer["result"]["isError"], true, "{answer}");
}

async fn ask(server: &Arc<ToolServer>, message: Value) -> Value {
    server.clone().handle(message).await.unwrap_or(Value::Null)
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": name, "arguments": arguments, "_meta": { "claudecode/toolUseId": "toolu_1" } } })
}

#[tokio::test]
async fn every_way_a_call_can_end_is_an_answer_to_the_model() {
    let server = calc();
    let numbers = json!({ "a": 2, "b": 3 });
    let cases = [
        ("add", numbers.clone(), "5", false),
        (
            "add",
            json!({ "a": 2 }),
            "invalid arguments for `add`: missing field `b`",
            true,
        ),
        ("fail", json!({ "ignored": 1 }), "out of paper", true),
        ("panics", numbers.clone(), "tool `panics` panicked", true),
        (
            "hang",
            numbers.clone(),
            "tool `hang` did not finish within 1ms",
            true,
        ),
        ("who", numbers.clone(), "toolu_1", false),
    ];
    for (name, arguments, text, is_error) in cases {
        let result = &ask(&server, call(name, &arguments)).await["result"];
        let got = result["content"][0]["text"].as_str().unwrap_or_default();
        assert!(got.starts_with(text), "{name}: {got}");
        assert_eq!(
            result["isError"].as_bool().unwrap_or(false),
            is_error,
            "{name}"
        );
    }
    assert!(
        server.calls.lock().unwrap().is_empty(),
        "a call was not forgotten"
    );
}

#[tokio::test]
async fn handshake_echoes_a_known_version_and_lists_tools_with_schemas() {
    let server = calc();
    let hello = |version: &str| {
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
                "params": { "protocolVersion": version } })
    };
    for (asked, answered) in [("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")] {
        let reply = ask(&server, hello(asked)).await;
        assert_eq!(reply["result"]["protocolVersion"], answered);
        assert_eq!(reply["result"]["serverInfo"]["name"], "calc");
    }
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(server.clone().handle(ready).await, None);
    let list = ask(
        &server,
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }),
    )
    .await;
    let add = &list["result"]["tools"][0];
    assert_eq!(add["inputSchema"]["required"], json!(["a", "b"]));
    assert_eq!(add["annotations"]["readOnlyHint"], true);
    assert_eq!(list["result"]["tools"][1]["inputSchema"]["type"], "object");
}

#[tokio::test]
async fn unknown_methods_and_tools_are_rpc_errors() {
    let server = calc();
    let missing = ask(&server, call("nope", &json!({}))).await;
    assert_eq!(
        missing["error"]["message"],
        "server `calc` has no tool `nope`"
    );
    let odd = ask(
        &server,
        json!({ "jsonrpc": "2.0", "id": 1, "method": "odd/one" }),
    )
    .await;
    assert_eq!(odd["error"]["code"], METHOD_NOT_FOUND);
}

#[tokio::test]
async fn a_cancelled_call_ends_and_the_others_go_on() {
    let server = calc();
    let slow = tokio::spawn(
        server
            .clone()
            .handle(call("slow", &json!({ "a": 1, "b": 1 }))),
    );
    while server.calls.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                         "params": { "requestId": 7 } });
    assert_eq!(server.clone().handle(cancel).await, None);
    let reply = slow.await.unwrap().unwrap();
    assert_eq!(
        reply["result"]["content"][0]["text"],
        "tool `slow` was cancelled"
    );
}
