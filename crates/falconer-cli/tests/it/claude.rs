//! `falconer-claude` as a process: arguments and stdin in, stdout, stderr and exit code out.

use std::io::{BufRead, Write};

use serde_json::Value;

use crate::program::{Place, Ran, finish, run, start};

const HELLO: &str = r#"{ "rules": [ { "times": "always", "reply": { "text": "hello" } } ] }"#;
const STREAM: [&str; 4] = ["-p", "--output-format", "stream-json", "--verbose"];
const TALK: [&str; 5] = [
    "--output-format=stream-json",
    "--verbose",
    "--input-format=stream-json",
    "--setting-sources=",
    "--no-session-persistence",
];

fn frames(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn kinds(stdout: &str) -> Vec<String> {
    let name = |frame: &Value| {
        let kind = frame["type"].as_str().unwrap_or("-").to_owned();
        match frame["subtype"].as_str() {
            Some(subtype) => format!("{kind}/{subtype}"),
            None => kind,
        }
    };
    frames(stdout).iter().map(name).collect()
}

#[test]
fn what_cannot_be_is_refused_with_code_1_and_a_reason() {
    let table: &[(&[&str], &str)] = &[
        (
            &["-p", "--output-format", "stream-json", "hi"],
            "requires --verbose",
        ),
        (
            &["-p", "--output-format=text", "--input-format=stream-json"],
            "requires output-format=stream-json",
        ),
        (
            &["-p", "--permission-mode", "bogus", "hi"],
            "'bogus' is invalid. Allowed choices are acceptEdits",
        ),
        (&["-p", "--model"], "'--model <model>' argument missing"),
        (
            &["-p", "--session-id", "not-a-uuid", "hi"],
            "Invalid session ID. Must be a valid UUID.",
        ),
        (
            &[
                "-p",
                "--resume=cccccccc-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
                "--session-id=dddddddd-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
                "hi",
            ],
            "if --fork-session is also specified",
        ),
        (&["-p", "--resume", "name", "hi"], "is not a UUID"),
        (&["-p", "--resume-session-at=x", "hi"], "requires --resume"),
        (
            &["-p", "--json-schema", "{nope", "--", "hi"],
            "--json-schema is not valid JSON",
        ),
        (
            &["-p", "--json-schema", "{\"type\": \"bogus\"}", "--", "hi"],
            "not a valid JSON Schema",
        ),
        (
            &["-p", "--settings", "{nope", "hi"],
            "Settings file not found: ",
        ),
        (
            &["-p", "--mcp-config", "{nope", "--", "hi"],
            "MCP config file not found: ",
        ),
        (
            &["-p", "--agents", "{nope", "hi"],
            "Invalid --agents configuration",
        ),
        (
            &["-p", "--system-prompt-file", "missing", "hi"],
            "System prompt file not found: ",
        ),
        (
            &["-p", "--allowedTools", "Bash", "the prompt"],
            "Input must be provided",
        ),
        (&["-p"], "Input must be provided"),
        (&["-p", "   "], "only whitespace"),
        (&["-p", "--restricted", "hi"], "not supported"),
        (
            &["-p", "--replay-user-messages", "hi"],
            "requires both --input-format",
        ),
        (
            &["-p", "--include-partial-messages", "hi"],
            "requires --print and --output-format",
        ),
    ];
    for (args, text) in table {
        let ran = run(Place::new().scripted(HELLO).args(*args), "");
        assert_eq!(ran.code, Some(1), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(text), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{args:?}");
    }
}

#[test]
fn refusals_that_hosts_are_told_of_come_as_a_result() {
    let unknown = "cccccccc-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
    let sandbox = r#"--settings={"sandbox":{"enabled":true}}"#;
    let table: &[(&[&str], &str, Value)] = &[
        (
            &["--resume", unknown],
            "No conversation found with session ID",
            Value::Null,
        ),
        (&[sandbox], "sandbox", "sandbox_required_unavailable".into()),
    ];
    for (args, text, reason) in table {
        for mode in [&STREAM[..], &TALK[..]] {
            let place = Place::new();
            let mut command = place.scripted(HELLO);
            let prompt = if mode == STREAM {
                &["--", "hi"][..]
            } else {
                &[]
            };
            let ran = run(command.args(mode).args(*args).args(prompt), "");
            assert_eq!(ran.code, Some(1), "{args:?}: {}", ran.stderr);
            assert!(ran.stderr.contains(text), "{args:?}: {}", ran.stderr);
            assert_eq!(kinds(&ran.stdout), ["result/error_during_execution"]);
            let result = &frames(&ran.stdout)[0];
            assert_eq!(result["startup_failure_reason"], *reason);
            assert!(result["errors"][0].as_str().unwrap().contains(text));
            assert_eq!(result["is_error"], true);
        }
    }
}

#[test]
fn a_broken_global_configuration_is_told() {
    let place = Place::new();
    std::fs::write(place.path().join("home/.claude.json"), "{nope").unwrap();
    let ran = run(place.scripted(HELLO).args(STREAM).arg("hi"), "");
    assert_eq!(ran.code, Some(1));
    let result = &frames(&ran.stdout)[0];
    assert_eq!(result["startup_failure_reason"], "config_file_invalid");
    let path = result["invalid_config_file"]["path"].as_str().unwrap();
    assert!(path.ends_with("home/.claude.json"));
}

#[test]
fn skipping_permissions_is_refused_to_root_unless_in_a_sandbox() {
    let is_root = run(&mut Place::new().command("id"), "")
        .stdout
        .starts_with("uid=0");
    for flag in [
        "--dangerously-skip-permissions",
        "--allow-dangerously-skip-permissions",
        "--permission-mode=bypassPermissions",
    ] {
        let place = Place::new();
        let command = || place.scripted(HELLO);
        let ran = run(command().args(STREAM).args([flag, "hi"]), "");
        assert_eq!(ran.code, Some(i32::from(is_root)), "{flag}: {}", ran.stderr);
        if is_root {
            assert_eq!(ran.stdout, "");
            assert!(ran.stderr.contains("root"), "{}", ran.stderr);
            let wanted = "CLAUDE_CODE_STARTUP_FAILURE_RESULTS";
            let ran = run(
                command().env(wanted, "1").args(STREAM).args([flag, "hi"]),
                "",
            );
            assert_eq!(
                frames(&ran.stdout)[0]["startup_failure_reason"],
                "bypass_root"
            );
        }
        let ran = run(
            command().env("IS_SANDBOX", "1").args(["-p", flag, "hi"]),
            "",
        );
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), "hello\n"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn one_shot_runs_write_what_their_format_says() {
    let ran = |args: &[&str], stdin: &str| {
        let ran = run(Place::new().scripted(HELLO).args(args), stdin);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stderr, "", "{args:?}");
        ran.stdout
    };
    assert_eq!(ran(&["-p", "hi"], ""), "hello\n");
    assert_eq!(ran(&["hi"], ""), "hello\n", "stdout is not a terminal");
    assert_eq!(ran(&["-p"], "hi\n"), "hello\n");
    let json: Value =
        serde_json::from_str(&ran(&["-p", "--output-format", "json", "hi"], "")).unwrap();
    assert_eq!(
        (&json["type"], &json["result"]),
        (&"result".into(), &"hello".into())
    );
    let all: Value =
        serde_json::from_str(&ran(&["-p", "--output-format=json", "--verbose", "hi"], "")).unwrap();
    let types: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|frame| &frame["type"])
        .collect();
    assert_eq!(types, ["system", "assistant", "result"]);
    let stream = ran(&[&STREAM[..], &["hi"]].concat(), "");
    assert_eq!(
        kinds(&stream),
        ["system/init", "assistant", "result/success"]
    );
}

#[test]
fn the_argument_and_what_is_piped_make_one_prompt() {
    let scenario = r#"{ "rules": [ { "when": { "last_user_contains": "review\nthe diff" },
        "reply": { "text": "both" } } ] }"#;
    let ran = run(
        Place::new().scripted(scenario).args(["-p", "review"]),
        "the diff\n",
    );
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "both\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_error_of_the_last_result_is_the_exit_code() {
    let scenario =
        r#"{ "rules": [ { "times": "always", "reply": { "error": { "status": 400 } } } ] }"#;
    let ran = run(Place::new().scripted(scenario).args(["-p", "hi"]), "");
    assert_eq!(ran.code, Some(1));
    let ran = run(Place::new().scripted(scenario).args(STREAM).arg("hi"), "");
    assert_eq!(ran.code, Some(1));
    assert_eq!(frames(&ran.stdout).last().unwrap()["is_error"], true);
}

