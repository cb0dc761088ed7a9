//! What commands write, where it is the same every time.

use crate::program::{Place, run};

/// What a command wrote, without what differs from place to place and from time to time.
fn said(place: &Place, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = place.falconer();
    command.args(arguments).envs(variables.iter().copied());
    let ran = run(&mut command, "");
    let text = format!("{}{}[exit {}]\n", ran.stdout, ran.stderr, ran.code.unwrap());
    let place = place.path().display().to_string();
    let text = text.replace(&place, "[place]");
    let table = [
        (
            r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            "[id]",
        ),
        (r"--resume [0-9a-f]{8}", "--resume [id]"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d", "[time]"),
        (r"done in \S+ s", "done in [n] s"),
        (r"\d+ MiB free at \S+", "[n] MiB free at [place]"),
        (r"\d[\d,.k]* tokens in", "[n] tokens in"),
        (r"falconer-demo-\w+", "falconer-demo-[x]"),
        (
            r"(?m)^(ok  |warn) sandbox: .*\n(     fix: .*\n)?",
            "[sandbox]\n",
        ),
        (
            r"(?m)^(ok  |warn) confinement: .*\n(     fix: .*\n)?",
            "[confinement]\n",
        ),
        (
            r"(?m)^(ok  |warn) server: .*\n(     fix: .*\n)?",
            "[server]\n",
        ),
    ];
    table.into_iter().fold(text, |text, (pattern, with)| {
        let pattern = regex::Regex::new(pattern).unwrap();
        pattern.replace_all(&text, with).into_owned()
    })
}

/// A name, the words of the command, and variables.
type Row<'a> = (&'a str, Vec<&'a str>, &'a [(&'a str, &'a str)]);

#[test]
fn commands_write_what_they_wrote() {
    let key = ("ANTHROPIC_API_KEY", "sk-ant-none");
    let place = Place::new();
    let model = r#"{"rules": [{"times": "always", "reply": {"text": "It **says** hello."}}]}"#;
    std::fs::write(place.path().join("work/hello.json"), model).unwrap();
    let scripted = ["--engine", "script", "--scenario", "hello.json"];
    let with = |words: &[&'static str]| -> Vec<&'static str> {
        words.iter().copied().chain(scripted).collect()
    };
    let table: Vec<Row<'_>> = vec![
        ("bare_without_a_key", vec![], &[]),
        ("bare_with_a_key", vec![], std::slice::from_ref(&key)),
        ("init", vec!["init"], &[]),
        (
            "init_again_with_a_key",
            vec!["init"],
            std::slice::from_ref(&key),
        ),
        ("doctor", vec!["doctor"], &[]),
        ("config_list", vec!["config", "list"], &[]),
        (
            "config_wrong_key",
            vec!["config", "set", "run.modle", "x"],
            &[],
        ),
        (
            "explain",
            vec!["explain", "Bash(git push)", "--deny", "Bash(git push:*)"],
            &[],
        ),
        (
            "explain_json",
            vec!["explain", "Bash(git push)", "--json"],
            &[],
        ),
        ("run", with(&["run", "What does it say?"]), &[]),
        (
            "record",
            with(&["record", "run.jsonl", "What does it say?"]),
            &[],
        ),
        ("replay", vec!["replay", "run.jsonl"], &[]),
        (
            "sessions_list",
            vec!["sessions", "list", "--limit", "1"],
            &[],
        ),
        (
            "sessions_search",
            vec!["sessions", "search", "nothing like it"],
            &[],
        ),
        ("no_engine", vec!["run", "hi"], &[]),
        ("no_prompt", vec!["run"], &[]),
        (
            "no_server",
            vec!["approve", "--server", "http://127.0.0.1:9", "--token", "x"],
            &[],
        ),
    ];
    for (name, arguments, variables) in table {
        insta::assert_snapshot!(name, said(&place, &arguments, variables));
    }
}
