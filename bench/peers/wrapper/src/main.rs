//! claude-wrapper through its normal public API: `stream_query` for reading,
//! `DuplexSession` where answers are needed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use bench_probe::{Report, Scenario};
use claude_wrapper::duplex::{
    DuplexOptions, DuplexSession, InboundEvent, PermissionDecision, PermissionHandler,
};
use claude_wrapper::streaming::{StreamEvent, stream_query};
use claude_wrapper::{Claude, OutputFormat, QueryCommand};
use tokio::sync::broadcast::error::RecvError;

#[tokio::main]
async fn main() {
    let report = match Scenario::from_arguments() {
        Scenario::Raw | Scenario::Typed | Scenario::Odd => read().await,
        Scenario::Permission => permission().await,
        Scenario::Hook => Report::unsupported("no hooks"),
        Scenario::Mcp => Report::unsupported("no in-process MCP tools"),
        Scenario::Hello => hello().await,
        Scenario::Slow => slow().await,
        Scenario::Drop => return drop_it().await,
    };
    report.print();
}

fn claude() -> Claude {
    Claude::builder()
        .binary(bench_probe::cli())
        .build()
        .expect("a client")
}

async fn read() -> Report {
    let started = Instant::now();
    let mut report = Report::default();
    let command = QueryCommand::new("go").output_format(OutputFormat::StreamJson);
    let outcome = stream_query(&claude(), &command, |event: StreamEvent| {
        // What follows the result is not part of what the others are timed for.
        if report.results == 0 {
            report.received += 1;
            report.assistants += usize::from(event.event_type() == Some("assistant"));
            report.results += usize::from(event.is_result());
        }
    })
    .await;
    if let Err(error) = outcome {
        report.errors += 1;
        report.note = error.to_string();
    }
    report.elapsed = started.elapsed();
    report
}

async fn session(calls: &Arc<AtomicUsize>) -> DuplexSession {
    let calls = Arc::clone(calls);
    let handler = PermissionHandler::new(move |_| {
        calls.fetch_add(1, Ordering::Relaxed);
        async {
            PermissionDecision::Allow {
                updated_input: None,
            }
        }
    });
    let options = DuplexOptions::default()
        .include_partial_messages()
        .on_permission(handler);
    DuplexSession::spawn(&claude(), options)
        .await
        .expect("a session")
}

async fn permission() -> Report {
    let started = Instant::now();
    let calls = Arc::new(AtomicUsize::new(0));
    let session = session(&calls).await;
    let mut report = Report::default();
    match session.send("go").await {
        Ok(turn) => {
            report.received = turn.events.len() + 1;
            report.results = 1;
        }
        Err(error) => report.note = error.to_string(),
    }
    report.calls = calls.load(Ordering::Relaxed);
    report.elapsed = started.elapsed();
    report
}

async fn hello() -> Report {
    let mut reports = Vec::new();
    for _ in 0..bench_probe::HELLOS {
        reports.push(read().await);
    }
    bench_probe::median(&reports)
}

/// The consumer is a subscriber: the one way to see events while a turn runs.
async fn slow() -> Report {
    let started = Instant::now();
    let calls = Arc::new(AtomicUsize::new(0));
    let session = Arc::new(session(&calls).await);
    let mut events = session.subscribe();
    let turn = tokio::spawn({
        let session = Arc::clone(&session);
        async move { session.send("go").await }
    });
    let mut report = Report::default();
    let _ = events.recv().await;
    report.received += 1;
    let before = bench_probe::resident_kb();
    tokio::time::sleep(bench_probe::NAP).await;
    report.nap_kb = Some((before, bench_probe::resident_kb()));
    let mut lagged = 0;
    while !turn.is_finished() || !events.is_empty() {
        match tokio::time::timeout(std::time::Duration::from_millis(100), events.recv()).await {
            Ok(Ok(InboundEvent::Other(_) | InboundEvent::SystemInit { .. })) => {
                report.received += 1
            }
            Ok(Ok(_)) => report.received += 1,
            Ok(Err(RecvError::Lagged(count))) => lagged += count,
            Ok(Err(RecvError::Closed)) => break,
            Err(_) => {}
        }
    }
    report.results = usize::from(turn.await.is_ok_and(|turn| turn.is_ok()));
    report.received += report.results;
    report.calls = calls.load(Ordering::Relaxed);
    if lagged > 0 {
        report.note = format!("lost {lagged}");
    }
    report.elapsed = started.elapsed();
    report
}

async fn drop_it() {
    let calls = Arc::new(AtomicUsize::new(0));
    let session = session(&calls).await;
    let mut events = session.subscribe();
    {
        let turn = session.send("go");
        tokio::pin!(turn);
        tokio::select! {
            _ = &mut turn => {}
            _ = events.recv() => {}
        }
    }
    let started = Instant::now();
    drop(session);
    tokio::task::spawn_blocking(move || bench_probe::dropped(started))
        .await
        .expect("the nap ends");
}