#[test]
fn a_conversation_ends_with_its_input() {
    let user = r#"{"type":"user","message":{"role":"user","content":"hi"}}"#;
    let talk = |stdin: &str| run(Place::new().scripted(HELLO).args(TALK), stdin);
    let ran = talk("");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    for stdin in [
        format!("{user}\n"),
        format!("\n \n{user}"),
        format!("{{\"type\":\"new\"}}\n3\n{user}\n"),
    ] {
        let ran = talk(&stdin);
        assert_eq!(ran.code, Some(0), "{stdin:?}: {}", ran.stderr);
        assert_eq!(
            kinds(&ran.stdout),
            ["system/init", "assistant", "result/success"]
        );
    }
    let unknown = r#"{"type":"control_request","request_id":"1","request":{"subtype":"fly"}}"#;
    let ran = talk(&format!("{unknown}\n{user}\n"));
    let reply = &frames(&ran.stdout)[0];
    assert_eq!(reply["response"]["subtype"], "error");
    assert_eq!(ran.code, Some(0));
}

#[test]
fn bad_lines_end_the_process_with_a_reason() {
    let table = [
        ("{this is not json\n", "parsing streaming input line"),
        ("{\"type\":\"user\"}\n", "Expected message role 'user'"),
        (
            "{\"type\":\"control_request\",\"request_id\":\"1\"}\n",
            "Missing request on control_request",
        ),
    ];
    for (stdin, text) in table {
        let ran = run(Place::new().scripted(HELLO).args(TALK), stdin);
        assert_eq!(ran.code, Some(1), "{stdin:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(text), "{stdin:?}: {}", ran.stderr);
    }
    let user = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";
    let place = Place::new();
    let mut command = place.scripted(HELLO);
    let ran = run(command.args(TALK).arg("--await-initialize"), user);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stderr.contains("--await-initialize requires"),
        "{}",
        ran.stderr
    );
}

