//! Two processes and one session; processes that are killed at bad moments.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use falconer::Options;
use falconer_event::{Body, Outcome, Source};
use falconer_session::{
    Clock, Error, LockError, Resume, Session, SessionLocks, SessionSpec, SystemClock, replay,
};
use falconer_testkit::scenario::{Scenario, tool_use};
use falconer_testkit::{EngineScript, FakeEngine};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::json;

use crate::engines::{Kind, Site};
use crate::scripted::LIMIT;

/// Says what a child process is to do.
const ROLE: &str = "FALCONER_SESSION_TEST_ROLE";
/// Where it works.
const FOLDER: &str = "FALCONER_SESSION_TEST_FOLDER";

fn options(engine: &FakeEngine) -> Options {
    let options = Options::new()
        .executable(engine.program())
        .env_clear()
        .env_inherit("PATH");
    engine
        .env()
        .iter()
        .fold(options, |options, (name, value)| options.env(name, value))
}

/// A process that hosts a session, until it is dropped.
struct Host {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// What it said when it was where it should be.
    ready: String,
}

impl Host {
    /// What it says next; it says something or ends.
    fn next_ready(&mut self) -> String {
        let ready = self.lines.find_map(|line| {
            let line = line.unwrap();
            line.split_once("READY ").map(|(_, rest)| rest.to_owned())
        });
        ready.expect("the child got where it should be")
    }

    fn tell(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// This test, again, in a process of its own; it prints a line when it is where it should be.
fn host(role: &str, folder: &Path) -> Host {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::role_of_a_child", "--nocapture"])
        .env(ROLE, role)
        .env(FOLDER, folder)
        // What it leaves when it is killed goes with the folder.
        .env("TMPDIR", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = String::new();
    let mut host = Host {
        child,
        lines,
        ready,
    };
    host.ready = host.next_ready();
    host
}

/// Without a role it shows that children get theirs.
#[tokio::test]
async fn role_of_a_child() {
    let Ok(role) = std::env::var(ROLE) else {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(host("echo", folder.path()).ready, "echo");
        return;
    };
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    match role.as_str() {
        "echo" => announce("echo"),
        "race" => race(&folder).await,
        "official" => be_killed_in_a_tool(Kind::Official, &folder).await,
        "native" => be_killed_in_a_tool(Kind::Native, &folder).await,
        role => be_killed(role, &folder).await,
    }
}

/// Says where the engine can be found, and that the moment has come.
fn announce(what: &str) {
    println!("\nREADY {what}");
}

/// Stops the world between the engine's init and `run.started`: when the session is locked and
/// the next event is stamped.
struct Between {
    locks: PathBuf,
    mark: String,
}

impl Clock for Between {
    fn now(&self) -> String {
        let is_locked =
            std::fs::read_dir(&self.locks).is_ok_and(|mut found| found.next().is_some());
        if !is_locked {
            return SystemClock.now();
        }
        announce(&self.mark);
        loop {
            std::thread::park();
        }
    }
}

/// Runs a session up to a bad moment, and waits there.
async fn be_killed(role: &str, folder: &Path) {
    let script = EngineScript::new().initialize().on_user();
    let script = script.emit(init("s"));
    let script = match role {
        "init" | "started" => script,
        "permission" => script.ask_can_use_tool("Bash", json!({"command": "ls"})),
        "tool" => script.emit(json!({"type": "assistant", "message": {"id": "m",
            "role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash",
            "input": {"command": "sleep 1000"}}]}})),
        other => panic!("no such role: {other}"),
    };
    // It would stay, if nobody saw to it.
    let engine = FakeEngine::script(&script.on_user().ignoring_sigterm().ignoring_eof()).unwrap();
    let mark = mark(&engine);
    let mut spec = SessionSpec::new(SessionLocks::new(folder.join("locks")))
        .options(options(&engine))
        .transcript(folder.join("run.jsonl"));
    if role == "init" {
        spec = spec.clock(Between {
            locks: folder.join("locks"),
            mark: mark.clone(),
        });
    }
    let (session, mut events) = Session::start(spec).await.unwrap();
    session.send("go").await.unwrap();
    while let Some(event) = events.next().await {
        let is_there = match event.body {
            Body::RunStarted(_) => role == "started",
            Body::PermissionRequested(_) => role == "permission",
            Body::ItemStarted(_) => role == "tool" && event.source == Source::Agent,
            _ => false,
        };
        if is_there {
            announce(&mark);
        }
    }
}

/// Runs a session of a real engine until its tool runs, and waits there.
async fn be_killed_in_a_tool(kind: Kind, folder: &Path) {
    let fifo = folder.join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    // The shell goes on when somebody reads; it would stay for long.
    let command = format!("echo begun > {}; sleep 1000; true", fifo.display());
    let call = tool_use("Bash", json!({"command": command, "timeout": 600_000}));
    let site = Site::real(kind, Scenario::new().turn(call));
    let spec = (site.spec())
        .options(site.options().allow_tools(["Bash"]))
        .transcript(folder.join("run.jsonl"));
    let (session, mut events) = Session::start(spec).await.unwrap();
    session.send("go").await.unwrap();
    let begun = tokio::task::spawn_blocking(move || std::fs::read_to_string(fifo));
    let mut locked = None;
    let reading = async {
        while let Some(event) = events.next().await {
            if let Body::RunStarted(started) = event.body {
                locked = Some(started.native_session);
            }
        }
    };
    tokio::select! {
        () = reading => panic!("the run ended"),
        begun = begun => assert_eq!(begun.unwrap().unwrap(), "begun\n"),
    }
    // All processes of the run have this home in their environment.
    let home = site.home.path().display();
    announce(&format!("{home} {}", locked.unwrap()));
    std::future::pending::<()>().await;
}

fn init(session: &str) -> serde_json::Value {
    json!({"type": "system", "subtype": "init", "cwd": "/", "session_id": session})
}

/// What is in the environment of this engine and of no other process.
fn mark(engine: &FakeEngine) -> String {
    let values = engine
        .env()
        .iter()
        .map(|(_, value)| value.to_string_lossy());
    values.max_by_key(|value| value.len()).unwrap().into_owned()
}

/// The processes with a mark in their environment.
fn marked(mark: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap();
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(mark)
    })
    .collect()
}

