//! One value is planted in every kind of place; nothing that is written afterwards holds any.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use falconer_testkit::scenario::{Scenario, any, last_user_contains, status, text, tool_use};
use falconer_testkit::{ApiServer, RealCli, clean_env};
use serde_json::json;

use crate::program::{Place, Ran, run};
use crate::server_process::Server;

const API_KEY: &str = "planted-apikey-0001";
const HELPER: &str = "planted-helper-0002";
const SETTINGS: &str = "planted-settings-0003";
const MCP_VARIABLE: &str = "planted-mcpenv-0004";
const MCP_HEADER: &str = "planted-header-0005";
const HEADER: &str = "planted-gateway-0006";
const PASSWORD: &str = "planted-userinfo-0007";
const TOKEN: &str = "planted-falconer-0008";
const OAUTH: &str = "planted-oauth-login-0009";
const PATTERN: &str = "flc_planted0010-abcdefghijklmnopqrstuvwxyz";

const ALL: [&str; 10] = [
    API_KEY,
    HELPER,
    SETTINGS,
    MCP_VARIABLE,
    MCP_HEADER,
    HEADER,
    PASSWORD,
    TOKEN,
    OAUTH,
    PATTERN,
];

fn all() -> String {
    ALL.join(" ")
}

/// The values that are known before anything is said: a helper has not printed its key by then,
/// and a server has not been connected to.
fn known_at_start() -> String {
    let later = [HELPER, MCP_VARIABLE, MCP_HEADER];
    let known = ALL.into_iter().filter(|value| !later.contains(value));
    known.collect::<Vec<_>>().join(" ")
}

/// Files that hold the values because they were planted there.
const PLANTED: [&str; 4] = [
    "home/.claude/settings.json",
    "home/.claude/.credentials.json",
    "home/.claude.json",
    "work/planted.txt",
];

fn plant(place: &Place) {
    let put = |name: &str, text: String| {
        let file = place.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    let settings = json!({
        "apiKeyHelper": format!("echo {HELPER}"), "env": {"DEPLOY_TOKEN": SETTINGS},
    });
    put(PLANTED[0], settings.to_string());
    let login = json!({"claudeAiOauth": {"accessToken": OAUTH, "expiresAt": 1}});
    put(PLANTED[1], login.to_string());
    let servers = json!({"mcpServers": {
        "child": {"command": "false", "env": {"SERVICE_TOKEN": MCP_VARIABLE}},
        "far": {"type": "http", "url": "http://127.0.0.1:9/", "headers": {"X-Own": MCP_HEADER}},
    }});
    put(PLANTED[2], servers.to_string());
    put(PLANTED[3], all());
}

/// The agent reads the values, says them, and repeats them in a command; at last the API refuses
/// with a text that holds them.
fn model() -> ApiServer {
    let read = tool_use(
        "Bash",
        json!({"command": "cat planted.txt; env; cat /proc/$PPID/environ"}),
    );
    let scenario = Scenario::new()
        .on(last_user_contains("refuse"))
        .always()
        .reply(status(400).message(all()))
        .on(last_user_contains("please-read"))
        .always()
        .reply(read)
        .on(any())
        .always()
        .reply(text(format!("They are {}.", all())));
    ApiServer::start(scenario).unwrap()
}

fn with_values(command: &mut Command, model: &ApiServer) {
    let address = model.address();
    command
        .env("ANTHROPIC_API_KEY", API_KEY)
        .env(
            "ANTHROPIC_BASE_URL",
            format!("http://me:{PASSWORD}@{address}"),
        )
        .env("ANTHROPIC_CUSTOM_HEADERS", format!("X-Gateway: {HEADER}"))
        .env("FALCONER_TOKEN", TOKEN);
}

fn falconer(place: &Place, model: &ApiServer, arguments: &[&str]) -> Ran {
    let mut command = place.falconer();
    with_values(&mut command, model);
    run(command.args(arguments), "")
}

/// All files below a directory, but for those in which the values were planted.
fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            files(&path, found);
        } else if kind.is_file() && !PLANTED.iter().any(|planted| path.ends_with(planted)) {
            found.push(path);
        }
    }
}

