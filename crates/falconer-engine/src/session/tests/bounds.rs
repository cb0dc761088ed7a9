//! A call does what was judged and nothing else, whatever happens in between.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use falconer_process::Unconfined;
use falconer_protocol::permission::PermissionMode;
use falconer_scenario::{Scenario, text, tool_use};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use super::drive::{Drive, config, scripted};

fn prompt(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

/// Runs one command in `/proc`, where `self` is whoever looks, and returns what the model sees.
async fn run(command: &str, kernel: Result<(), Unconfined>) -> String {
    let dir = tempfile::tempdir().unwrap();
    let call = tool_use("Bash", json!({"command": command}));
    let model = scripted(Scenario::new().turn(call).turn(text("done")));
    let mut config = config(dir.path(), model, &[]);
    config.cwd = "/proc".into();
    if let Err(reason) = kernel {
        config.confinement = Err(reason);
    }
    let mut drive = Drive::new(config);
    drive.send(&prompt("go")).await;
    drive.until(|frame| frame["type"] == "result").await;
    drive.close();
    let (frames, _) = drive.finish().await;
    let results = frames.iter().filter(|frame| frame["type"] == "user");
    let contents = results.map(|frame| frame["message"]["content"].to_string());
    contents.collect()
}

#[tokio::test]
async fn a_command_that_only_reads_is_confined_if_the_kernel_can() {
    let confined = run("cat self/status", Ok(())).await;
    assert!(confined.contains(r"NoNewPrivs:\t1"), "{confined}");
    assert!(confined.contains(r"Seccomp:\t2"), "{confined}");
    let cannot = Unconfined::NoLandlock("a test says so".to_owned());
    let free = run("cat self/status", Err(cannot)).await;
    assert!(!free.contains(r"NoNewPrivs:\t1"), "{free}");
}

/// Exchanges two names until it is told to stop.
fn swap(one: &Path, other: &Path, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let _ = renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
    }
}

/// The files that landed in a directory.
fn count(directory: &Path) -> usize {
    std::fs::read_dir(directory).map_or(0, Iterator::count)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_lands_outside_while_a_directory_is_swapped_with_a_link() {
    const WRITES: usize = 150;
    let dir = tempfile::tempdir().unwrap();
    let mut scenario = Scenario::new();
    for number in 0..WRITES {
        let input = json!({"file_path": format!("dir/{number}.txt"), "content": "x"});
        scenario = scenario.turn(tool_use("Write", input));
    }
    let model = scripted(scenario.turn(text("done")));
    let mut config = config(dir.path(), model, &[]);
    config.permissions.mode = Some(PermissionMode::AcceptEdits);
    let project = config.cwd.clone();
    let outside = dir.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::create_dir(project.join("dir")).unwrap();
    std::os::unix::fs::symlink(&outside, project.join("link")).unwrap();
    let stop = AtomicBool::new(false);
    let (one, other) = (project.join("dir"), project.join("link"));
    std::thread::scope(|scope| {
        scope.spawn(|| swap(&one, &other, &stop));
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                let mut drive = Drive::new(config);
                drive.send(&prompt("go")).await;
                drive.until(|frame| frame["type"] == "result").await;
                drive.finish().await;
            });
        });
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(count(&outside), 0, "of {WRITES} writes");
    let inside = count(&project.join("dir")).max(count(&project.join("link")));
    assert!(inside > 0, "some writes hit the directory");
}
