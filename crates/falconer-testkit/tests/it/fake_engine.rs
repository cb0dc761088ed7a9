//! The fake engine, as a process.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use falconer_testkit::{
    AwaitedMessage, EngineScript, EngineStep, FakeEngine, GrandchildOutput, InitializeReply,
};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

const LIMIT: Duration = Duration::from_secs(60);

/// A fake engine that runs.
struct Running {
    engine: FakeEngine,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    fn start(script: &EngineScript) -> Result<Self> {
        Self::with(FakeEngine::script(script)?, &[])
    }

    fn with(engine: FakeEngine, argv: &[&str]) -> Result<Self> {
        let mut child = Command::new(engine.program())
            .envs(engine.env().iter().cloned())
            .args(argv)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().context("no stdout")?;
        Ok(Self {
            engine,
            stdin: child.stdin.take(),
            stdout: BufReader::new(stdout),
            child,
        })
    }

    async fn send(&mut self, message: &Value) -> Result<()> {
        let stdin = self.stdin.as_mut().context("the input has ended")?;
        stdin.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(())
    }

    async fn initialize(&mut self) -> Result<()> {
        let request = json!({"subtype": "initialize"});
        self.send(&json!({"type": "control_request", "request_id": "i", "request": request}))
            .await
    }

    async fn say(&mut self, text: &str) -> Result<()> {
        let message = json!({"role": "user", "content": text});
        self.send(&json!({"type": "user", "message": message, "uuid": "prompt-1"}))
            .await
    }

    /// The next bytes up to and with a newline, or up to the end.
    async fn bytes(&mut self) -> Result<Vec<u8>> {
        let mut line = Vec::new();
        let read = self.stdout.read_until(b'\n', &mut line);
        tokio::time::timeout(LIMIT, read).await??;
        Ok(line)
    }

    async fn message(&mut self) -> Result<Value> {
        Ok(serde_json::from_slice(&self.bytes().await?)?)
    }

    /// What the lines up to the end are: type and subtype.
    async fn kinds(&mut self, count: usize) -> Result<Vec<String>> {
        let mut kinds = Vec::new();
        for _ in 0..count {
            let message = self.message().await?;
            let subtype = message["subtype"].as_str().unwrap_or_default();
            let kind = message["type"].as_str().unwrap_or_default();
            kinds.push(format!("{kind} {subtype}").trim_end().to_owned());
        }
        Ok(kinds)
    }

    fn close(&mut self) {
        drop(self.stdin.take());
    }

    /// The exit code, negative for a signal.
    async fn exit(&mut self) -> Result<i32> {
        use std::os::unix::process::ExitStatusExt;
        let status = tokio::time::timeout(LIMIT, self.child.wait()).await??;
        let signal = status.signal().map(|signal| -signal);
        status.code().or(signal).context("no status")
    }

    fn pid(&self) -> Result<Pid> {
        let pid = self.child.id().and_then(|id| Pid::from_raw(id as i32));
        pid.context("it has ended")
    }

    /// Whether the process is still there after it had time to end.
    async fn outlives(&mut self, time: Duration) -> Result<bool> {
        Ok(tokio::time::timeout(time, self.child.wait()).await.is_err())
    }
}

/// Starts a script behind the handshake and reads the answer to it.
async fn after_initialize(mut script: EngineScript) -> Result<Running> {
    let handshake = EngineStep::Initialize(InitializeReply::Once);
    script.steps.insert(0, handshake);
    let mut running = Running::start(&script)?;
    running.initialize().await?;
    let answer = running.message().await?;
    assert_eq!(answer["response"]["request_id"], "i");
    Ok(running)
}

#[tokio::test]
async fn version_is_printed_without_a_session() -> Result<()> {
    let engine = FakeEngine::script(&EngineScript::new())?;
    let output = Command::new(engine.program())
        .arg("--version")
        .output()
        .await?;
    assert_eq!(output.stdout, b"2.1.325 (Claude Code)\n");
    Ok(())
}

#[tokio::test]
async fn a_turn_is_written_as_the_cli_writes_it() -> Result<()> {
    let mut running = after_initialize(EngineScript::new().on_user().turn("hello")).await?;
    running.say("hi").await?;
    let kinds = running.kinds(8).await?;
    let expected = [
        "command_lifecycle",
        "command_lifecycle",
        "system session_state_changed",
        "system init",
        "assistant",
        "result success",
        "command_lifecycle",
        "system session_state_changed",
    ];
    assert_eq!(kinds, expected);
    running.close();
    assert_eq!(running.exit().await?, 0);
    Ok(())
}

