//! A place where commands run that cannot harm the machine.
//!
//! A jail has namespaces of its own for mounts, processes and network: everything but the scenes
//! is read-only, every address leads back into it, and commands run as nobody without
//! capabilities. Where namespaces are not to be had, root still runs them as nobody and with
//! limits; `Jail::confines` tells.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tempfile::TempDir;

use super::confined::BASE;
use super::scene::{self, SECRET, Snapshot};

const NOBODY: u32 = 65534;

/// Something a command did that a command which only reads does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// Files of the scene that were made, changed or removed.
    Changed(Vec<String>),
    /// A write that only the jail has prevented.
    Attempted,
    /// The text of a file outside, in the output.
    ReadOutside,
    Connected,
    /// Processes that outlived their shell.
    Left(String),
}

impl Effect {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Changed(_) | Self::Attempted => "changed",
            Self::ReadOutside => "read outside",
            Self::Connected => "connected",
            Self::Left(_) => "left a process",
        }
    }
}

/// Who starts the commands in a jail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Driver {
    /// A shell, without more ado.
    #[default]
    Shell,
    /// This executable, confined.
    Confined,
}

/// How a jail is set up.
#[derive(Debug, Clone, Default)]
pub(super) struct Setup {
    pub(super) driver: Driver,
    /// Variables of the commands.
    pub(super) variables: Vec<(String, String)>,
    /// Records the programs that are executed.
    pub(super) traced: bool,
}

/// A shell in a jail that takes commands one after the other.
pub(super) struct Jail {
    base: TempDir,
    templates: TempDir,
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    clean: Vec<(&'static str, Snapshot)>,
    tmp: Snapshot,
    network: (u64, u64),
    pub(super) confines: bool,
    pub(super) runs: usize,
}

impl Jail {
    pub(super) fn start(setup: &Setup) -> Self {
        // Not in /tmp, which the jail replaces.
        let directory = |prefix: &str| {
            let mut builder = tempfile::Builder::new();
            builder
                .prefix(prefix)
                .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755));
            builder.tempdir_in("/var/tmp").unwrap()
        };
        let (templates, base) = (directory("scenes-"), directory("jail-"));
        scene::build(templates.path());
        let root = is_root();
        if root {
            scene::give(templates.path(), NOBODY);
            scene::give(base.path(), NOBODY);
        }
        for name in scene::names() {
            scene::restore(templates.path(), base.path(), name);
        }
        let tmp = base.path().join("tmp");
        std::fs::create_dir(&tmp).unwrap();
        if root {
            scene::give(&tmp, NOBODY);
        }
        let confines = namespaces(root)
            .arg("true")
            .status()
            .is_ok_and(|it| it.success());
        assert!(
            confines || root,
            "commands are only run in namespaces of their own, or by root as nobody"
        );
        let mut child = start(base.path(), root, confines, setup);
        let (commands, answers) = (child.stdin.take(), child.stdout.take().unwrap());
        let mut jail = Self {
            clean: Vec::new(),
            tmp: Snapshot::of(&tmp),
            base,
            templates,
            child,
            commands,
            answers: BufReader::new(answers),
            network: (0, 0),
            confines,
            runs: 0,
        };
        jail.clean = scene::names()
            .into_iter()
            .map(|name| (name, jail.look(name)))
            .collect();
        jail
    }

    fn look(&self, scene: &str) -> Snapshot {
        Snapshot::of(&self.base.path().join(scene))
    }

    /// Where commands of a scene start.
    pub(super) fn work(&self, scene: &str) -> PathBuf {
        self.base.path().join(scene).join("work")
    }

    pub(super) fn home(&self, scene: &str) -> PathBuf {
        self.base.path().join(scene).join("home")
    }

    /// Runs a command and returns what it did; afterwards the scene is as it was.
    pub(super) fn run(&mut self, scene: &'static str, command: &str) -> Vec<Effect> {
        self.runs += 1;
        let answer = self.ask(scene, command);
        let mut fields = answer.trim_end().splitn(4, ' ');
        let mut number = || {
            fields
                .next()
                .unwrap_or_default()
                .parse::<u64>()
                .unwrap_or_default()
        };
        let (code, network) = (number(), (number(), number()));
        let left = fields.next().unwrap_or_default().to_owned();
        let mut effects = Vec::new();
        let changed = self.changes(scene);
        if !changed.is_empty() {
            effects.push(Effect::Changed(changed));
        }
        let output = std::fs::read(self.base.path().join("out")).unwrap_or_default();
        if contains(&output, SECRET.as_bytes()) {
            effects.push(Effect::ReadOutside);
        }
        if contains(&output, b"Read-only file system") {
            effects.push(Effect::Attempted);
        }
        if self.confines && network != self.network {
            effects.push(Effect::Connected);
        }
        self.network = network;
        const KILLED: u64 = 137;
        if !left.is_empty() && code != KILLED {
            effects.push(Effect::Left(left));
        }
        effects
    }

    fn ask(&mut self, scene: &str, command: &str) -> String {
        let commands = self.commands.as_mut().unwrap();
        let text = format!("{scene}\0{}\0", command.replace('\0', ""));
        commands.write_all(text.as_bytes()).unwrap();
        loop {
            let mut line = String::new();
            self.answers.read_line(&mut line).unwrap();
            assert!(!line.is_empty(), "the jail broke at {command:?} in {scene}");
            if let Some(answer) = line.strip_prefix("DONE ") {
                return answer.to_owned();
            }
        }
    }

    fn changes(&mut self, scene: &'static str) -> Vec<String> {
        let after = self.look(scene);
        let clean = self
            .clean
            .iter_mut()
            .find(|(name, _)| *name == scene)
            .unwrap();
        let mut changes = clean.1.differences(&after);
        if !changes.is_empty() {
            scene::restore(self.templates.path(), self.base.path(), scene);
            clean.1 = Snapshot::of(&self.base.path().join(scene));
        }
        let place = self.base.path().join("tmp");
        let tmp = Snapshot::of(&place);
        let new = self.tmp.differences(&tmp);
        changes.extend(new.into_iter().map(|name| format!("/tmp/{name}")));
        self.tmp = tmp;
        changes
    }

    /// Whether a text was in the output of the last command.
    pub(super) fn said(&self, text: &str) -> bool {
        let output = std::fs::read(self.base.path().join("out")).unwrap_or_default();
        contains(&output, text.as_bytes())
    }

    /// The programs that the last command executed, as the tracer wrote them.
    pub(super) fn trace(&self) -> String {
        std::fs::read_to_string(self.base.path().join("trace")).unwrap_or_default()
    }
}

