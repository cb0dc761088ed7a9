//! Trying the sandbox: when, how often, and what becomes of one that does not protect.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use falconer::isolation::{IsolationConfig, IsolationError, Proof, SandboxInForce};
use falconer::{Client, Error, Options};
use falconer_testkit::RealCli;
use falconer_testkit::scenario::{Scenario, text};
use tempfile::TempDir;

use super::super::evidence::until;
use super::remains::processes_that_know;
use super::{Den, run, script};

/// The real CLI behind a script that counts how often an engine is started.
fn counting(den: &Den) -> (PathBuf, PathBuf) {
    let log = den.project.path().join("starts.log");
    let cli = RealCli::find().unwrap();
    let text = format!(
        "case \"$*\" in *stream-json*) echo x >> '{}';; esac\nexec '{}' \"$@\"",
        log.display(),
        cli.path().display()
    );
    (script(den, &text), log)
}

fn starts(log: &Path) -> usize {
    std::fs::read_to_string(log)
        .unwrap_or_default()
        .lines()
        .count()
}

async fn connect(options: Options) -> SandboxInForce {
    let (client, _messages) = Client::connect(options).await.unwrap();
    let sandbox = client.isolation().expect("it is isolated").sandbox.clone();
    client.close().await.unwrap();
    sandbox
}

#[tokio::test]
async fn a_proof_is_remembered_for_a_while_and_shared_by_those_who_start_at_once() {
    let den = Den::new(Scenario::new());
    let (engine, log) = counting(&den);
    let options = |config: IsolationConfig| den.options(config).executable(&engine);
    let (one, two) = tokio::join!(
        connect(options(den.config())),
        connect(options(den.config()))
    );
    assert_eq!(starts(&log), 3, "one probe for two runs");
    let three = connect(options(den.config())).await;
    assert_eq!(starts(&log), 4, "no probe for the third");
    for sandbox in [one, two, three] {
        let SandboxInForce::Sandboxed { proof, .. } = sandbox else {
            panic!("{sandbox:?}")
        };
        assert_eq!(
            (proof.write_refused, proof.host_refused),
            (Proof::Refused, Proof::Refused)
        );
    }
    connect(options(den.config().proof_age(Duration::ZERO))).await;
    assert_eq!(starts(&log), 6, "a probe for every run that wants one");
    connect(options(den.config().proof_age(Duration::from_nanos(1)))).await;
    assert_eq!(starts(&log), 8, "a proof that is too old does not count");
    assert_eq!(den.homes(), Vec::<PathBuf>::new());
}

/// A `bwrap` of ours in front of the real one.
fn with_bwrap(den: &Den, bin: &TempDir, text: &str) -> IsolationConfig {
    let fake = bin.path().join("bwrap");
    std::fs::write(&fake, format!("#!/bin/bash\n{text}\n")).unwrap();
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    den.config()
        .env("PATH", format!("{}:{path}", bin.path().display()))
}

async fn refused(den: &Den, config: IsolationConfig) -> IsolationError {
    match run(den.options(config)).await {
        Err(Error::Isolation(error)) => *error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_sandbox_that_lets_everything_through_is_found_out_every_time() {
    let den = Den::new(Scenario::new().turn(text("never")));
    let bin = TempDir::new().unwrap();
    let pass = "while [ $# -gt 0 ] && [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"";
    let config = with_bwrap(&den, &bin, pass);
    for _ in 0..2 {
        let error = refused(&den, config.clone()).await;
        let IsolationError::NotProtected { report } = error else {
            panic!("{error}")
        };
        assert_eq!(
            (report.write_refused, report.host_refused),
            (Proof::LetThrough, Proof::LetThrough)
        );
    }
    assert_eq!(den.homes(), Vec::<PathBuf>::new());
    assert!(den.server.requests().is_empty(), "the run was not started");
}

#[tokio::test]
async fn a_sandbox_that_runs_nothing_is_no_sandbox() {
    let den = Den::new(Scenario::new().turn(text("never")));
    for behaviour in ["exit 0", "echo 'bwrap: no permission' >&2; exit 1"] {
        let bin = TempDir::new().unwrap();
        let error = refused(&den, with_bwrap(&den, &bin, behaviour)).await;
        assert!(
            matches!(error, IsolationError::ProbeFailed { .. }),
            "{behaviour}: {error}"
        );
        assert!(
            error
                .to_string()
                .starts_with("failed to probe the sandbox, so nothing was started: ")
        );
        assert_eq!(den.homes(), Vec::<PathBuf>::new(), "{behaviour}");
    }
    assert!(den.server.requests().is_empty(), "the run was not started");
}

#[tokio::test]
async fn a_sandbox_that_hangs_is_given_up_and_ended() {
    let den = Den::new(Scenario::new().turn(text("never")));
    let bin = TempDir::new().unwrap();
    let limit = Duration::from_secs(8);
    let config = with_bwrap(&den, &bin, "trap '' TERM; while :; do sleep 1; done");
    let error = refused(&den, config.probe_limit(limit)).await;
    let IsolationError::ProbeFailed { reason } = &error else {
        panic!("{error}")
    };
    assert_eq!(reason, "it did not end within 8s");
    assert!(!error.advice().is_empty());
    until("the home is gone", || den.homes().is_empty()).await;
    until("every process has ended", || {
        processes_that_know(den.homes.path()).is_empty()
    })
    .await;
    assert!(den.server.requests().is_empty(), "the run was not started");
}
