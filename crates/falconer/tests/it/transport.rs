//! An engine as a child process: lines both ways, stderr, and its end.

use std::future::poll_fn;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use falconer::{Ending, EngineExit, Error, Inbound, Link, SpawnError, Subprocess, Transport};
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(20);

/// It has closed its output, or will: no signal is needed.
const PATIENTLY: Ending = Ending::AfterInput {
    input: LIMIT,
    term: LIMIT,
};

/// `sh -c script`.
fn shell(script: &str) -> Subprocess {
    let mut process = Subprocess::new("/bin/sh");
    process.args = vec!["-c".into(), script.into()];
    process.env = vec![("PATH".into(), std::env::var_os("PATH").unwrap())];
    process
}

async fn open(process: Subprocess) -> Link {
    Box::new(process).open().await.unwrap()
}

async fn send(link: &mut Link, line: impl Into<Bytes>) {
    let mut line = line.into();
    let sent = poll_fn(|cx| link.sink.poll_send(cx, &mut line));
    tokio::time::timeout(LIMIT, sent).await.unwrap().unwrap();
    assert!(line.is_empty());
}

async fn close(link: &mut Link) {
    poll_fn(|cx| link.sink.poll_close(cx)).await.unwrap();
}

async fn next(link: &mut Link) -> Option<Inbound> {
    let next = poll_fn(|cx| link.source.poll_lines(cx));
    tokio::time::timeout(LIMIT, next)
        .await
        .unwrap()
        .map(Result::unwrap)
}

/// Everything until the end of output, a skipped line as `skipped LENGTH`.
async fn rest(link: &mut Link) -> String {
    let mut text = String::new();
    while let Some(inbound) = next(link).await {
        match inbound {
            Inbound::Lines(lines) => text += std::str::from_utf8(&lines).unwrap(),
            Inbound::Skipped(skipped) => text += &format!("skipped {}\n", skipped.length),
            other => panic!("{other:?}"),
        }
    }
    text
}

async fn end(link: &Link, ending: Ending) -> EngineExit {
    tokio::time::timeout(LIMIT, link.engine.end(ending))
        .await
        .unwrap()
}

/// The living processes that have `directory` as working directory.
fn processes_in(directory: &Path) -> Vec<u32> {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == directory)
        })
        .collect()
}

