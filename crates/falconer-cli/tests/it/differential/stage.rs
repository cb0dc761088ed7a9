//! Runs one engine through a case.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use falconer_testkit::{ApiServer, RealCli, clean_env};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::case::{Answer, Case, Step};
use super::frames::{Trace, calls, kind};

const LIMIT: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    Official,
    Ours,
}

/// Goes through the case and gives what the engine wrote.
pub(super) fn run(case: &Case, engine: Engine) -> Trace {
    run_in(&TempDir::new().unwrap(), case, engine)
}

/// Where a case was run: `home` and `project`, with everything that was written.
pub(super) fn kept(case: &Case, engine: Engine) -> TempDir {
    let root = TempDir::new().unwrap();
    run_in(&root, case, engine);
    root
}

/// Goes through the case and gives the session files that it leaves.
pub(super) fn transcripts(case: &Case, engine: Engine) -> Vec<String> {
    let root = kept(case, engine);
    let projects = root.path().join("home/.claude/projects");
    let directories = std::fs::read_dir(projects).unwrap();
    let files = directories.flat_map(|it| std::fs::read_dir(it.unwrap().path()).unwrap());
    let files = files.map(|it| it.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect()
}

fn run_in(root: &TempDir, case: &Case, engine: Engine) -> Trace {
    let (home, project) = (&root.path().join("home"), &root.path().join("project"));
    for directory in [home, project] {
        std::fs::create_dir(directory).unwrap();
    }
    for (name, content) in &case.files {
        write(project, home, name, content);
    }
    let server = &ApiServer::start((case.scenario)(project)).unwrap();
    let places = Places {
        home,
        project,
        server,
    };
    let earlier = case.before.as_ref();
    let earlier = earlier.map(|before| go_through(before, engine, &places, ""));
    let answer = earlier.as_ref().and_then(first_answer).unwrap_or_default();
    go_through(case, engine, &places, &answer)
}

/// The id of the first message of the model, which stands for `<answer>` in arguments.
fn first_answer(trace: &Trace) -> Option<String> {
    let first = trace.frames.iter().find(|it| kind(it) == "assistant")?;
    Some(first["uuid"].as_str()?.to_owned())
}

/// Where a run takes place.
struct Places<'a> {
    home: &'a Path,
    project: &'a Path,
    server: &'a ApiServer,
}

fn go_through(case: &Case, engine: Engine, places: &Places<'_>, answer: &str) -> Trace {
    let Places {
        home,
        project,
        server,
    } = *places;
    let mut child = command(case, engine, places, answer)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let host = Host::new(case, &mut child);
    let stderr = drain(&mut child);
    let reader = host.read(&mut child);
    host.play(case, engine, places, &child);
    let exit = wait(&mut child, engine);
    reader.join().unwrap();
    let seen = host.shared.seen.lock().unwrap();
    Trace {
        frames: seen.frames.clone(),
        text: seen.text.clone(),
        exit,
        stderr: stderr.join().unwrap(),
        requests: requests(server),
        left: case.left.iter().map(|name| read(places, name)).collect(),
        places: vec![
            (project.to_str().unwrap().to_owned(), "<project>"),
            (home.to_str().unwrap().to_owned(), "<home>"),
            (slug(project), "<slug>"),
            (server.address().to_string(), "<server>"),
            (python(), "<python>"),
        ],
    }
}

fn requests(server: &ApiServer) -> Vec<String> {
    let messages = server.messages();
    messages.iter().map(|it| calls(&it.body)).collect()
}

fn slug(path: &Path) -> String {
    let dash = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    path.to_str().unwrap().chars().map(dash).collect()
}

fn place(project: &Path, home: &Path, name: &str) -> PathBuf {
    match name.strip_prefix("~/") {
        Some(name) => home.join(name),
        None => project.join(name),
    }
}

fn read(places: &Places<'_>, name: &str) -> (String, Option<String>) {
    let content = std::fs::read(place(places.project, places.home, name));
    let content = content.map(|it| String::from_utf8_lossy(&it).into_owned());
    (name.to_owned(), content.ok())
}