#[track_caller]
fn check_text(what: &str, text: &str) {
    for value in ALL {
        assert!(!text.contains(value), "{value} is in {what}: {text}");
    }
}

#[track_caller]
fn check_files(place: &Place, least: usize) {
    let mut found = Vec::new();
    files(place.path(), &mut found);
    assert!(found.len() >= least, "{found:?}");
    for path in found {
        let bytes = std::fs::read(&path).unwrap();
        check_text(
            &path.display().to_string(),
            &String::from_utf8_lossy(&bytes),
        );
    }
}

const NATIVE: [&str; 4] = ["--engine", "native", "--allow", "Bash"];

#[test]
fn no_planted_value_is_written_by_run_and_record() {
    let (place, model) = (Place::new(), model());
    plant(&place);
    let read = format!("please-read {}", known_at_start());
    let refuse = format!("refuse {}", known_at_start());
    let recording = ["--engine-to", "engine.jsonl", "--model-to", "model.json"];
    for arguments in [
        [&["run", &read][..], &NATIVE].concat(),
        [&["run", &read, "--json"][..], &NATIVE].concat(),
        [&["run", &refuse][..], &NATIVE].concat(),
        [&["record", "run.jsonl", &read][..], &recording, &NATIVE].concat(),
        vec!["sessions", "list", "--all"],
    ] {
        let ran = falconer(&place, &model, &arguments);
        let name = arguments[..2].join(" ");
        check_text(&name, &ran.stdout);
        check_text(&name, &ran.stderr);
    }
    assert!(!model.messages().is_empty());
    check_files(&place, 6);
    // A transcript of the official CLI holds what was said; what is shown of it does not.
    let mut found = Vec::new();
    files(&place.path().join("home/.claude/projects"), &mut found);
    let transcript = found.first().unwrap();
    let raw = std::fs::read_to_string(transcript).unwrap();
    std::fs::write(transcript, raw.replace("[redacted]", API_KEY)).unwrap();
    let session = transcript.file_stem().unwrap().to_str().unwrap();
    let shown = falconer(&place, &model, &["sessions", "export", session]);
    assert!(
        shown.stdout.contains("[redacted]"),
        "{}{}",
        shown.stdout,
        shown.stderr
    );
    check_text("an export", &shown.stdout);
}

#[test]
fn no_planted_value_is_written_by_the_drop_in() {
    let (place, model) = (Place::new(), model());
    plant(&place);
    let mut command = place.claude();
    with_values(&mut command, &model);
    command.args([
        "-p",
        &format!("please-read {}", known_at_start()),
        "--allowedTools",
        "Bash",
    ]);
    let ran = run(&mut command, "");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    // What the host is told stays as it was said.
    assert!(ran.stdout.contains(PATTERN), "{}", ran.stdout);
    check_text("stderr", &ran.stderr);
    check_files(&place, 1);
}

#[test]
fn no_planted_value_is_written_or_sent_by_a_server() {
    let (place, model) = (Place::new(), model());
    plant(&place);
    let state = place.path().join("state");
    let mut command = place.falconer();
    with_values(&mut command, &model);
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .env("FALCONER_STATE_DIR", &state)
        .stdin(std::process::Stdio::null());
    let server = Server::start(&mut command, &state);
    let token = server.token.clone();
    let text = format!("please-read {} {token}", known_at_start());
    let new = json!({"engine": "native", "cwd": place.path().join("work").canonicalize().unwrap(),
        "mode": "dontAsk", "message": {"client_msg_id": "1", "text": text}});
    let (status, session) = server.call("POST", "/v1/sessions", Some(&new));
    assert_eq!(status, 201, "{session}");
    let mut frames = server.follow(&session);
    let done = frames.event("turn.completed").to_string();
    check_text("an event", &done);
    let url = session["url"].as_str().unwrap();
    for path in [
        format!("{url}/events"),
        format!("{url}/messages"),
        "/v1/audit".to_owned(),
    ] {
        let (_, answer) = server.call("GET", &path, None);
        check_text(&path, &answer.to_string());
        assert!(!answer.to_string().contains(&token), "{path}");
    }
    server.end();
    let store = std::fs::read(state.join("falconer.db")).unwrap();
    assert!(!String::from_utf8_lossy(&store).contains(&token));
    check_files(&place, 2);
}

