//! What is left behind: nothing, whatever happens to the host or the disk.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use falconer::isolation::{Home, IsolationConfig, IsolationError, Sandbox, Skill, sweep};
use falconer::{Client, Error, Options};
use falconer_testkit::scenario::{Scenario, tool_use};
use falconer_testkit::{ApiServer, RealCli};
use tempfile::TempDir;

use super::super::evidence::{command, until};
use super::{KEY, run};

/// Set in a process that plays the host: the directory it works in.
const HOST: &str = "FALCONER_TEST_ISOLATED_HOST";

/// Runs one test of this binary again, in a process that plays the host.
fn host(test: &str) -> Vec<std::ffi::OsString> {
    let program = std::env::current_exe().unwrap().into_os_string();
    let test = format!("conformance::isolation::remains::{test}");
    vec![program, test.into(), "--exact".into(), "--nocapture".into()]
}

/// Living processes in whose environment this path occurs.
pub(super) fn processes_that_know(path: &Path) -> Vec<String> {
    let path = path.as_os_str().as_encoded_bytes();
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let knows = |directory: &PathBuf| {
        let environment = std::fs::read(directory.join("environ")).unwrap_or_default();
        environment.windows(path.len()).any(|window| window == path)
    };
    let own = PathBuf::from(format!("/proc/{}", std::process::id()));
    entries
        .map(|entry| entry.path())
        .filter(|directory| *directory != own && knows(directory))
        .map(|directory| directory.display().to_string())
        .collect()
}

/// A host that has an isolated CLI run a command for ever.
async fn play_host(base: &Path) {
    let tool = tool_use("Bash", command("touch started; while :; do sleep 1; done"));
    let server = ApiServer::start(Scenario::new().turn(tool)).unwrap();
    let config = IsolationConfig::with_api_key(KEY)
        .homes_in(base.join("homes"))
        .env("DISABLE_TELEMETRY", "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    let options = Options::new()
        .executable(RealCli::find().unwrap().path())
        .cwd(base.join("project"))
        .base_url(server.url())
        .isolation(config);
    let (client, _messages) = Client::connect(options).await.unwrap();
    client.send("go").await.unwrap();
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_host_killed_with_a_live_cli_leaves_no_process_and_its_home_is_swept() {
    if let Some(base) = std::env::var_os(HOST) {
        play_host(Path::new(&base)).await;
    }
    let base = TempDir::new().unwrap();
    let homes = base.path().join("homes");
    for name in ["homes", "project"] {
        std::fs::create_dir(base.path().join(name)).unwrap();
    }
    let name = "a_host_killed_with_a_live_cli_leaves_no_process_and_its_home_is_swept";
    let line = host(name);
    let mut host = Command::new(&line[0])
        .args(&line[1..])
        .env(HOST, base.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until("a command runs in the isolated CLI", || {
        base.path().join("project/started").exists()
    })
    .await;
    assert_eq!(sweep(&homes), Vec::<PathBuf>::new(), "the host lives");
    assert!(!processes_that_know(&homes).is_empty());
    host.kill().unwrap();
    host.wait().unwrap();
    until("every process of the run has ended", || {
        processes_that_know(&homes).is_empty()
    })
    .await;
    let count = || std::fs::read_dir(&homes).unwrap().count();
    assert_eq!(count(), 1, "a killed host deletes nothing");
    let next = Home::create(&homes).unwrap();
    assert_eq!(count(), 1, "the home of the dead host is gone");
    drop(next);
    assert_eq!(count(), 0);
}

/// Tries a run whose home cannot be made or filled.
async fn start_without_room(base: &Path) {
    let homes = base.join("homes");
    let engine = base.join("engine.sh");
    let skill = base.join("skill");
    let config = IsolationConfig::with_api_key(KEY)
        .homes_in(&homes)
        .skill(Skill::new(skill))
        .sandbox_mode(Sandbox::OffByChoice);
    let options = Options::new()
        .executable(engine)
        .cwd(base.join("project"))
        .isolation(config);
    let error = run(options).await.unwrap_err();
    let Error::Isolation(error) = error else {
        panic!("{error}")
    };
    assert!(matches!(*error, IsolationError::Home { .. }), "{error}");
    assert!(error.advice().contains("homes_in"));
    let left = std::fs::read_dir(&homes).unwrap().count();
    assert_eq!(left, 0, "nothing is left of the home");
    std::fs::write(base.join("outcome"), error.to_string()).unwrap();
}

#[tokio::test]
async fn a_full_or_read_only_place_for_homes_is_a_typed_error_and_nothing_is_half_written() {
    if let Some(base) = std::env::var_os(HOST) {
        return start_without_room(Path::new(&base)).await;
    }
    let base = TempDir::new().unwrap();
    let path = |name: &str| base.path().join(name);
    for name in ["homes", "project", "skill"] {
        std::fs::create_dir(path(name)).unwrap();
    }
    std::fs::write(path("engine.sh"), "#!/bin/sh\ntouch started\n").unwrap();
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path("engine.sh"), mode).unwrap();
    let main = "---\nname: big\ndescription: big\n---\n";
    std::fs::write(path("skill/SKILL.md"), main).unwrap();
    std::fs::write(path("skill/data"), vec![b'x'; 300_000]).unwrap();
    let homes = path("homes");
    let homes = homes.to_str().unwrap();
    // The kernel counts whole pages, and a directory may be one.
    let table: [(&[&str], &str); 4] = [
        (&["--size", "4096", "--tmpfs", homes], "No space left"),
        (&["--size", "16384", "--tmpfs", homes], "No space left"),
        (&["--size", "131072", "--tmpfs", homes], "No space left"),
        (&["--ro-bind", homes, homes], "Read-only file system"),
    ];
    let name = "a_full_or_read_only_place_for_homes_is_a_typed_error_and_nothing_is_half_written";
    for (mount, expected) in table {
        let status = Command::new("bwrap")
            .args(["--dev-bind", "/", "/"])
            .args(mount)
            .arg("--")
            .args(host(name))
            .env(HOST, base.path())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success(), "{mount:?}");
        let outcome = std::fs::read_to_string(path("outcome")).unwrap();
        assert!(outcome.contains(expected), "{mount:?}: {outcome}");
        assert!(!path("project/started").exists(), "{mount:?}");
        std::fs::remove_file(path("outcome")).unwrap();
    }
}
