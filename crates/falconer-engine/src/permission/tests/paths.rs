//! Paths: links, dots, protected places, anchors.

use std::os::unix::fs::symlink;

use falconer_protocol::permission::PermissionMode;

use super::Outcome::{Allow, Ask, Deny};
use super::{Outcome, Project, outcome};
use crate::permission::Target;

#[test]
fn plan_mode_writes_its_plan_and_no_other_file() {
    let project = Project::new().mode(PermissionMode::Plan);
    let plan = project.home().join(".claude/plans/plan-abc.md");
    let mut permissions = project.permissions();
    permissions.set_plan_file(&plan);
    let judge = |permissions: &super::Permissions, path: &std::path::Path| {
        let target = Target::Write(path.to_owned());
        let cwd = project.cwd();
        outcome(&permissions.judge(&super::question("Write", &target, &cwd)))
    };
    assert_eq!(judge(&permissions, &plan), Allow);
    for other in [
        plan.with_file_name("other.md"),
        plan.with_file_name("plan-abc.md.bak"),
        plan.join("below"),
        project.cwd().join("a.txt"),
        project.cwd().join(".git/config"),
    ] {
        assert_eq!(judge(&permissions, &other), Ask, "{}", other.display());
    }
    // A link in its place leads elsewhere, and is not the plan.
    let linked = project.home().join("linked.md");
    symlink(project.home().join("elsewhere.md"), &linked).expect("a link");
    permissions.set_plan_file(&plan);
    assert_eq!(judge(&permissions, &linked), Ask);
    permissions
        .set_mode(PermissionMode::Default)
        .expect("a mode");
    assert_eq!(judge(&permissions, &plan), Ask, "outside of plan mode");
}

#[test]
fn links_do_not_lead_out() {
    let project = Project::new().mode(PermissionMode::AcceptEdits);
    let cwd = project.cwd();
    std::fs::create_dir_all(project.home().join("other/.git")).expect("a directory");
    symlink(project.home().join("other"), cwd.join("out")).expect("a link");
    symlink("/nowhere/at/all", cwd.join("dangling")).expect("a link");
    symlink("loop", cwd.join("loop")).expect("a link");
    symlink("src", cwd.join("inner")).expect("a link");
    symlink("../other/.git/config", cwd.join("config")).expect("a link");
    let table: &[(&str, Outcome)] = &[
        ("a", Allow),
        ("new/deep/a", Allow),
        ("inner/a", Allow),
        ("out/a", Ask),
        ("out/new/a", Ask),
        ("dangling", Ask),
        ("dangling/a", Ask),
        ("loop", Ask),
        ("loop/a", Ask),
        ("config", Ask),
        ("../a", Ask),
        ("src/../../a", Ask),
        ("src/../a", Allow),
        ("inner/../a", Allow),
        ("out/../a", Ask),
        ("nothing/../../a", Ask),
        ("./././a/", Allow),
        (".git/config", Ask),
        (".GIT/config", Ask),
        ("src/.git/hooks/x", Ask),
        (".claude/agents/a.md", Ask),
        (".vscode/tasks.json", Ask),
        (".idea/x", Ask),
        (".mcp.json", Ask),
        (".gitmodules", Ask),
        (".bashrc", Ask),
        (".gitignore", Allow),
        (".github/x", Allow),
        ("src/git/config", Allow),
    ];
    for (path, expected) in table {
        assert_eq!(project.write(path), *expected, "{path}");
    }
    let bypass = project.mode(PermissionMode::BypassPermissions);
    for path in [
        ".git/config",
        "config",
        ".zshrc",
        ".claude/x",
        "loop",
        ".husky/pre-commit",
    ] {
        assert_eq!(bypass.write(path), Ask, "{path} in bypass");
    }
    assert_eq!(bypass.write("../a"), Allow);
    assert_eq!(bypass.read("out/a"), Allow);
}

#[test]
fn reads_stay_in_the_working_directories() {
    let project = Project::new();
    symlink("/etc", project.cwd().join("etc")).expect("a link");
    assert_eq!(project.read("src/a"), Allow);
    assert_eq!(project.read("etc/hostname"), Ask);
    assert_eq!(project.read("/etc/hostname"), Ask);
    assert_eq!(project.command("cat etc/hostname"), Ask);
    assert_eq!(project.command("cat src/a"), Allow);
    assert_eq!(project.command("echo /etc/*"), Ask);
}

