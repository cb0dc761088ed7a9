//! The scripted server under the official CLI.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use falconer_testkit::scenario::{
    RequestKind, Scenario, any, last_user_contains, status, text, tool_result_contains, tool_use,
};
use falconer_testkit::{ApiServer, RealCli};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

const LIMIT: Duration = Duration::from_secs(120);

/// A run of the CLI in a directory of its own.
struct Run {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    seen: Vec<Value>,
    _home: TempDir,
}

impl Run {
    fn start(server: &ApiServer, flags: &[&str]) -> Result<Self> {
        let home = TempDir::new()?;
        let work = home.path().join("work");
        std::fs::create_dir(&work)?;
        let mut child = command(server, home.path(), &work)?
            .args(["--print", "--output-format=stream-json", "--verbose"])
            .args(["--input-format=stream-json"])
            .args(flags)
            .spawn()?;
        let stdout = child.stdout.take().context("no stdout")?;
        Ok(Self {
            stdin: child.stdin.take(),
            lines: BufReader::new(stdout).lines(),
            child,
            seen: Vec::new(),
            _home: home,
        })
    }

    async fn send(&mut self, message: &Value) -> Result<()> {
        let stdin = self.stdin.as_mut().context("the input has ended")?;
        stdin.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(())
    }

    async fn say(&mut self, text: &str) -> Result<()> {
        let message = json!({"role": "user", "content": text});
        self.send(&json!({"type": "user", "message": message}))
            .await
    }

    async fn next(&mut self) -> Result<Value> {
        let line = tokio::time::timeout(LIMIT, self.lines.next_line()).await??;
        let line = line.with_context(|| format!("ended after {:?}", self.seen))?;
        let message: Value = serde_json::from_str(&line)?;
        self.seen.push(message.clone());
        Ok(message)
    }

    /// Reads up to the first message of this type.
    async fn wait_for(&mut self, kind: &str) -> Result<Value> {
        loop {
            let message = self.next().await?;
            if message["type"] == kind {
                return Ok(message);
            }
        }
    }

    async fn end(mut self) -> Result<Vec<Value>> {
        drop(self.stdin.take());
        while let Some(line) = tokio::time::timeout(LIMIT, self.lines.next_line()).await?? {
            self.seen.push(serde_json::from_str(&line)?);
        }
        tokio::time::timeout(LIMIT, self.child.wait()).await??;
        Ok(self.seen)
    }
}

fn command(server: &ApiServer, home: &Path, work: &Path) -> Result<Command> {
    let mut command = Command::from(RealCli::find()?.command(home, &server.url()));
    command
        .current_dir(work)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    Ok(command)
}

/// Runs one prompt; the result and everything that was written.
async fn ask(server: &ApiServer, flags: &[&str]) -> Result<(Value, Vec<Value>)> {
    let mut run = Run::start(server, flags)?;
    run.say("do it").await?;
    let result = run.wait_for("result").await?;
    let seen = run.end().await?;
    Ok((result, seen))
}

fn retries(seen: &[Value]) -> Vec<&Value> {
    let retries = seen.iter().filter(|line| line["subtype"] == "api_retry");
    retries.collect()
}

fn done(result: &Value, text: &str, server: &ApiServer) -> Result<()> {
    ensure!(result["is_error"] == false, "{result}");
    assert_eq!(result["result"], text);
    assert_eq!(server.unmatched(), Vec::<String>::new());
    assert_eq!(server.unused_rules(), Vec::<usize>::new());
    Ok(())
}

#[tokio::test]
async fn cli_says_what_the_scenario_says() -> Result<()> {
    let scenario = Scenario::new()
        .on(last_user_contains("do it"))
        .reply(text("hello"));
    let server = ApiServer::start(scenario)?;
    let (result, seen) = ask(&server, &[]).await?;
    done(&result, "hello", &server)?;
    assert_eq!(result["usage"]["output_tokens"], 5);
    assert!(seen.iter().any(|line| line["type"] == "assistant"));
    Ok(())
}

#[tokio::test]
async fn cli_runs_the_tools_the_scenario_calls() -> Result<()> {
    let command = json!({"command": "echo from-the-shell", "description": "say"});
    let scenario = Scenario::new()
        .turn(tool_use("Bash", command).thinking("now wait"))
        .on(tool_result_contains("from-the-shell"))
        .reply(text("it ran"));
    let server = ApiServer::start(scenario)?;
    let (result, _) = ask(&server, &["--allowedTools=Bash"]).await?;
    done(&result, "it ran", &server)
}

#[tokio::test]
async fn cli_tries_again_after_server_errors() -> Result<()> {
    let scenario = Scenario::new()
        .on(any())
        .times(2)
        .reply(status(500))
        .turn(text("at last"));
    let server = ApiServer::start(scenario)?;
    let (result, seen) = ask(&server, &[]).await?;
    done(&result, "at last", &server)?;
    let statuses: Vec<_> = retries(&seen).iter().map(|r| &r["error_status"]).collect();
    assert_eq!(statuses, [500, 500]);
    Ok(())
}

#[tokio::test]
async fn cli_waits_as_long_as_retry_after_says() -> Result<()> {
    let scenario = Scenario::new()
        .turn(status(429).retry_after(2))
        .turn(text("patient"));
    let server = ApiServer::start(scenario)?;
    let (result, seen) = ask(&server, &[]).await?;
    done(&result, "patient", &server)?;
    let retries = retries(&seen);
    assert_eq!(retries[0]["error"], "rate_limit");
    assert!(
        retries[0]["retry_delay_ms"].as_f64() >= Some(2000.0),
        "{retries:?}"
    );
    Ok(())
}

