//! One run of the executable, and what must hold after every one of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Place, Ran, run};

/// How long anything may take here; far below the limits that would hide a hang.
const SOON: Duration = Duration::from_secs(50);

/// The variable by which processes of a run are found.
const MARK: &str = "FALCONER_FAULT_RUN";

/// A place with a directory beside the project that nobody may touch.
pub(super) struct Scene {
    pub(super) place: Place,
    args: Vec<String>,
    env: Vec<(String, String)>,
    mark: String,
}

/// What came of a run.
pub(super) struct Told {
    pub(super) code: i32,
    pub(super) stderr: String,
    pub(super) frames: Vec<Value>,
}

impl Scene {
    pub(super) fn new() -> Self {
        let place = Place::new();
        let outside = place.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("secret.txt"), "not yours\n").unwrap();
        let mark = format!("{}", place.path().display());
        Self {
            place,
            args: Vec::new(),
            env: Vec::new(),
            mark,
        }
    }

    pub(super) fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.args.extend(args.into_iter().map(str::to_owned));
        self
    }

    pub(super) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn work(&self, name: &str) -> PathBuf {
        self.place.path().join("work").join(name)
    }

    pub(super) fn home(&self, name: &str) -> PathBuf {
        self.place.path().join("home").join(name)
    }

    pub(super) fn outside(&self, name: &str) -> PathBuf {
        self.place.path().join("outside").join(name)
    }

    pub(super) fn file(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.work(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// A model that makes these calls at once, and then is done.
    pub(super) fn calls(&self, calls: &[Value]) -> Command {
        let content: Vec<Value> = calls.to_vec();
        let script = json!({"rules": [
            {"reply": {"message": {"content": content}}},
            {"times": "always", "reply": {"text": "done"}},
        ]});
        self.place.scripted(&script.to_string())
    }

    /// One prompt; checks what must hold whatever happened.
    #[track_caller]
    pub(super) fn run(&self, command: &mut Command) -> Told {
        let before = contents(&self.outside(""));
        command
            .args(["-p", "--output-format=stream-json", "--verbose"])
            .args(&self.args)
            .args(["--", "go"])
            .env(MARK, &self.mark);
        for (name, value) in &self.env {
            command.env(name, value);
        }
        let begun = Instant::now();
        let ran = run(command, "");
        assert!(begun.elapsed() < SOON, "took {:?}", begun.elapsed());
        assert_eq!(contents(&self.outside("")), before, "something was written");
        self.nothing_is_left();
        told(&ran)
    }

    /// No process of the run lives on.
    #[track_caller]
    fn nothing_is_left(&self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "left behind: {left:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn processes(&self) -> Vec<String> {
        let marked = format!("{MARK}={}", self.mark);
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let marked = processes.filter(|process| {
            let environ = std::fs::read(process.path().join("environ")).unwrap_or_default();
            let mut variables = environ.split(|byte| *byte == 0);
            variables.any(|variable| variable == marked.as_bytes())
        });
        let name = |process: std::fs::DirEntry| {
            std::fs::read_to_string(process.path().join("cmdline")).unwrap_or_default()
        };
        marked.map(name).filter(|name| !name.is_empty()).collect()
    }
}

fn told(ran: &Ran) -> Told {
    for output in [&ran.stdout, &ran.stderr] {
        assert!(!output.contains("panicked"), "{output}");
        assert!(!output.contains("RUST_BACKTRACE"), "{output}");
    }
    let code = ran.code.expect("it is not killed by a signal");
    assert!(matches!(code, 0 | 1), "{code}: {}", ran.stderr);
    let frames = ran.stdout.lines();
    let frames = frames.map(|line| serde_json::from_str(line).expect("a frame is JSON"));
    Told {
        code,
        stderr: ran.stderr.clone(),
        frames: frames.collect(),
    }
}

/// Names and contents below a directory.
fn contents(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    let read = |entry: std::fs::DirEntry| {
        let content = std::fs::read(entry.path()).unwrap_or_default();
        (entry.path(), content)
    };
    entries.map(read).collect()
}

impl Told {
    #[track_caller]
    pub(super) fn result(&self) -> &Value {
        let last = self.frames.iter().rfind(|frame| frame["type"] == "result");
        last.unwrap_or_else(|| panic!("no result: {:?} {}", self.frames, self.stderr))
    }

    /// The session went on to its end as if nothing had happened.
    #[track_caller]
    pub(super) fn went_well(&self) {
        assert_eq!(self.result()["result"], "done", "{:?}", self.frames);
        assert_eq!(self.result()["is_error"], false);
        assert_eq!(self.code, 0, "{}", self.stderr);
    }

    /// It ended with an error that says something.
    #[track_caller]
    pub(super) fn failed_with(&self, text: &str) {
        let said = self.result()["result"].as_str().unwrap_or_default();
        assert!(said.contains(text), "{said:?} does not say {text:?}");
        assert_eq!(self.result()["is_error"], true);
        assert_eq!(self.code, 1);
    }

    /// What the calls came to, in the order of the calls: whether they failed, and the text.
    pub(super) fn answers(&self) -> Vec<(bool, String)> {
        let blocks = self.frames.iter().filter(|frame| frame["type"] == "user");
        let blocks = blocks.filter_map(|frame| frame["message"]["content"].get(0).cloned());
        let mut results: Vec<Value> = blocks
            .filter(|block| block["type"] == "tool_result")
            .collect();
        let place = |id: &Value| {
            let made = self.frames.iter().filter(|it| it["type"] == "assistant");
            let mut made = made.map(|frame| frame["message"]["content"][0]["id"].clone());
            made.position(|made| made == *id)
        };
        results.sort_by_key(|block| place(&block["tool_use_id"]));
        let answer = |block: &Value| {
            let text = match &block["content"] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            (block["is_error"] == true, text)
        };
        results.iter().map(answer).collect()
    }

    pub(super) fn count(&self, subtype: &str) -> usize {
        let frames = self.frames.iter();
        frames.filter(|frame| frame["subtype"] == subtype).count()
    }
}

pub(super) fn call(name: &str, input: Value) -> Value {
    let mut call = json!({"type": "tool_use", "name": name});
    call["input"] = input;
    call
}

pub(super) fn bash(command: &str) -> Value {
    call("Bash", json!({"command": command, "description": "run"}))
}