fn write(project: &Path, home: &Path, name: &str, content: &[u8]) {
    let file = place(project, home, name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}

fn command(case: &Case, engine: Engine, places: &Places<'_>, answer: &str) -> Command {
    let program = match engine {
        Engine::Official => RealCli::find().unwrap().path().to_owned(),
        Engine::Ours => env!("CARGO_BIN_EXE_falconer-claude").into(),
    };
    let mut command = Command::new(program);
    let Places {
        home,
        project,
        server,
    } = *places;
    let here = |text: &str| {
        text.replace("<project>", project.to_str().unwrap())
            .replace("<home>", home.to_str().unwrap())
            .replace("<python>", &python())
            .replace("<answer>", answer)
    };
    command
        .args(case.args.iter().map(|arg| here(arg)))
        .current_dir(project)
        .env_clear()
        .envs(clean_env(home, &server.url()))
        .envs(case.env.iter().cloned());
    command
}

/// The Python that servers of tests run on.
fn python() -> String {
    std::env::var("FALCONER_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn drain(child: &mut Child) -> std::thread::JoinHandle<String> {
    let mut stderr = child.stderr.take().unwrap();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        stderr.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    })
}

fn wait(child: &mut Child, engine: Engine) -> i32 {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap_or_else(|| -status.signal().unwrap());
        }
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("{engine:?} did not end");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The host's side of the pipes.
struct Host {
    shared: Arc<Shared>,
}

struct Shared {
    seen: Mutex<Seen>,
    news: Condvar,
    stdin: Mutex<Option<ChildStdin>>,
    answers: Mutex<Vec<(String, Answer)>>,
}

#[derive(Default)]
struct Seen {
    frames: Vec<Value>,
    text: Vec<String>,
    closed: bool,
}

impl Host {
    fn new(case: &Case, child: &mut Child) -> Self {
        Self {
            shared: Arc::new(Shared {
                seen: Mutex::default(),
                news: Condvar::new(),
                stdin: Mutex::new(child.stdin.take()),
                answers: Mutex::new(case.answers.clone()),
            }),
        }
    }

    fn read(&self, child: &mut Child) -> std::thread::JoinHandle<()> {
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let shared = Arc::clone(&self.shared);
        std::thread::spawn(move || {
            for line in stdout.lines() {
                shared.take(&line.unwrap());
            }
            shared.seen.lock().unwrap().closed = true;
            shared.news.notify_all();
        })
    }

    fn play(&self, case: &Case, engine: Engine, places: &Places<'_>, child: &Child) {
        let Places {
            project, server, ..
        } = *places;
        for step in &case.steps {
            match step {
                Step::Send(line) => {
                    let line = line
                        .replace("<project>", project.to_str().unwrap())
                        .replace("<python>", &python())
                        .replace("<task>", &self.task());
                    self.shared.write(&line);
                }
                Step::Until(wanted, count) => self.until(engine, wanted, *count),
                Step::Requests(count) => {
                    poll(engine, &format!("{count} requests"), || {
                        server.messages().len() >= *count
                    });
                }
                Step::Release(gate) => server.release(gate),
                Step::File(name) => {
                    poll(engine, name, || project.join(name).exists());
                }
                Step::Touch(name) => std::fs::write(project.join(name), "").unwrap(),
                Step::TouchUntil(name, wanted, count) => {
                    self.touch_until(engine, &project.join(name), wanted, *count);
                }
                Step::Remove(name) => std::fs::remove_file(project.join(name)).unwrap(),
                Step::Signal(signal) => {
                    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
                    let signal = rustix::process::Signal::from_named_raw(*signal).unwrap();
                    rustix::process::kill_process(pid, signal).unwrap();
                }
                Step::Tail(line) => {
                    let stdin = self.shared.stdin.lock().unwrap().take();
                    stdin.unwrap().write_all(line.as_bytes()).unwrap();
                }
                Step::Eof => drop(self.shared.stdin.lock().unwrap().take()),
            }
        }
    }

    /// The id of the last task that was started.
    fn task(&self) -> String {
        let seen = self.shared.seen.lock().unwrap();
        let started = |frame: &&Value| kind(frame) == "system/task_started";
        let last = seen.frames.iter().rev().find(started);
        let id = last.and_then(|frame| frame["task_id"].as_str());
        id.unwrap_or_default().to_owned()
    }

