//! Isolated runs of the real CLI: what is refused, what is seen, and that nothing is left.

mod probing;
mod remains;
mod resumed;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use falconer::isolation::{IsolationConfig, Proof, Sandbox, SandboxInForce, Skill};
use falconer::{Billing, Error, Options};
use falconer_testkit::ApiServer;
use falconer_testkit::RealCli;
use falconer_testkit::scenario::{Scenario, text, tool_use};
use tempfile::TempDir;

use super::evidence::{command, until};
use crate::scripted::LIMIT;

const KEY: &str = "sk-ant-key-of-the-isolated-run";

/// A machine to isolate from: a project, and a place for homes.
struct Den {
    server: ApiServer,
    project: TempDir,
    homes: TempDir,
}

impl Den {
    fn new(scenario: Scenario) -> Self {
        Self {
            server: ApiServer::start(scenario).unwrap(),
            project: TempDir::new().unwrap(),
            homes: TempDir::new().unwrap(),
        }
    }

    fn config(&self) -> IsolationConfig {
        IsolationConfig::with_api_key(KEY)
            .homes_in(self.homes.path())
            .env("DISABLE_TELEMETRY", "1")
            .env("DISABLE_ERROR_REPORTING", "1")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
    }

    fn options(&self, config: IsolationConfig) -> Options {
        Options::new()
            .executable(RealCli::find().unwrap().path())
            .cwd(self.project.path())
            .base_url(self.server.url())
            .isolation(config)
    }

