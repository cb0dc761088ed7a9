//! What happens to the processes when the program that supervises them goes away.
//!
//! The tests start themselves again as the program that is to be killed.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use falconer_process::{HostId, end_leftovers};
use rustix::process::{Pid, Signal, kill_process};

use crate::process::{Den, RESTLESS, clean_status, processes_where, until};

const HOST_DIRECTORY: &str = "FALCONER_TEST_HOST_DIRECTORY";

/// As if the host itself were supervised by somebody.
const OUTER_MARKER: &str = "FALCONER_RUN_00000000000000000000000000000001";

/// The tree of each host: the root ignores SIGTERM, a helper has its own session, a daemon has
/// lost its parents, another one its environment.
const TREE: &str = "trap '' TERM; setsid sleep 1000 & (setsid sleep 1000 &); \
                    (setsid env -i sleep 1000 &); while :; do sleep 0.01; done";

/// Starts the test `name` again as a host in `den`; returns when its processes run and its
/// watchdog knows them.
fn start_host(name: &str, den: &Den) -> Child {
    let host = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(HOST_DIRECTORY, den.path())
        .env(OUTER_MARKER, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    den.wait_for_file("watched");
    until("the tree is complete", || den.processes().len() >= 4);
    host
}

/// If this process is to be a host: starts the tree and does `then`.
fn be_host_if_asked(then: impl FnOnce()) {
    let Some(directory) = std::env::var_os(HOST_DIRECTORY) else {
        return;
    };
    let directory = Path::new(&directory);
    let den = Den::new();
    let mut spec = den.spec(TREE);
    spec.cwd = Some(directory.to_owned());
    let tree = crate::process::spawn(spec).unwrap();
    let watchdogs = processes_where(|pid| is_watchdog_of(pid, std::process::id()));
    fs::write(directory.join("watchdogs"), format!("{watchdogs:?}")).unwrap();
    let id = HostId::this().uuid().to_string();
    fs::write(directory.join("host_id"), id).unwrap();
    fs::write(directory.join("watched"), "").unwrap();
    then();
    drop(tree);
    std::process::exit(0);
}

fn is_watchdog_of(pid: u32, parent: u32) -> bool {
    let cmdline = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    cmdline.contains("falconer-watchdog") && status.contains(&format!("\nPPid:\t{parent}\n"))
}

fn watchdog(den: &Den) -> u32 {
    let text = fs::read_to_string(den.path().join("watchdogs")).unwrap();
    let pid = text.trim_matches(['[', ']']);
    pid.parse()
        .unwrap_or_else(|_| panic!("not exactly one watchdog: {text}"))
}

fn is_alive(pid: u32) -> bool {
    !processes_where(|other| other == pid).is_empty()
}

fn wait_for_stdin() {
    let _ = std::io::stdin().read_line(&mut String::new());
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

#[test]
fn nothing_survives_when_the_host_is_killed() {
    be_host_if_asked(wait_for_stdin);
    let den = Den::new();
    let mut host = start_host(
        "host_killed::nothing_survives_when_the_host_is_killed",
        &den,
    );
    let watchdog = watchdog(&den);
    host.kill().unwrap();
    host.wait().unwrap();
    until("the tree is gone", || den.processes().is_empty());
    until("the watchdog is gone", || !is_alive(watchdog));
}

/// No moment is too early: the first process that a host ever starts kills it, on the only
/// processor they have, before the host can do anything more.
#[test]
fn nothing_survives_when_the_host_is_killed_at_once() {
    be_killed_if_asked("setsid sleep 1000 & kill -KILL $PPID; sleep 1000");
    let den = Den::new();
    for _ in 0..20 {
        let mut host = Command::new("taskset");
        host.args(["-c", &a_processor()])
            .arg(std::env::current_exe().unwrap());
        let name = "host_killed::nothing_survives_when_the_host_is_killed_at_once";
        let_be_killed(host, name, &den);
        until("the tree is gone", || den.processes().is_empty());
    }
}

#[test]
fn orphans_that_are_just_becoming_another_program_do_not_survive_the_host() {
    be_killed_if_asked(&format!("{RESTLESS} sleep 0.1; kill -KILL $PPID; exit"));
    let name = "host_killed::\
                orphans_that_are_just_becoming_another_program_do_not_survive_the_host";
    for _ in 0..3 {
        let den = Den::new();
        let_be_killed(Command::new(std::env::current_exe().unwrap()), name, &den);
        until("the tree is gone", || den.processes().is_empty());
    }
}

/// If this process is to be a host: runs a script that kills it.
fn be_killed_if_asked(script: &str) {
    let Some(directory) = std::env::var_os(HOST_DIRECTORY) else {
        return;
    };
    let mut spec = Den::new().spec(script);
    spec.cwd = Some(directory.into());
    let tree = crate::process::spawn(spec).unwrap();
    clean_status(&tree);
}

/// Starts the test `name` again as a host that is killed by what it starts.
fn let_be_killed(mut host: Command, name: &str, den: &Den) {
    host.args([name, "--exact", "--nocapture"])
        .env(HOST_DIRECTORY, den.path())
        .stdout(Stdio::null());
    let ended = host.status().unwrap();
    assert_eq!(ended.signal(), Some(Signal::KILL.as_raw()));
}

/// One that we may use.
fn a_processor() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let allowed = (status.lines()).find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let first = allowed.unwrap().trim().split(['-', ',']).next();
    first.unwrap().to_owned()
}

#[test]
fn nothing_survives_when_the_host_exits_without_cleaning_up() {
    be_host_if_asked(|| {
        wait_for_stdin();
        std::process::exit(0);
    });
    let den = Den::new();
    let name = "host_killed::nothing_survives_when_the_host_exits_without_cleaning_up";
    let mut host = start_host(name, &den);
    let watchdog = watchdog(&den);
    drop(host.stdin.take());
    assert!(host.wait().unwrap().success());
    until("the tree is gone", || den.processes().is_empty());
    until("the watchdog is gone", || !is_alive(watchdog));
}

#[test]
fn who_comes_after_a_host_and_its_watchdog_ends_what_they_left() {
    be_host_if_asked(wait_for_stdin);
    let den = Den::new();
    let name = "host_killed::who_comes_after_a_host_and_its_watchdog_ends_what_they_left";
    let mut host = start_host(name, &den);
    let watchdog = watchdog(&den);
    let id = fs::read_to_string(den.path().join("host_id")).unwrap();
    let id = HostId::new(id.parse().unwrap());
    signal(watchdog, Signal::STOP);
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(!den.processes().is_empty(), "nobody is there to end them");
    assert_eq!(end_leftovers(HostId::this()), 0, "never what is our own");
    assert!(end_leftovers(id) > 0);
    until("the tree is gone", || den.processes().is_empty());
    signal(watchdog, Signal::KILL);
}

#[test]
fn a_watchdog_that_dies_is_replaced() {
    be_host_if_asked(wait_for_stdin);
    let den = Den::new();
    let mut host = start_host("host_killed::a_watchdog_that_dies_is_replaced", &den);
    let first = watchdog(&den);
    signal(first, Signal::KILL);
    let successors = || processes_where(|pid| pid != first && is_watchdog_of(pid, host.id()));
    until("there is another watchdog", || successors().len() == 1);
    let second = successors()[0];
    // It has read the list once it waits for more: an empty pipe, in a system call.
    until("the watchdog has been told", || {
        let state = fs::read_to_string(format!("/proc/{second}/wchan")).unwrap_or_default();
        state.contains("pipe_read")
    });
    host.kill().unwrap();
    host.wait().unwrap();
    until("the tree is gone", || den.processes().is_empty());
}

#[test]
fn the_watchdog_holds_nothing_of_the_host_and_is_out_of_reach_of_its_terminal() {
    be_host_if_asked(wait_for_stdin);
    let den = Den::new();
    let name =
        "host_killed::the_watchdog_holds_nothing_of_the_host_and_is_out_of_reach_of_its_terminal";
    let mut host = start_host(name, &den);
    let watchdog = watchdog(&den);
    let link = |name: &str| {
        let target = fs::read_link(format!("/proc/{watchdog}/{name}")).unwrap();
        target.to_string_lossy().into_owned()
    };
    let mut descriptors: Vec<String> = fs::read_dir(format!("/proc/{watchdog}/fd"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    descriptors.sort_unstable();
    assert_eq!(descriptors, ["0", "1", "2"]);
    assert!(link("fd/0").starts_with("pipe:"));
    assert!(link("fd/1").starts_with("/memfd:falconer-guarded"));
    assert_eq!(link("fd/2"), "/dev/null");
    assert_eq!(link("cwd"), "/");
    let stat = fs::read_to_string(format!("/proc/{watchdog}/stat")).unwrap();
    let session = stat
        .rsplit_once(") ")
        .unwrap()
        .1
        .split(' ')
        .nth(3)
        .unwrap()
        .to_owned();
    assert_eq!(session, watchdog.to_string());
    for ignored in [Signal::INT, Signal::TERM, Signal::HUP] {
        signal(watchdog, ignored);
    }
    host.kill().unwrap();
    host.wait().unwrap();
    until("the tree is gone", || den.processes().is_empty());
}

#[test]
fn everything_a_supervised_host_starts_carries_the_marker_of_its_supervisor() {
    be_host_if_asked(wait_for_stdin);
    let den = Den::new();
    let name =
        "host_killed::everything_a_supervised_host_starts_carries_the_marker_of_its_supervisor";
    let mut host = start_host(name, &den);
    let markers = |pid: u32| -> Vec<String> {
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let environ = String::from_utf8(environ).unwrap();
        let entries = environ
            .split('\0')
            .filter(|entry| entry.starts_with("FALCONER_RUN_"));
        entries.map(str::to_owned).collect()
    };
    let outer = format!("{OUTER_MARKER}=1");
    assert_eq!(markers(watchdog(&den)), [outer.as_str()]);
    // The processes of the tree but for the one without environment have their own and that of
    // the host as well.
    let all = |pid: &u32| markers(*pid).len() == 3 && markers(*pid).contains(&outer);
    until("three carry all markers", || {
        den.processes().iter().filter(|pid| all(pid)).count() >= 3
    });
    host.kill().unwrap();
    host.wait().unwrap();
    until("the tree is gone", || den.processes().is_empty());
}
