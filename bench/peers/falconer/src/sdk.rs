//! The scenarios on the SDK's public API, with `bench_probe::cli()` as the
//! executable.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use bench_probe::Report;
use falconer::protocol::hook::{HookEvent, HookOutput};
use falconer::{
    Client, Decision, Hook, Message, MessageKind, Options, Run, Tool, ToolServer, query,
};

use crate::RoundTrip;

fn options() -> Options {
    Options::new().executable(bench_probe::cli()).include_partial_messages()
}

fn with_permission(calls: &Arc<AtomicUsize>) -> Options {
    let calls = Arc::clone(calls);
    options().on_permission(move |_| {
        calls.fetch_add(1, Ordering::Relaxed);
        async { Decision::allow() }
    })
}

fn with_hook(calls: &Arc<AtomicUsize>) -> Options {
    let calls = Arc::clone(calls);
    options().hook(Hook::new(HookEvent::PreToolUse, move |_| {
        calls.fetch_add(1, Ordering::Relaxed);
        async { Ok(HookOutput::default()) }
    }))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

fn with_tool(calls: &Arc<AtomicUsize>) -> Options {
    let calls = Arc::clone(calls);
    let echo = Tool::new("echo", "says it again", move |echo: Echo| {
        calls.fetch_add(1, Ordering::Relaxed);
        async move { echo.text }
    });
    options().tool_server(ToolServer::new("bench").tool(echo))
}

/// Query, read to the result, touch only each message's type.
pub(crate) async fn run_mixed_raw() -> Report {
    let started = Instant::now();
    let mut report = Report::default();
    match query("go", options()).await {
        Ok(mut run) => read_raw(&mut run, &mut report).await,
        Err(error) => report.note = error.to_string(),
    }
    report.elapsed = started.elapsed();
    report
}

async fn read_raw(run: &mut Run, report: &mut Report) {
    while report.results == 0 {
        match run.next_raw().await {
            Some(Ok(message)) => {
                report.received += 1;
                report.assistants += usize::from(message.kind() == MessageKind::Assistant);
                report.results += usize::from(message.kind() == MessageKind::Result);
            }
            Some(Err(error)) => {
                report.errors += 1;
                report.note = error.to_string();
            }
            None => break,
        }
    }
}

/// Query, read to the result, decode every body.
pub(crate) async fn run_mixed_typed() -> Report {
    read(options()).await
}

/// Reads to the result, which stops the clock, and on to the end of the engine.
async fn read(options: Options) -> Report {
    let started = Instant::now();
    let mut report = Report::default();
    match query("go", options).await {
        Ok(mut run) => {
            read_typed(&mut run, &mut report).await;
            report.elapsed = started.elapsed();
            while run.next_raw().await.is_some() {}
        }
        Err(error) => report.note = error.to_string(),
    }
    report
}

async fn read_typed(run: &mut Run, report: &mut Report) {
    while report.results == 0 {
        let Some(message) = run.next().await else { break };
        match message {
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
}

/// Answers the requests of one kind until the result.
pub(crate) async fn run_rt(kind: RoundTrip) -> Report {
    let calls = Arc::new(AtomicUsize::new(0));
    let options = match kind {
        RoundTrip::Permission => with_permission(&calls),
        RoundTrip::Hook => with_hook(&calls),
        RoundTrip::Mcp => with_tool(&calls),
    };
    let mut report = read(options).await;
    report.calls = calls.load(Ordering::Relaxed);
    report
}

/// `bench_probe::HELLOS` queries one after the other.
pub(crate) async fn run_hello() -> Report {
    let mut reports = Vec::new();
    for _ in 0..bench_probe::HELLOS {
        reports.push(read(options()).await);
    }
    bench_probe::median(&reports)
}

/// Sleeps after the first message, then reads to the result.
pub(crate) async fn run_slow() -> Report {
    let calls = Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let mut report = Report::default();
    let mut run = query("go", with_permission(&calls)).await.expect("a query");
    run.next().await.expect("a first message").expect("a message");
    report.received = 1;
    let before = bench_probe::resident_kb();
    tokio::time::sleep(bench_probe::NAP).await;
    report.nap_kb = Some((before, bench_probe::resident_kb()));
    read_typed(&mut run, &mut report).await;
    report.calls = calls.load(Ordering::Relaxed);
    report.elapsed = started.elapsed();
    report
}

/// Reads one message, drops the conversation.
pub(crate) async fn run_drop() {
    let (client, mut messages) = Client::connect(options()).await.expect("a connection");
    client.send("go").await.expect("a query");
    messages.next().await.expect("a first message").expect("a message");
    let started = Instant::now();
    drop((client, messages));
    let waiting = tokio::task::spawn_blocking(move || bench_probe::dropped(started));
    waiting.await.expect("the nap ends");
}

/// Reads to the result, counting assistants, results and errors.
pub(crate) async fn run_odd() -> Report {
    read(options()).await
}
