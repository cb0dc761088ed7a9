//! What a trace shows of a run.

use std::io::Write;
use std::sync::{Arc, Mutex};

use falconer::protocol::hook::{HookEvent, HookOutput};
use falconer::{Decision, Hook, Options, Tool, ToolServer};
use serde_json::json;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::scripted::Scripted;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn run_turn_tool_permission_hook_and_mcp_call_are_spans() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_span_events(FmtSpan::CLOSE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _default = tracing::subscriber::set_default(subscriber);

    let options = Options::new()
        .on_permission(|_| async { Decision::allow() })
        .hook(Hook::new(HookEvent::PreToolUse, |_| async {
            Ok(HookOutput::default())
        }))
        .tool_server(ToolServer::new("t").tool(Tool::new("hi", "hi", |(): ()| async { "hi" })));
    let (client, messages, mut engine) = Scripted::connect(options).await;
    engine
        .say(&json!({ "type": "system", "subtype": "init", "session_id": "abc" }))
        .await;
    engine
        .say(&json!({ "type": "assistant", "message": { "content": [
            { "type": "tool_use", "id": "t1", "name": "Bash", "input": {} }] } }))
        .await;
    engine.ask_bash("q1", "ls").await;
    engine.answer_to("q1").await;
    engine
        .ask(
            "q2",
            &json!({ "subtype": "hook_callback", "callback_id": "hook_0",
            "input": { "hook_event_name": "PreToolUse", "tool_name": "Bash",
                       "tool_input": {}, "tool_use_id": "t1" } }),
        )
        .await;
    engine.answer_to("q2").await;
    engine
        .ask(
            "q3",
            &json!({ "subtype": "mcp_message", "server_name": "t", "message": {
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "hi" } } }),
        )
        .await;
    engine.answer_to("q3").await;
    engine
        .say(
            &json!({ "type": "user", "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "t1", "content": "ok" }] } }),
        )
        .await;
    engine.result("done", &[]).await;
    drop(engine);
    client.close().await.unwrap();
    drop((client, messages));
    // The run's span closes with its task.
    tokio::task::yield_now().await;

    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let closed: Vec<_> = text.lines().filter(|line| line.contains("close")).collect();
    for (path, field) in [
        ("run{session=\"abc\"}:turn:tool{name=\"Bash\"}", "tool"),
        (
            "run{session=\"abc\"}:permission{tool=\"Bash\"}",
            "permission",
        ),
        ("run{session=\"abc\"}:hook{event=\"PreToolUse\"}", "hook"),
        (
            "run{session=\"abc\"}:mcp_call{server=\"t\" tool=\"hi\"}",
            "mcp_call",
        ),
        ("run{session=\"abc\"}:turn:", "turn"),
        ("run{session=\"abc\"}:", "run"),
    ] {
        assert!(
            closed.iter().any(|line| line.contains(path)),
            "no span {field} in\n{text}"
        );
    }
}