async fn until(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + limit;
    while !condition() {
        assert!(Instant::now() < deadline, "gave up waiting until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn lines_come_back_from_an_echo() {
    let mut link = open(shell("exec cat")).await;
    assert!(link.engine.pid().is_some());
    send(&mut link, "one\n").await;
    assert!(matches!(next(&mut link).await, Some(Inbound::Lines(lines)) if lines == "one\n"));
    send(&mut link, "two\n\nthree\r\n").await;
    close(&mut link).await;
    assert_eq!(rest(&mut link).await, "two\n\nthree\r\n");
    assert_eq!(end(&link, PATIENTLY).await, EngineExit::Code(0));
}

#[tokio::test]
async fn sending_after_the_input_was_closed_is_an_error() {
    let mut link = open(shell("exec cat")).await;
    close(&mut link).await;
    let mut line = Bytes::from("late\n");
    let error = poll_fn(|cx| link.sink.poll_send(cx, &mut line))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn a_last_line_without_newline_is_taken() {
    let mut link = open(shell("echo one; printf two")).await;
    assert_eq!(rest(&mut link).await, "one\ntwo");
}

#[tokio::test]
async fn a_huge_line_comes_through_whole() {
    let mut link = open(shell(
        "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo after",
    ))
    .await;
    let text = rest(&mut link).await;
    assert_eq!(text.len(), 20_000_000 + "\nafter\n".len());
    assert!(text.ends_with("x\nafter\n"));
}

#[tokio::test]
async fn a_line_over_the_limit_is_skipped_and_the_next_is_read() {
    let script = "echo before; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after";
    let mut process = shell(script);
    process.line_limit = 1_000_000;
    let mut link = open(process).await;
    assert_eq!(rest(&mut link).await, "before\nskipped 3000000\nafter\n");
}

#[tokio::test]
async fn stderr_is_complete_when_the_end_is_reported() {
    let seen = Arc::new(Mutex::new(0));
    let count = Arc::clone(&seen);
    let mut process = shell("for i in $(seq 1 5000); do echo \"line $i\" >&2; done; exit 3");
    process.stderr_lines = 2;
    process.on_stderr = Some(Arc::new(move |_| *count.lock().unwrap() += 1));
    let link = open(process).await;
    assert_eq!(end(&link, PATIENTLY).await, EngineExit::Code(3));
    assert_eq!(link.engine.stderr_tail(), ["line 4999", "line 5000"]);
    assert_eq!(*seen.lock().unwrap(), 5000);
}

#[tokio::test]
async fn exit_codes_and_signals_are_reported() {
    let now = Ending::Now {
        term: Duration::ZERO,
    };
    let term = Ending::Now { term: LIMIT };
    let cases = [
        ("exit 0", PATIENTLY, EngineExit::Code(0)),
        ("exit 143", PATIENTLY, EngineExit::Code(143)),
        ("kill -SEGV $$", PATIENTLY, EngineExit::Signal(11)),
        ("exec sleep 1000", term, EngineExit::Signal(15)),
        ("exec sleep 1000", now, EngineExit::Signal(9)),
    ];
    for (script, ending, expected) in cases {
        let link = open(shell(script)).await;
        assert_eq!(end(&link, ending).await, expected, "{script}");
        // It may be asked again.
        assert_eq!(end(&link, PATIENTLY).await, expected, "{script}");
    }
}

#[tokio::test]
async fn an_engine_that_ignores_the_end_of_input_is_terminated() {
    let mut link = open(shell(
        "trap 'exit 5' TERM; echo up; while :; do sleep 0.01; done",
    ))
    .await;
    assert!(next(&mut link).await.is_some());
    close(&mut link).await;
    let ending = Ending::AfterInput {
        input: Duration::from_millis(50),
        term: LIMIT,
    };
    assert_eq!(end(&link, ending).await, EngineExit::Code(5));
}

#[tokio::test]
async fn somebody_who_got_away_does_not_keep_the_output_open() {
    let directory = TempDir::new().unwrap();
    // Without environment and ancestors nothing connects it with the engine. It ends with its
    // directory.
    let mut process = shell(
        "(setsid env -i sh -c ': >here; while [ -e here ]; do sleep 0.01; done' &); \
         until [ -e here ]; do sleep 0.01; done; \
         echo last words; echo complaint >&2; exit 5",
    );
    process.cwd = Some(directory.path().to_owned());
    let mut link = open(process).await;
    assert_eq!(rest(&mut link).await, "last words\n");
    assert_eq!(end(&link, PATIENTLY).await, EngineExit::Code(5));
    assert_eq!(link.engine.stderr_tail(), ["complaint"]);
}

#[tokio::test]
async fn dropping_in_mid_stream_kills_the_tree() {
    let directory = TempDir::new().unwrap();
    let mut process = shell(
        "setsid sleep 1000 & (setsid sleep 1000 &); \
         while :; do echo line; done",
    );
    process.cwd = Some(directory.path().to_owned());
    let mut link = open(process).await;
    assert!(next(&mut link).await.is_some());
    until("the tree is there", LIMIT, || {
        processes_in(directory.path()).len() >= 3
    })
    .await;
    drop(link);
    let gone = || processes_in(directory.path()).is_empty();
    until("the tree is gone", Duration::from_secs(1), gone).await;
}

#[tokio::test]
async fn dropping_the_opening_leaves_nothing() {
    let directory = TempDir::new().unwrap();
    for _ in 0..10 {
        let mut process = shell("exec sleep 1000");
        process.cwd = Some(directory.path().to_owned());
        let mut opening = Box::new(process).open();
        let waker = std::task::Waker::noop();
        let _ = opening
            .as_mut()
            .poll(&mut std::task::Context::from_waker(waker));
    }
    // Starts in order, so those before have been started too.
    drop(open(shell("true")).await);
    until("nothing is left", LIMIT, || {
        processes_in(directory.path()).is_empty()
    })
    .await;
}

#[tokio::test]
async fn a_big_line_to_a_slow_reader_does_not_block_the_runtime() {
    const SIZE: usize = 40_000_000;
    let directory = TempDir::new().unwrap();
    // Gives up after a while, so that a runtime that is blocked does not hang the test.
    let script = "i=0; while [ ! -e go ] && [ $i -lt 1000 ]; do i=$((i + 1)); sleep 0.01; done; \
                  [ -e go ] && wc -c";
    let mut process = shell(script);
    process.cwd = Some(directory.path().to_owned());
    let mut link = open(process).await;
    let line = [vec![b'x'; SIZE], vec![b'\n']].concat();
    let sending = async {
        send(&mut link, line).await;
        close(&mut link).await;
    };
    // On the one thread of this runtime, while the sender waits for the reader.
    let other_work = async {
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        std::fs::write(directory.path().join("go"), "").unwrap();
    };
    tokio::join!(sending, other_work);
    assert_eq!(rest(&mut link).await.trim(), (SIZE + 1).to_string());
}

#[tokio::test]
async fn a_reader_that_does_not_read_makes_the_sender_wait_not_grow() {
    let mut link = open(shell("exec sleep 1000")).await;
    let mut line = Bytes::from(vec![b'x'; 4_000_000]);
    let sent = poll_fn(|cx| link.sink.poll_send(cx, &mut line));
    let waited = tokio::time::timeout(Duration::from_millis(50), sent).await;
    assert!(waited.is_err());
    assert!(line.len() > 2_000_000, "{}", line.len());
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let failed = async |process: Subprocess| Box::new(process).open().await.err().unwrap();

    let error = failed(Subprocess::new("/no/such/engine")).await;
    assert_eq!(
        error.to_string(),
        "failed to start the engine: program /no/such/engine does not exist"
    );
    assert!(matches!(
        error,
        Error::Launch {
            source: SpawnError::ProgramMissing { .. },
            ..
        }
    ));

    let error = failed(Subprocess::new("/etc/passwd")).await;
    let text = error.to_string();
    assert!(
        text.contains("/etc/passwd cannot be executed: Permission denied"),
        "{text}"
    );

    let mut process = shell("true");
    process.cwd = Some("/no/such/directory".into());
    let error = failed(process).await;
    assert!(matches!(error, Error::WorkingDirectory { .. }), "{error:?}");
}

#[test]
fn keys_in_the_environment_are_not_shown() {
    let mut process = Subprocess::new("engine");
    process.env = vec![("KEY".into(), "secret".into())];
    let text = format!("{process:?}");
    assert!(text.contains("KEY") && !text.contains("secret"), "{text}");
}
