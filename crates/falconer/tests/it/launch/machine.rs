//! Planning on this machine: what is looked up, and how that can fail.

use std::path::Path;

use falconer::{Error, LaunchWarning, OptionProblem, Options, Settings};
use falconer_protocol::sandbox::SandboxSettings;
use serde_json::json;

use super::dump::stub;

/// An executable that answers nothing sensible.
fn mute(directory: &Path) -> Options {
    let script = directory.join("mute");
    let made = std::process::Command::new("cp")
        .args([Path::new("/bin/true"), &script])
        .status();
    assert!(made.unwrap().success());
    Options::new().executable(script)
}

#[tokio::test]
async fn a_working_directory_that_cannot_be_used_is_an_error_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let program = stub(directory.path());
    for cwd in [directory.path().join("missing"), program.clone()] {
        let options = Options::new().executable(&program).cwd(&cwd);
        let error = options.dry_run().await.unwrap_err();
        assert!(error.to_string().contains(cwd.to_str().unwrap()), "{error}");
        assert!(matches!(error, Error::WorkingDirectory { .. }), "{error}");
    }
}

#[tokio::test]
async fn the_version_is_asked_for_when_an_option_depends_on_it() {
    let directory = tempfile::tempdir().unwrap();
    let options = mute(directory.path());
    let plan = options.dry_run().await.unwrap();
    assert_eq!(plan.warnings, [], "nothing depends on it");
    let plan = options.clone().task_budget(5).dry_run().await.unwrap();
    assert!(
        matches!(plan.warnings[..], [LaunchWarning::VersionUnknown { .. }]),
        "{plan}"
    );
    let error = options.check_version().dry_run().await.unwrap_err();
    assert!(matches!(error, Error::CliVersion { .. }), "{error}");
}

#[tokio::test]
async fn a_settings_file_is_merged_with_the_sandbox_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    let program = stub(directory.path());
    std::fs::write(directory.path().join("s.json"), r#"{"model": "x"}"#).unwrap();
    std::fs::write(directory.path().join("bad.json"), "{nope").unwrap();
    let with = |file: &str| {
        Options::new()
            .executable(&program)
            .cwd(directory.path())
            .settings(Settings::File(file.into()))
            .sandbox(SandboxSettings::required())
    };
    let plan = with("s.json").dry_run().await.unwrap();
    let sandbox = json!({"enabled": true, "failIfUnavailable": true});
    let settings = json!({"model": "x", "sandbox": sandbox});
    assert!(
        plan.args.contains(&format!("--settings={settings}").into()),
        "{plan}"
    );
    for file in ["bad.json", "missing.json"] {
        let error = with(file).dry_run().await.unwrap_err();
        assert!(error.to_string().contains(file), "{error}");
        let Error::InvalidOptions { problems } = error else {
            panic!("{error}")
        };
        assert!(
            matches!(problems[..], [OptionProblem::UnusableSettings { .. }]),
            "{problems}"
        );
    }
}
