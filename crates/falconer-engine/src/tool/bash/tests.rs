//! Real shells, in a directory per test: its processes are those that work in it, whatever
//! session, group or parent they have given themselves.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::task::{TaskEvent, TaskLimits, Tasks};
use crate::tool::task_stop::TaskStop;
use crate::tool::testing;
use crate::workbench::Workshop;

const LIMIT: Duration = Duration::from_secs(30);

struct Den {
    dir: TempDir,
    workbench: Arc<Workbench>,
    events: mpsc::Receiver<TaskEvent>,
    cancelled: CancellationToken,
}

impl Den {
    fn new() -> Self {
        Self::with(TaskLimits::default(), |_| {})
    }

    fn with(limits: TaskLimits, change: impl FnOnce(&mut Workshop)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        let workbench = Workbench::for_tests_with(&path, |shop| {
            shop.tasks = Tasks::new(limits);
            change(shop);
        });
        let events = workbench.shop.tasks.subscribe();
        Self {
            dir,
            workbench: Arc::new(workbench),
            events,
            cancelled: CancellationToken::new(),
        }
    }

    fn path(&self) -> &Path {
        &self.workbench.original_cwd
    }

    fn call(&self) -> Call {
        Call {
            id: "toolu_1".into(),
            prompt: "p".into(),
            workbench: Arc::clone(&self.workbench),
            cancelled: self.cancelled.clone(),
            bounds: crate::tool::Bounds::default(),
        }
    }

    async fn run(&self, input: Value) -> Outcome {
        let run = testing::run(&Bash, input, self.call());
        tokio::time::timeout(LIMIT, run)
            .await
            .expect("the command was not done in time")
    }

    /// What the model sees of a command, and whether it is an error.
    async fn sh(&self, command: &str) -> (String, bool) {
        let outcome = self.run(json!({"command": command})).await;
        (outcome.said().to_owned(), outcome.is_error)
    }

    async fn event(&mut self) -> TaskEvent {
        let event = tokio::time::timeout(LIMIT, self.events.recv()).await;
        event.expect("no event came").unwrap()
    }

    /// A look at `/proc` can miss a process that just forks, so nobody is believed to be there
    /// only after several.
    fn processes(&self) -> Vec<u32> {
        let mut seen = self.look();
        for _ in 0..3 {
            if !seen.is_empty() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
            seen = self.look();
        }
        seen
    }

    fn look(&self) -> Vec<u32> {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_here = |pid: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let is_alive = stat
                .rsplit_once(") ")
                .is_some_and(|(_, it)| !it.starts_with(['Z', 'X']));
            let cwd = std::fs::read_link(format!("/proc/{pid}/cwd"));
            is_alive && cwd.is_ok_and(|cwd| cwd.starts_with(self.path()))
        };
        pids.filter(is_here).collect()
    }

    async fn ready(&self) {
        until("the command is ready", || {
            self.path().join("ready").exists()
        })
        .await;
        // So that finding no process later means something.
        until("its processes are seen", || !self.processes().is_empty()).await;
    }
}