    fn touch_until(&self, engine: Engine, file: &Path, wanted: &str, count: usize) {
        let mut written = None::<Instant>;
        poll(engine, wanted, || {
            // Seldom enough that one that was noticed is told before the next.
            if written.is_none_or(|it| it.elapsed() > LIMIT / 12) {
                std::fs::write(file, "").unwrap();
                written = Some(Instant::now());
            }
            let seen = self.shared.seen.lock().unwrap();
            let found = seen.frames.iter().filter(|frame| kind(frame) == wanted);
            found.count() >= count || seen.closed
        });
    }

    /// Waits for frames; an engine that ends before is compared as it is.
    fn until(&self, engine: Engine, wanted: &str, count: usize) {
        let deadline = Instant::now() + LIMIT;
        let mut seen = self.shared.seen.lock().unwrap();
        loop {
            let found = seen.frames.iter().filter(|frame| kind(frame) == wanted);
            if found.count() >= count || seen.closed {
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "{engine:?}: {wanted} {count} did not come, only {:#?}",
                seen.frames.iter().map(kind).collect::<Vec<_>>()
            );
            seen = self.shared.news.wait_timeout(seen, left).unwrap().0;
        }
    }
}

fn poll(engine: Engine, what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !done() {
        assert!(Instant::now() < deadline, "{engine:?}: {what} did not come");
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Shared {
    fn take(&self, line: &str) {
        let Ok(frame) = serde_json::from_str::<Value>(line) else {
            self.seen.lock().unwrap().text.push(line.to_owned());
            return;
        };
        // With `--output-format=json --verbose` all frames are one list.
        if let Value::Array(frames) = frame {
            self.seen.lock().unwrap().frames.extend(frames);
            return;
        }
        if let Some(answer) = self.answer(&frame) {
            self.write(&answer.to_string());
        }
        self.seen.lock().unwrap().frames.push(frame);
        self.news.notify_all();
    }

    fn write(&self, line: &str) {
        if let Some(stdin) = self.stdin.lock().unwrap().as_mut() {
            // An engine that has ended is compared as it is.
            let _ = stdin.write_all(format!("{line}\n").as_bytes());
        }
    }

    fn answer(&self, frame: &Value) -> Option<Value> {
        if frame["type"] != "control_request" {
            return None;
        }
        let subtype = frame["request"]["subtype"].as_str()?;
        let mut answers = self.answers.lock().unwrap();
        let found = answers.iter().position(|(wanted, _)| wanted == subtype)?;
        let is_last = answers
            .iter()
            .filter(|(wanted, _)| wanted == subtype)
            .count()
            == 1;
        let answer = if is_last {
            answers[found].1.clone()
        } else {
            answers.remove(found).1
        };
        let id = &frame["request_id"];
        let success = |response: Value| {
            Some(json!({"type": "control_response", "response": {
                "subtype": "success", "request_id": id, "response": response}}))
        };
        match answer {
            Answer::Success(response) => success(response),
            Answer::Error(text) => Some(json!({"type": "control_response", "response": {
                "subtype": "error", "request_id": id, "error": text}})),
            Answer::Calculator => success(calculate(&frame["request"]["message"])),
            Answer::Silence => None,
        }
    }
}

/// A small MCP server.
fn calculate(message: &Value) -> Value {
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "calc", "version": "1.0.0"}
        }),
        Some("tools/list") => json!({"tools": [
            {"name": "add", "description": "Adds.", "inputSchema": {
                "type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}},
            {"name": "boom", "description": "Fails.", "inputSchema": {"type": "object"}}
        ]}),
        Some("tools/call") if message["params"]["name"] == "add" => {
            let number = |name: &str| message["params"]["arguments"][name].as_i64().unwrap_or(0);
            json!({"content": [{"type": "text", "text": (number("a") + number("b")).to_string()}]})
        }
        Some("tools/call") => {
            json!({"content": [{"type": "text", "text": "kaput"}], "isError": true})
        }
        _ => json!({}),
    };
    let id = message.get("id").cloned().unwrap_or(json!(0));
    json!({"mcp_response": {"jsonrpc": "2.0", "id": id, "result": result}})
}