/// Whoever runs in the session looks at the process above.
const SPY: &str = r#"{"rules":[{"reply":{"message":{"content":[{"type":"tool_use","name":"Bash",
    "input":{"command":"tr '\\0' '\\n' < /proc/$PPID/environ | grep -c SUPPLY; env | grep -c SUPPLY; echo over"}}]}}},
    {"times":"always","reply":{"text":"done"}}]}"#;

#[test]
fn the_environment_of_the_process_holds_no_key() {
    let place = Place::new();
    std::fs::write(place.path().join("spy.json"), SPY).unwrap();
    let mut command = place.falconer();
    let arguments = [
        "run",
        "go",
        "--engine",
        "script",
        "--scenario",
        "../spy.json",
    ];
    command
        .args(arguments)
        .args(["--allow", "Bash", "--no-store", "--json"]);
    // The value says where it is; the name of a variable stays.
    command.env("ANTHROPIC_API_KEY", "SUPPLY-key-0123456789");
    let ran = run(&mut command, "");
    assert!(
        ran.stdout.contains(r"0\n0\nover"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

#[test]
fn the_state_directory_is_private_or_refused() {
    let place = Place::new();
    let state = place.path().join("home/.local/state/falconer");
    let script = place.path().join("spy.json");
    std::fs::write(&script, SPY).unwrap();
    let arguments = format!(
        "umask 000; exec \"$0\" run go --engine script --scenario {}",
        script.display()
    );
    let mut command = place.command("/bin/sh");
    command.args(["-c", &arguments, env!("CARGO_BIN_EXE_falconer")]);
    let ran = run(&mut command, "");
    let mode = std::fs::metadata(&state).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "{}", ran.stderr);
    std::fs::set_permissions(&state, PermissionsExt::from_mode(0o777)).unwrap();
    let ran = run(&mut command, "");
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("other users can write to it"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_key_of_the_shell_beats_one_of_the_settings_and_pays() {
    let scenario = r#"{"rules": [
        {"times": "always", "when": {"header": {"name": "x-api-key", "contains": "of-the-shell"}},
         "reply": {"text": "paid by the shell"}},
        {"times": "always", "reply": {"text": "paid by the settings"}}]}"#;
    for engine in ["native", "claude"] {
        let server = ApiServer::start(serde_json::from_str(scenario).unwrap()).unwrap();
        let place = Place::new();
        let home = place.path().join("home");
        std::fs::create_dir(home.join(".claude")).unwrap();
        let settings = json!({"env": {"ANTHROPIC_API_KEY": "sk-ant-of-the-settings-01"}});
        std::fs::write(home.join(".claude/settings.json"), settings.to_string()).unwrap();
        let run = |key: Option<&str>| {
            let mut command = place.falconer();
            command
                .envs(clean_env(&home, &server.url()))
                .env_remove("ANTHROPIC_API_KEY")
                .envs(key.map(|key| ("ANTHROPIC_API_KEY", key)))
                .env("FALCONER_CLAUDE_PATH", RealCli::find().unwrap().path())
                .args(["run", "hi", "--json", "--engine", engine]);
            run(&mut command, "")
        };
        let ran = run(Some("sk-ant-of-the-shell-0001"));
        assert!(
            ran.stdout.contains("paid by the shell"),
            "{engine}: {ran:?}"
        );
        let source = r#""auth":"variable ANTHROPIC_API_KEY""#;
        assert!(ran.stdout.contains(source), "{engine}: {ran:?}");
        let ran = run(None);
        assert!(
            ran.stdout.contains("paid by the settings"),
            "{engine}: {ran:?}"
        );
        assert!(!ran.stdout.contains(source), "{engine}: {ran:?}");
    }
}
