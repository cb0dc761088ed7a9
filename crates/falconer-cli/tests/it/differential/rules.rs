//! Rules and modes: which one wins, where they are kept, what they cover.

use std::path::Path;

use falconer_testkit::scenario::{MessageReply, Scenario, text, tool_use};
use serde_json::{Value, json};

use super::Case;
use super::case::Answer;

fn bash(command: &str) -> MessageReply {
    tool_use("Bash", json!({"command": command, "description": "make"}))
}

fn write(file: &Path) -> MessageReply {
    tool_use("Write", json!({"file_path": file, "content": "text\n"}))
}

/// A host that can be asked, and one prompt.
fn asked(turns: impl Fn(&Path) -> Vec<MessageReply> + Send + Sync + 'static) -> Case {
    Case::bidi(move |project| {
        let turns = turns(project).into_iter();
        turns
            .fold(Scenario::new(), Scenario::turn)
            .turn(text("done"))
    })
    .args(["--permission-prompt-tool=stdio"])
    .hello(json!({}))
    .say("go")
    .until("result")
    .eof()
}

fn settings(permissions: &Value) -> String {
    format!("--settings={}", json!({"permissions": permissions}))
}

fn allowed_with(updates: Value) -> Answer {
    let mut answer = json!({"behavior": "allow"});
    answer["updatedPermissions"] = updates;
    Answer::Success(answer)
}

/// A rule is added for each kind of settings, and the next call of its kind is not asked about.
#[test]
fn rules_are_kept_where_the_host_says() {
    let rule = |behavior: &str, destination: &str, content: &str| {
        json!({"type": "addRules", "behavior": behavior, "destination": destination,
            "rules": [{"toolName": "Bash", "ruleContent": content}]})
    };
    asked(|_| {
        vec![
            bash("touch user"),
            bash("touch user"),
            bash("touch local"),
            bash("touch local"),
            bash("touch flag"),
            bash("touch flag"),
        ]
    })
    .answer(
        "can_use_tool",
        allowed_with(json!([
            rule("allow", "userSettings", "touch user"),
            rule("deny", "userSettings", "rm:*"),
        ])),
    )
    .answer(
        "can_use_tool",
        allowed_with(json!([rule("allow", "localSettings", "touch local")])),
    )
    .answer(
        "can_use_tool",
        allowed_with(json!([rule("allow", "cliArg", "touch flag")])),
    )
    .leaves("~/.claude/settings.json")
    .leaves(".claude/settings.json")
    .leaves(".claude/settings.local.json")
    .same();
}

#[test]
fn a_rule_for_the_project_is_in_force_in_this_session() {
    let rule = json!({"type": "addRules", "behavior": "allow", "destination": "projectSettings",
        "rules": [{"toolName": "Bash", "ruleContent": "touch a"}]});
    let trace = asked(|_| vec![bash("touch a"), bash("touch a")])
        .answer("can_use_tool", allowed_with(json!([rule])))
        .leaves(".claude/settings.json")
        .only_ours();
    let asked = |it: &&Value| it["request"]["subtype"] == "can_use_tool";
    assert_eq!(trace.frames.iter().filter(asked).count(), 1);
    let left = trace.left[0].1.as_deref().unwrap_or_default();
    assert!(left.contains("Bash(touch a)"), "{left}");
}

#[test]
fn deleting_is_asked_about_when_edits_are_accepted() {
    let trace = asked(|_| vec![bash("rm a.txt"), bash("sed -i s/a/b/ a.txt")])
        .args(["--permission-mode=acceptEdits"])
        .file("a.txt", "a\n")
        .deny("no")
        .leaves("a.txt")
        .only_ours();
    let asked = |it: &&Value| it["request"]["subtype"] == "can_use_tool";
    assert_eq!(trace.frames.iter().filter(asked).count(), 2);
    assert_eq!(trace.left[0].1.as_deref(), Some("a\n"));
}

#[test]
fn paths_are_told_in_full() {
    asked(|project| {
        let input = |file: &str| json!({"file_path": file, "content": "text\n"});
        vec![
            tool_use("Write", input("relative.txt")),
            tool_use("Write", input("sub/../up.txt")),
            tool_use(
                "Write",
                input(&format!("{}/./sub/a.txt", project.display())),
            ),
            tool_use("Read", json!({"file_path": "~/a.txt"})),
        ]
    })
    .deny("no")
    .same();
}

