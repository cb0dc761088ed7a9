//! The official CLI as the engine: it reads settings itself, so a project it could be misled by is
//! left out as a source. A stand-in notes the flags it is started with.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::program::{Place, run};

const STAND_IN: &str = r#"#!/bin/sh
case "$*" in *--version*) echo '2.1.325 (Claude Code)'; exit;; esac
printf '%s\n' "$@" > "$HOME/../flags"
"#;

fn put(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// The flags that the CLI gets in `cwd`, and what was said.
fn started(place: &Place, cwd: &Path, arguments: &[&str]) -> (String, String) {
    let cli = place.path().join("bin/claude");
    put(&cli, STAND_IN);
    std::fs::set_permissions(&cli, std::fs::Permissions::from_mode(0o755)).unwrap();
    let flags = place.path().join("flags");
    let _ = std::fs::remove_file(&flags);
    let home = place.path().join("home");
    std::fs::create_dir_all(&home).unwrap();
    let mut command = place.falconer();
    command
        .env("HOME", &home)
        .env("FALCONER_CLAUDE_PATH", &cli)
        .env("ANTHROPIC_API_KEY", "sk-ant-not-a-real-key-0123")
        .args(["run", "go", "--engine=claude", "--no-store", "-C"])
        .arg(cwd)
        .args(arguments);
    let ran = run(&mut command, "");
    let flags = std::fs::read_to_string(&flags).unwrap_or_else(|_| panic!("{}", ran.stderr));
    (flags, ran.stderr)
}

fn is_left_out(flags: &str) -> bool {
    flags.lines().any(|flag| flag == "--setting-sources=user")
}

fn hook() -> Value {
    json!({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "true"}]}]}})
}

fn server() -> Value {
    json!({"mcpServers": {"x": {"command": "true"}}})
}

#[test]
fn a_plain_project_is_a_source_of_settings() {
    let place = Place::new();
    let work = place.path().join("work");
    put(
        &work.join(".claude/settings.json"),
        r#"{"model":"opus","permissions":{"deny":["Bash"]}}"#,
    );
    put(&work.join("CLAUDE.md"), "Be kind.");
    let (flags, said) = started(&place, &work, &[]);
    assert!(
        !is_left_out(&flags) && !said.contains("warning:"),
        "{flags}{said}"
    );
}

#[test]
fn what_no_project_may_set_leaves_it_out_even_if_it_is_trusted() {
    let place = Place::new();
    let work = place.path().join("work");
    let mut content = hook();
    for trusted in [false, true] {
        content["env"] = json!({"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"});
        if !trusted {
            content["hooks"] = json!({});
        }
        put(&work.join(".claude/settings.json"), content.to_string());
        let arguments: &[&str] = if trusted {
            &["--trust-project=once"]
        } else {
            &[]
        };
        let (flags, said) = started(&place, &work, arguments);
        assert!(is_left_out(&flags), "{trusted}: {flags}");
        assert!(said.contains("env.ANTHROPIC_BASE_URL"), "{said}");
        content = hook();
    }
}

#[test]
fn a_file_that_only_the_official_cli_can_read_leaves_the_project_out() {
    let place = Place::new();
    let work = place.path().join("work");
    let text = hook().to_string();
    let mut utf16 = vec![0xff, 0xfe];
    utf16.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    put(&work.join(".claude/settings.json"), utf16);
    let (flags, said) = started(&place, &work, &[]);
    assert!(is_left_out(&flags), "{flags}");
    assert!(said.contains("cannot be checked"), "{said}");
}

#[test]
fn directories_that_the_official_cli_reads_besides_need_trust_too() {
    let cases: [(&str, &str, Value, &[&str]); 5] = [
        ("work/below", "work/.mcp.json", server(), &[]),
        (
            "work/below",
            "work/.claude/settings.local.json",
            hook(),
            &[],
        ),
        ("work/below", "work/.claude/agents/a.md", json!("text"), &[]),
        (
            "work",
            "work/a/b/.claude/skills/x/SKILL.md",
            json!("text"),
            &[],
        ),
        (
            "work",
            "other/.claude/settings.json",
            hook(),
            &["--add-dir=../other"],
        ),
    ];
    for (cwd, file, content, arguments) in cases {
        let place = Place::new();
        let cwd = place.path().join(cwd);
        std::fs::create_dir_all(&cwd).unwrap();
        put(&place.path().join(file), content.to_string());
        let (flags, said) = started(&place, &cwd, arguments);
        assert!(is_left_out(&flags), "{file}: {flags}");
        assert!(said.contains("untrusted content of"), "{file}: {said}");
    }
}

#[test]
fn whatever_is_below_the_directory_of_the_official_cli_needs_trust() {
    for file in ["skills/x/SKILL.md", "widgets/x.md", "unknown.json"] {
        let place = Place::new();
        let work = place.path().join("work");
        put(&work.join(".claude").join(file), "text");
        let (flags, said) = started(&place, &work, &[]);
        assert!(is_left_out(&flags), "{file}: {flags}");
        assert!(said.contains("not trusted"), "{file}: {said}");
        let (flags, said) = started(&place, &work, &["--trust-project=once"]);
        assert!(!is_left_out(&flags), "{file}: {flags}{said}");
    }
}

#[test]
fn more_definitions_than_anybody_looks_at_leave_the_project_out() {
    let deep = "a/".repeat(12);
    let many = (0..2_100).map(|number| format!("skills/{number}.md"));
    let cases: [(&str, Vec<String>); 2] = [
        ("too deep", vec![format!("skills/{deep}SKILL.md")]),
        ("more than 2000 files", many.collect()),
    ];
    for (why, files) in cases {
        let place = Place::new();
        let work = place.path().join("work");
        for file in files {
            put(&work.join(".claude").join(file), "text");
        }
        let (flags, said) = started(&place, &work, &["--trust-project=once"]);
        assert!(is_left_out(&flags), "{why}: {flags}");
        assert!(said.contains(why), "{why}: {said}");
    }
}

#[test]
fn the_main_working_tree_of_a_linked_one_needs_trust_too() {
    let place = Place::new();
    let main = place.path().join("main");
    let linked = place.path().join("work");
    std::fs::create_dir_all(&main).unwrap();
    let _ = std::fs::remove_dir_all(&linked);
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        let status = command.arg("-C").arg(&main).args(arguments).status();
        assert!(status.unwrap().success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    assert!(!is_left_out(&started(&place, &linked, &[]).0));
    put(
        &main.join(".claude/settings.local.json"),
        hook().to_string(),
    );
    let (flags, said) = started(&place, &linked, &[]);
    assert!(is_left_out(&flags), "{flags}{said}");
}

#[test]
fn a_key_of_the_shell_that_has_to_beat_one_of_the_settings_is_on_no_command_line() {
    let place = Place::new();
    let work = place.path().join("work");
    put(
        &place.path().join("home/.claude/settings.json"),
        r#"{"env":{"ANTHROPIC_API_KEY":"sk-ant-of-the-settings-01"}}"#,
    );
    let (flags, _) = started(&place, &work, &[]);
    assert!(!flags.contains("sk-ant-"), "{flags}");
    let file = flags
        .lines()
        .find_map(|flag| flag.strip_prefix("--settings="));
    assert!(
        !Path::new(file.unwrap()).exists(),
        "it goes with the engine"
    );
    put(&place.path().join("home/.claude/settings.json"), "{}");
    let (flags, _) = started(&place, &work, &[]);
    assert!(!flags.contains("--settings="), "{flags}");
}
