//! `falconer sessions`, `record`, `replay`, `explain`, `completions`, `man`, `init`.

use serde_json::Value;

use crate::program::{Place, Ran, run};
use crate::terminal::Terminal;

fn falconer(place: &Place, arguments: &[&str]) -> Ran {
    run(place.falconer().args(arguments), "")
}

fn scenario(place: &Place) -> String {
    let file = place.path().join("scenario.json");
    let text = r#"{ "rules": [
        { "reply": { "message": { "content": [
            { "type": "tool_use", "name": "Bash", "input": { "command": "echo from the shell" } } ] } } },
        { "reply": { "text": "The **answer** <b>is</b> 42." } } ] }"#;
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// A session, by its id.
fn talked(place: &Place) -> String {
    let file = scenario(place);
    let arguments = [
        "run",
        "What is it?",
        "--engine",
        "script",
        "--scenario",
        &file,
        "--json",
        "--allow",
        "Bash",
    ];
    let ran = falconer(place, &arguments);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    last["data"]["native_session"].as_str().unwrap().to_owned()
}

#[test]
fn sessions_are_listed_shown_found_and_exported() {
    let place = Place::new();
    let id = talked(&place);
    let listed = falconer(&place, &["sessions", "list"]).stdout;
    assert!(
        listed.contains(&id) && listed.contains("What is it?"),
        "{listed}"
    );
    let json = falconer(&place, &["sessions", "list", "--all", "--json"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["sessionId"], id.as_str());
    let shown = falconer(&place, &["sessions", "show", &id[..8]]).stdout;
    for text in ["What is it?", "echo from the shell", "from the shell", "42"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let found = falconer(&place, &["sessions", "search", "ANSWER"]);
    assert!(found.stdout.contains(&id), "{}", found.stdout);
    assert_eq!(
        falconer(&place, &["sessions", "search", "nowhere"]).code,
        Some(1)
    );
    let html = falconer(&place, &["sessions", "export", &id, "--format", "html"]).stdout;
    assert!(
        html.contains("&lt;b&gt;is&lt;/b&gt;") && !html.contains("<b>"),
        "{html}"
    );
    let lines = falconer(&place, &["sessions", "export", &id, "--format", "jsonl"]).stdout;
    assert!(lines.lines().count() >= 4, "{lines}");
    lines
        .lines()
        .for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap()));
    let output = place.path().join("session.md");
    let file = output.display().to_string();
    falconer(&place, &["sessions", "export", &id, "--output", &file]);
    assert!(
        std::fs::read_to_string(output)
            .unwrap()
            .starts_with("# What is it?")
    );
}

