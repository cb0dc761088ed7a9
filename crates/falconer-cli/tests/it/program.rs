//! Starting the executables with nothing of the machine around them.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Long enough for a machine that is busy with other things.
const SOON: Duration = Duration::from_secs(60);

/// A home and a directory to work in.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        for name in ["home", "work"] {
            std::fs::create_dir(place.path().join(name)).unwrap();
        }
        Self(place)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// `falconer`, as a person starts it.
    pub(crate) fn falconer(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_falconer"))
    }

    /// `falconer-claude`, as a host starts it.
    pub(crate) fn claude(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_falconer-claude"))
    }

    /// The same on a scripted model.
    pub(crate) fn scripted(&self, scenario: &str) -> Command {
        let file = self.path().join("scenario.json");
        std::fs::write(&file, scenario).unwrap();
        let mut command = self.claude();
        command.env("FALCONER_SCENARIO", file);
        command
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path().join("home"))
            .env("TMPDIR", self.path())
            .current_dir(self.path().join("work"));
        command
    }
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs to the end with this on stdin.
pub(crate) fn run(command: &mut Command, stdin: &str) -> Ran {
    let mut child = start(command);
    let mut pipe = child.stdin.take().unwrap();
    // A program that has refused to start does not read it.
    let _ = pipe.write_all(stdin.as_bytes());
    drop(pipe);
    finish(child)
}

pub(crate) fn start(command: &mut Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for the end of a program, however much it writes.
pub(crate) fn finish(mut child: Child) -> Ran {
    let stdout = child.stdout.take().map(read);
    let stderr = child.stderr.take().map(read);
    // A pipe that somebody else reads, or nobody, has nothing to say here.
    let words =
        |pipe: Option<JoinHandle<String>>| pipe.map_or(String::new(), |pipe| pipe.join().unwrap());
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > SOON {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("it did not end: {} {}", words(stdout), words(stderr));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Ran {
        code: status.code(),
        stdout: words(stdout),
        stderr: words(stderr),
    }
}

/// Reads beside the program, which would wait for a full pipe.
fn read(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap();
        text
    })
}
