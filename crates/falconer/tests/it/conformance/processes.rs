//! Nothing is left of an engine, however it ends.

use std::process::{Command, Stdio};
use std::time::Duration;

use falconer::{Client, EngineExit, Error, Message, Options};
use falconer_testkit::scenario::{Scenario, text, tool_use};
use rustix::process::{Pid, Signal, kill_process};

use super::evidence::{WITH_ORPHANS, command, processes_in, until};
use super::{Stage, next_result};
use crate::scripted::LIMIT;

/// A command that runs for ever and has started processes with sessions of their own.
fn busy() -> Scenario {
    Scenario::new().turn(tool_use("Bash", command(WITH_ORPHANS)))
}

fn options(stage: &Stage) -> Options {
    stage
        .options()
        .allow_tools(["Bash"])
        .kill_grace(Duration::from_secs(1))
}

/// Sends a prompt and waits until the command and its orphans run.
async fn in_mid_tool(stage: &Stage, client: &Client) {
    client.send("go").await.unwrap();
    until("the tool runs", || stage.file("started").exists()).await;
    let running = processes_in(stage.project());
    assert!(running.len() >= 4, "engine, shell and orphans: {running:?}");
}

async fn nothing_left(stage: &Stage) {
    until("nothing is left", || {
        processes_in(stage.project()).is_empty()
    })
    .await;
}

