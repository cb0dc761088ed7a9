//! Commands of every day with nobody to ask: ours runs nearly all that the official CLI runs.

use std::collections::BTreeSet;
use std::path::Path;

use falconer_testkit::scenario::{Scenario, text, tool_use};
use serde_json::json;

use super::Case;
use super::stage::{self, Engine};

/// Commands of one session. A session has to end within the limit of a run.
const CHUNK: usize = 40;

/// The share of the official CLI's commands that ours runs, in percent.
const SHARE: usize = 95;

/// Commands that the official CLI runs unasked and ours asks for, each with the reason.
const ASKED: &[(&str, &str)] = &[
    ("docker ps", "talks to a daemon that can do anything"),
    ("docker images", "talks to a daemon that can do anything"),
    (
        "echo \"today is $(date)\"",
        "a command in a command is never judged harmless",
    ),
    (
        "if [ -f README.md ]; then echo yes; fi",
        "compound commands are never judged harmless",
    ),
    ("ls *.md", "a file name may begin with `-` and be an option"),
];

fn commands() -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/shell/everyday.txt");
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

/// A small project with a repository that has no commit.
fn session(commands: &[String]) -> Case {
    let calls: Vec<String> = commands.to_vec();
    let scenario = move |_: &Path| {
        let call = |scenario: Scenario, command: &String| {
            scenario.turn(tool_use(
                "Bash",
                json!({"command": command, "description": "look"}),
            ))
        };
        calls.iter().fold(Scenario::new(), call).turn(text("done"))
    };
    [
        ("README.md", "# Demo\n\nHow to install it.\n"),
        ("src/main.rs", "fn main() {\n    // TODO\n}\n"),
        ("src/lib.rs", "pub fn one() {}\n"),
        ("docs/a.md", "a\n"),
        ("data.json", r#"{"name": "demo", "items": [{"id": 1}]}"#),
        ("data.csv", "a,2\nb,1\n"),
        ("log.txt", "error x\nwarn y\n"),
        ("numbers.txt", "1\n2\n"),
        ("numbers2.txt", "1\n3\n"),
        ("package.json", r#"{"name": "demo"}"#),
        ("Cargo.toml", "[package]\nname = \"demo\"\n"),
        (".git/HEAD", "ref: refs/heads/main\n"),
        (
            ".git/config",
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
        ),
        (".git/objects/info/alternates", ""),
        (".git/refs/heads/.keep", ""),
    ]
    .into_iter()
    .fold(
        Case::one_shot("go", &[], scenario),
        |case, (name, content)| case.file(name, content),
    )
}

/// The commands that an engine runs although nobody can be asked.
fn run_unasked(engine: Engine, commands: &[String]) -> BTreeSet<String> {
    let mut ran: BTreeSet<String> = commands.iter().cloned().collect();
    for chunk in commands.chunks(CHUNK) {
        let trace = stage::run(&session(chunk), engine);
        let result = trace.frames.iter().find(|frame| frame["type"] == "result");
        let result = result.unwrap_or_else(|| panic!("{engine:?} ended early: {}", trace.stderr));
        assert_eq!(result["num_turns"], chunk.len() + 1, "{engine:?}: {result}");
        for denial in result["permission_denials"].as_array().unwrap() {
            ran.remove(denial["tool_input"]["command"].as_str().unwrap());
        }
    }
    ran
}

#[test]
fn everyday_commands_run_unasked() {
    let commands = commands();
    assert!(commands.len() >= 200, "only {} commands", commands.len());
    let (official, ours) = std::thread::scope(|scope| {
        let official = scope.spawn(|| run_unasked(Engine::Official, &commands));
        let ours = run_unasked(Engine::Ours, &commands);
        (official.join().unwrap(), ours)
    });
    let asked: BTreeSet<&str> = official.difference(&ours).map(String::as_str).collect();
    let expected: BTreeSet<&str> = ASKED.iter().map(|(command, _)| *command).collect();
    println!("official {}, ours {}", official.len(), ours.len());
    assert_eq!(
        asked, expected,
        "asked for by ours only, and what is listed"
    );
    assert!(
        (official.len() - asked.len()) * 100 >= official.len() * SHARE,
        "ours runs all but {} of {}",
        asked.len(),
        official.len()
    );
}
