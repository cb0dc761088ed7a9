//! Cassettes: played, recorded, and played by the fake engine.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use falconer::{Ending, EngineExit, Inbound, Link, Transport};
use falconer_testkit::FakeEngine;
use falconer_testkit::cassette::{Cassette, Direction, Entry, Mismatch, record};
use futures_util::future::poll_fn;
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(20);

fn folder() -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/cassettes"
    ))
}

fn cassettes() -> Result<Vec<(String, Cassette)>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder())? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            let name = path.file_stem().context("no name")?.to_string_lossy();
            all.push((name.into_owned(), Cassette::load(&path)?));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
}

/// Plays the host's side of a cassette over a link; what the engine wrote.
async fn drive(link: &mut Link, cassette: &Cassette) -> Result<Vec<Value>> {
    let mut heard = Vec::new();
    for entry in &cassette.entries {
        match entry.dir {
            Direction::In if entry.line == "[EOF]" => close(link).await?,
            Direction::In => send(link, &text(&entry.line)).await?,
            Direction::Out => heard.push(receive(link).await?.context("ended too early")?),
            _ => {}
        }
    }
    Ok(heard)
}

/// A line as it was on the wire.
fn text(line: &Value) -> String {
    match line {
        Value::String(text) => text.clone(),
        json => json.to_string(),
    }
}

async fn send(link: &mut Link, line: &str) -> io::Result<()> {
    let mut line = Bytes::from(format!("{line}\n"));
    poll_fn(|cx: &mut Context<'_>| link.sink.poll_send(cx, &mut line)).await
}

async fn close(link: &mut Link) -> io::Result<()> {
    poll_fn(|cx| link.sink.poll_close(cx)).await
}

async fn receive(link: &mut Link) -> Result<Option<Value>> {
    let next = poll_fn(|cx| link.source.poll_lines(cx));
    match tokio::time::timeout(LIMIT, next).await? {
        None => Ok(None),
        Some(Ok(Inbound::Lines(line))) => Ok(Some(serde_json::from_slice(&line)?)),
        Some(Ok(other)) => anyhow::bail!("not a line: {other:?}"),
        Some(Err(error)) => Err(error.into()),
    }
}

fn lines(cassette: &Cassette, dir: Direction) -> Vec<Value> {
    let entries = cassette.entries.iter().filter(|entry| entry.dir == dir);
    entries.map(|entry| entry.line.clone()).collect()
}

fn now() -> Ending {
    Ending::Now {
        term: Duration::ZERO,
    }
}

fn exit(cassette: &Cassette) -> EngineExit {
    let codes = lines(cassette, Direction::Exit);
    match codes.last().and_then(|exit| exit["code"].as_i64()) {
        Some(code) if code < 0 => EngineExit::Signal(-code as i32),
        Some(code) => EngineExit::Code(code as i32),
        None => EngineExit::Closed,
    }
}

/// A writer whose content can be read while it is in use.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn cassette(&self) -> Result<Cassette> {
        let text = String::from_utf8(self.0.lock().unwrap().clone())?;
        Ok(Cassette::parse(&text)?)
    }
}

#[tokio::test]
async fn every_cassette_plays_and_is_recorded_as_it_was() -> Result<()> {
    let all = cassettes()?;
    assert!(all.len() > 200, "only {} cassettes", all.len());
    for (name, cassette) in all {
        let page = Page::default();
        let player = cassette.player();
        let progress = player.progress();
        let recorder = Box::new(record(player, page.clone()));
        let mut link = recorder.open().await?;
        let heard = drive(&mut link, &cassette).await.context(name.clone())?;
        assert_eq!(heard, lines(&cassette, Direction::Out), "{name}");
        assert!(receive(&mut link).await?.is_none(), "{name} goes on");
        assert!(progress.is_finished(), "{name}");
        assert_eq!(link.engine.end(now()).await, exit(&cassette), "{name}");
        let recorded = page.cassette()?;
        assert_eq!(talk(&recorded), talk(&cassette), "{name}");
    }
    Ok(())
}

/// Both sides of a session, in order, without times.
fn talk(cassette: &Cassette) -> Vec<(Direction, Value)> {
    let talk = |entry: &&Entry| matches!(entry.dir, Direction::In | Direction::Out);
    let entries = cassette.entries.iter().filter(talk);
    let entry = |entry: &Entry| (entry.dir, without_secrets(parsed(&entry.line)));
    entries.map(entry).collect()
}

/// A raw line that happens to be JSON is recorded as JSON.
fn parsed(line: &Value) -> Value {
    match line.as_str() {
        Some(text) => serde_json::from_str(text).unwrap_or_else(|_| line.clone()),
        None => line.clone(),
    }
}

/// The one value in all cassettes that a recorder takes out.
fn without_secrets(mut line: Value) -> Value {
    if let Some(value) = line.pointer_mut("/variables/FOO") {
        *value = "[redacted]".into();
    }
    falconer_secret::Redactor::default().value(&mut line);
    line
}

