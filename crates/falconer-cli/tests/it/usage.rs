//! What the commands say about themselves, and how they refuse.

use crate::program::{Place, run};

#[test]
fn without_arguments_the_next_step_is_told() {
    let ran = run(&mut Place::new().falconer(), "");
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("falconer demo"), "{}", ran.stdout);
}

#[test]
fn help_has_examples_and_exit_codes() {
    for args in [&["--help"][..], &["run", "--help"], &["demo", "--help"]] {
        let ran = run(Place::new().falconer().args(args), "");
        assert_eq!(ran.code, Some(0));
        assert!(ran.stdout.contains("Examples:"), "{}", ran.stdout);
    }
    let ran = run(Place::new().falconer().arg("--help"), "");
    assert!(ran.stdout.contains("Exit codes:"));
}

#[test]
fn wrong_usage_is_code_2_and_a_missing_setup_code_3() {
    let table: &[(&[&str], i32, &str)] = &[
        (&["fly"], 2, "fly"),
        (&["run", "x", "--engine", "script"], 2, "--scenario"),
        (
            &["run", "x", "--permission-mode", "bogus"],
            2,
            "acceptEdits",
        ),
        (&["run"], 2, "no prompt was given"),
        (
            &[
                "run",
                "x",
                "--engine",
                "script",
                "--scenario",
                "missing.json",
            ],
            3,
            "missing.json",
        ),
        (
            &["run", "x", "--cwd", "/nowhere/at/all"],
            3,
            "/nowhere/at/all",
        ),
    ];
    for (args, code, text) in table {
        let ran = run(Place::new().falconer().args(*args), "");
        assert_eq!(ran.code, Some(*code), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(text), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn run_works_on_a_scripted_model_and_denies_what_nobody_can_allow() {
    let place = Place::new();
    let scenario = r#"{ "rules": [
        { "reply": { "message": { "content": [
            { "type": "tool_use", "name": "Bash", "input": { "command": "touch made" } } ] } } },
        { "reply": { "text": "**no** file" } } ] }"#;
    let file = place.path().join("scenario.json");
    std::fs::write(&file, scenario).unwrap();
    let ran = run(
        place
            .falconer()
            .args(["run", "--engine", "script", "--scenario"])
            .arg(file),
        "make a file",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("▸ Bash  touch made"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("no (there is no terminal to ask on)"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("\nno file\n"), "{}", ran.stdout);
    assert!(!place.path().join("work/made").exists());
}

#[test]
fn run_without_a_key_says_what_to_do() {
    let ran = run(Place::new().falconer().args(["run", "hi"]), "");
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("ANTHROPIC_API_KEY"), "{}", ran.stdout);
}
