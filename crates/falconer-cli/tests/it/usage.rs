//! What the commands say about themselves, and how they refuse.

use crate::program::{Place, run};

#[test]
fn without_arguments_the_next_step_is_told() {
    let ran = run(&mut Place::new().falconer(), "");
    assert_eq!(ran.code, Some(0));
    for text in ["falconer demo", "falconer init", "Found no API key"] {
        assert!(ran.stdout.contains(text), "{}", ran.stdout);
    }
    let key = ("ANTHROPIC_API_KEY", "sk-ant-none");
    let ran = run(Place::new().falconer().envs([key]), "");
    let ready = "the engine `native` with variable ANTHROPIC_API_KEY";
    assert!(ran.stdout.contains(ready), "{}", ran.stdout);
}

#[test]
fn help_has_examples_and_exit_codes() {
    let commands = [
        "run",
        "chat",
        "demo",
        "sessions",
        "init",
        "doctor",
        "config",
        "explain",
        "record",
        "replay",
        "completions",
        "man",
    ];
    for command in commands.map(Some).into_iter().chain([None]) {
        let args: Vec<_> = command.into_iter().chain(["--help"]).collect();
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
        (&["run"], 2, "no prompt given"),
        (&["run", "x", "--deadline", "1d"], 2, "use s, m or h"),
        (&["run", "x", "--fork"], 2, "--continue"),
        (&["run", "x", "--json", "--quiet"], 2, "--quiet"),
        (&["run", "x", "--file", "y"], 2, "--file"),
        (&["run", "--file", "missing.md"], 3, "missing.md"),
        (&["run", "x", "--attach", "missing.png"], 3, "missing.png"),
        (&["run", "x", "--continue"], 6, "no session to continue"),
        (&["config", "get", "run.modle"], 2, "`run.model`"),
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
        let key = ("ANTHROPIC_API_KEY", "sk-ant-none");
        let ran = run(Place::new().falconer().envs([key]).args(*args), "");
        assert_eq!(ran.code, Some(*code), "{args:?}: {}", ran.stderr);
        if !ran.stderr.contains("For more information") {
            assert!(ran.stderr.contains("\nhint: "), "{args:?}: {}", ran.stderr);
        }
        assert!(ran.stderr.contains(text), "{args:?}: {}", ran.stderr);
    }
}