#[test]
fn sessions_are_copied_renamed_and_deleted() {
    let place = Place::new();
    let id = talked(&place);
    let copy = falconer(&place, &["sessions", "fork", &id, "--title", "A copy"]);
    let copy = copy.stdout.trim().to_owned();
    assert_ne!(copy, id);
    falconer(&place, &["sessions", "rename", &id, "The original"]);
    let listed = falconer(&place, &["sessions", "list"]).stdout;
    assert!(
        listed.contains("The original") && listed.contains("A copy"),
        "{listed}"
    );
    let refused = falconer(&place, &["sessions", "delete", &copy]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert_eq!(
        falconer(&place, &["sessions", "delete", &copy, "--yes"]).code,
        Some(0)
    );
    let gone = falconer(&place, &["sessions", "show", &copy]);
    assert_eq!(gone.code, Some(6), "{}", gone.stderr);
    assert!(gone.stderr.contains("hint: "), "{}", gone.stderr);
    assert_eq!(
        falconer(&place, &["sessions", "show", "../x"]).code,
        Some(2)
    );
    let mut terminal = Terminal::start(&place, &format!("sessions delete {id}"), &[]);
    terminal.expect("[y/N] ");
    terminal.type_in("n\n");
    terminal.expect("kept");
    assert_eq!(terminal.code(), Some(0));
}

#[test]
fn a_recording_shows_the_run_again_and_its_model_plays_again() {
    let place = Place::new();
    let file = scenario(&place);
    let flags = ["--engine", "script", "--scenario", &file, "--allow", "Bash"];
    let mut arguments = vec!["record", "run.jsonl", "What is it?"];
    arguments.extend(flags);
    let ran = falconer(&place, &arguments);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let again = falconer(&place, &arguments);
    assert_eq!(again.code, Some(2), "{}", again.stderr);
    let shown = falconer(&place, &["replay", "run.jsonl"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    for text in [
        "▸ Bash  echo from the shell",
        "│ from the shell",
        "The answer",
        "done in",
    ] {
        assert!(shown.stdout.contains(text), "{text}: {}", shown.stdout);
    }
    let events = falconer(
        &place,
        &["replay", "run.jsonl", "--json", "--speed", "1000"],
    )
    .stdout;
    let numbers: Vec<u64> = events
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["seq"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    std::fs::write(place.path().join("work/empty"), "").unwrap();
    assert_eq!(falconer(&place, &["replay", "empty"]).code, Some(2));
    assert_eq!(falconer(&place, &["replay", "missing"]).code, Some(3));
}

#[test]
fn the_answers_of_a_model_become_a_scenario() {
    use falconer_testkit::scenario::{Scenario, text};
    let server =
        falconer_testkit::ApiServer::start(Scenario::new().turn(text("Recorded."))).unwrap();
    let place = Place::new();
    let arguments = [
        "record",
        "run.jsonl",
        "hi",
        "--model-to",
        "model.json",
        "--engine",
        "native",
    ];
    let mut command = place.falconer();
    command
        .args(arguments)
        .env("ANTHROPIC_API_KEY", "sk-ant-none")
        .env("ANTHROPIC_BASE_URL", server.url());
    let ran = run(&mut command, "");
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let arguments = [
        "run",
        "hi",
        "--quiet",
        "--engine",
        "script",
        "--scenario",
        "model.json",
    ];
    assert_eq!(falconer(&place, &arguments).stdout, "Recorded.\n");
}

#[test]
fn calls_are_explained_without_being_made() {
    let place = Place::new();
    let table: [(&[&str], i32, &str); 5] = [
        (&["Bash(git push)"], 1, "asked"),
        (&["Bash(git push)", "--allow", "Bash(git:*)"], 0, "allowed"),
        (
            &[
                "Bash(git push)",
                "--allow",
                "Bash(git:*)",
                "--deny",
                "Bash(git push:*)",
            ],
            1,
            "denied",
        ),
        (
            &["Bash(git status; rm -rf x)", "--allow", "Bash(git:*)"],
            1,
            "asked",
        ),
        (
            &["Write(a.txt)", "--permission-mode", "acceptEdits"],
            0,
            "allowed",
        ),
    ];
    for (arguments, code, text) in table {
        let mut all = vec!["explain"];
        all.extend(arguments);
        let ran = falconer(&place, &all);
        assert_eq!(
            ran.code,
            Some(code),
            "{arguments:?}: {}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(
            ran.stdout.starts_with(text),
            "{arguments:?}: {}",
            ran.stdout
        );
    }
    std::fs::write(
        place.path().join("work/p.toml"),
        "[deny]\ncommands = ['git push']\n",
    )
    .unwrap();
    let ran = falconer(
        &place,
        &["explain", "Bash(git push)", "--policy", "p.toml", "--json"],
    );
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&report["outcome"], &report["decided_by"]),
        (&"denied".into(), &"policy file".into())
    );
    assert_eq!(falconer(&place, &["explain", "Bash(git"]).code, Some(2));
}

#[test]
fn shells_and_man_get_what_they_need() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let ran = falconer(&place, &["completions", shell]);
        assert!(
            ran.stdout.contains("falconer") && ran.stdout.contains("sessions"),
            "{shell}"
        );
    }
    let page = falconer(&place, &["man"]).stdout;
    assert!(page.contains(".TH falconer"), "{page}");
    assert_eq!(falconer(&place, &["man", "--dir", "man1"]).code, Some(0));
    let run_page = std::fs::read_to_string(place.path().join("work/man1/falconer-run.1")).unwrap();
    assert!(run_page.contains("Examples:"), "{run_page}");
}

/// The last line of `init`, on a machine with a key and a model.
fn works_with_a_model(line: &str) {
    use falconer_testkit::scenario::{Scenario, last_user_contains, text};
    let asked = Scenario::new().on(last_user_contains("What does this project do?"));
    let server = falconer_testkit::ApiServer::start(asked.reply(text("Nothing yet."))).unwrap();
    let place = Place::new();
    let falconer = env!("CARGO_BIN_EXE_falconer");
    let command = line.trim().replacen("falconer", falconer, 1);
    let mut shell = place.command("sh");
    shell
        .args(["-c", &command])
        .env("ANTHROPIC_API_KEY", "sk-ant-none")
        .env("ANTHROPIC_BASE_URL", server.url());
    let ran = run(&mut shell, "");
    assert_eq!(ran.code, Some(0), "{command}: {}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("Nothing yet."), "{}", ran.stdout);
}

#[test]
fn init_says_what_it_found_writes_once_and_ends_with_a_command_that_works() {
    let place = Place::new();
    let ran = falconer(&place, &["init"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for text in ["none found in ", "none can run yet", "written:"] {
        assert!(ran.stdout.contains(text), "{text}: {}", ran.stdout);
    }
    assert!(
        ran.stdout.trim_end().ends_with("falconer demo"),
        "{}",
        ran.stdout
    );
    // What it ends with works.
    let last = ran.stdout.trim_end().lines().last().unwrap();
    let mut words = last.split_whitespace();
    assert_eq!(words.next(), Some("falconer"));
    let worked = falconer(&place, &words.collect::<Vec<_>>());
    assert_eq!(worked.code, Some(0), "{}{}", worked.stdout, worked.stderr);
    assert_eq!(falconer(&place, &["config", "list"]).code, Some(0));
    let mut command = place.falconer();
    command.arg("init").env("ANTHROPIC_API_KEY", "sk-ant-none");
    let ran = run(&mut command, "");
    assert!(ran.stdout.contains("is unchanged"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("native (auto: claude is not installed"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("sk-ant-none"), "{}", ran.stdout);
    works_with_a_model(ran.stdout.trim_end().lines().last().unwrap());
    let other = Place::new();
    let mut terminal = Terminal::start(&other, "init", &[]);
    terminal.expect("[Y/n] ");
    terminal.type_in("n\n");
    terminal.expect("not written");
    assert_eq!(terminal.code(), Some(0));
    assert!(!other.path().join("home/.config").exists());
}