#[test]
fn patterns_hang_on_their_anchors() {
    let table: &[(&str, &str, bool)] = &[
        ("Read(.env)", "a/b/.env", true),
        ("Read(./.env)", ".env", true),
        ("Read(./.env)", "a/.env", true),
        ("Read(/.env)", ".env", true),
        ("Read(/.env)", "a/.env", false),
        ("Read(src/**)", "src/a/b", true),
        ("Read(src)", "src/a/b", true),
        ("Read(src/*.rs)", "src/a.rs", true),
        ("Read(src/*.rs)", "src/b/a.rs", false),
        ("Read(**/*.pem)", "a/b/c.pem", true),
        ("Read(~/.ssh/**)", "../.ssh/id", true),
        ("Read(~/.ssh)", "../.ssh/id", true),
        ("Read(~/*.txt)", "../x/a.txt", false),
        ("Read(//etc/**)", "/etc/passwd", true),
        ("Read(//etc/passwd)", "/etc/passwd", true),
        ("Read(//etc)", "/usr/etc/x", false),
        ("Read(../x)", "../x", true),
        ("Read(.env)", "../.env", false),
        ("Read(#a)", "#a", true),
        ("Edit(.env)", ".env", false),
    ];
    for (rule, path, hit) in table {
        let project = Project::new().deny(rule);
        let denied = project.read(path) == Deny;
        assert_eq!(denied, *hit, "{rule} on {path}");
        if rule.starts_with("Read") && *hit {
            let project = Project::new().allow(rule);
            assert_eq!(project.read(path), Allow, "{rule} allows {path}");
        }
    }
}

#[test]
fn rules_of_one_kind_cover_their_tools() {
    let judge = |project: &Project, tool: &str, target: fn(std::path::PathBuf) -> Target| {
        outcome(&project.judge(tool, &target(project.cwd().join("a"))))
    };
    let project = Project::new().deny("Read(a)");
    assert_eq!(judge(&project, "Grep", Target::Read), Deny);
    assert_eq!(judge(&project, "Glob", Target::Read), Deny);
    assert_eq!(judge(&project, "Edit", Target::Write), Deny);
    assert_eq!(judge(&project, "Write", Target::Write), Ask);
    let project = Project::new().allow("Edit(a)");
    assert_eq!(judge(&project, "Write", Target::Write), Allow);
    assert_eq!(judge(&project, "NotebookEdit", Target::Write), Allow);
    let project = Project::new().allow("Write(a)").allow("Edit(b");
    assert_eq!(judge(&project, "Write", Target::Write), Ask);
    assert_eq!(project.permissions().problems().len(), 2);
    let project = Project::new().deny("Write(a)");
    assert_eq!(judge(&project, "Write", Target::Write), Deny);
    let project = Project::new().allow("Edit(.git/**)");
    assert_eq!(project.write(".git/config"), Ask);
}

#[test]
fn other_tools_have_rules_too() {
    let mcp = |server: &str| Target::Mcp {
        server: server.into(),
    };
    let host = |name: &str| Target::Domain(name.into());
    let table = [
        ("mcp__calc", "mcp__calc__add", mcp("calc"), Allow),
        ("mcp__calc__*", "mcp__calc__add", mcp("calc"), Allow),
        ("mcp__calc__add", "mcp__calc__add", mcp("calc"), Allow),
        ("mcp__calc__add", "mcp__calc__addx", mcp("calc"), Ask),
        ("mcp__calc__ad*", "mcp__calc__addx", mcp("calc"), Allow),
        ("mcp__cal", "mcp__calc__add", mcp("calc"), Ask),
        ("mcp__a", "mcp__a__b__c", mcp("a__b"), Ask),
        ("*", "mcp__a__b", mcp("a"), Ask),
        (
            "WebFetch(domain:example.com)",
            "WebFetch",
            host("EXAMPLE.com"),
            Allow,
        ),
        (
            "WebFetch(domain:example.com)",
            "WebFetch",
            host("example.com."),
            Allow,
        ),
        (
            "WebFetch(domain:example.com)",
            "WebFetch",
            host("evilexample.com"),
            Ask,
        ),
        (
            "WebFetch(domain:example.com)",
            "WebFetch",
            host("a.example.com"),
            Ask,
        ),
        (
            "WebFetch(domain:*.example.com)",
            "WebFetch",
            host("a.example.com"),
            Allow,
        ),
        (
            "WebFetch(domain:*.example.com)",
            "WebFetch",
            host("example.com"),
            Ask,
        ),
        (
            "WebFetch(example.com)",
            "WebFetch",
            host("example.com"),
            Ask,
        ),
        ("WebFetch", "WebFetch", host("x.y"), Allow),
    ];
    for (rule, tool, target, expected) in table {
        let found = outcome(&Project::new().allow(rule).judge(tool, &target));
        assert_eq!(found, expected, "{rule} on {tool}");
    }
}

#[test]
fn broken_rules_that_forbid_are_never_lost() {
    let project = Project::new().allow("Bash").deny("Bash(rm");
    assert_eq!(project.command("ls"), Deny);
    assert_eq!(project.permissions().problems().len(), 1);
    let project = Project::new().allow("Bash").deny("rm -rf *");
    assert_eq!(project.command("make"), Deny);
    let project = Project::new().allow("Bash").ask("{\"a\":1}");
    assert_eq!(project.command("make"), Ask);
    let project = Project::new().deny("TodoWrite(x)");
    assert!(project.permissions().removes("TodoWrite"));
    let project = Project::new()
        .deny("Bash")
        .deny("mcp__calc")
        .deny("Read(x)");
    let permissions = project.permissions();
    assert_eq!(permissions.removed_tools(), ["Bash", "mcp__calc"]);
    assert!(permissions.removes("mcp__calc__add") && !permissions.removes("Read"));
}
