//! A whole session without a model, a key or a network: a fake engine plays the agent.
//!
//! `cargo run -p falconer --example offline`

use std::io::{IsTerminal, Write};

use falconer::protocol::content::ContentBlock;
use falconer::protocol::stream::{Delta, StreamEvent};
use falconer::{Decision, Message, Options, PermissionRequest, Tool, ToolServer, query};
use falconer_testkit::{EngineScript, FakeEngine};
use serde_json::{Value, json};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Weather {
    city: String,
}

#[expect(clippy::print_stdout, reason = "shows the session on the terminal")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let engine = FakeEngine::script(&script())?;
    let weather = Tool::new(
        "weather",
        "The weather in a city",
        |Weather { city }| async move { format!("sunny in {city}") },
    );
    let mut options = Options::new()
        .executable(engine.program())
        .include_partial_messages()
        .tool_server(ToolServer::new("sky").tool(weather))
        .on_permission(ask_on_the_terminal);
    for (name, value) in engine.env() {
        options = options.env(name, value);
    }

    let prompt = "Is it warm enough for a picnic? Write it down.";
    println!("you:   {prompt}\nagent:");
    let mut run = query(prompt, options).await?;
    while let Some(message) = run.next().await {
        show(&message?);
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "shows the session on the terminal")]
fn show(message: &Message) {
    match message {
        Message::StreamEvent(event) => {
            if let StreamEvent::ContentBlockDelta(delta) = &event.event
                && let Delta::Text(text) = &delta.delta
            {
                print!("{}", text.text);
                let _ = std::io::stdout().flush();
            }
        }
        Message::Assistant(answer) => {
            for call in answer
                .message
                .content
                .iter()
                .filter_map(ContentBlock::as_tool_use)
            {
                println!("\n  ▸ {} {}", call.name, call.input);
            }
        }
        Message::User(message) => {
            for result in message.tool_results() {
                println!(
                    "    {}",
                    serde_json::to_string(&result.content).unwrap_or_default()
                );
            }
        }
        Message::Result(result) => {
            let cost = result
                .total_cost_usd
                .as_ref()
                .map_or(0.0, |cost| cost.as_f64());
            println!(
                "\n\n{} turns, ${cost:.4}, session {}",
                result.num_turns.unwrap_or(0),
                result.session_id.as_ref().map_or("-", |id| id.as_str())
            );
        }
        _ => {}
    }
}

/// Asks a person; without a terminal there is nobody to ask, so the answer is no.
#[expect(clippy::print_stdout, reason = "shows the session on the terminal")]
async fn ask_on_the_terminal(request: PermissionRequest) -> Decision {
    let question = format!(
        "  ? allow {} {} [y/N] ",
        request.tool_name(),
        request.input()
    );
    if !std::io::stdin().is_terminal() {
        println!("{question}no terminal: denied");
        return Decision::deny("nobody is at the terminal");
    }
    let answer = tokio::task::spawn_blocking(move || {
        print!("{question}");
        let _ = std::io::stdout().flush();
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    })
    .await;
    match answer {
        Ok(Ok(line)) if line.trim().eq_ignore_ascii_case("y") => Decision::allow(),
        _ => Decision::deny("the user said no"),
    }
}

/// What the fake agent does: it speaks, calls our tool, asks to write a file, and is done.
fn script() -> EngineScript {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "weather", "arguments": { "city": "Vienna" } } });
    let file = json!({ "file_path": "picnic.txt", "content": "yes" });
    let mut script = EngineScript::new().initialize().on_user();
    for words in ["Let me ", "look at ", "the sky."] {
        script = script.emit(text_delta(words));
    }
    script
        .emit(tool_use("mcp__sky__weather", &json!({ "city": "Vienna" })))
        .ask_mcp("sky", call)
        .emit(tool_use("Write", &file))
        .ask_can_use_tool("Write", file)
        .emit(text_delta("\nIt is warm enough for a picnic."))
        .turn("It is warm enough for a picnic.")
}

fn text_delta(text: &str) -> Value {
    json!({ "type": "stream_event", "session_id": "offline", "event": {
        "type": "content_block_delta", "index": 0,
        "delta": { "type": "text_delta", "text": text } } })
}

fn tool_use(name: &str, input: &Value) -> Value {
    json!({ "type": "assistant", "session_id": "offline", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "fake",
        "content": [{ "type": "tool_use", "id": "toolu_1", "name": name, "input": input }] } })
}