#[tokio::test]
async fn without_a_script_every_prompt_is_repeated() -> Result<()> {
    let engine = FakeEngine::script(&EngineScript::echo())?;
    let session = "11111111-2222-4333-8444-555555555555";
    let flag = format!("--session-id={session}");
    let mut running = Running::with(engine, &["--unknown-flag", &flag])?;
    running.initialize().await?;
    running.say("first").await?;
    loop {
        let message = running.message().await?;
        if message["type"] == "result" {
            assert_eq!(message["result"], "You said: first");
            assert_eq!(message["session_id"], session);
            assert_eq!(message["user_message_uuid"], "prompt-1");
            break;
        }
    }
    running.close();
    assert_eq!(running.exit().await?, 0);
    let dump = running.engine.dump()?;
    assert_eq!(dump.argv, ["--unknown-flag", &flag]);
    assert_eq!(dump.messages().len(), 2);
    assert!(dump.eof);
    assert!(dump.env.contains_key("FALCONER_FAKE_SCRIPT"));
    Ok(())
}

#[tokio::test]
async fn questions_wait_for_their_answers() -> Result<()> {
    let script = EngineScript::new()
        .ask_can_use_tool("Bash", json!({"command": "ls"}))
        .ask_hook("first", json!({"hook_event_name": "PreToolUse"}))
        .ask_mcp(
            "calc",
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        )
        .ask(json!({"subtype": "nobody_knows"}))
        .turn("done");
    let mut script_with_hooks = EngineScript::new().initialize();
    script_with_hooks.steps.extend(script.steps);
    let mut running = Running::start(&script_with_hooks)?;
    let hooks = json!({"PreToolUse": [{"hookCallbackIds": ["own_id"]}]});
    let request = json!({"subtype": "initialize", "hooks": hooks});
    running
        .send(&json!({"type": "control_request", "request_id": "i", "request": request}))
        .await?;
    running.message().await?;
    let mut asked = Vec::new();
    for _ in 0..4 {
        let question = running.message().await?;
        asked.push(question["request"]["subtype"].clone());
        if question["request"]["subtype"] == "hook_callback" {
            assert_eq!(question["request"]["callback_id"], "own_id");
        }
        let answer = json!({"subtype": "success", "request_id": question["request_id"],
                            "response": {}});
        running
            .send(&json!({"type": "control_response", "response": answer}))
            .await?;
    }
    assert_eq!(
        asked,
        [
            "can_use_tool",
            "hook_callback",
            "mcp_message",
            "nobody_knows"
        ]
    );
    let kinds = running.kinds(5).await?;
    assert_eq!(kinds[3], "result success");
    assert_eq!(running.engine.dump()?.input.len(), 5);
    Ok(())
}

#[tokio::test]
async fn control_requests_are_answered_in_between() -> Result<()> {
    let mut running = after_initialize(EngineScript::new().on_user().turn("x")).await?;
    let table = [
        (
            json!({"subtype": "set_model", "model": "m"}),
            json!({"model": "m"}),
        ),
        (json!({"subtype": "interrupt"}), json!({"still_queued": []})),
        (json!({"subtype": "mcp_status"}), json!({"mcpServers": []})),
    ];
    for (request, expected) in table {
        running
            .send(&json!({"type": "control_request", "request_id": "c", "request": request}))
            .await?;
        assert_eq!(running.message().await?["response"]["response"], expected);
    }
    let request = json!({"subtype": "frobnicate"});
    running
        .send(&json!({"type": "control_request", "request_id": "c", "request": request}))
        .await?;
    let answer = running.message().await?;
    assert_eq!(answer["response"]["error_code"], "unsupported_request");
    Ok(())
}

#[tokio::test]
async fn initialize_is_answered_as_the_script_says() -> Result<()> {
    let table = [
        (InitializeReply::Once, vec!["success"]),
        (InitializeReply::Twice, vec!["success", "success"]),
        (InitializeReply::Never, vec![]),
        (InitializeReply::Error("no".into()), vec!["error"]),
    ];
    for (reply, expected) in table {
        let script = EngineScript::new()
            .initialize_with(reply)
            .emit(json!({"type": "end_of_test"}));
        let mut running = Running::start(&script)?;
        running.initialize().await?;
        let mut answers = Vec::new();
        loop {
            let message = running.message().await?;
            match message["response"]["subtype"].as_str() {
                Some(answer) => answers.push(answer.to_owned()),
                None => break,
            }
        }
        assert_eq!(answers, expected);
    }
    Ok(())
}