    fn homes(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.homes.path()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

/// Runs one prompt to its end.
async fn run(options: Options) -> Result<falconer::Outcome, Error> {
    let run = async { falconer::query("go", options).await?.outcome().await };
    tokio::time::timeout(LIMIT * 6, run)
        .await
        .expect("the run hangs")
}

/// The names in a dump of an environment.
fn names(dump: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(dump).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once('='));
    lines.map(|(name, _)| name.to_owned()).collect()
}

#[tokio::test]
async fn a_sandboxed_run_is_proven_fresh_and_leaves_nothing() {
    let outside = TempDir::new().unwrap();
    let script = format!(
        "env > env.txt; ls -A \"$HOME/.claude\" > home.txt; echo x > '{}/written'; echo ok > done",
        outside.path().display()
    );
    let den = Den::new(
        Scenario::new()
            .turn(tool_use("Bash", command("bash ./try.sh")))
            .turn(text("done")),
    );
    std::fs::write(den.project.path().join("try.sh"), script).unwrap();
    let skill = den.project.path().join("skill.md");
    std::fs::write(&skill, "---\nname: greeter\ndescription: greets\n---\n").unwrap();
    let config = den.config().skill(Skill::new(skill));
    let (client, mut messages) = falconer::Client::connect(den.options(config))
        .await
        .unwrap();
    assert_eq!(client.billing(), Some(Billing::Api));
    let in_force = client.isolation().expect("the run is isolated").clone();
    let SandboxInForce::Sandboxed { proof, .. } = &in_force.sandbox else {
        panic!("{in_force:?}")
    };
    assert_eq!(
        (proof.write_refused, proof.host_refused),
        (Proof::Refused, Proof::Refused)
    );
    assert_eq!(in_force.skills, ["greeter"]);
    assert!(
        in_force
            .home
            .join(".claude/skills/greeter/SKILL.md")
            .exists()
    );
    let mode = std::fs::metadata(&in_force.home)
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(
        den.homes(),
        std::slice::from_ref(&in_force.home),
        "the probe has cleaned up"
    );
    client.send("go").await.unwrap();
    super::next_result(&mut messages).await;
    let file = |name: &str| den.project.path().join(name);
    assert!(file("done").exists(), "the command ran");
    assert!(
        !outside.path().join("written").exists(),
        "the write was refused"
    );
    let seen = std::fs::read_to_string(file("env.txt")).unwrap();
    assert!(!seen.contains(KEY), "commands do not see the key");
    assert!(seen.contains(&format!("HOME={}", in_force.home.display())));
    assert!(
        !seen.contains("FALCONER_CLAUDE_PATH") && !seen.contains("CARGO"),
        "{seen}"
    );
    client.close().await.unwrap();
    assert_eq!(den.homes(), Vec::<PathBuf>::new());
}

/// An engine that is a script.
fn script(den: &Den, text: &str) -> PathBuf {
    let path = den.project.path().join("engine.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[tokio::test]
async fn no_variable_of_the_host_but_the_allowed_ones_reaches_the_child() {
    let den = Den::new(Scenario::new());
    let engine = script(&den, "env > env.txt");
    let config = den.config().sandbox_mode(Sandbox::OffByChoice);
    let options = den.options(config).executable(engine);
    assert!(run(options).await.is_err(), "it is no engine");
    // Those of the host are there only if the host has them.
    let of_host = [
        "PATH",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "LC_COLLATE",
        "LC_MESSAGES",
        "LC_MONETARY",
        "LC_NUMERIC",
        "LC_TIME",
        "TZ",
        "TERM",
        "SHELL",
        "USER",
        "LOGNAME",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "NODE_EXTRA_CA_CERTS",
    ];
    let ours = [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "CLAUDE_AGENT_SDK_VERSION",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SDK_READS_SESSION_STATE",
        "CLAUDE_CODE_STARTUP_FAILURE_RESULTS",
        "CLAUDE_CODE_TMPDIR",
        "DISABLE_AUTOUPDATER",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_TELEMETRY",
        "HOME",
        "PWD",
        "TMPDIR",
    ];
    // The shell that runs the script sets these itself.
    let of_shell = ["OLDPWD", "SHLVL", "_"];
    let mut seen = names(&den.project.path().join("env.txt"));
    seen.retain(|name| !of_shell.contains(&name.as_str()));
    seen.retain(|name| !name.starts_with("FALCONER_RUN_"));
    let mut expected: Vec<String> = ours.iter().map(|name| (*name).to_owned()).collect();
    let here = |name: &&str| std::env::var_os(name).is_some();
    expected.extend(
        of_host
            .iter()
            .filter(|name| here(name))
            .map(|name| (*name).to_owned()),
    );
    seen.sort();
    expected.sort();
    assert_eq!(seen, expected);
    // The host has others, or the test would show nothing.
    assert!(std::env::vars_os().any(|(name, _)| name == "FALCONER_CLAUDE_PATH"));
    until("the home is gone", || den.homes().is_empty()).await;
}

#[tokio::test]
async fn what_is_missing_fails_before_anything_is_started() {
    let den = Den::new(Scenario::new());
    let empty = TempDir::new().unwrap();
    let engine = script(&den, "touch started");
    let attempt = async |config: IsolationConfig| {
        let error = run(den.options(config).executable(&engine)).await;
        error.expect_err("it is incomplete").to_string()
    };
    let no_programs = den.config().env("PATH", empty.path());
    assert!(attempt(no_programs).await.contains("needs bwrap"));
    let off = || den.config().sandbox_mode(Sandbox::OffByChoice);
    assert!(
        attempt(off().confined_to(empty.path()))
            .await
            .contains("is outside of")
    );
    let missing = off().homes_in(empty.path().join("missing"));
    assert!(attempt(missing).await.contains("failed to create the home"));
    let read_only = off().homes_in("/proc");
    assert!(
        attempt(read_only)
            .await
            .contains("failed to create the home")
    );
    let bad_key = IsolationConfig::with_api_key("").sandbox_mode(Sandbox::OffByChoice);
    assert!(attempt(bad_key).await.contains("api key"));
    assert!(!den.project.path().join("started").exists());
    assert_eq!(den.homes(), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_dry_run_shows_the_isolation_and_no_secret_and_makes_nothing() {
    let den = Den::new(Scenario::new());
    let plan = den
        .options(den.config())
        .dry_run()
        .await
        .unwrap()
        .to_string();
    assert!(
        plan.contains("# isolation: sandbox required, network closed"),
        "{plan}"
    );
    assert!(plan.contains("strictAllowlist"), "{plan}");
    assert!(!plan.contains(KEY), "{plan}");
    assert_eq!(den.homes(), Vec::<PathBuf>::new());
}
