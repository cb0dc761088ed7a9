//! Engines and callers that misbehave: each fault is a typed error or a warning, and leaves
//! no process, no task and no file.
//!
//! The engine is the fake one, as a real process. Where the official executable is looked
//! for, and that every place is named, is tested beside the search itself.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use falconer::mirror::{
    FlushMode, InMemorySessionStore, SessionKey, SessionStore, SessionStoreEntry,
};
use falconer::sessions::{new_session_id, project_key};
use falconer::{
    Client, Decision, EngineExit, Error, ExecutableProblem, Message, Messages, NamedBy, Options,
    Outcome, SpawnError, query,
};
use falconer_testkit::{
    AwaitedMessage, EngineScript, EngineStep, FakeEngine, GrandchildOutput, InitializeReply,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scripted::LIMIT;

/// A fake engine in a directory of its own.
struct Fault {
    engine: FakeEngine,
    directory: TempDir,
    tasks: usize,
}

impl Fault {
    fn new(script: &EngineScript) -> Self {
        Self {
            engine: FakeEngine::script(script).unwrap(),
            directory: TempDir::new().unwrap(),
            tasks: alive_tasks(),
        }
    }

    fn options(&self) -> Options {
        let mut options = Options::new()
            .executable(self.engine.program())
            .cwd(self.directory.path())
            .env_clear()
            .env_inherit("PATH")
            .close_grace(Duration::from_millis(300))
            .kill_grace(Duration::from_millis(300));
        for (name, value) in self.engine.env() {
            options = options.env(name, value);
        }
        options
    }

    async fn outcome(&self, options: Options) -> Result<Outcome, Error> {
        let run = async { query("go", options).await?.outcome().await };
        tokio::time::timeout(LIMIT, run)
            .await
            .expect("the run hangs")
    }

    /// Runs to the end; what came, and the error at the end.
    async fn messages(&self, options: Options) -> (Vec<Message>, Option<Error>) {
        let mut run = query("go", options).await.unwrap();
        let reading = async {
            let mut all = Vec::new();
            while let Some(message) = run.next().await {
                match message {
                    Ok(message) => all.push(message),
                    Err(error) => return (all, Some(error)),
                }
            }
            (all, None)
        };
        tokio::time::timeout(LIMIT, reading)
            .await
            .expect("the run hangs")
    }

    /// What the host answered to the requests of the engine.
    fn answers(&self) -> Vec<Value> {
        let lines = self.engine.dump().unwrap().messages();
        let answers = lines
            .into_iter()
            .filter(|line| line["type"] == "control_response");
        answers.map(|line| line["response"].clone()).collect()
    }

    fn processes(&self) -> Vec<u32> {
        let here = self.directory.path();
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid: &u32| {
                std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == here)
            })
            .collect()
    }

    /// No process and no task is left.
    async fn nothing_left(&self) {
        until("no process is left", || self.processes().is_empty()).await;
        until("no task is left", || alive_tasks() == self.tasks).await;
    }
}

fn alive_tasks() -> usize {
    tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks()
}

async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < deadline, "gave up waiting until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn script() -> EngineScript {
    EngineScript::new()
}

fn warnings(messages: &[Message]) -> Vec<&str> {
    let kinds = messages.iter().filter_map(|message| match message {
        Message::Warning(warning) => Some(warning.kind.as_str()),
        _ => None,
    });
    kinds.collect()
}

async fn read_to_end(messages: &mut Messages) -> Option<Error> {
    let reading = async {
        while let Some(message) = messages.next().await {
            if let Err(error) = message {
                return Some(error);
            }
        }
        None
    };
    tokio::time::timeout(LIMIT, reading)
        .await
        .expect("the messages never end")
}