#[test]
fn hooks_see_whole_paths() {
    let matcher = json!([{"hookCallbackIds": ["hook_0"]}]);
    Case::bidi(|_| {
        let input = json!({"file_path": "sub/../relative.txt", "content": "text\n"});
        Scenario::new()
            .turn(tool_use("Write", input))
            .turn(tool_use("Read", json!({"file_path": "relative.txt"})))
            .turn(tool_use("Read", json!({"file_path": "~/missing.txt"})))
            .turn(text("done"))
    })
    .args(["--permission-mode=acceptEdits", "--allowedTools=Read"])
    .hello(
        json!({"hooks": {"PreToolUse": matcher, "PostToolUse": matcher,
        "PostToolUseFailure": matcher}}),
    )
    .hook(json!({}))
    .say("go")
    .until("result")
    .eof()
    .same();
}

#[test]
fn directories_and_rules_are_changed_by_the_host() {
    let to = "localSettings";
    let rule = |tool: &str, content: &str| json!({"toolName": tool, "ruleContent": content});
    asked(|_| {
        vec![
            bash("touch a"),
            bash("touch b"),
            bash("touch c"),
            bash("touch d"),
        ]
    })
    .answer(
        "can_use_tool",
        allowed_with(json!([
            {"type": "addDirectories", "directories": ["/opt/one", "/opt/two"], "destination": to},
            {"type": "addRules", "behavior": "allow", "destination": to,
                "rules": [rule("Bash", "ls:*"), rule("Read", "//opt/**")]},
        ])),
    )
    .answer(
        "can_use_tool",
        allowed_with(json!([
            {"type": "removeDirectories", "directories": ["/opt/one"], "destination": to},
            {"type": "removeRules", "behavior": "allow", "destination": to,
                "rules": [rule("Bash", "ls:*")]},
        ])),
    )
    .answer(
        "can_use_tool",
        allowed_with(json!([
            {"type": "replaceRules", "behavior": "ask", "destination": to,
                "rules": [{"toolName": "WebFetch"}]},
            {"type": "setMode", "mode": "acceptEdits", "destination": to},
            {"type": "makeCoffee", "destination": to},
        ])),
    )
    .leaves(".claude/settings.local.json")
    .same();
}

/// One that nobody knows spoils the rest.
#[test]
fn a_change_of_an_unknown_kind() {
    asked(|_| vec![bash("touch a"), bash("touch a")])
        .answer(
            "can_use_tool",
            allowed_with(json!([
                {"type": "addRules", "behavior": "allow", "destination": "session",
                    "rules": [{"toolName": "Bash", "ruleContent": "touch a"}]},
                {"type": "makeCoffee", "destination": "session"},
            ])),
        )
        .same();
}

/// An existing file keeps what is in it.
#[test]
fn a_settings_file_keeps_the_rest() {
    let rule = json!({"type": "addRules", "behavior": "allow", "destination": "localSettings",
        "rules": [{"toolName": "Bash", "ruleContent": "touch a"}]});
    asked(|_| vec![bash("touch a")])
        .file(
            ".claude/settings.local.json",
            "{\n  \"env\": {\"A\": \"1\"},\n  \"permissions\": {\"deny\": [\"Read(x)\"]}\n}\n",
        )
        .answer("can_use_tool", allowed_with(json!([rule.clone(), rule])))
        .leaves(".claude/settings.local.json")
        .same();
}

