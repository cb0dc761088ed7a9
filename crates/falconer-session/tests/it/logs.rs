//! What is logged: no secrets at any level, and no prompts above debug.

use std::io::{self, Write};
use std::process::Command;
use std::sync::{Arc, Mutex};

use falconer_session::{MaskedWriter, Redactor, SessionSpec};
use falconer_testkit::scenario::{Scenario, text, tool_use};
use serde_json::json;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::engines::{Kind, REAL, Site};
use crate::scripted::{Stage, completed};

const SECRET: &str = "hunter2-hunter2";
const PROMPT: &str = "the very private wish of a user";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// A whole session with everything that could be logged, at this level.
async fn logged(level: LevelFilter) -> String {
    let log = Log::default();
    let redactor = Redactor::new([SECRET]);
    let writer = {
        let (log, redactor) = (log.clone(), redactor.clone());
        move || MaskedWriter::new(log.clone(), redactor.clone())
    };
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(writer)
        .with_ansi(false)
        .with_span_events(FmtSpan::FULL)
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let folder = tempfile::tempdir().unwrap();
    // A transcript that cannot be written and an archive that cannot be made are logged, too.
    let archive = folder.path().join("file");
    std::fs::write(&archive, "").unwrap();
    let make = |spec: SessionSpec| {
        spec.until_idle()
            .redactor(redactor)
            .transcript("/dev/full")
            .archive(&archive)
    };
    let mut stage = Stage::new(make).await;
    let prompt = format!("{PROMPT} with {SECRET}");
    stage.session.send(prompt.as_str()).await.unwrap();
    let (uuid, heard) = stage.engine.prompt().await;
    assert_eq!(heard, prompt);
    stage.engine.init("s").await;
    stage
        .engine
        .say(
            &json!({"type": "control_request", "request_id": "h1", "request": {
            "subtype": "hook_callback", "callback_id": "hook_1", "input": {
            "hook_event_name": "PreCompact", "session_id": "s", "trigger": "auto",
            "transcript_path": format!("/nowhere/{SECRET}")}}}),
        )
        .await;
    stage.engine.answer_to("h1").await;
    stage
        .engine
        .ask("r1", "Bash", &json!({"command": SECRET}))
        .await;
    stage
        .engine
        .say(&json!({"type": "control_cancel_request", "request_id": "r1"}))
        .await;
    stage.engine.text("m1", SECRET).await;
    stage.engine.result(SECRET, &[&uuid]).await;
    stage.rest().await;
    tracing::error!(key = SECRET, "said on purpose");
    log.text()
}

#[tokio::test]
async fn prompts_are_logged_at_debug_at_most_and_secrets_never() {
    let text = logged(LevelFilter::INFO).await;
    assert!(!text.contains(PROMPT), "{text}");
    assert!(!text.contains(SECRET), "{text}");
    assert!(text.contains("could not be archived"), "{text}");
    assert!(text.contains("[redacted]"), "{text}");
}

#[tokio::test]
async fn not_even_everything_shows_a_secret() {
    let text = logged(LevelFilter::TRACE).await;
    assert!(!text.contains(SECRET), "{text}");
    assert!(text.contains("[redacted]"), "{text}");
}

/// Says which engine a child process is to use, and how much it is to log.
const CHILD: &str = "FALCONER_SESSION_TEST_LOGS";

/// A program with a log of its own: all threads, a real engine, everything to stderr.
#[tokio::test(flavor = "multi_thread")]
async fn a_program_with_a_log_shows_no_secret_of_a_real_engine() {
    if let Ok(role) = std::env::var(CHILD) {
        return run_and_log(&role).await;
    }
    for kind in REAL {
        for level in ["info", "trace"] {
            let log = log_of_a_child(kind, level).await;
            assert!(!log.contains(SECRET), "{kind:?} {level}: {log}");
            assert!(log.contains("[redacted]"), "{kind:?} {level}: {log}");
            assert!(level == "trace" || !log.contains(PROMPT), "{kind:?}: {log}");
        }
    }
}

async fn log_of_a_child(kind: Kind, level: &'static str) -> String {
    let child = tokio::task::spawn_blocking(move || {
        let test = "logs::a_program_with_a_log_shows_no_secret_of_a_real_engine";
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(CHILD, format!("{kind:?} {level}"))
            .output()
    });
    let output = child.await.unwrap().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

async fn run_and_log(role: &str) {
    let (kind, level) = role.split_once(' ').unwrap();
    let redactor = Redactor::new([SECRET]);
    let writer = {
        let redactor = redactor.clone();
        move || MaskedWriter::new(io::stderr(), redactor.clone())
    };
    tracing_subscriber::fmt()
        .with_max_level(level.parse::<LevelFilter>().unwrap())
        .with_writer(writer)
        .with_ansi(false)
        .with_span_events(FmtSpan::FULL)
        .init();
    let scenario = Scenario::new()
        .turn(tool_use(
            "Bash",
            json!({"command": format!("echo {SECRET}")}),
        ))
        .turn(text(SECRET));
    let kind = match kind {
        "Official" => Kind::Official,
        _ => Kind::Native,
    };
    let site = Site::real(kind, scenario);
    let options = site.options().allow_tools(["Bash"]);
    let spec = site.spec().options(options).redactor(redactor);
    let events = site.run(spec, &format!("{PROMPT} with {SECRET}")).await;
    assert_eq!(completed(&events).text, "[redacted]");
    tracing::error!(key = SECRET, "said on purpose");
}
