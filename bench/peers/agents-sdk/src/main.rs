//! claude-agents-sdk through its normal public API.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use bench_probe::{Report, Scenario};
use claude_agents_sdk::{
    ClaudeAgentOptions, ClaudeClient, HookEvent, HookMatcher, HookOutput, Message,
    PermissionResult, SyncHookOutput, query,
};
use tokio_stream::StreamExt as _;

#[tokio::main]
async fn main() {
    let calls = Arc::new(AtomicUsize::new(0));
    let mut report = match Scenario::from_arguments() {
        Scenario::Raw | Scenario::Typed | Scenario::Odd => read(options()).await,
        Scenario::Permission => read(with_permission(options(), &calls)).await,
        Scenario::Hook => read(with_hook(options(), &calls)).await,
        Scenario::Mcp => Report::unsupported("no in-process MCP tools"),
        Scenario::Hello => hello().await,
        Scenario::Slow => slow(with_permission(options(), &calls)).await,
        Scenario::Drop => return drop_it().await,
    };
    report.calls = calls.load(Ordering::Relaxed);
    report.print();
}

fn options() -> ClaudeAgentOptions {
    let mut options = ClaudeAgentOptions::new();
    options.cli_path = Some(bench_probe::cli().into());
    options.include_partial_messages = true;
    options
}

fn with_permission(
    mut options: ClaudeAgentOptions,
    calls: &Arc<AtomicUsize>,
) -> ClaudeAgentOptions {
    let calls = Arc::clone(calls);
    options.can_use_tool = Some(Arc::new(move |_, _, _| {
        calls.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { PermissionResult::allow() })
    }));
    options
}

fn with_hook(mut options: ClaudeAgentOptions, calls: &Arc<AtomicUsize>) -> ClaudeAgentOptions {
    let calls = Arc::clone(calls);
    let matcher = HookMatcher {
        matcher: None,
        hooks: vec![Arc::new(move |_, _, _| {
            calls.fetch_add(1, Ordering::Relaxed);
            Box::pin(async { HookOutput::Sync(SyncHookOutput::default()) })
        })],
        timeout: None,
    };
    options.hooks = Some(HashMap::from([(HookEvent::PreToolUse, vec![matcher])]));
    options
}

async fn read(options: ClaudeAgentOptions) -> Report {
    let started = Instant::now();
    let mut report = Report::default();
    match query("go", Some(options)).await {
        Ok(mut stream) => {
            while report.results == 0 {
                let Some(item) = stream.next().await else {
                    break;
                };
                count(&mut report, item);
            }
        }
        Err(error) => report.note = error.to_string(),
    }
    report.elapsed = started.elapsed();
    report
}

fn count(report: &mut Report, item: claude_agents_sdk::Result<Message>) {
    match item {
        Ok(message) => {
            report.received += 1;
            report.assistants += usize::from(matches!(message, Message::Assistant(_)));
            report.results += usize::from(matches!(message, Message::Result(_)));
        }
        Err(error) => {
            report.errors += 1;
            report.note = error.to_string();
        }
    }
}

async fn hello() -> Report {
    let mut reports = Vec::new();
    for _ in 0..bench_probe::HELLOS {
        reports.push(read(options()).await);
    }
    bench_probe::median(&reports)
}

async fn slow(options: ClaudeAgentOptions) -> Report {
    let started = Instant::now();
    let mut report = Report::default();
    let mut stream = query("go", Some(options)).await.expect("a query");
    let first = stream.next().await.expect("a first message");
    count(&mut report, first);
    let before = bench_probe::resident_kb();
    tokio::time::sleep(bench_probe::NAP).await;
    report.nap_kb = Some((before, bench_probe::resident_kb()));
    while report.results == 0 {
        let Some(item) = stream.next().await else {
            break;
        };
        count(&mut report, item);
    }
    report.elapsed = started.elapsed();
    report
}

async fn drop_it() {
    let mut client = ClaudeClient::new(Some(options()));
    client.connect().await.expect("a connection");
    client.query("go").await.expect("a query");
    {
        let mut stream = client.receive_messages();
        stream
            .next()
            .await
            .expect("a first message")
            .expect("a message");
    }
    let started = Instant::now();
    drop(client);
    let handle = tokio::task::spawn_blocking(move || bench_probe::dropped(started));
    handle.await.expect("the nap ends");
}
