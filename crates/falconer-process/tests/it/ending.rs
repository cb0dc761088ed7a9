//! How a single process is ended.

use std::time::{Duration, Instant};

use falconer_process::{ExitStatus, Ladder};
use rustix::process::{Pid, Signal, kill_process};

use crate::process::{Den, KILL_NOW, LIMIT, TERM_NOW, clean_status, until};

const STUBBORN: &str = "trap '' TERM; touch ready; while :; do sleep 0.01; done";

#[test]
fn exit_codes_and_signals_are_told_apart() {
    let den = Den::new();
    let cases = [
        ("exit 0", ExitStatus::Code(0)),
        ("exit 143", ExitStatus::Code(143)),
        ("kill -KILL $$", ExitStatus::Signal(9)),
        ("kill -SEGV $$", ExitStatus::Signal(11)),
    ];
    for (script, expected) in cases {
        assert_eq!(clean_status(&den.spawn(script)), expected, "{script}");
    }
}

#[test]
fn sigterm_goes_to_the_whole_group() {
    let den = Den::new();
    let script = "trap 'wait; exit 3' TERM; \
                  (trap 'touch helper; exit' TERM; touch ready; while :; do sleep 0.01; done) & \
                  wait";
    let process = den.spawn_ready(script, 2);
    process.handle.end(TERM_NOW);
    assert_eq!(clean_status(&process), ExitStatus::Code(3));
    assert!(den.path().join("helper").exists());
}

#[test]
fn a_process_that_ignores_sigterm_is_killed_after_the_grace() {
    let den = Den::new();
    let process = den.spawn_ready(STUBBORN, 1);
    let start = Instant::now();
    process.handle.end(Ladder {
        exit: Duration::from_millis(100),
        term: Duration::from_millis(200),
    });
    assert_eq!(clean_status(&process), ExitStatus::Signal(9));
    assert!(start.elapsed() >= Duration::from_millis(300));
    assert_eq!(den.processes(), [0; 0]);
}

#[test]
fn a_process_that_exits_by_itself_is_not_signalled() {
    let den = Den::new();
    let process = den.spawn("trap 'exit 9' TERM; cat >/dev/null; exit 4");
    process.handle.end(Ladder {
        exit: LIMIT,
        term: LIMIT,
    });
    let handle = process.handle;
    drop(process.stdin);
    assert_eq!(
        crate::process::block_on(handle.exited()).status,
        ExitStatus::Code(4)
    );
}

#[test]
fn a_second_call_can_only_hurry() {
    let den = Den::new();
    let process = den.spawn_ready(STUBBORN, 1);
    process.handle.end(TERM_NOW);
    process.handle.end(KILL_NOW);
    process.handle.end(Ladder {
        exit: LIMIT,
        term: LIMIT,
    });
    assert_eq!(clean_status(&process), ExitStatus::Signal(9));
}

#[test]
fn dropping_the_handle_terminates_without_a_runtime() {
    let den = Den::new();
    let script = "trap 'touch asked; exit' TERM; touch ready; while :; do sleep 0.01; done";
    let process = den.spawn_ready(script, 1);
    // Only the handle: a shell that cannot complain on stderr dies of SIGPIPE.
    drop(process.handle);
    until("nothing is left", || den.processes().is_empty());
    assert!(den.path().join("asked").exists());
}

#[test]
fn dropping_the_handle_kills_after_the_grace_of_the_spec() {
    let den = Den::new();
    let mut spec = den.spec(STUBBORN);
    spec.drop_grace = Duration::from_millis(50);
    let process = crate::process::spawn(spec).unwrap();
    den.wait_for_file("ready");
    drop(process);
    until("nothing is left", || den.processes().is_empty());
}

#[test]
fn dropping_the_spawn_future_leaves_nothing() {
    let den = Den::new();
    for _ in 0..20 {
        let mut spawning = Box::pin(falconer_process::spawn(den.spec("sleep 1000")));
        let waker = std::task::Waker::noop();
        let _ = spawning
            .as_mut()
            .poll(&mut std::task::Context::from_waker(waker));
    }
    // A process that is spawned later shows that the twenty before were, too.
    assert_eq!(clean_status(&den.spawn("true")), ExitStatus::Code(0));
    until("nothing is left", || den.processes().is_empty());
}

#[test]
fn a_stopped_process_is_killed() {
    let den = Den::new();
    let process = den.spawn("kill -STOP $$");
    let stat = format!("/proc/{}/stat", process.pid);
    until("it has stopped", || {
        std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T "))
    });
    process.handle.end(Ladder {
        exit: Duration::ZERO,
        term: Duration::from_millis(50),
    });
    assert_eq!(clean_status(&process), ExitStatus::Signal(9));
}

#[test]
fn a_process_killed_from_outside_is_noticed() {
    let den = Den::new();
    let process = den.spawn_ready("touch ready; exec sleep 1000", 1);
    let pid = Pid::from_raw(process.pid.cast_signed()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    assert_eq!(clean_status(&process), ExitStatus::Signal(9));
}
