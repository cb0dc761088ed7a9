//! Tests of trust on files of a project.

use std::path::{Path, PathBuf};

use falconer_secret::Environment;
use serde_json::{Value, json};

use super::class::{Class, KEYS, Keys};
use super::{Standing, TrustError, TrustStore, inspect};
use crate::permission;
use crate::settings::{Change, Enabled, Folder, Scope, Settings, Sources, Trust};

struct Disk {
    root: tempfile::TempDir,
    sources: Sources,
}

impl Disk {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let project = root.path().join("project");
        std::fs::create_dir_all(&project).unwrap();
        let environment = Environment::new([("HOME".into(), root.path().join("home").into())]);
        let mut sources = Sources::new(&environment, project);
        sources.managed = root.path().join("etc/managed-settings.json");
        Self { root, sources }
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "texts and values are written alike"
    )]
    fn put(&self, name: &str, content: impl ToString) -> PathBuf {
        let path = self.root.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content.to_string()).unwrap();
        path
    }

    fn project(&self, value: &Value) {
        self.put("project/.claude/settings.json", value);
    }

    fn load(&self) -> Settings {
        Settings::load(&self.sources)
    }

    fn store(&self) -> &TrustStore {
        self.sources.store.as_ref().unwrap()
    }

    fn inspect(&self) -> super::Inspection {
        inspect(
            &self.sources.project,
            self.store(),
            self.sources.config_dir.as_deref(),
        )
        .unwrap()
    }

    fn grant(&self) {
        let inspection = self.inspect();
        let digest = inspection.digest.clone().unwrap();
        self.store().grant(&inspection, &digest).unwrap();
    }
}