#[tokio::test]
async fn odd_lines_come_out_as_they_are() -> Result<()> {
    let script = EngineScript::new()
        .step(EngineStep::EmitText("Debugger attached.".into()))
        .step(EngineStep::BadUtf8)
        .emit(json!({"type": "not_invented_yet", "data": [1]}))
        .step(EngineStep::HugeLine { bytes: 3 << 20 })
        .step(EngineStep::HalfLine("{\"type\":\"assist".into()))
        .step(EngineStep::Exit(3));
    let mut running = after_initialize(script).await?;
    assert_eq!(running.bytes().await?, b"Debugger attached.\n");
    let bad = running.bytes().await?;
    assert!(std::str::from_utf8(&bad).is_err() && bad.ends_with(b"\n"));
    assert_eq!(running.message().await?["type"], "not_invented_yet");
    assert_eq!(running.bytes().await?.len(), 3 << 20);
    assert_eq!(running.bytes().await?, b"{\"type\":\"assist");
    assert_eq!(running.exit().await?, 3);
    Ok(())
}

#[tokio::test]
async fn endings_are_those_of_the_script() -> Result<()> {
    let table = [
        (EngineScript::new(), 0),
        (EngineScript::new().step(EngineStep::Exit(7)), 7),
        (EngineScript::new().step(EngineStep::Crash(11)), -11),
        (EngineScript::new().step(EngineStep::Crash(9)), -9),
        (EngineScript::new().failed_turn("sorry"), 1),
        (EngineScript::new().failed_turn("sorry").turn("fine"), 0),
    ];
    for (script, code) in table {
        let mut running = after_initialize(script.clone()).await?;
        running.close();
        assert_eq!(running.exit().await?, code, "{script:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_broken_line_of_the_host_ends_it_as_it_ends_the_cli() -> Result<()> {
    let mut running = after_initialize(EngineScript::new()).await?;
    let stdin = running.stdin.as_mut().context("no stdin")?;
    stdin.write_all(b"{this is not json\n").await?;
    assert_eq!(running.exit().await?, 1);
    Ok(())
}

#[tokio::test]
async fn stderr_is_written_beside_the_protocol() -> Result<()> {
    let script = EngineScript::new()
        .step(EngineStep::Stderr("trouble".into()))
        .step(EngineStep::Exit(0));
    let mut running = after_initialize(script).await?;
    let mut text = String::new();
    let mut stderr = running.child.stderr.take().context("no stderr")?;
    stderr.read_to_string(&mut text).await?;
    assert_eq!(text, "trouble\n");
    Ok(())
}

#[tokio::test]
async fn a_hang_reads_nothing_and_ends_by_a_signal_only() -> Result<()> {
    let script = EngineScript::new()
        .turn_without_idle("last words")
        .step(EngineStep::Hang);
    let mut running = after_initialize(script).await?;
    assert_eq!(running.kinds(4).await?[3], "result success");
    running.close();
    assert!(running.outlives(Duration::from_millis(200)).await?);
    kill_process(running.pid()?, Signal::TERM)?;
    assert_eq!(running.exit().await?, -15);
    Ok(())
}

#[tokio::test]
async fn the_end_of_input_can_be_ignored() -> Result<()> {
    let script = EngineScript::new()
        .step(EngineStep::Await(AwaitedMessage::Eof))
        .emit(json!({"type": "saw_the_end"}));
    let mut running = after_initialize(script.ignoring_eof()).await?;
    running.close();
    assert_eq!(running.message().await?["type"], "saw_the_end");
    assert!(running.outlives(Duration::from_millis(200)).await?);
    Ok(())
}

#[tokio::test]
async fn sigterm_can_be_ignored() -> Result<()> {
    let script = EngineScript::new().ignoring_sigterm();
    let mut running = after_initialize(script.step(EngineStep::Hang)).await?;
    kill_process(running.pid()?, Signal::TERM)?;
    assert!(running.outlives(Duration::from_millis(200)).await?);
    kill_process(running.pid()?, Signal::KILL)?;
    assert_eq!(running.exit().await?, -9);
    Ok(())
}

#[tokio::test]
async fn a_grandchild_outlives_the_engine() -> Result<()> {
    let grandchild = EngineStep::Grandchild {
        seconds: 300,
        output: GrandchildOutput::Closed,
    };
    let mut running = after_initialize(EngineScript::new().step(grandchild).turn("x")).await?;
    running.kinds(4).await?;
    running.close();
    assert_eq!(running.exit().await?, 0);
    let [pid] = running.engine.dump()?.grandchildren[..] else {
        anyhow::bail!("not one grandchild: {:?}", running.engine.dump()?);
    };
    let pid = Pid::from_raw(pid as i32).context("no pid")?;
    let alive = test_kill_process(pid).is_ok();
    kill_process(pid, Signal::KILL)?;
    assert!(alive);
    Ok(())
}

#[tokio::test]
async fn a_burst_has_the_mix_and_the_size_asked_for() -> Result<()> {
    let script = EngineScript::new()
        .step(EngineStep::Burst {
            messages: 1000,
            bytes: 450,
        })
        .step(EngineStep::BigLines {
            count: 3,
            bytes: 2 << 20,
        })
        .step(EngineStep::Exit(0));
    let mut running = after_initialize(script).await?;
    let mut counts = [0; 3];
    for _ in 0..1000 {
        let line = running.bytes().await?;
        assert_eq!(line.len(), 450);
        let message: Value = serde_json::from_slice(&line)?;
        let kinds = ["stream_event", "assistant", "user"];
        let place = kinds.iter().position(|kind| message["type"] == *kind);
        counts[place.context("another type")?] += 1;
    }
    assert_eq!(counts, [800, 120, 80]);
    for _ in 0..3 {
        assert_eq!(running.bytes().await?.len(), 2 << 20);
    }
    assert!(running.bytes().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn round_trips_are_measured() -> Result<()> {
    let request = EngineScript::can_use_tool("Bash", json!({"command": "ls"}));
    let script = EngineScript::new()
        .step(EngineStep::RoundTrips {
            request,
            count: 100,
        })
        .turn("done");
    let mut running = after_initialize(script).await?;
    for number in 0..100 {
        let question = running.message().await?;
        let id = format!("toolu_bench_{number:06}");
        assert_eq!(question["request"]["tool_use_id"], id);
        let answer = json!({"subtype": "success", "request_id": question["request_id"]});
        running
            .send(&json!({"type": "control_response", "response": answer}))
            .await?;
    }
    running.message().await?;
    let report = running.engine.report()?;
    let [report] = &report[..] else {
        anyhow::bail!("not one report: {report:?}");
    };
    assert_eq!(
        (&report["count"], &report["errors"]),
        (&json!(100), &json!(0))
    );
    let (p50, p99) = (report["p50_us"].as_f64(), report["p99_us"].as_f64());
    ensure!(p50 > Some(0.0) && p99 >= p50, "{report}");
    Ok(())
}

#[tokio::test]
async fn session_states_are_marked_for_sdks_that_read_them() -> Result<()> {
    let engine = FakeEngine::script(&EngineScript::new().turn("x"))?;
    for (variable, mark) in [
        ("CLAUDE_CODE_SDK_READS_SESSION_STATE", json!(true)),
        ("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", Value::Null),
    ] {
        let output = Command::new(engine.program())
            .env_clear()
            .envs(engine.env().iter().cloned())
            .env(variable, "1")
            .stdin(Stdio::null())
            .output()
            .await?;
        let text = String::from_utf8(output.stdout)?;
        let first: Value = serde_json::from_str(text.lines().next().context("nothing")?)?;
        assert_eq!(first["subtype"], "session_state_changed");
        assert_eq!(first["sdk_host_only"], mark, "{variable}");
    }
    Ok(())
}

#[tokio::test]
async fn a_wrong_script_is_named_on_stderr() -> Result<()> {
    let engine = FakeEngine::script(&EngineScript::new())?;
    let output = Command::new(engine.program())
        .arg("--fake-script=/nonexistent/script.json")
        .output()
        .await?;
    assert_eq!(output.status.code(), Some(70));
    let text = String::from_utf8(output.stderr)?;
    assert!(text.contains("/nonexistent/script.json"), "{text}");
    Ok(())
}

#[tokio::test]
async fn the_fake_engine_starts_fast() -> Result<()> {
    let engine = FakeEngine::script(&EngineScript::new())?;
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        std::process::Command::new(engine.program())
            .arg("--version")
            .output()?;
        best = best.min(start.elapsed());
    }
    println!("fastest start: {best:?}");
    assert!(best < Duration::from_millis(100), "{best:?}");
    Ok(())
}