impl Drop for Jail {
    fn drop(&mut self) {
        drop(self.commands.take());
        let _ = self.child.wait();
    }
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn namespaces(root: bool) -> Command {
    let mut command = Command::new("unshare");
    command.args([
        "--mount",
        "--pid",
        "--net",
        "--ipc",
        "--fork",
        "--kill-child",
    ]);
    if !root {
        command.args(["--user", "--map-root-user"]);
    }
    command
}

/// The program that starts the commands, in a place that nobody can read.
fn driver(base: &Path, driver: Driver) -> Vec<OsString> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/shell_fuzz");
    let (from, to) = match driver {
        Driver::Shell => (place.join("driver.sh"), base.join("driver.sh")),
        Driver::Confined => (std::env::current_exe().unwrap(), base.join("driver")),
    };
    std::fs::copy(from, &to).unwrap();
    match driver {
        Driver::Shell => vec!["bash".into(), to.into(), base.into()],
        Driver::Confined => {
            let test = "shell_fuzz::confined::driver";
            vec![
                to.into(),
                "--exact".into(),
                "--nocapture".into(),
                test.into(),
            ]
        }
    }
}

fn start(base: &Path, root: bool, confines: bool, setup: &Setup) -> Child {
    let user = if root {
        NOBODY.to_string()
    } else {
        String::new()
    };
    let mut command = if confines {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/shell_fuzz/jail.sh");
        let mut command = namespaces(root);
        command.arg("bash").arg(script).arg(base).arg(&user);
        command
    } else {
        let mut command = Command::new("setpriv");
        command
            .args([
                "--no-new-privs",
                "--bounding-set=-all",
                "--inh-caps=-all",
                "--clear-groups",
            ])
            .args([format!("--reuid={user}"), format!("--regid={user}")]);
        command
    };
    let jailed: &OsStr = match setup.driver {
        Driver::Shell => OsStr::new(""),
        Driver::Confined => base.as_os_str(),
    };
    let lines = setup
        .variables
        .iter()
        .map(|(name, value)| format!("{name}={value}\n"));
    command
        .args(driver(base, setup.driver))
        .env_clear()
        .env(
            "PATH",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        )
        .env("JAILED", if confines { "1" } else { "" })
        .env("TRACE", if setup.traced { "1" } else { "" })
        .env("READING", lines.collect::<String>())
        .envs((!jailed.is_empty() || confines).then_some((BASE, jailed)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