/// A value that would have an effect.
fn telling(key: &str, class: Class) -> Value {
    match class {
        Class::Hooks => json!({"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}),
        Class::Variables => json!({"A_VARIABLE": "x"}),
        Class::EachNeedsTrust(_) => json!(["x"]),
        Class::EntriesNeedTrust(_) => json!({"x": {"command": "x"}}),
        _ if key.starts_with("enable") || key.starts_with("disable") => json!(true),
        _ => json!("x"),
    }
}

fn is_taken(settings: &Settings, path: &[&str]) -> bool {
    let found = path
        .iter()
        .try_fold(settings.effective(), |it, key| it.get(*key));
    found.is_some_and(|it| match it {
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => object.values().any(|it| it != &json!([])),
        _ => true,
    })
}

#[test]
fn no_key_of_an_untrusted_project_has_an_effect_unless_it_narrows() {
    let unknown = (
        "aKeyOfTheNextVersion",
        Keys::ALL.class("aKeyOfTheNextVersion"),
    );
    for (key, class) in KEYS.iter().copied().chain([unknown]) {
        if matches!(
            class,
            Class::Narrowing | Class::Relative(_) | Class::Section(_)
        ) {
            continue;
        }
        for file in ["settings.json", "settings.local.json"] {
            for value in [
                telling(key, class),
                json!({"x": "y"}),
                json!(["x"]),
                json!(1),
            ] {
                let disk = Disk::new();
                disk.put(
                    &format!("project/.claude/{file}"),
                    json!({ key: value.clone() }),
                );
                let settings = disk.load();
                assert!(!is_taken(&settings, &[key]), "{file} {key} {value}");
                assert_eq!(settings.warnings().len(), 1, "{file} {key} {value}");
            }
        }
    }
}

#[test]
fn nested_keys_of_an_untrusted_project_have_no_effect() {
    let table = [
        ("permissions", "allow", json!(["Bash"])),
        ("permissions", "allow", json!("Bash")),
        ("permissions", "additionalDirectories", json!(["/"])),
        ("permissions", "defaultMode", json!("acceptEdits")),
        ("permissions", "defaultMode", json!("bypassPermissions")),
        ("permissions", "defaultMode", json!("auto")),
        ("permissions", "defaultMode", json!("modeOfTheNextVersion")),
        ("permissions", "defaultMode", json!(["plan"])),
        ("permissions", "disableBypassPermissionsMode", json!("no")),
        ("permissions", "keyOfTheNextVersion", json!(true)),
        ("sandbox", "enabled", json!(false)),
        ("sandbox", "excludedCommands", json!(["rm"])),
        ("sandbox", "network", json!({"allowedDomains": ["*"]})),
    ];
    for (section, key, value) in table {
        let disk = Disk::new();
        disk.project(&json!({section: {key: value.clone()}}));
        let settings = disk.load();
        assert!(!is_taken(&settings, &[section, key]), "{key} {value}");
        assert_eq!(settings.warnings().len(), 1, "{key} {value}");
    }
}

#[test]
fn what_narrows_is_taken_without_trust() {
    let disk = Disk::new();
    let narrow = json!({
        "model": "haiku", "bashOutputMaxChars": 100, "disabledMcpjsonServers": ["s"],
        "permissions": {"deny": ["Bash(rm *)"], "ask": ["Edit"], "defaultMode": "plan",
            "disableBypassPermissionsMode": "disable"},
        "sandbox": {"enabled": true},
    });
    disk.project(&narrow);
    let settings = disk.load();
    assert_eq!(*settings.effective(), narrow);
    assert_eq!(settings.warnings(), [""; 0]);
    assert_eq!(disk.inspect().standing, Standing::NotNeeded);
}

#[test]
fn a_project_cannot_widen_what_the_user_has_set() {
    let table = [
        (
            json!({"permissions": {"defaultMode": "plan"}}),
            json!({"permissions": {"defaultMode": "default"}}),
        ),
        (
            json!({"permissions": {"defaultMode": "dontAsk"}}),
            json!({"permissions": {"defaultMode": "default"}}),
        ),
        (
            json!({"bashOutputMaxChars": 100}),
            json!({"bashOutputMaxChars": 200}),
        ),
        (
            json!({"disabledMcpjsonServers": ["s"]}),
            json!({"disabledMcpjsonServers": "t"}),
        ),
        (
            json!({"permissions": {"disableBypassPermissionsMode": "disable"}}),
            json!({"permissions": 5}),
        ),
        (json!({"env": {"A": "1"}}), json!({"env": "x"})),
        (json!({"hooks": {"Stop": []}}), json!({"hooks": null})),
        (
            json!({"sandbox": {"enabled": true}}),
            json!({"sandbox": []}),
        ),
    ];
    for (user, project) in table {
        let disk = Disk::new();
        disk.put("home/.claude/settings.json", &user);
        disk.project(&project);
        assert_eq!(*disk.load().effective(), user, "{project}");
    }
    let disk = Disk::new();
    disk.put(
        "home/.claude/settings.json",
        r#"{"permissions": {"defaultMode": "acceptEdits"}}"#,
    );
    let narrower = json!({"permissions": {"defaultMode": "default"}});
    disk.project(&narrower);
    assert_eq!(*disk.load().effective(), narrower);
}

/// Everything in one project.
fn hostile() -> Value {
    json!({
        "env": {"A": "1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "PATH": ".", "https_proxy": "x",
            "BASH_FUNC_ls%%": "() { :; }"},
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./hook.sh"}]}]},
        "apiKeyHelper": "echo k",
        "enableAllProjectMcpServers": true,
        "disableAllHooks": false,
        "permissions": {"allow": ["Bash"], "deny": ["Read(x)"]},
    })
}

#[test]
fn trusted_content_is_used_but_never_the_address_of_the_model() {
    let disk = Disk::new();
    disk.project(&hostile());
    disk.put("project/hook.sh", "exit 0");
    disk.put(
        "project/.mcp.json",
        r#"{"mcpServers": {"s": {"command": "./server"}}}"#,
    );
    let before = disk.load();
    assert_eq!((before.env(), before.hooks().len()), (Vec::new(), 0));
    assert_eq!(before.permission_rules().len(), 1);
    assert!(before.project_servers().declared.is_empty());
    disk.grant();
    let settings = disk.load();
    assert_eq!(settings.env(), [("A".to_owned(), "1".to_owned())]);
    assert_eq!(settings.hooks().len(), 1);
    assert_eq!(settings.api_key_helper(), Some("echo k"));
    assert_eq!(settings.permission_rules().len(), 2);
    assert!(settings.project_servers().trusted);
    assert_eq!(settings.project_servers().declared.len(), 1);
    assert_eq!(settings.warnings().len(), 4, "{:?}", settings.warnings());
    assert_eq!(disk.inspect().ignored.len(), 4);
}

#[test]
fn every_change_of_the_content_asks_again() {
    let changes: [(&str, String); 6] = [
        ("project/hook.sh", "exit 1".to_owned()),
        ("project/sub/tool.py", "print(2)".to_owned()),
        (
            "project/.mcp.json",
            r#"{"mcpServers": {"s": {"command": "evil"}}}"#.to_owned(),
        ),
        (
            "project/.claude/settings.local.json",
            r#"{"permissions": {"allow": ["Edit"]}}"#.to_owned(),
        ),
        (
            "project/.claude/settings.json",
            r#"{"apiKeyHelper": "echo k"}"#.to_owned(),
        ),
        (
            "project/.claude/settings.local.json",
            r#"{"aKeyOfTheNextVersion": 1}"#.to_owned(),
        ),
    ];
    for (file, content) in changes {
        let disk = Disk::new();
        let mut settings = hostile();
        let more = json!({"hooks": [{"type": "command",
            "command": "python3 \"$CLAUDE_PROJECT_DIR\"/sub/tool.py --fast"}]});
        settings["hooks"]["PreToolUse"] = json!([more]);
        disk.project(&settings);
        disk.put("project/hook.sh", "exit 0");
        disk.put("project/sub/tool.py", "print(1)");
        disk.grant();
        assert_eq!(disk.inspect().standing, Standing::Trusted);
        assert!(!disk.load().hooks().is_empty());
        disk.put(file, &content);
        let inspection = disk.inspect();
        assert_eq!(inspection.standing, Standing::Changed, "{file}");
        let told = inspection.items.iter().any(|it| it.is_new) || !inspection.gone.is_empty();
        assert!(told, "{file}");
        let settings = disk.load();
        assert!(
            settings.hooks().is_empty() && settings.api_key_helper().is_none(),
            "{file}"
        );
        assert!(
            settings.warnings()[0].contains("changed since"),
            "{:?}",
            settings.warnings()
        );
    }
}

#[test]
fn trust_is_given_only_to_the_content_that_was_shown() {
    let disk = Disk::new();
    disk.project(&json!({"apiKeyHelper": "echo a"}));
    let shown = disk.inspect().digest.unwrap();
    disk.project(&json!({"apiKeyHelper": "echo b"}));
    let refused = disk.store().grant(&disk.inspect(), &shown);
    assert!(matches!(refused, Err(TrustError::Changed)));
    assert_eq!(disk.load().api_key_helper(), None);
    // A digest for one session counts for the values that are loaded, not for the path.
    let mut disk = disk;
    disk.sources.trust = Trust::Content(shown);
    assert_eq!(disk.load().api_key_helper(), None);
    disk.project(&json!({"apiKeyHelper": "echo a"}));
    assert_eq!(disk.load().api_key_helper(), Some("echo a"));
    assert_eq!(
        disk.inspect().standing,
        Standing::Untrusted,
        "not remembered"
    );
}

#[test]
fn trust_is_of_one_project_and_can_be_taken_back() {
    let disk = Disk::new();
    disk.project(&json!({"apiKeyHelper": "echo a"}));
    disk.put(
        "other/.claude/settings.json",
        r#"{"apiKeyHelper": "echo a"}"#,
    );
    disk.grant();
    let other = inspect(&disk.root.path().join("other"), disk.store(), None).unwrap();
    assert_eq!(other.standing, Standing::Untrusted);
    // A link to the project is the project.
    let link = disk.root.path().join("link");
    std::os::unix::fs::symlink(&disk.sources.project, &link).unwrap();
    assert_eq!(
        inspect(&link, disk.store(), None).unwrap().standing,
        Standing::Trusted
    );
    let listed = disk.store().list().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(
        listed[0].project,
        disk.sources.project.canonicalize().unwrap()
    );
    assert!(disk.store().revoke(&disk.sources.project).unwrap());
    assert!(!disk.store().revoke(&disk.sources.project).unwrap());
    assert_eq!(disk.load().api_key_helper(), None);
}

#[test]
fn a_host_that_names_the_project_decides_about_hooks_and_servers_only() {
    let mut disk = Disk::new();
    let mut content = hostile();
    content["disableAllHooks"] = json!(true);
    content["permissions"]["defaultMode"] = json!("acceptEdits");
    content["additionalDirectories"] = json!(["/"]);
    disk.project(&content);
    disk.put(
        "project/.mcp.json",
        r#"{"mcpServers": {"s": {"command": "./server"}}}"#,
    );
    disk.sources.trust = Trust::Host(Folder::Unknown);
    let settings = disk.load();
    assert_eq!(settings.hooks().len(), 1);
    assert_eq!(settings.project_servers().declared.len(), 1);
    assert!(settings.mcp_enable_all() && !settings.project_servers().trusted);
    assert_eq!(settings.env(), [("A".to_owned(), "1".to_owned())]);
    assert_eq!(settings.permission_rules().len(), 1);
    assert!(settings.default_mode().is_none() && settings.additional_directories().is_empty());
    disk.sources.trust = Trust::Host(Folder::Accepted);
    let settings = disk.load();
    assert_eq!(settings.permission_rules().len(), 2);
    assert_eq!(settings.env().len(), 1, "never the address of the model");
    disk.sources.enabled = Enabled {
        project: false,
        ..Enabled::ALL
    };
    assert_eq!(disk.load().permission_rules().len(), 0);
}

#[test]
fn local_settings_are_the_projects_unless_we_wrote_them() {
    // No repository, a worktree or submodule, an ordinary repository: all the same.
    for git in [None, Some("project/.git"), Some("project/.git/HEAD")] {
        let disk = Disk::new();
        if let Some(git) = git {
            disk.put(git, "gitdir: ../elsewhere");
        }
        disk.put("project/.gitignore", ".claude/settings.local.json");
        disk.put(
            "project/.claude/settings.local.json",
            r#"{"permissions": {"allow": ["Bash"]}, "env": {"A": "1"}}"#,
        );
        assert_eq!(disk.load().permission_rules(), []);
        let change =
            permission::Change::AddRules(permission::Effect::Allow, vec!["Bash(make)".to_owned()]);
        let change = Change::Permissions(change);
        disk.sources.files().write(Scope::Local, &change).unwrap();
        let settings = disk.load();
        let rules: Vec<_> = settings.permission_rules();
        let rules: Vec<_> = rules.iter().map(|rule| rule.text.as_str()).collect();
        assert_eq!(rules, ["Bash(make)"], "only the rule of the user");
        assert!(settings.env().is_empty());
        assert_eq!(disk.inspect().items.len(), 2);
        // What the user adds does not disturb trust in the rest.
        disk.grant();
        let change = permission::Change::AddDirectories(vec!["/srv".to_owned()]);
        let change = Change::Permissions(change);
        disk.sources.files().write(Scope::Local, &change).unwrap();
        assert_eq!(disk.inspect().standing, Standing::Trusted);
        assert_eq!(disk.load().additional_directories(), [Path::new("/srv")]);
    }
}

#[test]
fn a_store_that_others_can_write_is_not_believed() {
    use std::os::unix::fs::PermissionsExt;
    let disk = Disk::new();
    disk.project(&json!({"apiKeyHelper": "echo a"}));
    disk.grant();
    let directory = disk.root.path().join("home/.local/state/falconer/trust");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    for entry in std::fs::read_dir(&directory).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
    let set = |mode| {
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(0o777);
    let settings = disk.load();
    assert_eq!(settings.api_key_helper(), None);
    assert!(settings.warnings()[0].contains("nothing of the project is trusted"));
    set(0o700);
    assert_eq!(disk.load().api_key_helper(), Some("echo a"));
}

#[test]
fn the_users_own_settings_need_no_trust_in_the_home_directory() {
    let mut disk = Disk::new();
    disk.put("home/.claude/settings.json", hostile());
    disk.put("home/.claude/agents/a.md", "an agent");
    disk.sources.project = disk.root.path().join("home");
    let settings = disk.load();
    assert_eq!(settings.warnings(), [""; 0]);
    assert_eq!(settings.hooks().len(), 1);
    assert_eq!(disk.inspect().standing, Standing::NotNeeded);
}

#[test]
fn agents_skills_and_commands_are_content_and_keys_are_shown_plainly() {
    let disk = Disk::new();
    disk.put("project/.claude/skills/s/SKILL.md", "a skill");
    assert_eq!(
        disk.load().warnings(),
        [""; 0],
        "this engine does not read them"
    );
    disk.grant();
    assert_eq!(disk.inspect().standing, Standing::Trusted);
    disk.put("project/.claude/commands/c.md", "!`evil`");
    assert_eq!(disk.inspect().standing, Standing::Changed);
    disk.project(&json!({"env": {"\u{1b}[2J": "x"}, "\u{1b}]0;x\u{7}": 1}));
    let warnings = disk.load().warnings().join("\n");
    assert!(
        !warnings.contains('\u{1b}') && warnings.contains("\\u{1b}"),
        "{warnings}"
    );
}

#[test]
fn every_published_settings_key_has_a_class() {
    let Some(sdk) = std::env::var_os("FALCONER_TS_SDK") else {
        panic!("FALCONER_TS_SDK is not set; run `cargo xtask test`");
    };
    let types = std::fs::read_to_string(PathBuf::from(sdk).join("sdk.d.ts")).unwrap();
    let settings = types
        .split("export declare interface Settings {")
        .nth(1)
        .unwrap();
    let settings = settings.split("\n}").next().unwrap();
    let keys = settings.lines().filter_map(|line| {
        let key = line.strip_prefix("    ")?.split(['?', ':']).next()?;
        let is_name = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '$');
        (is_name && line.contains(':')).then_some(key)
    });
    let unlisted: Vec<&str> = keys
        .filter(|key| KEYS.iter().all(|row| row.0 != *key))
        .collect();
    assert_eq!(unlisted, [""; 0]);
}

#[test]
fn every_way_to_name_a_script_makes_its_bytes_count() {
    let disk = Disk::new();
    disk.put("project/scripts/check.sh", "true");
    disk.put("project/server/index.js", "0");
    disk.put("project/pkg/tool.py", "0");
    disk.put("project/package.json", "{}");
    disk.put("project/Makefile", "all:");
    let cases = [
        ("./scripts/check.sh", "scripts/check.sh"),
        ("sh -c 'exec \"./scripts/check.sh\"'", "scripts/check.sh"),
        (
            "${CLAUDE_PROJECT_DIR:-.}/scripts/check.sh",
            "scripts/check.sh",
        ),
        (
            "\"$(git rev-parse --show-toplevel)\"/scripts/check.sh",
            "scripts/check.sh",
        ),
        ("~/src/project/scripts/check.sh", "scripts/check.sh"),
        ("$HOME/project/scripts/check.sh", "scripts/check.sh"),
        ("cd scripts && ./check.sh", "scripts/check.sh"),
        (
            "(cd \"$CLAUDE_PROJECT_DIR/scripts\"; sh check.sh)",
            "scripts/check.sh",
        ),
        ("sh scripts/check", "scripts/check.sh"),
        ("node server", "server/index.js"),
        ("python3 -m pkg.tool", "pkg/tool.py"),
        ("npm run check", "package.json"),
        ("/usr/bin/make -s check", "Makefile"),
    ];
    for (command, file) in cases {
        let hook = json!({"type": "command", "command": command});
        disk.project(&json!({"hooks": {"Stop": [{"hooks": [hook]}]}}));
        let before = disk.inspect();
        let then = std::fs::read_to_string(disk.sources.project.join(file)).unwrap();
        disk.put(&format!("project/{file}"), format!("{then} # changed"));
        assert_ne!(before.digest, disk.inspect().digest, "{command}");
        disk.put(&format!("project/{file}"), then);
        assert_eq!(before.digest, disk.inspect().digest, "{command}");
    }
}

#[test]
fn an_item_that_names_more_than_can_be_looked_at_is_never_used() {
    let disk = Disk::new();
    for number in 0..300 {
        disk.put(&format!("project/f{number}"), number);
    }
    let names: Vec<String> = (0..300).map(|number| format!("./f{number}")).collect();
    for command in [names.join(";"), "x ".repeat(20_000)] {
        let hook = json!({"type": "command", "command": command});
        disk.project(&json!({"hooks": {"Stop": [{"hooks": [hook]}]}}));
        let inspection = disk.inspect();
        assert_eq!(inspection.digest, None);
        assert_eq!(inspection.ignored, [".claude/settings.json hooks.Stop"]);
    }
}

#[test]
fn a_model_that_may_be_an_address_needs_trust() {
    let disk = Disk::new();
    for (model, needs) in [
        ("opus", false),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", false),
        ("claude-sonnet-4-5[1m]", false),
        ("arn:aws:bedrock:us-east-1:666:inference-profile/x", true),
        ("../../evil", true),
        ("x?y=z", true),
    ] {
        disk.project(&json!({"model": model, "fallbackModel": [model]}));
        assert_eq!(disk.inspect().digest.is_some(), needs, "{model}");
        assert_eq!(disk.load().model().is_none(), needs, "{model}");
    }
}
