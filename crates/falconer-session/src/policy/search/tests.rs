//! What searches come across.

use serde_json::{Value, json};

use crate::policy::{Effect, Policy};

/// A search reads what is below its directory, whether it is named or not.
#[test]
fn a_search_is_asked_about_if_it_comes_across_what_is_denied() {
    use Effect::{Allow, Ask, Deny};
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path();
    let files = [
        "src/main.rs",
        "web/.env",
        "web/.env.example",
        "web/app.ts",
        "data/vault/plan.txt",
        "data/notes.txt",
        "clean/a.txt",
        "built/.env",
        ".git/HEAD",
    ];
    for file in files {
        let path = project.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    std::fs::write(project.join(".gitignore"), "built/\n").unwrap();
    let text = "[allow]\ntools = [\"*\"]\ncommands = [\"rg\", \"grep\", \"tar\", \"cp\", \
        \"find\", \"cd\", \"ls\"]\n[deny]\npaths = [\"vault/**\"]";
    let policy: Policy = text.parse().unwrap();
    let policy = policy.in_directory(project);
    let grep = |input: Value| ("Grep", input);
    let glob = |pattern: &str| ("Glob", json!({"pattern": pattern}));
    let bash = |command: &str| ("Bash", json!({"command": command}));
    let table = [
        (grep(json!({"pattern": "x"})), Ask),
        (grep(json!({"pattern": "x", "path": "web"})), Ask),
        (
            grep(json!({"pattern": "x", "path": project.join("data")})),
            Ask,
        ),
        (grep(json!({"pattern": "x", "path": "clean"})), Allow),
        (grep(json!({"pattern": "x", "path": "web/.env"})), Deny),
        (grep(json!({"pattern": "x", "path": "src"})), Allow),
        (
            grep(json!({"pattern": "x", "path": "data/notes.txt"})),
            Allow,
        ),
        (grep(json!({"pattern": "x", "path": "data/vault"})), Ask),
        (grep(json!({"pattern": "x", "glob": "*.rs"})), Allow),
        (grep(json!({"pattern": "x", "glob": "*.{rs,ts}"})), Allow),
        (grep(json!({"pattern": "x", "glob": "*.rs, *.txt"})), Ask),
        (
            grep(json!({"pattern": "x", "glob": "!web/** !vault"})),
            Allow,
        ),
        (grep(json!({"pattern": "x", "glob": "["})), Ask),
        (grep(json!({"pattern": "x", "type": "rust"})), Allow),
        (grep(json!({"pattern": "x", "type": "txt"})), Ask),
        (grep(json!({"pattern": "x", "type": "no such type"})), Ask),
        (glob("**/*.rs"), Allow),
        (glob("**/*"), Ask),
        (glob("data/**"), Ask),
        (glob("clean/*"), Allow),
        (glob("built/**"), Ask),
        (bash("rg x"), Ask),
        (bash("rg x clean"), Allow),
        (bash("rg -uu x built"), Ask),
        // What is named is searched, even if it is ignored.
        (bash("rg x built"), Ask),
        (bash("cd web && rg x"), Ask),
        // Whether it has changed the directory nobody knows.
        (bash("cd clean && rg x"), Ask),
        (bash("grep -rn x ."), Ask),
        (bash("grep --recursive x data"), Ask),
        (bash("grep -n x data/notes.txt"), Allow),
        (bash("grep -rn x clean src"), Allow),
        (bash("tar czf /tmp/a.tgz web"), Ask),
        (bash("cp -r data /tmp/copy"), Ask),
        (bash("cp data/notes.txt /tmp/copy"), Allow),
        (bash("find . -type f -exec cat {} +"), Ask),
        (bash("ls web"), Allow),
    ];
    for ((tool, input), expected) in table {
        let explained = policy.explain(tool, &input);
        assert_eq!(
            explained.effect,
            Some(expected),
            "{tool} {input}: {}",
            explained.reason
        );
    }
    let why = |input: Value| policy.explain("Grep", &input).reason;
    let web = why(json!({"pattern": "x", "path": "web"}));
    assert!(
        web.contains("web/.env`") && web.contains("`**/.env`"),
        "{web}"
    );
    let data = why(json!({"pattern": "x", "path": "data"}));
    assert!(
        data.contains("plan.txt") && data.contains("vault/**"),
        "{data}"
    );
    let open: Policy = "sensitive_paths = \"allow\"".parse().unwrap();
    let free = open
        .in_directory(project)
        .explain("Grep", &json!({"pattern": "x"}));
    assert_eq!(free.effect, None, "{}", free.reason);
}

#[test]
fn a_search_through_more_than_can_be_looked_at_is_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    for directory in 0..101 {
        let path = folder.path().join(directory.to_string());
        std::fs::create_dir(&path).unwrap();
        for file in 0..100 {
            std::fs::write(path.join(file.to_string()), "").unwrap();
        }
    }
    let policy = Policy::default().in_directory(folder.path());
    let everywhere = policy.explain("Grep", &json!({"pattern": "x"}));
    assert_eq!(everywhere.effect, Some(Effect::Ask));
    assert!(
        everywhere.reason.contains("too much"),
        "{}",
        everywhere.reason
    );
    let one = policy.explain("Grep", &json!({"pattern": "x", "path": "7"}));
    assert_eq!(one.effect, None, "{}", one.reason);
}