#[tokio::test]
async fn ids_of_the_live_host_replace_the_recorded_ones() -> Result<()> {
    let cassette = Cassette::load(folder().join("hook_cancel.jsonl"))?;
    let mut link = Box::new(cassette.player()).open().await?;
    let hooks = json!({"PreToolUse": [{"hookCallbackIds": ["mine"]}]});
    let request = json!({"subtype": "initialize", "hooks": hooks});
    let live = json!({"type": "control_request", "request_id": "live-1", "request": request});
    send(&mut link, &live.to_string()).await?;
    let answer = receive(&mut link).await?.context("no answer")?;
    assert_eq!(answer["response"]["request_id"], "live-1");
    send(
        &mut link,
        r#"{"type": "user", "message": {"role": "user", "content": "x"}}"#,
    )
    .await?;
    loop {
        let message = receive(&mut link).await?.context("no hook")?;
        if message["type"] == "control_request" {
            assert_eq!(message["request"]["callback_id"], "mine");
            return Ok(());
        }
    }
}

#[tokio::test]
async fn the_engine_waits_for_what_preceded_its_line() -> Result<()> {
    let cassette = Cassette::load(folder().join("hook_cancel.jsonl"))?;
    let mut link = Box::new(cassette.player()).open().await?;
    let waits = poll_fn(|cx| Poll::Ready(link.source.poll_lines(cx).is_pending())).await;
    assert!(waits, "the host has said nothing yet");
    send(&mut link, &text(&cassette.entries[1].line)).await?;
    assert!(receive(&mut link).await?.is_some());
    Ok(())
}

#[tokio::test]
async fn a_host_that_departs_from_the_recording_is_told_where() -> Result<()> {
    let cassette = Cassette::load(folder().join("hook_cancel.jsonl"))?;
    let player = cassette.player();
    let progress = player.progress();
    let mut link = Box::new(player).open().await?;
    let other = json!({"type": "control_request", "request_id": "x",
                       "request": {"subtype": "set_model"}});
    let error = send(&mut link, &other.to_string()).await.unwrap_err();
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Mismatch>());
    let mismatch = inner.context("not a mismatch")?;
    assert_eq!(mismatch.line, 2);
    assert_eq!(mismatch.got, "control_request set_model");
    assert_eq!(mismatch.expected, "control_request initialize");
    assert_eq!(progress.mismatch().as_ref(), Some(mismatch));
    assert!(receive(&mut link).await.is_err(), "reading fails too");
    Ok(())
}

#[tokio::test]
async fn an_input_that_ends_too_early_is_a_mismatch() -> Result<()> {
    let cassette = Cassette::load(folder().join("hook_cancel.jsonl"))?;
    let mut link = Box::new(cassette.player()).open().await?;
    let error = close(&mut link).await.unwrap_err().to_string();
    assert!(error.contains("the end of input"), "{error}");
    assert!(error.contains("line 2"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_recorder_whose_writer_fails_says_so() -> Result<()> {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let cassette = Cassette::load(folder().join("hook_cancel.jsonl"))?;
    let mut link = Box::new(record(cassette.player(), Full)).open().await?;
    let initialize = text(&cassette.entries[1].line);
    send(&mut link, &initialize).await?;
    let error = receive(&mut link).await.unwrap_err();
    assert!(format!("{error:#}").contains("storage"), "{error:#}");
    Ok(())
}

#[tokio::test]
async fn secrets_never_reach_a_cassette() -> Result<()> {
    let cassette = Cassette::parse(concat!(
        r#"{"t_ms": 0, "dir": "in", "line": {"type": "update_environment_variables"}}"#,
        "\n",
        r#"{"t_ms": 0, "dir": "out", "line": {"type": "x", "note": "sk-ant-api03-abcdefgh"}}"#,
    ))?;
    let page = Page::default();
    let mut link = Box::new(record(cassette.player(), page.clone()))
        .open()
        .await?;
    let line = json!({"type": "update_environment_variables",
                      "variables": {"MY_KEY": "hush"}, "access_token": "hush-too"});
    send(&mut link, &line.to_string()).await?;
    receive(&mut link).await?;
    let text = page.cassette()?.to_text();
    for secret in ["hush", "abcdefgh"] {
        assert!(!text.contains(secret), "{text}");
    }
    assert!(text.contains("MY_KEY"));
    Ok(())
}

#[test]
fn a_broken_cassette_is_named_with_its_line() {
    let text = "{\"t_ms\": 0, \"dir\": \"in\", \"line\": 1}\n{\"t_ms\": 0}\n";
    let error = Cassette::parse(text).unwrap_err().to_string();
    assert!(
        error.starts_with("line 2 of the cassette is not valid"),
        "{error}"
    );
}

#[test]
fn the_fake_engine_plays_cassettes_too() -> Result<()> {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let names = [
        "hook_cancel",
        "ask_user_question",
        "bash_interrupt",
        "api_500_then_ok",
    ];
    for name in names {
        let path = folder().join(format!("{name}.jsonl"));
        let cassette = Cassette::load(&path)?;
        let engine = FakeEngine::cassette(path)?;
        let session = "99999999-2222-4333-8444-555555555555";
        let mut child = Command::new(engine.program())
            .envs(engine.env().iter().cloned())
            .arg(format!("--session-id={session}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut stdin = child.stdin.take().context("no stdin")?;
        for line in lines(&cassette, Direction::In) {
            if line != "[EOF]" {
                writeln!(stdin, "{line}")?;
            }
        }
        drop(stdin);
        let output = child.wait_with_output()?;
        let written = String::from_utf8(output.stdout)?;
        let count = lines(&cassette, Direction::Out).len();
        assert_eq!(written.lines().count(), count, "{name}");
        assert!(written.contains(session), "{name}");
        let code = output.status.code().map(EngineExit::Code);
        assert_eq!(code, Some(exit(&cassette)), "{name}");
    }
    Ok(())
}
