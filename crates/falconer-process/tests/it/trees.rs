//! What a process has started is gone when its exit is published.

use falconer_process::ExitStatus;
use rustix::process::{Pid, Signal, kill_process};

use crate::process::{Den, KILL_NOW, RESTLESS, clean_status, until};

/// Ways to get away, each with the number of processes it makes (the root included).
const ESCAPES: &[(&str, &str, usize)] = &[
    ("a child in the group", "sleep 1000 & touch ready; wait", 2),
    (
        "a session of its own",
        "setsid sleep 1000 & touch ready; wait",
        2,
    ),
    (
        "a daemon",
        "(setsid sh -c 'sleep 1000 & : >ready' &) ; sleep 1000",
        3,
    ),
    (
        "no environment",
        "setsid env -i sleep 1000 & touch ready; wait",
        2,
    ),
    (
        "a daemon without environment",
        "(setsid env -i sh -c 'sleep 1000 & : >ready' &) ; sleep 1000",
        3,
    ),
    (
        "deaf to every signal that can be ignored",
        "(trap '' TERM HUP INT; exec setsid sleep 1000) & touch ready; wait",
        2,
    ),
    (
        "a deep tree",
        "sh -c 'setsid sh -c \"setsid sleep 1000 & sleep 1000\" & sleep 1000' & touch ready; wait",
        6,
    ),
];

#[test]
fn killing_reaches_every_descendant() {
    for (name, script, count) in ESCAPES {
        let den = Den::new();
        let process = den.spawn_ready(script, *count);
        process.handle.end(KILL_NOW);
        assert_eq!(clean_status(&process), ExitStatus::Signal(9), "{name}");
        assert_eq!(den.processes(), [0; 0], "{name}");
    }
}

#[test]
fn an_exit_takes_the_descendants_along() {
    let den = Den::new();
    let process = den.spawn("setsid sleep 1000 & sleep 1000 & (setsid sleep 1000 &); exit 5");
    assert_eq!(clean_status(&process), ExitStatus::Code(5));
    assert_eq!(den.processes(), [0; 0]);
}

#[test]
fn orphans_of_a_process_killed_from_outside_are_found() {
    for (name, script, count) in ESCAPES {
        let den = Den::new();
        let process = den.spawn_ready(script, *count);
        kill_process(
            Pid::from_raw(process.pid.cast_signed()).unwrap(),
            Signal::KILL,
        )
        .unwrap();
        assert_eq!(clean_status(&process), ExitStatus::Signal(9), "{name}");
        assert_eq!(den.processes(), [0; 0], "{name}");
    }
}

#[test]
fn children_of_marked_orphans_are_found_although_they_have_no_marker() {
    let den = Den::new();
    let script = "setsid sh -c 'env -i sleep 1000 & touch ready; sleep 1000' & wait";
    let process = den.spawn_ready(script, 4);
    kill_process(
        Pid::from_raw(process.pid.cast_signed()).unwrap(),
        Signal::KILL,
    )
    .unwrap();
    assert_eq!(clean_status(&process), ExitStatus::Signal(9));
    assert_eq!(den.processes(), [0; 0]);
}

/// Each link forks the next and exits, so that every process is gone soon after it is seen.
const CHAIN: &str =
    "printf 'sleep 0.002; setsid sh chain &\\n' >chain; sh chain; sh chain; sh chain; ";

#[test]
fn a_fork_storm_is_killed() {
    let den = Den::new();
    let storm = "for i in 1 2 3; do (while :; do (setsid sleep 5 &); sleep 0.005; done) & done; ";
    let process = den.spawn_ready(&format!("{CHAIN}{storm}touch ready; wait"), 20);
    process.handle.end(KILL_NOW);
    assert_eq!(clean_status(&process), ExitStatus::Signal(9));
    assert_eq!(den.processes(), [0; 0]);
}

#[test]
fn a_runaway_chain_of_orphans_is_killed_after_the_root_is_gone() {
    let den = Den::new();
    let process = den.spawn(&format!("{CHAIN}exit 6"));
    assert_eq!(clean_status(&process), ExitStatus::Code(6));
    assert_eq!(den.processes(), [0; 0]);
}

#[test]
fn orphans_that_are_just_becoming_another_program_are_found() {
    for hundredths in 10..15 {
        let den = Den::new();
        let process = den.spawn(&format!("{RESTLESS} sleep 0.{hundredths}; exit 7"));
        assert_eq!(clean_status(&process), ExitStatus::Code(7));
        assert_eq!(den.processes(), [0; 0], "after 0.{hundredths} s");
    }
}

#[test]
fn dropping_the_handle_takes_even_daemons_without_environment_along() {
    for (name, script, count) in ESCAPES {
        let den = Den::new();
        let process = den.spawn_ready(script, *count);
        let exited = process.handle.exited();
        drop(process.handle);
        assert_eq!(crate::process::block_on(exited).leftovers, [0; 0], "{name}");
        assert_eq!(den.processes(), [0; 0], "{name}");
    }
}

#[test]
fn hundreds_of_sessions_leave_nothing() {
    let den = Den::new();
    for round in 0..10 {
        let batch: Vec<_> = (0..20)
            .map(|_| den.spawn("setsid sleep 1000 & (setsid sleep 1000 &); sleep 1000"))
            .collect();
        let exits: Vec<_> = batch
            .iter()
            .map(|process| process.handle.exited())
            .collect();
        for (index, process) in batch.into_iter().enumerate() {
            // Some are killed, some terminated, most before they have got anywhere.
            if index % 2 == 0 {
                process.handle.end(KILL_NOW);
            }
        }
        for (index, exit) in exits.into_iter().enumerate() {
            let exit = crate::process::block_on(exit);
            assert_eq!(exit.leftovers, [0; 0], "{round} {index}");
        }
    }
    until("nothing is left", || den.processes().is_empty());
}