/// Waits until processes are gone.
async fn gone(processes: Vec<Running>) {
    let waiting = tokio::task::spawn_blocking(move || {
        let limit = Timespec::try_from(LIMIT).unwrap();
        processes.into_iter().find(|process| {
            let mut poll = [PollFd::new(&process.handle, PollFlags::IN)];
            rustix::event::poll(&mut poll, Some(&limit)).unwrap() == 0
        })
    });
    if let Some(process) = waiting.await.unwrap() {
        panic!(
            "still there: {}; it was: {}",
            describe(process.pid),
            process.was
        );
    }
}

/// A process that is to end.
struct Running {
    pid: u32,
    handle: OwnedFd,
    was: String,
}

/// What a process is, for whoever reads that it should be gone.
fn describe(pid: u32) -> String {
    let about = |file: &str| {
        let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim().replace('\0', " ")
    };
    format!("{} ({})", about("cmdline"), about("stat"))
}

/// Waits for those, too, that were started while the others were looked for.
async fn nothing_is_left(mark: &str) {
    loop {
        let left = marked(mark);
        if left.is_empty() {
            return;
        }
        gone(handles(&left)).await;
    }
}

/// Handles of processes that are to end; those that are gone already have none.
fn handles(pids: &[u32]) -> Vec<Running> {
    let running = pids.iter().filter_map(|&pid| {
        let raw = Pid::from_raw(i32::try_from(pid).unwrap())?;
        let handle = pidfd_open(raw, PidfdFlags::empty()).ok()?;
        let was = describe(pid);
        Some(Running { pid, handle, was })
    });
    running.collect()
}