fn hooked(permissions: &Value, output: &str) -> Case {
    let specific = json!({"hookEventName": "PreToolUse", "permissionDecision": output,
        "permissionDecisionReason": "says the hook"});
    Case::bidi(|_| {
        Scenario::new()
            .turn(bash("touch made.txt"))
            .turn(text("done"))
    })
    .args(["--permission-prompt-tool=stdio", &settings(permissions)])
    .hello(json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook_0"]}]}}))
    .hook(json!({"hookSpecificOutput": specific}))
    .deny("the host says no")
    .say("go")
    .until("result")
    .eof()
    .leaves("made.txt")
}

#[test]
fn a_deny_rule_beats_a_hook_that_allows() {
    hooked(&json!({"deny": ["Bash(touch:*)"]}), "allow").same();
}

#[test]
fn an_ask_rule_beats_a_hook_that_allows() {
    hooked(&json!({"ask": ["Bash(touch:*)"]}), "allow").same();
}

#[test]
fn a_hook_that_asks_beats_an_allow_rule() {
    hooked(&json!({"allow": ["Bash(touch:*)"]}), "ask").same();
}

#[test]
fn a_hook_that_denies_beats_an_allow_rule() {
    hooked(&json!({"allow": ["Bash(touch:*)"]}), "deny").same();
}

#[test]
fn a_hook_that_asks_does_not_beat_a_deny_rule() {
    hooked(&json!({"deny": ["Bash(touch:*)"]}), "ask").same();
}

#[test]
fn an_ask_rule_beats_an_allow_rule_and_modes() {
    let rules = json!({"ask": ["Bash(touch:*)", "Edit(ask/**)"], "allow": ["Bash", "Edit"]});
    asked(|project| {
        vec![
            bash("touch a"),
            bash("echo b && touch b"),
            write(&project.join("ask/a.txt")),
            write(&project.join("b.txt")),
        ]
    })
    .args(["--permission-mode=acceptEdits", &settings(&rules)])
    .deny("no")
    .same();
}

#[test]
fn an_ask_rule_is_asked_about_when_all_is_bypassed() {
    asked(|_| vec![bash("touch a"), bash("echo b > b")])
        .args(["--permission-mode=bypassPermissions"])
        .args([settings(&json!({"ask": ["Bash(touch:*)"]})).as_str()])
        .env("IS_SANDBOX", "1")
        .deny("no")
        .same();
}

#[test]
fn a_deny_rule_holds_when_all_is_bypassed() {
    asked(|project| vec![bash("touch a"), write(&project.join("secret/a.txt"))])
        .args(["--permission-mode=bypassPermissions"])
        .args([settings(&json!({"deny": ["Bash(touch:*)", "Edit(secret/**)"]})).as_str()])
        .env("IS_SANDBOX", "1")
        .same();
}

#[test]
fn nothing_is_asked_in_the_mode_that_never_asks() {
    let rules = json!({"allow": ["Bash(touch allowed)"], "ask": ["Bash(touch asked)"]});
    asked(|project| {
        vec![
            bash("touch allowed"),
            bash("touch asked"),
            bash("ls"),
            tool_use("Read", json!({"file_path": project.join("a.txt")})),
            tool_use("Read", json!({"file_path": "/etc/hostname"})),
            write(&project.join("b.txt")),
        ]
    })
    .args(["--permission-mode=dontAsk", &settings(&rules)])
    .file("a.txt", "one\n")
    .same();
}

#[test]
fn protected_files_are_asked_about_in_every_mode() {
    asked(|project| {
        vec![
            write(&project.join(".git/config")),
            write(&project.join(".claude/settings.json")),
            write(&project.join(".bashrc")),
            write(&project.join(".vscode/settings.json")),
            write(&project.join(".mcp.json")),
        ]
    })
    .args(["--permission-mode=acceptEdits"])
    .deny("no")
    .same();
}

#[test]
fn more_directories() {
    asked(|project| {
        let more = project.parent().unwrap().join("home/more");
        vec![
            tool_use("Read", json!({"file_path": more.join("a.txt")})),
            write(&more.join("b.txt")),
            write(&more.join("../c.txt")),
        ]
    })
    .args(["--permission-mode=acceptEdits", "--add-dir=<home>/more"])
    .file("~/more/a.txt", "one\n")
    .deny("no")
    .leaves("~/more/b.txt")
    .leaves("~/c.txt")
    .same();
}

#[test]
fn accepted_edits_are_commands_too_but_only_here() {
    asked(|_| {
        vec![
            bash("mkdir -p a/b"),
            bash("touch a/b/c"),
            bash("mv a/b/c a/c"),
            bash("cp a/c a/d"),
            bash("touch /opt/outside.txt"),
        ]
    })
    .args(["--permission-mode=acceptEdits"])
    .deny("no")
    .same();
}

#[test]
fn a_command_that_writes_is_asked_about_when_planning() {
    let trace = asked(|_| vec![bash("touch a")])
        .args(["--permission-mode=plan"])
        .deny("planning")
        .leaves("a")
        .only_ours();
    let asked = |it: &&Value| it["request"]["subtype"] == "can_use_tool";
    assert_eq!(trace.frames.iter().filter(asked).count(), 1);
    assert_eq!(trace.left[0].1, None);
}

#[test]
fn planning_is_reading() {
    asked(|project| {
        let file = project.join("a.txt");
        vec![
            tool_use("Read", json!({"file_path": file})),
            tool_use(
                "Edit",
                json!({"file_path": file, "old_string": "one", "new_string": "1"}),
            ),
        ]
    })
    .args(["--permission-mode=plan", "--allowedTools=Edit"])
    .file("a.txt", "one\n")
    .deny("planning")
    .same();
}

#[test]
fn the_project_may_not_allow_itself_everything() {
    Case::one_shot("go", &[], |_| {
        Scenario::new()
            .turn(bash("touch a"))
            .turn(bash("touch b"))
            .turn(text("done"))
    })
    .file(
        ".claude/settings.json",
        json!({"permissions": {"allow": ["Bash(touch a)"], "deny": ["Bash(touch b)"]}}).to_string(),
    )
    .leaves("a")
    .leaves("b")
    .same();
}

#[test]
fn the_user_may_allow() {
    Case::one_shot("go", &[], |_| {
        Scenario::new()
            .turn(bash("touch a"))
            .turn(bash("touch b"))
            .turn(text("done"))
    })
    .file(
        "~/.claude/settings.json",
        json!({"permissions": {"allow": ["Bash(touch a)"], "deny": ["Bash(touch b)"]}}).to_string(),
    )
    .leaves("a")
    .leaves("b")
    .same();
}

#[test]
fn the_default_mode_of_settings() {
    asked(|project| vec![write(&project.join("a.txt"))])
        .args([settings(&json!({"defaultMode": "acceptEdits"})).as_str()])
        .same();
}

/// The official CLI lets a command through that names the file by a variable.
#[test]
fn a_file_that_only_the_shell_knows_is_asked_about_if_rules_forbid_some() {
    let permissions = json!({"allow": ["Bash"], "deny": ["Read(./.env)"]});
    let trace = asked(|_| {
        vec![
            bash("X=.env; cat $X"),
            bash("cat [.]env"),
            bash("cat a.txt"),
        ]
    })
    .args([settings(&permissions).as_str()])
    .file(".env", "SECRET=1\n")
    .file("a.txt", "a\n")
    .deny("no")
    .only_ours();
    let asked = |it: &&Value| it["request"]["subtype"] == "can_use_tool";
    assert_eq!(trace.frames.iter().filter(asked).count(), 2);
    let frames = serde_json::to_string(&trace.frames).unwrap();
    assert!(!frames.contains("SECRET=1"), "{frames}");
}

#[test]
fn a_file_that_a_rule_denies_is_denied_to_commands() {
    let permissions = json!({"allow": ["Bash"], "deny": ["Read(./.env)"]});
    asked(|_| {
        vec![
            bash("cat .env"),
            bash("cat ./sub/../.env"),
            bash("cat a.txt"),
        ]
    })
    .args([settings(&permissions).as_str()])
    .file(".env", "SECRET=1\n")
    .file("a.txt", "a\n")
    .file("sub/b.txt", "b\n")
    .deny("no")
    .same();
}

/// Settings come from another directory than the one at work.
#[test]
fn rules_of_the_project_come_from_where_its_settings_are() {
    let deny = |command: &str| json!({"permissions": {"deny": [format!("Bash({command})")]}});
    asked(|_| vec![bash("touch a"), bash("touch b")])
        .args(["--project-config-root=<project>/conf"])
        .file("conf/.claude/settings.json", deny("touch a").to_string())
        .file(".claude/settings.json", deny("touch b").to_string())
        .allow()
        .leaves("a")
        .leaves("b")
        .same();
}

#[test]
fn a_place_for_settings_that_is_none() {
    for root in ["relative", "<project>/missing", "<project>/file"] {
        Case::one_shot(
            "go",
            &[format!("--project-config-root={root}").as_str()],
            |_| Scenario::new().turn(text("done")),
        )
        .file("file", "")
        .same();
    }
}

/// What it permits is for the next session: the file may have been changed by the model.
#[test]
fn what_a_settings_file_forbids_on_the_way_is_in_force() {
    let change = json!({"permissions": {"deny": ["Bash(touch b)"], "allow": ["Bash(touch c)"]}});
    let command = format!("echo '{change}' > .claude/settings.json");
    let trace = Case::bidi(move |_| {
        let turns = [
            bash(&command),
            text("done"),
            bash("touch b"),
            bash("touch c"),
        ];
        turns
            .into_iter()
            .fold(Scenario::new(), Scenario::turn)
            .turn(text("done"))
    })
    .args(["--permission-prompt-tool=stdio"])
    .file(".claude/settings.json", "{}")
    .hello(json!({}))
    .say("one")
    .until("result")
    .say("two")
    .until("result")
    .eof()
    .allow()
    .leaves("b")
    .leaves("c")
    .only_ours();
    let asked = |it: &&Value| it["request"]["subtype"] == "can_use_tool";
    assert_eq!(trace.frames.iter().filter(asked).count(), 2);
    let left: Vec<bool> = trace.left.iter().map(|(_, text)| text.is_some()).collect();
    assert_eq!(left, [false, true], "only the second file is there");
}
