//! Explanations by flags and settings.

use std::path::Path;

use falconer_rule::{CallText, Explained, Outcome, Voice};
use serde_json::json;

use super::super::open::Launch;
use super::{Unexplained, explain};

struct Machine {
    root: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for directory in ["home/.claude", "project/.claude", "project/src"] {
            std::fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        let write = |path: &str, rules: serde_json::Value| {
            let text = json!({ "permissions": rules }).to_string();
            std::fs::write(root.path().join(path), text).unwrap();
        };
        write(
            "home/.claude/settings.json",
            json!({"allow": ["Bash(git *)", "WebFetch(domain:docs.rs)"], "ask": ["Bash(git push *)"]}),
        );
        write(
            "project/.claude/settings.json",
            json!({"deny": ["Read(.env)"]}),
        );
        Self { root }
    }

    fn explain(&self, args: &[&str], text: &str) -> Result<Voice, Unexplained> {
        let call = CallText::parse(text).unwrap();
        let path = |name: &str| self.root.path().join(name);
        let launch = Launch {
            args: args.iter().map(Into::into).collect(),
            env: vec![("HOME".into(), path("home").into_os_string())],
            cwd: path("project"),
            redactor: falconer_secret::Redactor::default(),
        };
        explain(launch, &call.tool, &call.input)
    }
}

#[test]
fn the_rules_of_files_and_flags_are_named() {
    use Outcome::{Allow, Ask, Deny};
    let machine = Machine::new();
    let none: &[&str] = &[];
    let table = [
        (none, "Bash(git log)", Allow, "only reads"),
        (
            none,
            "Bash(git push)",
            Ask,
            "the ask rule `Bash(git push *)` in user settings",
        ),
        (none, "Bash(ls && git push)", Ask, "user settings"),
        (none, "Bash(make)", Ask, "no rule allows `make`"),
        (none, "Bash(ls)", Allow, "only reads"),
        (none, "Bash(if ()", Ask, "cannot be judged"),
        (
            none,
            "Read(.env)",
            Deny,
            "the deny rule `Read(.env)` in project settings",
        ),
        (
            none,
            "Read(src/a)",
            Allow,
            "only reads in a working directory",
        ),
        (
            none,
            "Read(/etc/passwd)",
            Ask,
            "outside the working directories",
        ),
        (none, "Write(src/a)", Ask, "no rule allows it"),
        (none, "Glob(**/*.rs)", Allow, "only reads"),
        (none, "WebFetch(https://docs.rs/x)", Allow, "user settings"),
        (none, "WebFetch(https://evil.com)", Ask, "no rule"),
        (none, "mcp__a__b", Ask, "no rule"),
        (none, "TodoWrite", Allow, "touches nothing"),
        (none, "AskUserQuestion", Ask, "only the user"),
        (none, "Something", Ask, "no rule"),
        (
            &["--allowedTools=mcp__a"],
            "mcp__a__b",
            Allow,
            "the command line",
        ),
        (
            &["--disallowedTools=Bash(git log)"],
            "Bash(git log)",
            Deny,
            "the command line",
        ),
        (
            &["--permission-mode=acceptEdits"],
            "Write(src/a)",
            Allow,
            "acceptEdits",
        ),
        (
            &["--permission-mode=acceptEdits"],
            "Write(.git/config)",
            Ask,
            "protected",
        ),
        (
            &["--permission-mode=plan"],
            "Write(src/a)",
            Ask,
            "the permission mode is plan",
        ),
        (
            &["--permission-mode=dontAsk"],
            "Bash(make)",
            Deny,
            "dontAsk",
        ),
    ];
    for (args, text, outcome, words) in table {
        let voice = machine.explain(args, text).unwrap();
        assert_eq!(voice.outcome, outcome, "{args:?} {text}: {voice}");
        assert!(voice.because.contains(words), "{args:?} {text}: {voice}");
        let alone = Explained::of(None, voice);
        assert_eq!(alone.outcome, outcome);
    }
    assert!(!Path::new(&machine.root.path().join("home/.claude/projects")).exists());
}

#[test]
fn what_keeps_a_session_from_starting_is_told() {
    let machine = Machine::new();
    let error = machine.explain(&["--permission-mode=often"], "Bash(ls)");
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("a session would not start: "), "{error}");
    assert!(error.contains("often"), "{error}");
}
