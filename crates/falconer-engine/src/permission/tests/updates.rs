//! Changes of permissions.

use falconer_protocol::permission::{PermissionMode, PermissionUpdate};
use serde_json::{Value, json};

use super::Outcome::Ask;
use super::{Project, outcome, question, shell};
use crate::permission::{Bypass, ModeRefused, Permissions, Start};

fn rules(kind: &str, destination: &str, behavior: &str, content: &str) -> Value {
    json!({"type": kind, "destination": destination, "behavior": behavior,
        "rules": [{"toolName": "Bash", "ruleContent": content}]})
}

#[test]
fn what_is_unknown_changes_nothing() {
    let project = Project::new();
    let (mut permissions, cwd) = (project.permissions(), project.cwd());
    for update in [
        json!({"type": "nonsense", "destination": "session"}),
        rules("addRules", "moon", "allow", "make *"),
        rules("addRules", "session", "perhaps", "make *"),
        json!({"type": "setMode", "mode": "godMode", "destination": "session"}),
    ] {
        let read: PermissionUpdate =
            falconer_protocol::from_value(update.clone()).expect("an update");
        assert!(permissions.apply(&read).is_err(), "{update}");
        let target = shell("make x");
        let verdict = permissions.judge(&question("Bash", &target, &cwd));
        assert_eq!(outcome(&verdict), Ask);
    }
}

#[test]
fn bypass_needs_a_second_switch() {
    let project = Project::new();
    let start = |mode, bypass| {
        Permissions::new(Start {
            rules: Vec::new(),
            mode,
            cwd: project.cwd(),
            home: None,
            path: None,
            additional_directories: Vec::new(),
            readable: Vec::new(),
            bypass,
            locks: super::Locks::Both,
        })
    };
    let refused = start(PermissionMode::BypassPermissions, Bypass::Locked).expect_err("locked");
    assert_eq!(refused, ModeRefused::BypassLocked);
    let mut locked = start(PermissionMode::Default, Bypass::Locked).expect("permissions");
    assert_eq!(*locked.mode(), PermissionMode::Default);
    assert_eq!(
        locked.set_mode(PermissionMode::BypassPermissions),
        Err(ModeRefused::BypassLocked)
    );
    for mode in [PermissionMode::Plan, PermissionMode::AcceptEdits] {
        assert_eq!(locked.set_mode(mode), Ok(()));
    }
    assert!(start(PermissionMode::BypassPermissions, Bypass::Unlocked).is_ok());
}

#[test]
fn an_explanation_names_what_decided() {
    let project = Project::new().allow("Bash(make *)").deny("Bash(rm *)");
    let (permissions, cwd) = (project.permissions(), project.cwd());
    let explain = |command: &str| {
        let input = serde_json::json!({ "command": command });
        let call = falconer_rule::Call::new("Bash", &input, &cwd);
        permissions.explain(&call).to_string()
    };
    assert_eq!(
        explain("make x"),
        "engine: allowed: every part may run: `make x` by the rule `Bash(make *)`"
    );
    assert_eq!(
        explain("rm x"),
        "engine: denied: the deny rule `Bash(rm *)` in the command line applies"
    );
    assert_eq!(explain("ls"), "engine: allowed: the command only reads");
    assert_eq!(explain("curl x"), "engine: asked: no rule allows `curl x`");
}
