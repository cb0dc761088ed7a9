//! claude-codes through its normal public API: the caller writes the loop.

use std::time::Instant;

use bench_probe::{Report, Scenario};
use claude_codes::io::ControlResponse;
use claude_codes::{AsyncClient, ClaudeCliBuilder, ClaudeOutput, ControlRequestPayload};

#[tokio::main]
async fn main() {
    let report = match Scenario::from_arguments() {
        Scenario::Raw | Scenario::Typed | Scenario::Odd | Scenario::Permission | Scenario::Hook => {
            read().await
        }
        Scenario::Mcp => Report::unsupported("no in-process MCP tools"),
        Scenario::Hello => hello().await,
        Scenario::Slow => slow().await,
        Scenario::Drop => return drop_it().await,
    };
    report.print();
}

async fn start() -> AsyncClient {
    let builder = ClaudeCliBuilder::new()
        .command(bench_probe::cli())
        .permission_prompt_tool("stdio");
    let mut client = AsyncClient::from_builder(builder)
        .await
        .expect("the fake CLI starts");
    let input = claude_codes::ClaudeInput::user_message(
        "go",
        "7118af4b-7da1-4b60-8bab-0d198b70217e"
            .parse()
            .expect("an id"),
    );
    client.enable_tool_approval().await.expect("a handshake");
    client.send(&input).await.expect("a prompt");
    client
}

async fn read() -> Report {
    let started = Instant::now();
    let mut client = start().await;
    let mut report = Report::default();
    read_on(&mut client, &mut report).await;
    report.elapsed = started.elapsed();
    report
}

async fn read_on(client: &mut AsyncClient, report: &mut Report) {
    while report.results == 0 {
        let output = match client.receive().await {
            Ok(output) => output,
            Err(claude_codes::Error::ConnectionClosed) => break,
            Err(error) => {
                report.errors += 1;
                report.note = error.to_string();
                if report.errors > 100 {
                    break;
                }
                continue;
            }
        };
        take(client, report, output).await;
    }
}

async fn take(client: &mut AsyncClient, report: &mut Report, output: ClaudeOutput) {
    if let ClaudeOutput::ControlRequest(request) = &output {
        let answer = match &request.request {
            ControlRequestPayload::CanUseTool(permission) => permission.allow(&request.request_id),
            ControlRequestPayload::HookCallback(_) => {
                ControlResponse::success(&request.request_id, serde_json::json!({}))
            }
            _ => ControlResponse::error(&request.request_id, "not supported"),
        };
        report.calls += 1;
        client
            .send_control_response(answer)
            .await
            .expect("an answer");
        return;
    }
    report.received += 1;
    report.assistants += usize::from(matches!(output, ClaudeOutput::Assistant(_)));
    report.results += usize::from(matches!(output, ClaudeOutput::Result(_)));
}

async fn hello() -> Report {
    let mut reports = Vec::new();
    for _ in 0..bench_probe::HELLOS {
        reports.push(read().await);
    }
    bench_probe::median(&reports)
}

async fn slow() -> Report {
    let started = Instant::now();
    let mut client = start().await;
    let mut report = Report::default();
    let first = client.receive().await.expect("a first message");
    take(&mut client, &mut report, first).await;
    let before = bench_probe::resident_kb();
    tokio::time::sleep(bench_probe::NAP).await;
    report.nap_kb = Some((before, bench_probe::resident_kb()));
    read_on(&mut client, &mut report).await;
    report.elapsed = started.elapsed();
    report
}

async fn drop_it() {
    let mut client = start().await;
    client.receive().await.expect("a first message");
    let started = Instant::now();
    drop(client);
    tokio::task::spawn_blocking(move || bench_probe::dropped(started))
        .await
        .expect("the nap ends");
}
