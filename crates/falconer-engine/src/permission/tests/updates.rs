//! Changes of permissions, in memory and on disk.

use falconer_protocol::permission::{PermissionMode, PermissionUpdate};
use serde_json::{Value, json};

use super::Outcome::{Allow, Ask, Deny};
use super::{Outcome, Project, outcome, question, shell};
use crate::permission::update::{Applied, UpdateError};
use crate::permission::{Bypass, ModeRefused, Permissions, Start};
use crate::settings::{Files, WriteError};

struct Bench {
    project: Project,
    permissions: Permissions,
    files: Files,
}

impl Bench {
    fn new() -> Self {
        let project = Project::new();
        Self {
            permissions: project.permissions(),
            files: Files {
                config_dir: Some(project.home().join(".claude")),
                project: project.cwd(),
                store: None,
            },
            project,
        }
    }

    fn apply(&mut self, update: Value) -> Result<Applied, UpdateError> {
        let update: PermissionUpdate = falconer_protocol::from_value(update).expect("an update");
        self.permissions.apply(&update, &self.files)
    }

    fn command(&self, command: &str) -> Outcome {
        let (target, cwd) = (shell(command), self.project.cwd());
        outcome(&self.permissions.judge(&question("Bash", &target, &cwd)))
    }

    fn file(&self, name: &str) -> Value {
        let path = self.project.home().join(name);
        let text = std::fs::read_to_string(path).expect("a file");
        serde_json::from_str(&text).expect("json")
    }
}

fn rules(kind: &str, destination: &str, behavior: &str, content: &str) -> Value {
    json!({"type": kind, "destination": destination, "behavior": behavior,
        "rules": [{"toolName": "Bash", "ruleContent": content}]})
}

#[test]
fn all_kinds_work_at_all_destinations() {
    let table = [
        ("session", None),
        ("cliArg", None),
        ("userSettings", Some(".claude/settings.json")),
        ("projectSettings", Some("project/.claude/settings.json")),
        ("localSettings", Some("project/.claude/settings.local.json")),
    ];
    for (destination, file) in table {
        let mut bench = Bench::new();
        assert_eq!(bench.command("make x"), Ask);
        let applied = bench
            .apply(rules("addRules", destination, "allow", "make *"))
            .expect("applied");
        assert_eq!(bench.command("make x"), Allow, "{destination}");
        assert_eq!(applied.written.is_some(), file.is_some(), "{destination}");
        bench
            .apply(rules("addRules", destination, "deny", "make y"))
            .expect("applied");
        assert_eq!(bench.command("make y"), Deny, "{destination}");
        bench
            .apply(rules("replaceRules", destination, "allow", "cargo *"))
            .expect("applied");
        assert_eq!(
            (bench.command("make x"), bench.command("cargo x")),
            (Ask, Allow)
        );
        bench
            .apply(rules("removeRules", destination, "deny", "make y"))
            .expect("applied");
        assert_eq!(bench.command("make y"), Ask, "{destination}");
        let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": destination});
        let applied = bench.apply(mode).expect("applied");
        assert_eq!(applied.mode, Some(PermissionMode::AcceptEdits));
        assert_eq!(bench.command("touch x"), Allow);
        let other = bench
            .project
            .home()
            .join("other")
            .to_string_lossy()
            .into_owned();
        let touch = format!("touch {other}/x");
        let add =
            json!({"type": "addDirectories", "directories": [other], "destination": destination});
        bench.apply(add).expect("applied");
        assert_eq!(bench.command(&touch), Allow, "{destination}");
        if let Some(file) = file {
            let expected = json!({"permissions": {"allow": ["Bash(cargo *)"], "deny": [],
                "defaultMode": "acceptEdits", "additionalDirectories": [other]}});
            assert_eq!(bench.file(file), expected, "{destination}");
        }
        let remove = json!({"type": "removeDirectories", "directories": [other], "destination": destination});
        bench.apply(remove).expect("applied");
        assert_eq!(bench.command(&touch), Ask, "{destination}");
    }
}

#[test]
fn files_keep_what_they_have() {
    let mut bench = Bench::new();
    let path = bench.files.local();
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    let text =
        "{\"zeta\":1,\"permissions\":{\"deny\":[\"Read(x)\"],\"other\":2},\"alpha\":{\"b\":[]}}";
    std::fs::write(&path, text).expect("a file");
    bench
        .apply(rules("addRules", "localSettings", "allow", "make *"))
        .expect("applied");
    bench
        .apply(rules("addRules", "localSettings", "allow", "make *"))
        .expect("applied");
    let written = std::fs::read_to_string(&path).expect("a file");
    let value: Value = serde_json::from_str(&written).expect("json");
    let keys: Vec<_> = value.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["zeta", "permissions", "alpha"]);
    let expected = json!({"deny": ["Read(x)"], "other": 2, "allow": ["Bash(make *)"]});
    assert_eq!(value["permissions"], expected);
    let directory = std::fs::read_dir(path.parent().expect("a parent")).expect("a directory");
    assert_eq!(directory.count(), 1, "no other file is left");
}

#[test]
fn a_broken_file_is_left_alone_and_the_change_holds_for_the_session() {
    let mut bench = Bench::new();
    let path = bench.files.local();
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    for text in [
        "{nope",
        "[]",
        "{\"permissions\": []}",
        "{\"permissions\": {\"allow\": 5}}",
    ] {
        std::fs::write(&path, text).expect("a file");
        let error = bench
            .apply(rules("addRules", "localSettings", "allow", "make *"))
            .expect_err("not written");
        assert!(error.to_string().contains("settings.local.json"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), text);
        assert_eq!(bench.command("make x"), Allow);
    }
}

#[test]
fn a_project_does_not_get_other_files_written() {
    let mut bench = Bench::new();
    let victim = bench.project.home().join("victim.json");
    std::fs::write(&victim, "{}").expect("a file");
    let path = bench.files.local();
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    std::os::unix::fs::symlink(&victim, &path).expect("a link");
    let error = bench
        .apply(rules("addRules", "localSettings", "allow", "make *"))
        .expect_err("not written");
    assert!(matches!(
        error,
        UpdateError::NotKept(WriteError::LeadsOut { .. })
    ));
    assert_eq!(std::fs::read_to_string(&victim).expect("a file"), "{}");
}

#[test]
fn what_is_unknown_changes_nothing() {
    let mut bench = Bench::new();
    for update in [
        json!({"type": "nonsense", "destination": "session"}),
        rules("addRules", "moon", "allow", "make *"),
        rules("addRules", "session", "perhaps", "make *"),
        json!({"type": "setMode", "mode": "godMode", "destination": "session"}),
    ] {
        assert!(bench.apply(update.clone()).is_err(), "{update}");
        assert_eq!(bench.command("make x"), Ask);
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
