//! Ways out of a tree that wipe the environment, against every way for a tree to end.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use falconer_process::ExitStatus;
use rustix::process::{Pid, Signal, kill_process};

use crate::process::{Den, KILL_NOW, clean_status, until};

/// Each starts processes that have no marker and no parent in the tree, in the background.
const WAYS: &[(&str, &str)] = &[
    ("no environment", "env -i sleep 1000 &"),
    ("a session of its own", "setsid env -i sleep 1000 &"),
    (
        "a daemon",
        "(setsid env -i sh -c 'sleep 1000 & sleep 1000 &' &)",
    ),
    ("nohup", "nohup env -i sleep 1000 >/dev/null 2>&1 &"),
    (
        "another name",
        "setsid env -i perl -e '$0=q([kworker/0:1]); sleep 1000' &",
    ),
    (
        "deaf to every signal",
        "setsid env -i perl -e '$SIG{$_}=q(IGNORE) for keys %SIG; sleep 1 while 1' &",
    ),
    (
        "a reaper of its own",
        "setsid env -i perl -e 'syscall(157,36,1); fork; fork; sleep 1000' &",
    ),
    (
        "a program that is gone",
        "cp /bin/sleep ./s; setsid env -i ./s 1000 & until [ \"$(cat /proc/$!/comm)\" = s ]; do :; done; rm s",
    ),
    (
        "forks that never stop",
        "setsid env -i perl -e 'while (1) { fork and exit; select(undef,undef,undef,0.002) }' &",
    ),
    (
        "a brother instead of a child",
        "env -i perl -e 'syscall(56,0x8011,0,0,0,0); sleep 1000' &",
    ),
    (
        "a namespace of processes",
        "unshare -p -f env -i sleep 1000 &",
    ),
    (
        "another user",
        "setsid env -i setpriv --reuid 65534 --clear-groups sleep 1000 &",
    ),
];

/// Ways that need root.
const PRIVILEGED: [&str; 2] = ["a namespace of processes", "another user"];

fn ways() -> impl Iterator<Item = (&'static str, String)> {
    let is_root = rustix::process::geteuid().is_root();
    let possible = WAYS
        .iter()
        .filter(move |(name, _)| is_root || !PRIVILEGED.contains(name));
    possible.map(|(name, script)| (*name, format!("{script}\nsleep 0.1; : >ready")))
}

#[test]
fn nothing_survives_a_shell_that_exits() {
    for (name, script) in ways() {
        let den = Den::new();
        let process = den.spawn(&format!("{script}; exit 3"));
        assert_eq!(clean_status(&process), ExitStatus::Code(3), "{name}");
        assert_eq!(den.processes(), [0; 0], "{name}");
    }
}

#[test]
fn nothing_survives_a_shell_that_is_killed() {
    for (name, script) in ways() {
        let den = Den::new();
        let process = den.spawn_ready(&format!("{script}; sleep 1000"), 2);
        let shell = Pid::from_raw(process.pid.cast_signed()).unwrap();
        kill_process(shell, Signal::KILL).unwrap();
        assert_eq!(clean_status(&process), ExitStatus::Signal(9), "{name}");
        assert_eq!(den.processes(), [0; 0], "{name}");
    }
}

#[test]
fn nothing_survives_an_end() {
    for (name, script) in ways() {
        let den = Den::new();
        let process = den.spawn_ready(&format!("{script}; sleep 1000"), 2);
        process.handle.end(KILL_NOW);
        assert_eq!(clean_status(&process), ExitStatus::Signal(9), "{name}");
        assert_eq!(den.processes(), [0; 0], "{name}");
    }
}

const HOST_DIRECTORY: &str = "FALCONER_TEST_HOST_DIRECTORY";

/// Plays a host whose shells have all ended their own way when it is killed: half of them live,
/// half have just exited.
#[test]
fn nothing_survives_the_host() {
    if let Some(directory) = std::env::var_os(HOST_DIRECTORY) {
        return be_host(std::path::Path::new(&directory));
    }
    for signal in [Signal::KILL, Signal::TERM] {
        let den = Den::new();
        let mut host = Command::new(std::env::current_exe().unwrap())
            .args(["escapes::nothing_survives_the_host", "--exact"])
            .env(HOST_DIRECTORY, den.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        den.wait_for_file("complete");
        assert!(den.processes().len() > 10);
        let pid = Pid::from_raw(host.id().cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
        assert_eq!(host.wait().unwrap().signal(), Some(signal.as_raw()));
        until("the trees are gone", || den.processes().is_empty());
    }
}

fn be_host(directory: &std::path::Path) {
    let mut trees = Vec::new();
    for (_, script) in ways() {
        let mut spec = Den::new().spec(&format!("{script}; sleep 1000"));
        spec.cwd = Some(directory.to_owned());
        let ready = directory.join("ready");
        trees.push(crate::process::spawn(spec).unwrap());
        until("a tree is there", || ready.exists());
        std::fs::remove_file(ready).unwrap();
    }
    std::fs::write(directory.join("complete"), "").unwrap();
    let _ = std::io::stdin().read_line(&mut String::new());
}

#[test]
fn confined_commands_leave_nothing_either() {
    // One of them needs a file that it is not allowed to make.
    for (name, script) in ways().filter(|(name, _)| *name != "a program that is gone") {
        let den = Den::new();
        let spec = den.spec(&format!("{script}; exit 3"));
        let process = crate::process::spawn(spec.confined().unwrap()).unwrap();
        clean_status(&process);
        assert_eq!(den.processes(), [0; 0], "{name}");
    }
}