#[test]
fn unknown_flags_are_warned_about_and_ignored() {
    let ran = run(
        Place::new()
            .scripted(HELLO)
            .args(["-p", "--not-yet=1", "hi"]),
        "",
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "hello\n"));
    assert!(
        ran.stderr.contains("unknown option '--not-yet' is ignored"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_version_begins_with_a_number_that_hosts_compare() {
    let ran = run(Place::new().claude().arg("--version"), "");
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.starts_with("2.1.325 ("), "{}", ran.stdout);
    let ran = run(Place::new().claude().arg("--help"), "");
    assert!(ran.stdout.contains("--allowed-tools"), "{}", ran.stdout);
}

#[test]
fn without_a_key_it_says_so_at_once() {
    let ran = run(Place::new().claude().args(["-p", "hi"]), "");
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(ran.stdout.contains("ANTHROPIC_API_KEY"), "{}", ran.stdout);
}

/// A host that writes late gets the reason as the answer to its first request; one that closes
/// stdin is not kept waiting.
#[test]
fn a_refused_start_answers_the_first_request() {
    let refused: [(&[&str], &str); 3] = [
        (&["--permission-mode", "bogus"], "'bogus' is invalid"),
        (
            &["--resume=cccccccc-aaaa-4aaa-8aaa-aaaaaaaaaaaa"],
            "No conversation found",
        ),
        (
            &["--settings", r#"{"sandbox":{"enabled":true}}"#],
            "sandbox required but unavailable",
        ),
    ];
    for (args, reason) in refused {
        let place = Place::new();
        let command = || {
            let mut command = place.scripted(HELLO);
            command.args(TALK).args(args);
            command
        };
        // A second is a short time on a busy machine.
        let ran = (0..5).find_map(|_| write_late(&mut command(), reason));
        let ran = ran.expect("a host that writes within a second gets an answer");
        assert_eq!(ran.code, Some(1));
        let answer = frames(&ran.stdout).pop().unwrap();
        assert_eq!(answer["type"], "control_response", "{answer}");
        assert_eq!(answer["response"]["subtype"], "error");
        assert_eq!(answer["response"]["request_id"], "first");
        let error = answer["response"]["error"].as_str().unwrap();
        assert!(error.contains(reason), "{error}");

        let closed = run(&mut command(), "");
        assert_eq!(closed.code, Some(1));
        assert!(!closed.stdout.contains("control_response"), "{closed:?}");
    }
}

/// Writes the first request after the reason is on stderr. Returns nothing if that was too late.
fn write_late(command: &mut std::process::Command, reason: &str) -> Option<Ran> {
    let mut child = start(command);
    let mut stderr = String::new();
    let mut reader = std::io::BufReader::new(child.stderr.take().unwrap());
    while !stderr.contains(reason) {
        assert_ne!(reader.read_line(&mut stderr).unwrap(), 0, "{stderr}");
    }
    let hello =
        r#"{"type":"control_request","request_id":"first","request":{"subtype":"initialize"}}"#;
    let mut stdin = child.stdin.take().unwrap();
    let written = writeln!(stdin, "{hello}");
    let ran = finish(child);
    written.ok()?;
    ran.stdout.contains("control_response").then_some(ran)
}

/// What users build, with default features: the service is there, and says what it needs.
#[test]
fn both_executables_serve_bedrock() {
    let place = Place::new();
    let native = ["run", "hi", "--engine=native", "--no-store"];
    for (mut command, arguments) in [
        (place.claude(), &["-p", "hi"][..]),
        (place.falconer(), &native),
    ] {
        command.args(arguments).env("CLAUDE_CODE_USE_BEDROCK", "1");
        let ran = run(&mut command, "");
        assert_ne!(ran.code, Some(0), "{ran:?}");
        let said = [ran.stdout, ran.stderr].concat();
        assert!(said.contains("AWS_REGION"), "{said}");
    }
}
