//! What a process writes is read to its end, and not longer.

use falconer_process::{ExitStatus, Supervised};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::process::{Den, LIMIT};

async fn read(mut output: impl AsyncRead + Unpin) -> String {
    let mut text = String::new();
    let reading = output.read_to_string(&mut text);
    let read = tokio::time::timeout(LIMIT, reading).await;
    read.expect("the output ends").unwrap();
    text
}

/// Starts a script that leaves somebody behind whom nothing connects with it; it holds the
/// output open until the den is gone.
async fn start(den: &Den, last_words: &str) -> Supervised {
    let outlaw = ": >here; while [ -e here ]; do echo outlaw; sleep 0.01; done";
    let wait = "until [ -e here ]; do sleep 0.01; done";
    let script = format!("(setsid env -i sh -c '{outlaw}' &); {wait}; {last_words}");
    falconer_process::spawn(den.spec(&script)).await.unwrap()
}

#[tokio::test]
async fn somebody_who_got_away_does_not_keep_the_reader_waiting() {
    let den = Den::new();
    let process = start(&den, "echo mine; echo problem >&2; exit 3").await;
    let stdout = process.handle.output(process.stdout).unwrap();
    let stderr = process.handle.output(process.stderr).unwrap();
    let (stdout, stderr) = tokio::join!(read(stdout), read(stderr));
    assert!(stdout.contains("mine\n"), "{stdout}");
    assert_eq!(stderr, "problem\n");
    assert_eq!(process.handle.exited().await.status, ExitStatus::Code(3));
}

#[tokio::test]
async fn what_was_written_before_the_end_is_read_after_it() {
    let den = Den::new();
    // A pipe holds as much, and what the other writes meanwhile.
    let process = start(&den, "head -c 30000 /dev/zero | tr '\\0' x; exit 0").await;
    assert_eq!(process.handle.exited().await.status, ExitStatus::Code(0));
    let stdout = process.handle.output(process.stdout).unwrap();
    let text = read(stdout).await;
    assert_eq!(text.matches('x').count(), 30_000);
}
