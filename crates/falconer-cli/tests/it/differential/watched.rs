//! Hooks that hear of files and directories.

use falconer_testkit::scenario::{Scenario, text, tool_use};
use serde_json::{Value, json};

use super::Case;
use super::case::Answer;

const CALLBACK: &str = "control_request/hook_callback";

/// Hooks of a settings file, each of which runs one command.
fn settings(hooks: &[(&str, Option<&str>, String)]) -> String {
    let mut events = json!({});
    for (event, matcher, command) in hooks {
        let mut group = json!({"hooks": [{"type": "command", "command": command}]});
        if let Some(matcher) = matcher {
            group["matcher"] = json!(matcher);
        }
        events[*event] = json!([group]);
    }
    format!("--settings={}", json!({"hooks": events}))
}

/// A command that names paths to watch.
fn watch(event: &str, paths: &[&str]) -> String {
    let output = json!({"hookSpecificOutput": {"hookEventName": event, "watchPaths": paths}});
    format!("echo '{output}'")
}

fn files(case: Case) -> Case {
    case.file("a.txt", "first")
        .file("b.txt", "first")
        .file("sub/a.txt", "first")
        .hook(json!({}))
}

fn listening(matchers: &Value) -> Value {
    json!({"hooks": {"FileChanged": matchers, "CwdChanged": [{"hookCallbackIds": ["moved"]}]}})
}

fn to_all() -> Value {
    listening(&json!([{"hookCallbackIds": ["all"]}]))
}

#[test]
fn files_that_matchers_name_are_watched() {
    let settings = settings(&[(
        "FileChanged",
        Some("a.txt|new.txt"),
        "touch told".to_owned(),
    )]);
    let callbacks = listening(&json!([
        {"hookCallbackIds": ["all"]},
        {"matcher": "b.txt", "hookCallbackIds": ["never"]},
    ]));
    files(Case::bidi(|_| Scenario::new().turn(text("done"))))
        .args([settings.as_str(), "--include-hook-events"])
        .hello(callbacks)
        .say("go")
        .until("result")
        .touch("b.txt")
        .touch("sub/a.txt")
        .touch_until("a.txt", CALLBACK)
        .touch("new.txt")
        .until(CALLBACK)
        .remove("new.txt")
        .until(CALLBACK)
        .until_file("told")
        .eof()
        .leaves("told")
        .same();
}

/// The path is that of a directory: all files below it.
#[test]
fn hooks_on_the_start_name_paths() {
    let settings = settings(&[(
        "SessionStart",
        None,
        watch("SessionStart", &["<project>/sub"]),
    )]);
    files(Case::bidi(|_| Scenario::new().turn(text("done"))))
        .args([settings.as_str()])
        .hello(to_all())
        .say("go")
        .until("result")
        .touch("a.txt")
        .touch_until("sub/a.txt", CALLBACK)
        .touch("sub/new.txt")
        .until(CALLBACK)
        .eof()
        .same();
}

#[test]
fn names_mean_files_of_the_directory_at_work() {
    let settings = settings(&[
        ("FileChanged", Some("a.txt"), "true".to_owned()),
        (
            "SessionStart",
            None,
            watch("SessionStart", &["<project>/c.txt"]),
        ),
        (
            "CwdChanged",
            None,
            watch("CwdChanged", &["<project>/b.txt"]),
        ),
    ]);
    files(Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use(
                "Bash",
                json!({"command": "cd sub", "description": "go"}),
            ))
            .turn(text("done"))
    }))
    .args([settings.as_str(), "--allowedTools=Bash"])
    .hello(to_all())
    .say("go")
    .until("result")
    .until(CALLBACK)
    .touch("a.txt")
    .touch("c.txt")
    .touch_until("sub/a.txt", CALLBACK)
    .touch_until("b.txt", CALLBACK)
    .eof()
    .any_time("moved")
    .same();
}