/// The host is killed while a tool of a real engine runs: neither engine nor tool survive it.
#[tokio::test]
async fn a_host_killed_during_a_tool_leaves_nothing_that_runs() {
    for role in ["official", "native"] {
        let folder = tempfile::tempdir().unwrap();
        let mut host = host(role, folder.path());
        let (home, session) = host.ready.split_once(' ').unwrap();
        let (home, session) = (home.to_owned(), session.to_owned());
        let locks = SessionLocks::new(Path::new(&home).join("locks"));
        let held = locks.try_lock(&session);
        assert!(
            matches!(held, Err(LockError::Held { .. })),
            "{role}: {held:?}"
        );
        let running = marked(&home);
        assert!(!running.is_empty(), "{role}: the tool runs");
        let running = handles(&running);
        host.child.kill().unwrap();
        host.child.wait().unwrap();
        gone(running).await;
        nothing_is_left(&home).await;
        drop(locks.lock(&session, LIMIT).await.unwrap());
        replays(&folder.path().join("run.jsonl"), role);
    }
}

#[tokio::test]
async fn a_killed_host_leaves_no_lock_no_engine_and_a_transcript_that_replays() {
    for role in ["init", "started", "permission", "tool"] {
        let folder = tempfile::tempdir().unwrap();
        let locks = SessionLocks::new(folder.path().join("locks"));
        let mut host = host(role, folder.path());
        let engine = marked(&host.ready);
        assert_eq!(engine.len(), 1, "{role}: {}", host.ready);
        let engine = handles(&engine);
        // From another process it is in use, and by whom is said.
        match locks.try_lock("s") {
            Err(error @ LockError::Held { .. }) => {
                let pid = host.child.id().to_string();
                assert!(error.to_string().contains(&pid), "{error}");
            }
            other => panic!("{role}: {other:?}"),
        }
        host.child.kill().unwrap();
        host.child.wait().unwrap();
        drop(locks.lock("s", LIMIT).await.unwrap());
        let left = std::fs::read_dir(locks.directory()).unwrap().count();
        assert_eq!(left, 0, "{role}");
        gone(engine).await;
        nothing_is_left(&host.ready).await;
        replays(&folder.path().join("run.jsonl"), role);
    }
}

fn replays(transcript: &Path, role: &str) {
    let file = std::fs::File::open(transcript).unwrap();
    let (events, unreadable) = replay(BufReader::new(file)).unwrap();
    assert_eq!(unreadable, 0, "{role}");
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(
        numbers,
        (1..=numbers.len() as u64).collect::<Vec<_>>(),
        "{role}"
    );
    let started = |event: &falconer_event::Event| matches!(event.body, Body::RunStarted(_));
    assert_eq!(events.iter().any(started), role != "init", "{role}");
    assert!(!events.is_empty(), "{role}");
}

#[test]
fn half_a_line_of_a_crash_does_not_take_the_next_one_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    std::fs::write(&path, "{\"type\":\"warn").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (transport, end) = falconer::channel();
        drop(end);
        let spec = SessionSpec::new(SessionLocks::new(folder.path()))
            .through(transport)
            .transcript(&path);
        let (session, _events) = Session::start(spec).await.unwrap();
        session.ended().await;
    });
    let file = std::fs::File::open(&path).unwrap();
    let (events, unreadable) = replay(BufReader::new(file)).unwrap();
    assert_eq!((events.len(), unreadable), (1, 1));
}

/// Waits for the start, tries to resume, and says how that went.
async fn race(folder: &Path) {
    announce("set");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let script = EngineScript::new().initialize().on_user();
    let engine = FakeEngine::script(&script.emit(init("s")).on_user()).unwrap();
    let spec = SessionSpec::new(SessionLocks::new(folder.join("locks")))
        .options(options(&engine))
        .resume(Resume::session("s"));
    match Session::start(spec).await {
        Ok((session, mut events)) => {
            session.send("go").await.unwrap();
            while let Some(event) = events.next().await {
                if matches!(event.body, Body::RunStarted(_)) {
                    break;
                }
            }
            announce("won");
            // Kept until the other one has tried.
            std::io::stdin().read_line(&mut line).unwrap();
            session.close().await;
        }
        Err(Error::Lock(LockError::Held { .. })) => announce("lost"),
        Err(error) => announce(&format!("failed: {error}")),
    }
}

