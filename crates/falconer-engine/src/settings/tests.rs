//! Tests of settings.

use std::path::PathBuf;

use falconer_secret::Environment;
use serde_json::{Value, json};

use super::{Enabled, Folder, McpScope, Settings, Source, Sources, Trust, UserConfig};

struct Disk {
    root: tempfile::TempDir,
    sources: Sources,
}

impl Disk {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let path = root.path();
        let environment = Environment::new([("HOME".into(), path.join("home").into())]);
        let mut sources = Sources::new(&environment, path.join("project"));
        assert!(sources.managed.starts_with("/etc/claude-code"));
        sources.managed = path.join("etc/managed-settings.json");
        sources.trust = Trust::Host(Folder::Accepted);
        Self { root, sources }
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(&path, text).expect("a file");
        path
    }

    fn load(&self) -> Settings {
        Settings::load(&self.sources)
    }
}

#[test]
fn stronger_layers_win_and_lists_are_joined() {
    let mut disk = Disk::new();
    disk.put(
        "home/.claude/settings.json",
        r#"{"model":"user","a":1,"list":[1,2],"env":{"X":"u","Y":"u"}}"#,
    );
    disk.put(
        "project/.claude/settings.json",
        r#"{"model":"project","b":2,"list":[2,3],"env":{"X":"p"}}"#,
    );
    disk.put(
        "project/.claude/settings.local.json",
        r#"{"model":"local","list":[4]}"#,
    );
    disk.sources.flag = Some(json!({"model": "flag", "list": [1, 5]}));
    disk.put("etc/managed-settings.json", r#"{"list":[6]}"#);
    disk.put(
        "etc/managed-settings.d/20.json",
        r#"{"model":"managed 20"}"#,
    );
    disk.put(
        "etc/managed-settings.d/10.json",
        r#"{"model":"managed 10"}"#,
    );
    let settings = disk.load();
    let expected = json!({"model": "managed 20", "a": 1, "list": [1, 2, 3, 4, 5, 6],
        "env": {"X": "p", "Y": "u"}, "b": 2});
    assert_eq!(*settings.effective(), expected);
    assert_eq!(settings.warnings(), [""; 0]);
    assert_eq!(settings.layers().len(), 5);
    assert_eq!(
        settings.env(),
        [("X".into(), "p".into()), ("Y".into(), "u".into())]
    );
    disk.sources.enabled = Enabled {
        local: false,
        ..Enabled::ALL
    };
    assert_eq!(disk.load().effective()["list"], json!([1, 2, 3, 5, 6]));
    disk.sources.enabled = Enabled {
        user: false,
        project: false,
        local: false,
    };
    assert_eq!(disk.load().effective()["list"], json!([1, 5, 6]));
    let changed = settings.with_flag(json!({"b": 9, "list": [7]}));
    assert_eq!(changed.effective()["b"], 9);
    assert_eq!(changed.effective()["list"], json!([1, 2, 3, 4, 5, 7, 6]));
}

#[test]
fn bad_files_are_left_out_with_a_warning() {
    for text in ["{nope", "[]", "5", "\u{0}"] {
        let disk = Disk::new();
        disk.put("home/.claude/settings.json", text);
        disk.put("project/.claude/settings.json", r#"{"model":"m"}"#);
        let settings = disk.load();
        assert_eq!(settings.model(), Some("m"));
        assert_eq!(settings.warnings().len(), 1, "{text}");
        assert!(settings.warnings()[0].contains("home/.claude/settings.json"));
    }
    let disk = Disk::new();
    let huge = format!("{{\"a\":\"{}\"}}", "x".repeat(5 * 1024 * 1024));
    disk.put("home/.claude/settings.json", &huge);
    std::fs::create_dir_all(disk.root.path().join("project/.claude/settings.json"))
        .expect("a directory");
    assert_eq!(disk.load().warnings().len(), 2);
    let disk = Disk::new();
    disk.put("home/.claude/settings.json", "\u{feff} {\"model\":\"m\"}");
    disk.put("project/.claude/settings.json", "");
    assert_eq!(disk.load().model(), Some("m"));
    assert!(disk.load().warnings().is_empty());
}

#[test]
fn rules_of_a_strange_shape_are_not_lost() {
    let disk = Disk::new();
    let text = r#"{"permissions":{"deny":"Bash(rm *)","ask":[{"a":1},null,5],"allow":{"x":1}}}"#;
    disk.put("home/.claude/settings.json", text);
    let rules = disk.load().permission_rules();
    let texts: Vec<_> = rules.iter().map(|rule| rule.text.as_str()).collect();
    assert_eq!(texts, ["Bash(rm *)", "{\"a\":1}", "null", "5", "{\"x\":1}"]);
}

#[test]
fn managed_settings_can_forbid_the_rest() {
    let disk = Disk::new();
    disk.put("etc/managed-settings.json", r#"{"allowManagedPermissionRulesOnly":true,"allowManagedHooksOnly":true,
        "permissions":{"allow":["Read"],"disableBypassPermissionsMode":"disable"},"hooks":{"Stop":[{"hooks":[]}]}}"#);
    disk.put(
        "home/.claude/settings.json",
        r#"{"permissions":{"allow":["Bash"],"deny":["Edit"]},"hooks":{"Stop":[{"matcher":"x"}]}}"#,
    );
    let settings = disk.load();
    let texts: Vec<_> = settings
        .permission_rules()
        .into_iter()
        .map(|rule| rule.text)
        .collect();
    assert_eq!(texts, ["Read", "Edit"]);
    assert!(settings.bypass_is_disabled());
    let hooks = settings.hooks();
    assert_eq!(hooks.len(), 1);
    assert_eq!(
        (hooks[0].source, hooks[0].event.as_str()),
        (Source::Managed, "Stop")
    );
}

#[test]
fn a_sandbox_is_refused_not_ignored() {
    let check = |value: Value| {
        let mut disk = Disk::new();
        disk.sources.flag = Some(json!({"sandbox": value}));
        disk.load().check_sandbox()
    };
    assert!(check(json!({"enabled": true})).is_err());
    assert!(check(json!({"enabled": "yes"})).is_err());
    assert!(check(json!({"enabled": false})).is_ok());
    assert!(check(json!({"network": {}})).is_ok());
}

#[test]
fn servers_and_trust_come_from_the_users_file() {
    let disk = Disk::new();
    let project = disk.sources.project.clone();
    let config = json!({"mcpServers": {"a": {"command": "user"}, "b": {"command": "user"}},
        "projects": {project.to_str().expect("a path"): {"hasTrustDialogAccepted": true, "mcpServers": {"a": {"command": "local"}}}}});
    disk.put("home/.claude.json", &config.to_string());
    disk.put(
        "project/.mcp.json",
        r#"{"mcpServers":{"c":{"command":"project"},"b":{"command":"project"}}}"#,
    );
    let user = UserConfig::read(&disk.sources).expect("a file");
    assert_eq!(user.folder(&project), Folder::Accepted);
    assert_eq!(user.folder(&project.join("sub")), Folder::Accepted);
    assert_eq!(user.folder(disk.root.path()), Folder::Unknown);
    let settings = disk.load();
    let servers = user.mcp_servers(&disk.sources, settings.project_servers());
    let mut found: Vec<_> = servers
        .iter()
        .map(|it| (it.name.as_str(), it.scope))
        .collect();
    found.sort_by_key(|(name, _)| *name);
    let expected = [
        ("a", McpScope::Local),
        ("b", McpScope::Project),
        ("c", McpScope::Project),
    ];
    assert_eq!(
        (found.as_slice(), settings.warnings()),
        (&expected[..], &[][..])
    );
    disk.put("project/.mcp.json", "{nope");
    assert_eq!(disk.load().warnings().len(), 1);
    disk.put("home/.claude.json", "{nope");
    assert!(UserConfig::read(&disk.sources).is_err());
}

#[test]
fn the_configuration_directory_can_be_moved() {
    let environment = Environment::new([
        ("HOME".into(), "/home/x".into()),
        ("CLAUDE_CONFIG_DIR".into(), "/elsewhere".into()),
    ]);
    let sources = Sources::new(&environment, "/project".into());
    assert_eq!(
        sources.files().user(),
        Some("/elsewhere/settings.json".into())
    );
    assert_eq!(sources.user_config, Some("/elsewhere/.claude.json".into()));
}