#[tokio::test]
async fn cli_asks_again_when_the_stream_is_cut() -> Result<()> {
    let scenario = Scenario::new()
        .turn(text("lost words").cut_after(4))
        .turn(text("found words"));
    let server = ApiServer::start(scenario)?;
    let (result, seen) = ask(&server, &[]).await?;
    done(&result, "found words", &server)?;
    assert_eq!(retries(&seen).len(), 1);
    assert!(server.messages().iter().all(|r| r.body["stream"] == true));
    Ok(())
}

#[tokio::test]
async fn cli_asks_without_stream_after_an_error_event() -> Result<()> {
    let scenario = Scenario::new().turn(text("whole in the end").error_after(4, status(529)));
    let server = ApiServer::start(scenario)?;
    let (result, _) = ask(&server, &[]).await?;
    done(&result, "whole in the end", &server)?;
    let kinds: Vec<_> = server.requests().iter().filter_map(|r| r.kind).collect();
    assert_eq!(kinds, [RequestKind::Main, RequestKind::Retry]);
    Ok(())
}

#[tokio::test]
async fn side_calls_of_the_cli_need_no_rules() -> Result<()> {
    let server = ApiServer::start(Scenario::new().counting_tokens(77).turn(text("hi")))?;
    let mut run = Run::start(&server, &[])?;
    run.say("do it").await?;
    run.wait_for("result").await?;
    for request in [
        json!({"subtype": "get_context_usage"}),
        json!({"subtype": "set_model", "model": "claude-made-up"}),
        json!({"subtype": "generate_session_title", "description": "fix the login page"}),
    ] {
        let request = json!({"type": "control_request", "request_id": "r", "request": request});
        run.send(&request).await?;
        let response = run.wait_for("control_response").await?;
        assert_eq!(response["response"]["subtype"], "success", "{response}");
    }
    run.end().await?;
    let counted = |r: &&falconer_testkit::RecordedRequest| r.path.ends_with("count_tokens");
    assert!(server.requests().iter().filter(counted).count() >= 1);
    let kinds: Vec<_> = server.requests().iter().filter_map(|r| r.kind).collect();
    let expected = [RequestKind::Main, RequestKind::Probe, RequestKind::Title];
    assert_eq!(kinds, expected);
    assert_eq!(server.unmatched(), Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn cli_is_interrupted_while_a_reply_is_held() -> Result<()> {
    let scenario = Scenario::new().turn(text("half a ").hold("gate").text("sentence"));
    let server = ApiServer::start(scenario)?;
    let mut run = Run::start(&server, &[])?;
    run.say("do it").await?;
    server.wait_held("gate").await?;
    let request = json!({"subtype": "interrupt"});
    run.send(&json!({"type": "control_request", "request_id": "i", "request": request}))
        .await?;
    let result = run.wait_for("result").await?;
    assert_eq!(result["terminal_reason"], "aborted_streaming");
    run.end().await?;
    Ok(())
}

fn fixture(name: &str) -> Result<Scenario> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/scenarios");
    Ok(Scenario::load(Path::new(folder).join(name))?)
}

#[tokio::test]
async fn cli_says_hello_from_the_file() -> Result<()> {
    let server = ApiServer::start(fixture("hello.json")?)?;
    let (result, _) = ask(&server, &[]).await?;
    done(&result, "Hello from a scripted model.", &server)
}

#[tokio::test]
async fn cli_survives_every_fault_of_the_retries_file() -> Result<()> {
    let server = ApiServer::start(fixture("retries.json")?)?;
    let (result, _) = ask(&server, &[]).await?;
    done(&result, "In the end it worked.", &server)
}

#[tokio::test]
async fn cli_gives_structured_output_from_the_file() -> Result<()> {
    let server = ApiServer::start(fixture("structured-output.json")?)?;
    let schema = json!({"type": "object", "required": ["city", "degrees"], "properties":
        {"city": {"type": "string"}, "degrees": {"type": "integer"}}});
    let (result, _) = ask(&server, &[&format!("--json-schema={schema}")]).await?;
    let expected = json!({"city": "Oslo", "degrees": -4});
    assert_eq!(result["structured_output"], expected, "{result}");
    assert_eq!(server.unmatched(), Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn cli_asks_before_it_edits_and_runs_the_file() -> Result<()> {
    for (behavior, expected) in [
        (json!({"behavior": "allow"}), "The script greets."),
        (
            json!({"behavior": "deny", "message": "denied"}),
            "Understood, I leave it as it is.",
        ),
    ] {
        let server = ApiServer::start(fixture("edit-and-run.json")?)?;
        let mut run = Run::start(&server, &["--permission-prompt-tool=stdio"])?;
        run.say("greet").await?;
        let result = loop {
            let message = run.next().await?;
            if message["type"] == "control_request" {
                let answer = json!({"subtype": "success", "request_id": message["request_id"],
                                    "response": behavior});
                run.send(&json!({"type": "control_response", "response": answer}))
                    .await?;
            } else if message["type"] == "result" {
                break message;
            }
        };
        assert_eq!(result["result"], expected, "{:?}", server.unmatched());
        run.end().await?;
    }
    Ok(())
}
