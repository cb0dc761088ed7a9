//! Changes of permissions, in memory and on disk.

use std::path::PathBuf;

use falconer_protocol::Object;
use falconer_protocol::permission::{PermissionMode, PermissionUpdate};
use serde_json::{Value, json};

use super::{Kept, UpdateError};
use crate::permission::{Bypass, Locks, Permissions, Question, Start, Target, Verdict};
use crate::settings::{Files, WriteError};

struct Bench {
    root: tempfile::TempDir,
    permissions: Permissions,
    files: Files,
}

/// What becomes of a command.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Allow,
    Ask,
    Deny,
}
use Fate::{Allow, Ask, Deny};

impl Bench {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let home = root.path().join("home");
        let project = home.join("project");
        std::fs::create_dir_all(&project).expect("a directory");
        let permissions = Permissions::new(Start {
            rules: Vec::new(),
            mode: PermissionMode::Default,
            cwd: project.clone(),
            home: Some(home.clone()),
            path: None,
            additional_directories: Vec::new(),
            readable: Vec::new(),
            bypass: Bypass::Unlocked,
            locks: Locks::Both,
        });
        Self {
            permissions: permissions.expect("permissions"),
            files: Files {
                config_dir: Some(home.join(".claude")),
                project,
                store: None,
            },
            root,
        }
    }

    fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    fn apply(&mut self, update: Value) -> Result<Kept, UpdateError> {
        let update: PermissionUpdate = falconer_protocol::from_value(update).expect("an update");
        self.files.apply(&mut self.permissions, &update)
    }

    fn command(&self, command: &str) -> Fate {
        let target = Target::Command {
            command: command.to_owned(),
            unsandboxed: false,
        };
        let verdict = self.permissions.judge(&Question {
            tool: "Bash",
            target: &target,
            input: &Object::new(),
            read_only: false,
            hook: None,
            host_can_ask: true,
            cwd: &self.files.project,
        });
        match verdict {
            Verdict::Allow { .. } => Allow,
            Verdict::Ask(_) => Ask,
            Verdict::Deny { .. } => Deny,
        }
    }

    fn file(&self, name: &str) -> Value {
        let text = std::fs::read_to_string(self.home().join(name)).expect("a file");
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
        let other = bench.home().join("other").to_string_lossy().into_owned();
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
    let victim = bench.home().join("victim.json");
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
