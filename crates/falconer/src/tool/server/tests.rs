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
