//! Runs from end to end, on both engines: isolation, schemas, attachments, limits, exit codes, and
//! recordings that are played again.

use std::process::Command;

use falconer_testkit::scenario::{Scenario, last_user_contains, message, status, text, tool_use};
use falconer_testkit::{ApiServer, RealCli, clean_env};
use serde_json::{Value, json};

use crate::program::{Place, Ran, run};

/// `falconer` with an engine and a model of ours.
fn falconer(place: &Place, engine: &str, server: &ApiServer, arguments: &[&str]) -> Command {
    let mut command = place.falconer();
    command
        .args(arguments)
        .args(["--engine", engine])
        .env_clear()
        .envs(clean_env(&place.path().join("home"), &server.url()))
        .env("CLAUDE_CODE_MAX_RETRIES", "0")
        .env("FALCONER_CLAUDE_PATH", RealCli::find().unwrap().path());
    command
}

fn ran(place: &Place, engine: &str, model: Scenario, arguments: &[&str]) -> (Ran, ApiServer) {
    let server = ApiServer::start(model).unwrap();
    let ran = run(&mut falconer(place, engine, &server, arguments), "");
    (ran, server)
}

const BOTH: [&str; 2] = ["claude", "native"];

#[test]
fn an_isolated_run_cannot_write_outside_and_an_engine_in_this_process_refuses() {
    let place = Place::new();
    let outside = place.path().join("outside");
    let command = format!("echo in > inside; echo out > {}", outside.display());
    let model = Scenario::new()
        .turn(tool_use(
            "Bash",
            json!({"command": command, "description": "two files"}),
        ))
        .turn(text("I have tried."));
    let arguments = ["run", "try it", "--isolation", "sandbox", "--allow", "Bash"];
    let (ran_there, _server) = ran(&place, "claude", model.clone(), &arguments);
    let said = format!("{}{}", ran_there.stdout, ran_there.stderr);
    assert_eq!(ran_there.code, Some(0), "{said}");
    assert!(said.contains("I have tried."), "{said}");
    assert!(place.path().join("work/inside").exists(), "{said}");
    assert!(!outside.exists(), "{said}");
    let (refused, server) = ran(&Place::new(), "native", model, &arguments);
    assert_eq!(
        refused.code,
        Some(3),
        "{}{}",
        refused.stdout,
        refused.stderr
    );
    assert!(server.messages().is_empty(), "nothing was asked");
}

#[test]
fn an_answer_by_a_schema_is_json_that_fits_it() {
    for engine in BOTH {
        let place = Place::new();
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}},
            "required": ["n"], "additionalProperties": false});
        std::fs::write(place.path().join("work/n.json"), schema.to_string()).unwrap();
        let model = Scenario::new()
            .turn(tool_use("StructuredOutput", json!({"n": 7})))
            .turn(text("done"));
        let arguments = ["run", "how many?", "--output-schema", "n.json", "--quiet"];
        let (ran, _server) = ran(&place, engine, model, &arguments);
        assert_eq!(ran.code, Some(0), "{engine}: {}{}", ran.stdout, ran.stderr);
        let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(answer, json!({"n": 7}), "{engine}");
    }
    let place = Place::new();
    std::fs::write(place.path().join("work/wrong.json"), "no schema").unwrap();
    let arguments = ["run", "how many?", "--output-schema", "wrong.json"];
    let (ran, _server) = ran(&place, "native", Scenario::new(), &arguments);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}

#[test]
fn files_are_sent_along_as_what_they_are() {
    for engine in BOTH {
        let place = Place::new();
        let work = place.path().join("work");
        // The smallest picture there is: one pixel.
        let pixel = [
            0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, b'I', b'H', b'D', b'R',
            0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, b'I',
            b'D', b'A', b'T', 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0, 5, 0, 1, 0xff,
            0xab, 0xce, 0x54, 0x46, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
        ];
        std::fs::write(work.join("a.png"), pixel).unwrap();
        std::fs::write(work.join("b.txt"), "words of a file").unwrap();
        let model = Scenario::new()
            .on(last_user_contains("look"))
            .reply(text("Seen."));
        let arguments = [
            "run", "look", "--attach", "a.png", "--attach", "b.txt", "--quiet",
        ];
        let (ran, server) = ran(&place, engine, model, &arguments);
        assert_eq!(ran.stdout, "Seen.\n", "{engine}: {}", ran.stderr);
        let asked = server
            .messages()
            .iter()
            .map(|asked| asked.body.to_string())
            .collect::<String>();
        assert!(
            asked.contains("\"image/png\"") && asked.contains("words of a file"),
            "{engine}: {asked}"
        );
    }
}