/// An answer replaces the paths of before; what the host answers names none.
#[test]
fn hooks_on_changes_name_other_paths() {
    let settings = settings(&[
        (
            "FileChanged",
            Some("a.txt"),
            watch("FileChanged", &["<project>/b.txt"]),
        ),
        (
            "SessionStart",
            None,
            watch("SessionStart", &["<project>/c.txt"]),
        ),
    ]);
    let answer = json!({"hookSpecificOutput": {
        "hookEventName": "FileChanged", "watchPaths": ["sub/a.txt"]}});
    files(Case::bidi(|_| Scenario::new().turn(text("done"))))
        .args([settings.as_str()])
        .hello(to_all())
        .say("go")
        .until("result")
        .touch_until("c.txt", CALLBACK)
        .touch_until("a.txt", CALLBACK)
        .touch_until("b.txt", CALLBACK)
        .touch("c.txt")
        .touch("sub/a.txt")
        .touch_until("b.txt", CALLBACK)
        .eof()
        .without_answers("hook_callback")
        .answer("hook_callback", Answer::Success(answer))
        .same();
}

/// Neither the file nor the directory is told of: no settings file asks for it.
#[test]
fn the_host_alone_watches_nothing() {
    let waits = "echo more > a.txt; cd sub; sleep 1.5";
    files(Case::bidi(move |_| {
        Scenario::new()
            .turn(tool_use(
                "Bash",
                json!({"command": waits, "description": "wait"}),
            ))
            .turn(text("done"))
    }))
    .args(["--allowedTools=Bash"])
    .hello(listening(
        &json!([{"matcher": "a.txt", "hookCallbackIds": ["all"]}]),
    ))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn hooks_hear_of_directories_the_host_adds() {
    let settings = settings(&[(
        "DirectoryAdded",
        Some("register_repo_root"),
        "touch told".to_owned(),
    )]);
    let add = || json!({"subtype": "register_repo_root", "directory": "<project>/sub"});
    let allowed = json!({"behavior": "allow", "updatedPermissions": [
        {"type": "addDirectories", "directories": ["/opt"], "destination": "session"}]});
    files(Case::bidi(|_| {
        Scenario::new()
            .turn(tool_use(
                "Bash",
                json!({"command": "touch made.txt", "description": "make"}),
            ))
            .turn(text("done"))
    }))
    .args([
        settings.as_str(),
        "--include-hook-events",
        "--permission-prompt-tool=stdio",
    ])
    .hello(json!({"hooks": {"DirectoryAdded": [
        {"hookCallbackIds": ["all"]},
        {"matcher": "register_repo_root", "hookCallbackIds": ["by host"]},
        {"matcher": "slash_command", "hookCallbackIds": ["by person"]},
        {"matcher": "sub", "hookCallbackIds": ["by name"]},
    ]}}))
    .control("first", add())
    .until(CALLBACK)
    .until(CALLBACK)
    .until_file("told")
    .control("again", add())
    .say("go")
    .until("result")
    .eof()
    .answer("can_use_tool", Answer::Success(allowed))
    .leaves("told")
    .same();
}

/// The conversation is cleared: the hook on the new start names another file, and only that one.
#[test]
fn hooks_on_a_new_start_name_other_paths() {
    let named = |file: &str| watch("SessionStart", &[file]);
    let command = format!(
        "if grep -q '\"source\":\"clear\"'; then {}; else {}; fi",
        named("<project>/b.txt"),
        named("<project>/a.txt")
    );
    files(Case::bidi(|_| Scenario::new().turn(text("done"))))
        .args([settings(&[("SessionStart", None, command)]).as_str()])
        .hello(to_all())
        .say("go")
        .until("result")
        .touch_until("a.txt", CALLBACK)
        .say("/clear")
        .until("result")
        .touch("a.txt")
        .touch_until("b.txt", CALLBACK)
        .eof()
        .same();
}