async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + LIMIT;
    while !condition() {
        assert!(
            std::time::Instant::now() < deadline,
            "gave up waiting until {what}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn name(event: &TaskEvent) -> String {
    match event {
        TaskEvent::Started(frame) => format!("started {:?}", frame.is_backgrounded),
        TaskEvent::Updated(frame) => {
            let status = frame
                .patch
                .status
                .as_ref()
                .map(|status| status.as_str().to_owned());
            format!("updated {status:?} {:?}", frame.patch.is_backgrounded)
        }
        TaskEvent::Finished {
            notification,
            wakes_model,
        } => {
            format!("finished {} {wakes_model}", notification.status.as_str())
        }
        TaskEvent::Changed(frame) => format!("changed {}", frame.tasks.len()),
    }
}

#[tokio::test]
async fn a_command_is_answered_as_the_cli_does() {
    let den = Den::new();
    for (command, expected, is_error) in [
        ("echo ok", "ok", false),
        (
            "echo hi; echo err >&2; exit 3",
            "Exit code 3\nhi\nerr",
            true,
        ),
        ("true", "(The command ended without output)", false),
        ("", "(The command ended without output)", false),
        ("false", "Exit code 1", true),
        ("kill -9 $$", "Exit code 137", true),
        ("cat; echo $#", "0", false),
        ("printf 'a\\000b\\377\\n\\n'", "a\0b\u{fffd}", false),
        (
            "grep nothing /dev/null",
            "(The command ended without output)",
            false,
        ),
        ("cat <<X\na 'b' \"c\" $((1+1))\nX", "a 'b' \"c\" 2", false),
        ("echo a # comment", "a", false),
        ("set -e; false; echo no", "Exit code 1", true),
    ] {
        assert_eq!(
            den.sh(command).await,
            (expected.to_owned(), is_error),
            "{command}"
        );
    }
    let (text, is_error) = den.sh("nonexistent-program").await;
    assert!(is_error && text.starts_with("Exit code 127\n"), "{text}");
    let (text, is_error) = den.sh("if").await;
    assert!(is_error && text.contains("syntax error"), "{text}");
}

#[tokio::test]
async fn the_output_has_the_declared_shape() {
    let den = Den::new();
    let output = den.run(json!({"command": "echo ok"})).await.output.unwrap();
    let expected = json!({"stdout": "ok", "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false});
    assert_eq!(output, expected);
    let output = den
        .run(json!({"command": "grep x /dev/null"}))
        .await
        .output
        .unwrap();
    assert_eq!(output["returnCodeInterpretation"], "No matches");
    let output = den
        .run(json!({"command": "mkdir a && cd a"}))
        .await
        .output
        .unwrap();
    assert_eq!(output["noOutputExpected"], true);
    let output = den.run(json!({"command": "exit 3"})).await.output.unwrap();
    assert_eq!(output, "Error: Exit code 3");
    let picture = "printf 'data:image/png;base64,aGk='";
    let outcome = den.run(json!({"command": picture})).await;
    assert_eq!(outcome.shown()[0]["source"]["data"], "aGk=");
    assert_eq!(outcome.output.unwrap()["isImage"], true);
}

#[test]
fn bad_input_is_told_before_anything_runs() {
    for (input, expected) in [
        (json!({}), Some("command must be given")),
        (json!({"command": 5}), Some("command must be a string")),
        (json!({"command": "a\u{0}b"}), Some("NUL")),
        (
            json!({"command": "ls", "timeout": "soon"}),
            Some("timeout must be a number"),
        ),
        (json!({"command": "ls", "timeout": -5}), Some("positive")),
        (
            json!({"command": "sleep 30"}),
            Some("Blocked: standalone sleep 30"),
        ),
        (
            json!({"command": "sleep 30", "run_in_background": true}),
            None,
        ),
        (json!({"command": "ls", "timeout": 99_999_999}), None),
    ] {
        let result = Bash.parse(input.as_object().unwrap());
        match (&result, expected) {
            (Ok(_), None) => {}
            (Err(text), Some(part)) => assert!(text.contains(part), "{text}"),
            _ => panic!("{input}: {result:?}"),
        }
    }
}

#[tokio::test]
async fn the_directory_is_kept_and_the_environment_is_not() {
    let den = Den::new();
    den.sh("mkdir -p 'sub/x y' && cd 'sub/x y'; export KEPT=1; exit 3")
        .await;
    let expected = den.path().join("sub/x y");
    assert_eq!(
        den.sh("pwd; echo \"[$KEPT]\"").await.0,
        format!("{}\n[]", expected.display())
    );
    // A subshell stays where it is, and so does the session.
    den.sh("(cd /)").await;
    assert_eq!(den.workbench.cwd(), expected);
}

#[tokio::test]
async fn a_directory_outside_the_work_does_not_last() {
    let other = tempfile::tempdir().unwrap();
    let other = other.path().canonicalize().unwrap();
    let den = Den::with(TaskLimits::default(), |shop| {
        shop.additional_dirs.push(other.clone());
    });
    let outcome = den.run(json!({"command": "cd /"})).await;
    let note = format!("Shell cwd was reset to {}", den.path().display());
    assert_eq!(outcome.said(), note);
    assert_eq!(outcome.output.unwrap()["stderr"], note);
    assert_eq!(den.workbench.cwd(), den.path());
    den.sh(&format!("cd {}", other.display())).await;
    assert_eq!(den.workbench.cwd(), other);
}

#[tokio::test]
async fn a_vanished_directory_is_left_with_a_note() {
    let den = Den::new();
    den.sh("mkdir gone && cd gone").await;
    std::fs::remove_dir(den.path().join("gone")).unwrap();
    let (text, is_error) = den.sh("pwd").await;
    assert!(
        !is_error && text.starts_with(&format!("{}\n", den.path().display())),
        "{text}"
    );
    assert!(
        text.contains("gone is gone, so the shell is back in"),
        "{text}"
    );
    // One that removes the ground under itself does no harm, either.
    den.sh("mkdir x && cd x && rmdir ../x").await;
    assert_eq!(den.workbench.cwd(), den.path());
    std::fs::remove_dir_all(den.path()).unwrap();
    let (text, is_error) = den.sh("pwd").await;
    assert!(
        is_error && text.contains("so is the directory of the session"),
        "{text}"
    );
}

#[tokio::test]
async fn commands_do_not_see_the_keys_of_the_engine() {
    let den = Den::new();
    let key = ("ANTHROPIC_API_KEY".into(), "sk-secret".into());
    den.workbench
        .shop
        .environment
        .extend([key, ("MINE".into(), "yes".into())]);
    assert_eq!(den.sh("env | grep -c secret; echo $MINE").await.0, "0\nyes");
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let den = Den::new();
    for command in [
        "echo started; sleep 1000 &",
        "setsid sleep 1000 >/dev/null 2>&1 & echo started",
        "(setsid bash -c 'trap \"\" TERM HUP; sleep 1000 & wait' </dev/null >/dev/null 2>&1 &) ; echo started",
        "nohup sleep 1000 2>/dev/null & disown; echo started",
    ] {
        assert_eq!(den.sh(command).await, ("started".to_owned(), false));
        assert_eq!(den.processes(), [0; 0], "{command}");
    }
}

#[tokio::test]
async fn cancelling_leaves_nothing() {
    let den = Den::new();
    let command = "trap '' TERM INT HUP; echo begun; setsid sleep 1000 & (sleep 1000 | sleep 1000) & touch ready; wait; sleep 1000";
    let cancel = async {
        den.ready().await;
        den.cancelled.cancel();
    };
    let (outcome, ()) = tokio::join!(den.run(json!({"command": command})), cancel);
    assert!(outcome.is_error);
    let output = outcome.output.unwrap();
    assert_eq!(output["interrupted"], true);
    // A shell may get to say that its children were killed before it is killed itself.
    let stdout = output["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("begun"), "{stdout}");
    assert_eq!(den.processes(), [0; 0]);
}

#[tokio::test]
async fn a_call_that_is_dropped_leaves_nothing() {
    let den = Den::new();
    let command = json!({"command": "touch ready; sleep 1000"});
    tokio::select! {
        _ = den.run(command) => panic!("it cannot end"),
        () = den.ready() => {}
    }
    until("nothing is left", || den.processes().is_empty()).await;
}

#[tokio::test]
async fn dropping_the_session_leaves_nothing() {
    let den = Den::new();
    den.run(json!({"command": "touch ready; sleep 1000", "run_in_background": true}))
        .await;
    den.ready().await;
    let Den { dir, workbench, .. } = den;
    drop(workbench);
    let den = Den { dir, ..Den::new() };
    let path = den.dir.path().canonicalize().unwrap();
    let gone = || {
        let mut pids = std::fs::read_dir("/proc").unwrap().flatten();
        !pids.any(|pid| std::fs::read_link(pid.path().join("cwd")).is_ok_and(|cwd| cwd == path))
    };
    until("nothing is left", gone).await;
}

#[tokio::test]
async fn a_command_in_the_background_is_told_from_start_to_end() {
    let mut den = Den::new();
    let input = json!({"command": "touch ready; echo one; until [ -e go ]; do sleep 0.01; done; echo two", "run_in_background": true, "description": "ticks"});
    let outcome = den.run(input).await;
    let output = outcome.output.clone().unwrap();
    let id = output["backgroundTaskId"].as_str().unwrap().to_owned();
    let file = den.path().join(format!("overflow/tasks/{id}.output"));
    let text = outcome.said();
    assert!(text.contains(&format!(
        "with ID: {id}. Output is being written to: {}.",
        file.display()
    )));
    assert_eq!(name(&den.events.try_recv().unwrap()), "changed 1");
    let Ok(TaskEvent::Started(started)) = den.events.try_recv() else {
        panic!("no start");
    };
    assert_eq!(started.description.as_deref(), Some("ticks"));
    assert_eq!(started.task_type.as_deref(), Some("local_bash"));
    assert_eq!(started.is_backgrounded, Some(true));
    den.ready().await;
    until("the output is in the file", || {
        std::fs::read_to_string(&file).unwrap() == "one\n"
    })
    .await;
    assert_eq!(
        den.workbench
            .shop
            .tasks
            .output(&id.as_str().into())
            .unwrap()
            .output,
        "one\n"
    );
    std::fs::write(den.path().join("go"), "").unwrap();
    assert_eq!(name(&den.event().await), "updated Some(\"completed\") None");
    let TaskEvent::Finished {
        notification,
        wakes_model,
    } = den.event().await
    else {
        panic!("no end");
    };
    assert!(wakes_model);
    assert_eq!(
        notification.output_file.unwrap(),
        file.display().to_string()
    );
    assert_eq!(
        notification.summary.unwrap(),
        "Background command \"ticks\" completed (exit code 0)"
    );
    assert_eq!(name(&den.event().await), "changed 0");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    let last = den
        .workbench
        .shop
        .tasks
        .output(&id.as_str().into())
        .unwrap();
    assert_eq!(
        (last.output.as_str(), last.total_bytes, last.is_truncated),
        ("one\ntwo\n", 8, false)
    );
}

#[tokio::test]
async fn a_timeout_moves_the_command_to_the_background() {
    let mut den = Den::new();
    let command =
        "cd /usr; echo begun; until [ -e $OLDPWD/go ]; do sleep 0.01; done; echo done; exit 7";
    let outcome = den.run(json!({"command": command, "timeout": 1000})).await;
    assert!(!outcome.is_error);
    let output = outcome.output.clone().unwrap();
    assert_eq!(
        (&output["stdout"], &output["timedOutAfterMs"]),
        (&json!("begun"), &json!(1000))
    );
    assert!(
        output["backgroundCwdHint"]
            .as_str()
            .unwrap()
            .contains("stays in")
    );
    let text = outcome.said();
    assert!(
        text.starts_with("begun\n") && text.contains("do not start it again"),
        "{text}"
    );
    assert_eq!(name(&den.event().await), "changed 1");
    assert_eq!(name(&den.event().await), "started Some(true)");
    std::fs::write(den.path().join("go"), "").unwrap();
    assert_eq!(name(&den.event().await), "updated Some(\"failed\") None");
    let TaskEvent::Finished { notification, .. } = den.event().await else {
        panic!("no end");
    };
    assert!(
        notification
            .summary
            .unwrap()
            .ends_with("failed with exit code 7")
    );
    let text = std::fs::read_to_string(notification.output_file.unwrap()).unwrap();
    assert_eq!(text, "begun\ndone\n\n[exited with code 7]\n");
    assert_eq!(den.workbench.cwd(), den.path());
}

#[tokio::test]
async fn a_sleep_that_takes_too_long_is_ended() {
    let den = Den::new();
    let outcome = den
        .run(json!({"command": "sleep 15; echo x", "timeout": 50}))
        .await;
    let text = outcome.said();
    assert!(
        outcome.is_error && text.starts_with("Exit code 143\n"),
        "{text}"
    );
    assert_eq!(den.processes(), [0; 0]);
}

#[tokio::test]
async fn a_long_command_in_front_is_announced_and_can_be_moved() {
    let limits = TaskLimits {
        announce_after: Duration::from_millis(50),
        ..TaskLimits::default()
    };
    let mut den = Den::with(limits, |_| {});
    let workbench = Arc::clone(&den.workbench);
    let call = den.call();
    let input = json!({"command": "until [ -e go ]; do sleep 0.01; done", "description": "wait"});
    let run = tokio::spawn(async move { testing::run(&Bash, input, call).await });
    assert_eq!(name(&den.event().await), "started Some(false)");
    workbench
        .shop
        .tasks
        .move_to_background(Some(&"toolu_other".into()))
        .await;
    assert!(workbench.shop.tasks.list().is_empty());
    until_moved(&workbench).await;
    let outcome = run.await.unwrap();
    assert_eq!(outcome.output.unwrap()["backgroundedByUser"], true);
    assert_eq!(name(&den.event().await), "changed 1");
    assert_eq!(name(&den.event().await), "updated None Some(true)");
    workbench.shop.tasks.close().await;
    assert_eq!(name(&den.event().await), "finished stopped false");
    assert_eq!(name(&den.event().await), "updated Some(\"killed\") None");
    assert_eq!(name(&den.event().await), "changed 0");
    assert_eq!(den.processes(), [0; 0]);
    let (text, is_error) = den.sh("echo late").await;
    assert!(is_error && text.contains("the session is ending"), "{text}");
}

/// The announcement is sent a moment before the shell may be moved.
async fn until_moved(workbench: &Workbench) {
    let deadline = std::time::Instant::now() + LIMIT;
    while workbench.shop.tasks.list().is_empty() {
        assert!(std::time::Instant::now() < deadline, "it was not moved");
        workbench.shop.tasks.move_to_background(None).await;
    }
}

#[tokio::test]
async fn an_announced_command_in_front_is_told_to_be_over() {
    let limits = TaskLimits {
        announce_after: Duration::from_millis(20),
        ..TaskLimits::default()
    };
    let mut den = Den::with(limits, |_| {});
    let call = den.call();
    let input = json!({"command": "until [ -e go ]; do sleep 0.01; done", "description": "wait"});
    let run = tokio::spawn(async move { testing::run(&Bash, input, call).await });
    assert_eq!(name(&den.event().await), "started Some(false)");
    std::fs::write(den.path().join("go"), "").unwrap();
    run.await.unwrap();
    let Ok(TaskEvent::Finished {
        notification,
        wakes_model: false,
    }) = den.events.try_recv()
    else {
        panic!("no end");
    };
    assert_eq!(notification.output_file.as_deref(), Some(""));
    assert_eq!(notification.summary.as_deref(), Some("wait"));
    assert!(den.events.try_recv().is_err());
}

#[tokio::test]
async fn a_task_is_stopped_by_its_id() {
    let mut den = Den::new();
    let command = "trap '' TERM; touch ready; while true; do sleep 0.1; done";
    let outcome = den
        .run(json!({"command": command, "run_in_background": true}))
        .await;
    let id = outcome.output.unwrap()["backgroundTaskId"]
        .as_str()
        .unwrap()
        .to_owned();
    den.ready().await;
    let stop = testing::run(&TaskStop, json!({"task_id": id}), den.call()).await;
    assert_eq!(den.processes(), [0; 0]);
    let output = stop.output.unwrap();
    assert_eq!(
        (&output["task_id"], &output["task_type"]),
        (&json!(id), &json!("local_bash"))
    );
    assert_eq!(output["command"], command);
    let names: Vec<_> = std::iter::from_fn(|| den.events.try_recv().ok())
        .map(|it| name(&it))
        .collect();
    let expected = [
        "changed 1",
        "started Some(true)",
        "updated Some(\"killed\") None",
        "finished stopped false",
        "changed 0",
    ];
    assert_eq!(names, expected);
    for id in [id.as_str(), "nope"] {
        let again = testing::run(&TaskStop, json!({"shell_id": id}), den.call()).await;
        assert!(again.is_error && again.said().contains("No task found"));
    }
    assert!(TaskStop.parse(&Object::new()).is_err());
}

#[tokio::test]
async fn a_command_in_the_background_has_a_time_limit() {
    let mut den = Den::new();
    den.run(json!({"command": "sleep 1000", "run_in_background": true, "timeout": 50}))
        .await;
    assert_eq!(name(&den.event().await), "changed 1");
    assert_eq!(name(&den.event().await), "started Some(true)");
    assert_eq!(name(&den.event().await), "updated Some(\"killed\") None");
    assert_eq!(name(&den.event().await), "finished stopped true");
    assert_eq!(den.processes(), [0; 0]);
}

#[tokio::test]
async fn a_long_output_keeps_its_ends_and_goes_to_a_file() {
    let den = Den::new();
    let outcome = den.run(json!({"command": "seq 1 20000"})).await;
    let output = outcome.output.clone().unwrap();
    assert_eq!(output["persistedOutputSize"], 108_894);
    let file = output["persistedOutputPath"].as_str().unwrap();
    assert_eq!(std::fs::metadata(file).unwrap().len(), 108_894);
    let stdout = output["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("1\n2\n") && stdout.ends_with("\n20000"));
    assert!(stdout.chars().count() <= 30_100);
    let text = outcome.said();
    assert!(
        text.starts_with("<persisted-output>\n")
            && text.contains("(106.3KB)")
            && text.contains(file)
    );
    assert!(
        text.contains("\n20000\n") && text.len() < 5000,
        "{}",
        text.len()
    );
    let (text, is_error) = den.sh("seq 1 20000; exit 4").await;
    assert!(
        is_error
            && text.starts_with("Exit code 4\n1\n")
            && text.contains("[all of the output is in ")
    );
    assert!(text.contains("\n20000\n"));
}

#[tokio::test]
async fn a_huge_output_does_not_fill_the_memory() {
    let den = Den::new();
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    den.sh("true").await;
    let before = peak();
    let outcome = den
        .run(json!({"command": "head -c 100000000 /dev/zero | tr '\\0' x; echo end"}))
        .await;
    let output = outcome.output.unwrap();
    assert_eq!(output["persistedOutputSize"], 100_000_004);
    let file = output["persistedOutputPath"].as_str().unwrap();
    assert_eq!(std::fs::metadata(file).unwrap().len(), 100_000_004);
    assert!(output["stdout"].as_str().unwrap().ends_with("xend"));
    assert!(
        peak() - before < 32 << 10,
        "{} kB more than before",
        peak() - before
    );
}

#[tokio::test]
async fn an_output_file_has_a_limit_and_says_so() {
    let limits = TaskLimits {
        output_file: 200_000,
        ..TaskLimits::default()
    };
    let den = Den::with(limits, |_| {});
    let outcome = den.run(json!({"command": "seq 1 200000"})).await;
    let text = outcome.said();
    assert!(
        text.contains("(only the first 200000 bytes are in the file)"),
        "{text}"
    );
    let output = outcome.output.unwrap();
    let file = std::fs::read_to_string(output["persistedOutputPath"].as_str().unwrap()).unwrap();
    assert!(file.ends_with("\n[output after the first 200000 bytes is left out]\n"));
    assert!(output["stdout"].as_str().unwrap().ends_with("\n200000"));
}

#[tokio::test]
async fn without_room_for_files_commands_still_run() {
    let den = Den::with(TaskLimits::default(), |shop| {
        shop.overflow = "/dev/full".into();
    });
    assert_eq!(den.sh("echo ok").await, ("ok".to_owned(), false));
    for count in [20_000, 200_000] {
        let outcome = den.run(json!({"command": format!("seq 1 {count}")})).await;
        let text = outcome.said();
        assert!(
            !outcome.is_error && text.contains("could not be saved: failed to create"),
            "{text}"
        );
        assert!(text.starts_with("1\n2\n") && text.contains(&format!("\n{count}\n")));
        assert_eq!(outcome.output.unwrap().get("persistedOutputPath"), None);
    }
    let (text, is_error) = {
        let input = json!({"command": "touch started", "run_in_background": true});
        let outcome = den.run(input).await;
        (outcome.said().to_owned(), outcome.is_error)
    };
    assert!(
        is_error && text.contains("The command was not started"),
        "{text}"
    );
    assert!(!den.path().join("started").exists());
    let input = json!({"command": "while true; do sleep 0.05; done", "timeout": 50});
    let outcome = den.run(input).await;
    let text = outcome.said();
    assert!(
        outcome.is_error && text.contains("could not be moved to the background"),
        "{text}"
    );
    assert_eq!(den.processes(), [0; 0]);
}

#[tokio::test]
async fn there_is_a_limit_on_running_commands() {
    let limits = TaskLimits {
        running: 1,
        ..TaskLimits::default()
    };
    let den = Den::with(limits, |_| {});
    let outcome = den
        .run(json!({"command": "sleep 1000", "run_in_background": true}))
        .await;
    let (text, is_error) = den.sh("echo x").await;
    assert!(
        is_error && text.contains("1 commands are running already"),
        "{text}"
    );
    let id = outcome.output.unwrap()["backgroundTaskId"]
        .as_str()
        .unwrap()
        .into();
    den.workbench
        .shop
        .tasks
        .stop(&id, StopBy::Host)
        .await
        .unwrap();
    until("there is room again", || {
        den.workbench.shop.tasks.list().is_empty()
    })
    .await;
    let deadline = std::time::Instant::now() + LIMIT;
    while den.sh("echo x").await.1 {
        assert!(std::time::Instant::now() < deadline);
    }
}

#[tokio::test]
async fn confined_commands_read_and_move_but_do_not_write() {
    let Ok(confinement) = falconer_process::confinement() else {
        panic!("this machine cannot confine commands");
    };
    let den = Den::new();
    std::fs::create_dir(den.path().join("sub")).unwrap();
    let mut call = den.call();
    let input = json!({"command": "cd sub; echo x > file; cat <<<y; ls"});
    call.bounds.only_reads = true;
    call.bounds.confinement = Some(confinement);
    let outcome = testing::run(&Bash, input, call).await;
    let text = outcome.said();
    assert!(
        text.contains("Permission denied") && text.contains("\ny"),
        "{text}"
    );
    assert!(!den.path().join("sub/file").exists());
    assert_eq!(den.workbench.cwd(), den.path().join("sub"));

    let mut call = den.call();
    let input = json!({"command": "echo x > file", "run_in_background": true});
    call.bounds.only_reads = true;
    call.bounds.confinement = Some(confinement);
    testing::run(&Bash, input, call).await;
    den.workbench.shop.tasks.close().await;
    assert!(!den.path().join("sub/file").exists());
}