#[test]
fn every_limit_ends_the_run_with_its_code() {
    let twice = || {
        Scenario::new()
            .turn(tool_use("Bash", json!({"command": "true"})))
            .turn(tool_use("Bash", json!({"command": "true"})))
            .turn(text("never"))
    };
    let table: [(&str, &str, Scenario); 4] = [
        ("--max-turns", "1", twice()),
        ("--max-tokens", "3", twice()),
        ("--max-budget-usd", "0.000001", twice()),
        (
            "--silence",
            "1s",
            Scenario::new().turn(falconer_testkit::scenario::hang()),
        ),
    ];
    for (flag, value, model) in table {
        let place = Place::new();
        let arguments = ["run", "go", "--allow", "Bash", flag, value, "--json"];
        let (ran, _server) = ran(&place, "native", model, &arguments);
        assert_eq!(ran.code, Some(5), "{flag}: {}{}", ran.stdout, ran.stderr);
        let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
        let class = last["data"]["failure"]["class"]
            .as_str()
            .unwrap_or_default();
        assert!(
            class.starts_with("limit:") || class.starts_with("error_max"),
            "{flag}: {last}"
        );
    }
}

#[test]
fn what_the_api_says_by_a_code_is_told_by_a_code() {
    let table = [
        (401, 3, "authentication"),
        (404, 2, "model_not_found"),
        (529, 7, "overloaded"),
    ];
    for engine in BOTH {
        for (answer, code, kind) in table {
            let place = Place::new();
            let model = Scenario::new()
                .on(last_user_contains("go"))
                .always()
                .reply(status(answer));
            let (ran, _server) = ran(&place, engine, model, &["run", "go", "--json"]);
            assert_eq!(
                ran.code,
                Some(code),
                "{engine} {answer}: {}{}",
                ran.stdout,
                ran.stderr
            );
            let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
            assert_eq!(
                last["data"]["failure"]["kind"], kind,
                "{engine} {answer}: {last}"
            );
        }
    }
}

#[test]
fn a_run_is_recorded_on_both_sides_and_played_again_offline() {
    for engine in BOTH {
        let place = Place::new();
        let model = Scenario::new()
            .turn(message().tool_use("Bash", json!({"command": "echo from the shell"})))
            .turn(text("It was recorded."));
        let arguments = [
            "record",
            "run.jsonl",
            "please record this",
            "--allow",
            "Bash",
            "--model-to",
            "model.json",
            "--engine-to",
            "lines.jsonl",
        ];
        let (recorded, server) = ran(&place, engine, model, &arguments);
        let said = format!("{}{}", recorded.stdout, recorded.stderr);
        assert_eq!(recorded.code, Some(0), "{engine}: {said}");
        assert!(said.contains("It was recorded."), "{engine}: {said}");
        drop(server);
        for file in ["run.jsonl", "lines.jsonl"] {
            let text = std::fs::read_to_string(place.path().join("work").join(file)).unwrap();
            assert!(!text.contains("sk-ant-fake"), "{engine} {file}");
            let shown = run(place.falconer().args(["replay", file]), "");
            assert_eq!(shown.code, Some(0), "{engine} {file}: {}", shown.stderr);
            for words in [
                "please record this",
                "echo from the shell",
                "It was recorded.",
            ] {
                assert!(
                    shown.stdout.contains(words),
                    "{engine} {file}: {}",
                    shown.stdout
                );
            }
        }
        let again = [
            "run",
            "please record this",
            "--engine",
            "script",
            "--scenario",
            "model.json",
            "--allow",
            "Bash",
            "--quiet",
        ];
        let again = run(place.falconer().args(again), "");
        assert_eq!(
            again.stdout, "It was recorded.\n",
            "{engine}: {}",
            again.stderr
        );
        let taken = run(
            &mut falconer(
                &place,
                engine,
                &ApiServer::start(Scenario::new()).unwrap(),
                &arguments,
            ),
            "",
        );
        assert_eq!(taken.code, Some(2), "{engine}: {}", taken.stderr);
    }
}
