//! The questions that the official CLI asked in recorded sessions, and ours.

use falconer_protocol::Object;
use falconer_protocol::permission::{DecisionReasonType, PermissionMode};
use serde_json::{Value, json};

use super::{Project, outcome, question, shell};
use crate::permission::Target;
use crate::permission::{Ask, Because, HookDecision, Verdict};
use falconer_protocol::hook::HookPermissionDecision;

fn asked(project: &Project, tool: &str, target: &Target) -> Ask {
    match project.judge(tool, target) {
        Verdict::Ask(ask) => *ask,
        other => panic!("not asked: {other:?}"),
    }
}

fn suggestions(ask: &Ask, project: &Project) -> Value {
    let text = serde_json::to_string(&ask.suggestions).expect("json");
    let home = project.home().to_string_lossy().into_owned();
    serde_json::from_str(&text.replace(&home, "/home/user")).expect("json")
}

fn rule(content: &str) -> Value {
    json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": content}],
        "behavior": "allow", "destination": "localSettings"})
}

fn directory(path: &str) -> Value {
    json!({"type": "addDirectories", "directories": [path], "destination": "session"})
}

fn accept_edits() -> Value {
    json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"})
}

#[test]
fn shell_commands_bring_the_same_suggestions() {
    let project = Project::new();
    let here = directory("/home/user/project");
    let table = [
        (
            "touch x",
            // The CLI offers `touch x *`; ours is what was seen.
            json!([rule("touch x"), here, accept_edits()]),
            Some("x"),
        ),
        (
            "touch never.txt",
            json!([rule("touch never.txt"), here, accept_edits()]),
            Some("never.txt"),
        ),
        (
            "touch made.txt && echo made",
            json!([rule("touch made.txt && echo made"), here, accept_edits()]),
            Some("made.txt"),
        ),
        ("exit 4", json!([rule("exit 4")]), None),
        (
            "curl http://127.0.0.1:1",
            json!([rule("curl http://127.0.0.1:1")]),
            None,
        ),
    ];
    for (command, expected, blocked) in table {
        let ask = asked(&project, "Bash", &shell(command));
        assert_eq!(suggestions(&ask, &project), expected, "{command}");
        let path = blocked.map(|name| project.cwd().join(name).to_string_lossy().into_owned());
        assert_eq!(ask.blocked_path, path, "{command}");
        let reason_type = blocked
            .is_none()
            .then_some(DecisionReasonType::Unclassified);
        assert_eq!(ask.reason_type, reason_type, "{command}");
    }
}

#[test]
fn a_command_that_writes_outside_suggests_that_directory() {
    let project = Project::new();
    let command = format!("echo hi; touch {}", project.home().join("out").display());
    let ask = asked(&project, "Bash", &shell(&command));
    let found = suggestions(&ask, &project);
    assert_eq!(found[1], directory("/home/user"));
    assert_eq!(found[2], accept_edits());
}

#[test]
fn file_tools_bring_the_same_suggestions() {
    let project = Project::new();
    let inside = Target::Write(project.cwd().join("w.txt"));
    let ask = asked(&project, "Write", &inside);
    assert_eq!(suggestions(&ask, &project), json!([accept_edits()]));
    assert_eq!((ask.reason_type, ask.reason), (None, None));

    let outside = Target::Read("/etc/hostname".into());
    let ask = asked(&project, "Read", &outside);
    let expected = json!([{"type": "addRules", "rules": [{"toolName": "Read", "ruleContent": "//etc/**"}],
        "behavior": "allow", "destination": "session"}]);
    assert_eq!(suggestions(&ask, &project), expected);
    assert_eq!(ask.reason_type, Some(DecisionReasonType::WorkingDir));

    let project = Project::new().mode(PermissionMode::AcceptEdits);
    let outside = Target::Write(project.home().join("outside.txt"));
    let ask = asked(&project, "Write", &outside);
    assert_eq!(
        suggestions(&ask, &project),
        json!([directory("/home/user")])
    );
    assert_eq!(ask.reason_type, Some(DecisionReasonType::WorkingDir));

    let project = Project::new().mode(PermissionMode::Plan);
    let inside = Target::Write(project.cwd().join("no.txt"));
    let ask = asked(&project, "Write", &inside);
    assert_eq!(suggestions(&ask, &project), json!([]));
    assert_eq!(ask.reason_type, Some(DecisionReasonType::Mode));
}

#[test]
fn web_and_servers_bring_the_same_suggestions() {
    let project = Project::new();
    let ask = asked(&project, "WebFetch", &Target::Domain("127.0.0.1".into()));
    let expected = json!([{"type": "addRules", "rules": [{"toolName": "WebFetch", "ruleContent": "domain:127.0.0.1"}],
        "behavior": "allow", "destination": "localSettings"}]);
    assert_eq!(suggestions(&ask, &project), expected);
    let server = Target::Mcp {
        server: "calc".into(),
    };
    let ask = asked(&project, "mcp__calc__add", &server);
    let expected = json!([{"type": "addRules", "rules": [{"toolName": "mcp__calc__add"}],
        "behavior": "allow", "destination": "localSettings"}]);
    assert_eq!(suggestions(&ask, &project), expected);
    let ask = asked(&project, "AskUserQuestion", &Target::User);
    assert!(ask.requires_user && ask.suggestions.is_empty());
}

#[test]
fn hooks_are_heard_after_rules_that_deny() {
    let project = Project::new().deny("Bash(touch *)");
    let permissions = project.permissions();
    let cwd = project.cwd();
    let input = Object::new();
    let judge = |command: &str, decision| {
        let target = shell(command);
        let mut asked = question("Bash", &target, &cwd);
        asked.input = &input;
        asked.hook = Some(HookDecision {
            decision,
            reason: Some("please check".into()),
        });
        permissions.judge(&asked)
    };
    use super::Outcome::{Allow, Deny};
    assert_eq!(
        outcome(&judge("touch x", HookPermissionDecision::Allow)),
        Deny
    );
    assert_eq!(
        outcome(&judge("make x", HookPermissionDecision::Allow)),
        Allow
    );
    assert_eq!(outcome(&judge("ls", HookPermissionDecision::Deny)), Deny);
    let Verdict::Ask(ask) = judge("ls", HookPermissionDecision::Ask) else {
        panic!("not asked");
    };
    assert_eq!(ask.reason.as_deref(), Some("please check"));
    assert_eq!(ask.reason_type, Some(DecisionReasonType::Hook));
    assert!(ask.suggestions.is_empty());
}

#[test]
fn without_anybody_to_ask_it_is_denied_and_says_so() {
    let project = Project::new();
    let (target, cwd) = (shell("touch y"), project.cwd());
    let mut asked = question("Bash", &target, &cwd);
    asked.host_can_ask = false;
    let Verdict::Deny {
        message, reason, ..
    } = project.permissions().judge(&asked)
    else {
        panic!("not denied");
    };
    assert!(message.contains("nobody can be asked") && message.contains("touch y"));
    assert_eq!(reason, Because::Writes(project.cwd().join("y")));
}