#[tokio::test]
async fn of_two_processes_that_start_at_once_one_wins() {
    for _ in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let mut hosts = [host("race", folder.path()), host("race", folder.path())];
        for host in &mut hosts {
            host.tell("go");
        }
        let mut said = hosts.each_mut().map(Host::next_ready);
        said.sort();
        assert_eq!(said, ["lost", "won"]);
        for host in &mut hosts {
            // The one that lost may be gone.
            let _ = writeln!(host.child.stdin.as_mut().unwrap(), "over");
            host.child.wait().unwrap();
        }
        let locks = SessionLocks::new(folder.path().join("locks"));
        drop(locks.try_lock("s").unwrap());
    }
}

/// Places in which nothing can be made: below a file, and where the kernel lets nobody.
#[tokio::test]
async fn a_home_that_takes_nothing_is_told_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for place in [file.join("below"), PathBuf::from("/proc/falconer")] {
        let script = EngineScript::new().initialize().on_user().emit(init("s"));
        let engine = FakeEngine::script(&script.on_user()).unwrap();
        let broken =
            || SessionSpec::new(SessionLocks::new(place.join("locks"))).options(options(&engine));
        // Resumed: nothing is started.
        let resumed = Session::start(broken().resume(Resume::session("s"))).await;
        let is_io = matches!(resumed, Err(Error::Lock(LockError::Io { .. })));
        assert!(is_io, "{resumed:?}");
        assert!(marked(&mark(&engine)).is_empty());
        // New: the engine is ended before anything is announced.
        let (session, mut events) = Session::start(broken()).await.unwrap();
        session.send("go").await.unwrap();
        let mut all = Vec::new();
        while let Some(event) = events.next().await {
            all.push(event);
        }
        let end = crate::scripted::completed(&all);
        assert_eq!(crate::scripted::class(&end), "lock_failed");
        let started = |event: &falconer_event::Event| matches!(event.body, Body::RunStarted(_));
        assert!(!all.iter().any(started));
        assert!(marked(&mark(&engine)).is_empty());
        // A transcript that cannot be made starts nothing, either.
        let locks = SessionLocks::new(folder.path().join("locks"));
        let spec = SessionSpec::new(locks.clone()).transcript(place.join("run.jsonl"));
        let spec = spec.options(options(&engine)).resume(Resume::session("s"));
        let refused = Session::start(spec).await;
        assert!(
            matches!(refused, Err(Error::Transcript { .. })),
            "{refused:?}"
        );
        drop(locks.try_lock("s").unwrap());
        assert!(marked(&mark(&engine)).is_empty());
    }
}

#[tokio::test]
async fn an_engine_that_ignores_sigterm_is_killed_on_close() {
    let script = EngineScript::new().initialize().on_user();
    let script = script
        .emit(json!({"type": "system", "subtype": "init", "cwd": "/", "session_id": "s"}))
        .on_user()
        .ignoring_sigterm()
        .ignoring_eof();
    let engine = FakeEngine::script(&script).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let locks = SessionLocks::new(folder.path());
    let options = options(&engine)
        .close_grace(std::time::Duration::from_millis(100))
        .kill_grace(std::time::Duration::from_millis(100));
    let spec = SessionSpec::new(locks.clone()).options(options);
    let (session, mut events) = Session::start(spec).await.unwrap();
    session.send("go").await.unwrap();
    while let Some(event) = events.next().await {
        if matches!(event.body, Body::RunStarted(_)) {
            break;
        }
    }
    tokio::time::timeout(LIMIT, session.close()).await.unwrap();
    drop(locks.try_lock("s").unwrap());
    let mut last = None;
    while let Some(event) = events.next().await {
        last = Some(event);
    }
    match last.map(|event| event.body) {
        Some(Body::RunCompleted(end)) => assert_eq!(end.outcome, Outcome::Cancelled),
        other => panic!("{other:?}"),
    }
}