#[tokio::test]
async fn closing_an_idle_engine_is_quick_and_clean() {
    let stage = Stage::new(Scenario::new().turn(text("hi")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("go").await.unwrap();
    next_result(&mut messages).await;
    let closed = tokio::time::timeout(LIMIT, client.close())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(closed.exit, EngineExit::Code(0));
    assert_eq!(processes_in(stage.project()), Vec::<u32>::new());
    assert!(messages_end(&mut messages).await);
}

/// Reads to a good end.
async fn messages_end(messages: &mut falconer::Messages) -> bool {
    let reading = async {
        while let Some(message) = messages.next().await {
            if message.is_err() {
                return false;
            }
        }
        true
    };
    tokio::time::timeout(LIMIT, reading)
        .await
        .expect("the messages never end")
}

#[tokio::test]
async fn closing_in_mid_tool_leaves_no_process() {
    let stage = Stage::new(busy());
    let options = options(&stage).close_grace(Duration::from_millis(100));
    let (client, mut messages) = stage.connect(options).await;
    in_mid_tool(&stage, &client).await;
    tokio::time::timeout(LIMIT, client.close())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        processes_in(stage.project()),
        Vec::<u32>::new(),
        "not even for a moment"
    );
    assert!(
        messages_end(&mut messages).await,
        "a wanted end is no error"
    );
}

#[tokio::test]
async fn dropping_in_mid_tool_leaves_no_process() {
    let stage = Stage::new(busy());
    let (client, messages) = stage.connect(options(&stage)).await;
    in_mid_tool(&stage, &client).await;
    drop((client, messages));
    nothing_left(&stage).await;
}

#[tokio::test]
async fn giving_up_on_connecting_leaves_no_process() {
    let stage = Stage::new(Scenario::new());
    let mut connecting = Box::pin(Client::connect(options(&stage)));
    let started = async {
        until("the engine runs", || {
            !processes_in(stage.project()).is_empty()
        })
        .await;
    };
    tokio::select! {
        biased;
        () = started => {}
        connected = &mut connecting => drop(connected.unwrap()),
    }
    drop(connecting);
    nothing_left(&stage).await;
}

#[tokio::test]
async fn an_engine_that_is_killed_from_outside_is_a_typed_error_and_its_tools_are_gone() {
    let stage = Stage::new(busy());
    let (client, mut messages) = stage.connect(options(&stage)).await;
    in_mid_tool(&stage, &client).await;
    let pid = Pid::from_raw(client.pid().unwrap().cast_signed()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    let last = async {
        let mut last = None;
        while let Some(message) = messages.next().await {
            last = Some(message);
        }
        last
    };
    let last = tokio::time::timeout(LIMIT, last)
        .await
        .expect("nobody noticed")
        .unwrap();
    let Err(Error::EngineEnded { exit, .. }) = last else {
        panic!("{last:?}")
    };
    assert_eq!(exit, EngineExit::Signal(9));
    assert_eq!(processes_in(stage.project()), Vec::<u32>::new());
    let late = client.send("hello?").await;
    assert!(matches!(late, Err(Error::EngineEnded { .. })), "{late:?}");
}

#[tokio::test]
async fn an_engine_that_was_killed_in_mid_tool_can_be_resumed() {
    let stage = Stage::new(busy().turn(text("where were we?")));
    let (client, messages) = stage.connect(options(&stage)).await;
    in_mid_tool(&stage, &client).await;
    let session = client.session_id().unwrap();
    drop((client, messages));
    nothing_left(&stage).await;
    let outcome = stage.run("go on", options(&stage).resume(&session)).await;
    assert_eq!(outcome.text(), "where were we?");
    assert_eq!(
        outcome
            .last()
            .unwrap()
            .session_id
            .as_ref()
            .unwrap()
            .as_str(),
        session
    );
}

#[tokio::test]
async fn dropping_a_run_after_its_first_message_leaves_no_process() {
    let stage = Stage::new(busy());
    let mut run = falconer::query("go", options(&stage)).await.unwrap();
    let first = tokio::time::timeout(LIMIT * 3, run.next()).await.unwrap();
    assert!(
        matches!(
            first,
            Some(Ok(Message::System(_) | Message::CommandLifecycle(_)))
        ),
        "{first:?}"
    );
    drop(run);
    nothing_left(&stage).await;
}

#[tokio::test]
async fn an_engine_whose_input_ends_finishes_what_it_was_given() {
    let stage = Stage::new(Scenario::new().turn(text("half ").hold("gate").text("done")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("go").await.unwrap();
    stage.server.wait_held("gate").await.unwrap();
    client.end_input();
    let late = client.send("too late").await;
    assert!(late.is_err(), "{late:?}");
    stage.server.release("gate");
    assert_eq!(next_result(&mut messages).await.text(), "half done");
    assert!(messages_end(&mut messages).await);
    assert_eq!(processes_in(stage.project()), Vec::<u32>::new());
}

#[tokio::test]
async fn dropping_the_client_lets_the_messages_go_on_to_their_end() {
    let stage = Stage::new(Scenario::new().turn(text("half ").hold("gate").text("done")));
    let (client, mut messages) = stage.connect(stage.options()).await;
    client.send("go").await.unwrap();
    stage.server.wait_held("gate").await.unwrap();
    drop(client);
    stage.server.release("gate");
    assert_eq!(next_result(&mut messages).await.text(), "half done");
    assert!(messages_end(&mut messages).await);
    assert_eq!(processes_in(stage.project()), Vec::<u32>::new());
}

/// Says to the process that is started again that it is the host, and where.
const HOST: &str = "FALCONER_TEST_HOST";

/// Plays the host that is killed, if this process was started as one.
async fn be_host_if_asked() {
    let Ok(arguments) = std::env::var(HOST) else {
        return;
    };
    let (project, rest) = arguments.split_once('\n').unwrap();
    let (home, url) = rest.split_once('\n').unwrap();
    let cli = falconer_testkit::RealCli::find().unwrap();
    let mut options = Options::new()
        .executable(cli.path())
        .cwd(project)
        .env_clear()
        .allow_tools(["Bash"]);
    for (name, value) in falconer_testkit::clean_env(home.as_ref(), url) {
        options = options.env(name, value);
    }
    let (client, mut messages) = Client::connect(options).await.unwrap();
    client.send("go").await.unwrap();
    while messages.next().await.is_some() {}
    std::process::exit(0);
}

#[tokio::test]
async fn killing_the_host_leaves_no_process() {
    be_host_if_asked().await;
    let stage = Stage::new(busy());
    let arguments = format!(
        "{}\n{}\n{}",
        stage.project().display(),
        stage.home.path().display(),
        stage.server.url()
    );
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args([
            "conformance::processes::killing_the_host_leaves_no_process",
            "--exact",
        ])
        .arg("--nocapture")
        .env(HOST, arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the tool runs", || stage.file("started").exists()).await;
    assert!(processes_in(stage.project()).len() >= 4);
    host.kill().unwrap();
    host.wait().unwrap();
    nothing_left(&stage).await;
}