#[tokio::test]
async fn an_executable_that_cannot_be_used_says_why_and_who_named_it() {
    let directory = TempDir::new().unwrap();
    let plain = directory.path().join("plain");
    std::fs::write(&plain, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o644)).unwrap();
    let table: [(PathBuf, ExecutableProblem); 3] = [
        (directory.path().join("nothing"), ExecutableProblem::Missing),
        (directory.path().to_owned(), ExecutableProblem::Directory),
        (plain, ExecutableProblem::NotExecutable),
    ];
    for (executable, expected) in table {
        let error = Client::connect(Options::new().executable(&executable))
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains(executable.to_str().unwrap()),
            "{error}"
        );
        let Error::CliUnusable {
            named_by, problem, ..
        } = error
        else {
            panic!("{error:?}")
        };
        assert_eq!((named_by, problem), (NamedBy::Option, expected));
    }
}

#[tokio::test]
async fn a_program_this_machine_cannot_run_is_a_launch_error() {
    let directory = TempDir::new().unwrap();
    let table: [(&str, &[u8]); 2] = [
        ("elf", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0garbage"),
        ("text", b"just some text\n"),
    ];
    for (name, content) in table {
        let fault = Fault::new(&script());
        let program = directory.path().join(name);
        std::fs::write(&program, content).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let error = fault
            .outcome(fault.options().executable(&program))
            .await
            .unwrap_err();
        assert!(
            error.to_string().contains(program.to_str().unwrap()),
            "{error}"
        );
        let Error::Launch {
            source: SpawnError::ProgramFormat { .. },
            ..
        } = error
        else {
            panic!("{name}: {error:?}")
        };
        fault.nothing_left().await;
    }
}

#[tokio::test]
async fn a_missing_working_directory_is_named_before_the_start() {
    let fault = Fault::new(&script());
    let missing = fault.directory.path().join("missing");
    let error = fault
        .outcome(fault.options().cwd(&missing))
        .await
        .unwrap_err();
    let Error::WorkingDirectory { path, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!(path, missing);
    fault.nothing_left().await;
}

#[tokio::test]
async fn an_engine_that_exits_at_once_is_an_error_with_its_last_words() {
    let steps = [
        EngineStep::Stderr("cannot find my keys".to_owned()),
        EngineStep::Exit(3),
    ];
    let fault = Fault::new(&steps.into_iter().fold(script(), EngineScript::step));
    let error = fault.outcome(fault.options()).await.unwrap_err();
    let Error::EngineEnded { exit, stderr, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(*exit, EngineExit::Code(3));
    assert_eq!(stderr, &["cannot find my keys"]);
    assert!(error.to_string().contains("cannot find my keys"), "{error}");
    fault.nothing_left().await;
}

#[tokio::test]
async fn an_engine_that_dies_of_a_signal_is_an_error_that_names_it() {
    let fault = Fault::new(&script().initialize().on_user().step(EngineStep::Crash(11)));
    let error = fault.outcome(fault.options()).await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::EngineEnded {
                exit: EngineExit::Signal(11),
                ..
            }
        ),
        "{error:?}"
    );
    fault.nothing_left().await;
}

#[tokio::test]
async fn lines_that_are_no_messages_are_warnings_and_the_run_goes_on() {
    let odd = script()
        .initialize()
        .on_user()
        .step(EngineStep::EmitText("Warning: something human".to_owned()))
        .step(EngineStep::BadUtf8)
        .step(EngineStep::EmitText(String::new()))
        .turn("fine");
    let fault = Fault::new(&odd);
    let (messages, error) = fault.messages(fault.options()).await;
    assert!(error.is_none(), "{error:?}");
    let warnings = warnings(&messages);
    assert!(!warnings.is_empty() && warnings.iter().all(|kind| *kind == "malformed_line"));
    let good = |message: &Message| matches!(message, Message::Result(r) if r.text() == "fine");
    assert!(messages.iter().any(good));
    fault.nothing_left().await;
}

#[tokio::test]
async fn text_on_stdout_before_hello_does_no_harm() {
    let chatty = script()
        .step(EngineStep::EmitText("Welcome!".to_owned()))
        .initialize()
        .on_user()
        .turn("fine");
    let fault = Fault::new(&chatty);
    let (messages, error) = fault.messages(fault.options()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(warnings(&messages), ["malformed_line"]);
    fault.nothing_left().await;
}

#[tokio::test]
async fn an_engine_that_dies_in_mid_line_is_a_warning_and_an_error() {
    let half = EngineStep::HalfLine("{\"type\":\"assistant\",\"message\":{".to_owned());
    let fault = Fault::new(
        &script()
            .initialize()
            .on_user()
            .step(half)
            .step(EngineStep::Crash(9)),
    );
    let (messages, error) = fault.messages(fault.options()).await;
    assert_eq!(warnings(&messages), ["malformed_line"]);
    let Some(Error::EngineEnded { exit, .. }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(exit, EngineExit::Signal(9));
    fault.nothing_left().await;
}

#[tokio::test]
async fn an_engine_that_never_says_hello_is_a_timeout_and_is_ended() {
    let silent = script()
        .initialize_with(InitializeReply::Never)
        .ignoring_eof()
        .ignoring_sigterm();
    let fault = Fault::new(&silent.step(EngineStep::Hang));
    let limit = Duration::from_millis(500);
    let error = fault
        .outcome(fault.options().initialize_timeout(limit))
        .await
        .unwrap_err();
    let Error::Timeout { request, after, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!((request.as_str(), after), ("initialize", limit));
    fault.nothing_left().await;
}

#[tokio::test]
async fn an_engine_that_refuses_hello_is_a_refusal() {
    let refusing = script().initialize_with(InitializeReply::Error("not today".to_owned()));
    let fault = Fault::new(&refusing);
    let error = fault.outcome(fault.options()).await.unwrap_err();
    let Error::Refused {
        request, message, ..
    } = error
    else {
        panic!("{error:?}")
    };
    assert_eq!(
        (request.as_str(), message.as_str()),
        ("initialize", "not today")
    );
    fault.nothing_left().await;
}

#[tokio::test]
async fn an_engine_that_answers_twice_is_heard_once() {
    let fault = Fault::new(
        &script()
            .initialize_with(InitializeReply::Twice)
            .on_user()
            .turn("fine"),
    );
    assert_eq!(fault.outcome(fault.options()).await.unwrap().text(), "fine");
    fault.nothing_left().await;
}

#[tokio::test]
async fn requests_nobody_knows_are_answered_with_an_error() {
    let asking = script()
        .initialize()
        .on_user()
        .ask(json!({ "subtype": "sing_a_song" }))
        .ask(json!({ "no_subtype": true }))
        .turn("fine");
    let fault = Fault::new(&asking);
    assert_eq!(fault.outcome(fault.options()).await.unwrap().text(), "fine");
    let answers = fault.answers();
    assert_eq!(answers.len(), 2);
    assert!(
        answers.iter().all(|answer| answer["subtype"] == "error"),
        "{answers:?}"
    );
    fault.nothing_left().await;
}

/// An engine that asks for a permission, then ends its turn.
fn asking() -> EngineScript {
    let input = json!({ "command": "rm -r /" });
    script()
        .initialize()
        .on_user()
        .ask_can_use_tool("Bash", input)
        .turn("fine")
}

#[tokio::test]
async fn a_handler_that_panics_denies_and_the_run_goes_on() {
    let fault = Fault::new(&asking());
    let options = fault
        .options()
        .on_permission(|_| async { panic!("a bug of the caller") });
    let outcome = fault.outcome(options).await.unwrap();
    assert_eq!(outcome.text(), "fine");
    let answers = fault.answers();
    assert_eq!(answers[0]["response"]["behavior"], "deny", "{answers:?}");
    fault.nothing_left().await;
}

#[tokio::test]
async fn a_handler_that_hangs_denies_after_its_limit() {
    let fault = Fault::new(&asking());
    let options = fault
        .options()
        .permission_timeout(Duration::from_millis(100))
        .on_permission(|_| std::future::pending::<Decision>());
    assert_eq!(fault.outcome(options).await.unwrap().text(), "fine");
    assert_eq!(fault.answers()[0]["response"]["behavior"], "deny");
    fault.nothing_left().await;
}

#[tokio::test]
async fn a_handler_that_hangs_is_cancelled_when_the_caller_leaves() {
    /// Says when it is dropped.
    struct Alarm(Arc<AtomicBool>);
    impl Drop for Alarm {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let fault = Fault::new(&asking());
    let (asked, dropped) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let (seen, gone) = (asked.clone(), dropped.clone());
    let options = fault
        .options()
        .without_permission_timeout()
        .on_permission(move |_| {
            seen.store(true, Ordering::SeqCst);
            let alarm = Alarm(gone.clone());
            async move {
                let _alarm = alarm;
                std::future::pending::<Decision>().await
            }
        });
    let run = query("go", options).await.unwrap();
    until("the handler is asked", || asked.load(Ordering::SeqCst)).await;
    drop(run);
    until("the handler is dropped", || dropped.load(Ordering::SeqCst)).await;
    fault.nothing_left().await;
}

#[tokio::test]
async fn an_answer_that_comes_after_the_end_goes_nowhere() {
    let asks_and_dies = script()
        .initialize()
        .on_user()
        .emit(json!({ "type": "control_request", "request_id": "r1",
                      "request": EngineScript::can_use_tool("Bash", json!({})) }))
        .step(EngineStep::Exit(0));
    let fault = Fault::new(&asks_and_dies);
    let options =
        fault
            .options()
            .on_permission(|request: falconer::PermissionRequest| async move {
                // As slow as it gets: answers when nobody wants it any more.
                request.withdrawn.cancelled().await;
                Decision::allow()
            });
    let error = fault.outcome(options).await.unwrap_err();
    assert!(
        matches!(
            error,
            Error::EngineEnded {
                exit: EngineExit::Code(0),
                ..
            }
        ),
        "{error:?}"
    );
    fault.nothing_left().await;
}

#[tokio::test]
async fn a_caller_who_stops_reading_holds_up_nothing_and_leaves_nothing() {
    let loud = script()
        .initialize()
        .on_user()
        .step(EngineStep::BigLines {
            count: 64,
            bytes: 256 << 10,
        })
        .ask_can_use_tool("Bash", json!({}))
        .step(EngineStep::Await(AwaitedMessage::Eof));
    let fault = Fault::new(&loud);
    let asked = Arc::new(AtomicBool::new(false));
    let seen = asked.clone();
    let options = fault.options().on_permission(move |_| {
        seen.store(true, Ordering::SeqCst);
        async { Decision::allow() }
    });
    let (client, messages) = Client::connect(options).await.unwrap();
    client.send("go").await.unwrap();
    until("the permission is asked behind 16 MB", || {
        asked.load(Ordering::SeqCst)
    })
    .await;
    let closed = tokio::time::timeout(LIMIT, client.close())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(closed.exit, EngineExit::Code(0));
    drop((client, messages));
    fault.nothing_left().await;
}

#[tokio::test]
async fn dropping_the_messages_alone_does_not_stop_the_engine() {
    let fault = Fault::new(&EngineScript::echo());
    let (client, messages) = Client::connect(fault.options()).await.unwrap();
    drop(messages);
    for _ in 0..3 {
        client.send("hello").await.unwrap();
        tokio::time::timeout(LIMIT, client.idle())
            .await
            .expect("nobody answers");
    }
    let closed = tokio::time::timeout(LIMIT, client.close())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(closed.exit, EngineExit::Code(0));
    drop(client);
    fault.nothing_left().await;
}

#[tokio::test]
async fn a_line_over_the_limit_is_a_warning_and_the_next_is_read() {
    let huge = script()
        .initialize()
        .on_user()
        .step(EngineStep::HugeLine { bytes: 2 << 20 })
        .turn("fine");
    let fault = Fault::new(&huge);
    let (messages, error) = fault
        .messages(fault.options().max_line_bytes(1 << 20))
        .await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(warnings(&messages), ["line_too_long"]);
    let good = |message: &Message| matches!(message, Message::Result(r) if r.text() == "fine");
    assert!(messages.iter().any(good));
    fault.nothing_left().await;
}

#[tokio::test]
async fn silence_after_the_result_ends_the_run_at_its_ceiling() {
    let fault = Fault::new(&script().initialize().on_user().turn_without_idle("done"));
    let outcome = fault
        .outcome(fault.options().idle_ceiling(Duration::from_millis(300)))
        .await;
    assert_eq!(outcome.unwrap().text(), "done");
    fault.nothing_left().await;
}

#[tokio::test]
async fn an_engine_that_ignores_everything_is_killed_by_close() {
    let stubborn = EngineScript::echo().ignoring_eof().ignoring_sigterm();
    let fault = Fault::new(&stubborn);
    let (client, mut messages) = Client::connect(fault.options()).await.unwrap();
    client.send("hello").await.unwrap();
    tokio::time::timeout(LIMIT, client.idle()).await.unwrap();
    let closed = tokio::time::timeout(LIMIT, client.close())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(closed.exit, EngineExit::Signal(9));
    assert_eq!(fault.processes(), Vec::<u32>::new());
    assert!(
        read_to_end(&mut messages).await.is_none(),
        "a wanted end is no error"
    );
    drop((client, messages));
    fault.nothing_left().await;
}

#[tokio::test]
async fn a_child_that_holds_the_output_open_neither_delays_the_end_nor_survives() {
    let leaking = script()
        .initialize()
        .step(EngineStep::Grandchild {
            seconds: 1000,
            output: GrandchildOutput::Inherited,
        })
        .on_user()
        .turn("fine");
    let fault = Fault::new(&leaking);
    assert_eq!(fault.outcome(fault.options()).await.unwrap().text(), "fine");
    assert_eq!(fault.engine.dump().unwrap().grandchildren.len(), 1);
    fault.nothing_left().await;
}

#[tokio::test]
async fn requests_to_an_engine_that_is_gone_say_so() {
    let fault = Fault::new(
        &script()
            .initialize()
            .on_control("interrupt")
            .step(EngineStep::Exit(0)),
    );
    let (client, mut messages) = Client::connect(fault.options()).await.unwrap();
    client.interrupt().await.unwrap();
    assert!(
        read_to_end(&mut messages).await.is_none(),
        "nothing was asked of it"
    );
    for error in [
        client.send("hello").await.unwrap_err(),
        client.interrupt().await.unwrap_err(),
        client.set_model("sonnet").await.unwrap_err(),
    ] {
        assert!(matches!(error, Error::EngineEnded { .. }), "{error:?}");
    }
    tokio::time::timeout(LIMIT, client.idle())
        .await
        .expect("an engine that is gone is idle");
    drop((client, messages));
    fault.nothing_left().await;
}

#[tokio::test]
async fn a_session_written_for_the_engine_is_removed_whatever_happens() {
    let id = new_session_id();
    for (steps, succeeds) in [
        (EngineScript::echo(), true),
        (script().step(EngineStep::Exit(3)), false),
    ] {
        let fault = Fault::new(&steps);
        let store = Arc::new(InMemorySessionStore::new());
        let key = SessionKey::new(project_key(fault.directory.path()), id.clone());
        let entry = json!({ "type": "user", "uuid": "u1", "sessionId": id.as_str(),
                            "message": { "role": "user", "content": "hello" } });
        let entry = SessionStoreEntry::from_json(entry.to_string()).unwrap();
        store.append(&key, &[entry]).await.unwrap();
        let options = fault
            .options()
            .shared_session_store(store, FlushMode::Eager)
            .resume(id.as_str());
        assert_eq!(fault.outcome(options).await.is_ok(), succeeds);
        let written = fault.engine.dump().unwrap().env["CLAUDE_CONFIG_DIR"].clone();
        until("the copy is gone", || !PathBuf::from(&written).exists()).await;
        fault.nothing_left().await;
    }
}
