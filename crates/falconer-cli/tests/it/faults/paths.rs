//! Ways out of the project: links, `..`, and commands within commands.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::run::{Scene, bash, call};

/// All of these are denied, since nobody can be asked.
#[track_caller]
fn all_denied(scene: &Scene, calls: &[Value]) {
    let told = scene.run(&mut scene.calls(calls));
    told.went_well();
    let answers = told.answers();
    assert_eq!(answers.len(), calls.len());
    for (made, (is_error, text)) in calls.iter().zip(&answers) {
        assert!(is_error, "{made} was not denied: {text}");
    }
    let denials = told.result()["permission_denials"].as_array().unwrap();
    assert!(!denials.is_empty());
}

fn write(path: impl AsRef<std::path::Path>) -> Value {
    call(
        "Write",
        json!({"file_path": path.as_ref(), "content": "pwned\n"}),
    )
}

#[test]
fn paths_with_dots_do_not_leave_the_project() {
    let scene = Scene::new().args(["--permission-mode=acceptEdits"]);
    let edit =
        json!({"file_path": "../outside/secret.txt", "old_string": "not", "new_string": "x"});
    let calls = [
        write("../outside/new.txt"),
        write("a/../../outside/new.txt"),
        write("./././../outside/secret.txt"),
        write(scene.outside("new.txt")),
        write("/etc/falconer-was-here"),
        write("~/was-here"),
        call("Edit", edit),
        call("Read", json!({"file_path": "../outside/secret.txt"})),
        call("Grep", json!({"pattern": "not", "path": "../outside"})),
    ];
    all_denied(&scene, &calls);
    assert!(!std::path::Path::new("/etc/falconer-was-here").exists());
}

#[test]
fn links_out_of_the_project_do_not_lead_out() {
    let scene = Scene::new().args(["--permission-mode=acceptEdits"]);
    symlink(scene.outside(""), scene.work("dir")).unwrap();
    symlink(scene.outside("secret.txt"), scene.work("file.txt")).unwrap();
    symlink(scene.outside("unborn.txt"), scene.work("dangling.txt")).unwrap();
    symlink("file.txt", scene.work("chain.txt")).unwrap();
    symlink("loop.txt", scene.work("loop.txt")).unwrap();
    let edit = |path: &str| {
        call(
            "Edit",
            json!({"file_path": path, "old_string": "not", "new_string": "x"}),
        )
    };
    let calls = [
        write("dir/new.txt"),
        write("dir/secret.txt"),
        write("file.txt"),
        write("dangling.txt"),
        write("chain.txt"),
        write("loop.txt"),
        edit("file.txt"),
        edit("chain.txt"),
        edit("dir/secret.txt"),
        call("Read", json!({"file_path": "chain.txt"})),
    ];
    all_denied(&scene, &calls);
}

#[test]
fn a_command_that_a_rule_allows_brings_no_other_one_along() {
    let scene = Scene::new().args(["--allowedTools=Bash(echo *)"]);
    let out = scene.outside("pwned");
    let out = out.display();
    let commands = [
        format!("echo $(touch {out})"),
        format!("echo `touch {out}`"),
        format!("echo \"$(touch {out})\""),
        format!("echo hi; touch {out}"),
        format!("echo hi && touch {out}"),
        format!("echo hi || touch {out}"),
        format!("echo hi & touch {out}"),
        format!("echo hi\ntouch {out}"),
        format!("echo hi | tee {out}"),
        format!("echo hi > {out}"),
        format!("echo hi >> {out}"),
        format!("echo hi &> {out}"),
        format!("echo <(touch {out})"),
        format!("echo hi > >(tee {out})"),
        format!("echo ${{x:=$(touch {out})}}"),
        format!("echo $((1 + $(touch {out}; echo 1)))"),
        format!("echo <<EOF\n$(touch {out})\nEOF"),
        format!("PATH=/tmp/evil echo hi; touch {out}"),
        format!("eval echo hi \\; touch {out}"),
        format!("bash -c 'touch {out}' echo"),
        format!("echo hi # \\\n; touch {out}"),
        format!("(echo hi; touch {out})"),
        format!("if echo hi; then touch {out}; fi"),
        format!("f() {{ touch {out}; }}; f; echo hi"),
    ];
    let calls: Vec<Value> = commands.iter().map(|command| bash(command)).collect();
    all_denied(&scene, &calls);
}
