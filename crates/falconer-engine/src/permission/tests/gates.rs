//! The gates: what nobody allowed does not run, whatever hooks, modes, rules and edits say.

use std::os::unix::fs::symlink;
use std::path::Path;

use falconer_protocol::Object;
use falconer_protocol::hook::HookPermissionDecision;
use falconer_protocol::permission::PermissionMode;
use serde_json::json;

use super::Outcome::{Allow, Ask, Deny};
use super::{Locks, Outcome, Project, outcome, question, shell};
use crate::permission::Target;
use crate::permission::{Because, HookDecision, Question, Verdict};

const MODES: [PermissionMode; 4] = [
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::BypassPermissions,
    PermissionMode::Auto,
];

fn write(project: &Project, path: &str, text: &str) {
    let path = project.cwd().join(path);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    std::fs::write(path, text).expect("a file");
}

fn judge_at(project: &Project, command: &str, cwd: &Path) -> Verdict {
    let target = shell(command);
    project.permissions().judge(&question("Bash", &target, cwd))
}

fn is_protected(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Ask(ask) if matches!(ask.because, Because::Protected(_)))
}

/// H6, M3, M9.
#[test]
fn protected_places_are_asked_about_in_every_mode_against_every_rule_and_hook() {
    let files = [
        ".config/falconer/config.toml",
        ".local/state/falconer/token",
        ".cargo/config.toml",
        ".config/systemd/user/x.service",
        ".config/autostart/x.desktop",
        ".aws/config",
        ".kube/config",
        ".docker/config.json",
        ".vimrc",
        ".exrc",
        ".config/nvim/init.lua",
        ".gdbinit",
        ".tmux.conf",
        ".pre-commit-config.yaml",
        "lefthook.yml",
        ".github/workflows/ci.yml",
        ".gitlab-ci.yml",
        ".cursor/mcp.json",
        ".codex/config.toml",
        ".hg/hgrc",
        ".yarn/releases/yarn.cjs",
        "sub/HEAD",
    ];
    for mode in MODES {
        let project = Project::new()
            .mode(mode.clone())
            .allow("Bash")
            .allow("Write")
            .allow("Edit(//**)")
            .allow("mcp__disk");
        for file in files {
            assert_eq!(project.write(file), Ask, "{file} in {mode:?}");
            let target = Target::Write(project.cwd().join(file));
            let cwd = project.cwd();
            let hooked = Question {
                hook: Some(HookDecision {
                    decision: HookPermissionDecision::Allow,
                    reason: None,
                }),
                ..question("Write", &target, &cwd)
            };
            let verdict = project.permissions().judge(&hooked);
            assert!(is_protected(&verdict), "{file} by a hook in {mode:?}");
            let command = format!("cp x {file}");
            assert_eq!(project.command(&command), Ask, "{command} in {mode:?}");
            let input: Object = json!({"path": file}).as_object().cloned().expect("one");
            let server = Target::Mcp {
                server: "disk".to_owned(),
            };
            let of_server = Question {
                input: &input,
                ..question("mcp__disk__save", &server, &cwd)
            };
            let verdict = project.permissions().judge(&of_server);
            assert!(is_protected(&verdict), "{file} by a server in {mode:?}");
        }
    }
}

/// M3.
#[test]
fn files_that_only_the_shell_knows_may_be_protected() {
    let project = Project::new().allow("Bash");
    let table = [
        ("echo x > $F", Ask),
        ("echo x > \"$(echo .gi)t/config\"", Ask),
        ("cd $D && cp a b", Ask),
        ("make all", Allow),
        ("echo x > out.txt", Allow),
    ];
    for (command, expected) in table {
        assert_eq!(project.command(command), expected, "{command}");
    }
}

/// M5.
#[test]
fn edited_input_is_judged_for_denials_and_protected_places() {
    let project = Project::new().deny("Bash(rm *)").ask("Bash(make *)");
    let judge = |command: &str| {
        let (target, cwd) = (shell(command), project.cwd());
        let verdict = project
            .permissions()
            .judge_edited(&question("Bash", &target, &cwd));
        verdict.as_ref().map(outcome)
    };
    assert_eq!(judge("rm victim"), Some(Deny));
    assert_eq!(judge("ls; rm victim"), Some(Deny));
    assert_eq!(judge("echo x > .git/config"), Some(Ask));
    assert_eq!(judge("make all"), None, "the person has just said so");
    assert_eq!(judge("touch a"), None);
}

/// L9.
#[test]
fn what_a_server_says_of_its_own_tools_counts_for_nothing() {
    let judge = |project: &Project| {
        let (target, cwd) = (
            Target::Mcp {
                server: "evil".to_owned(),
            },
            project.cwd(),
        );
        let asked = Question {
            read_only: true,
            ..question("mcp__evil__read", &target, &cwd)
        };
        outcome(&project.permissions().judge(&asked))
    };
    let rule = "mcp__evil__read";
    assert_eq!(judge(&Project::new()), Ask);
    assert_eq!(judge(&Project::new().allow(rule)), Allow);
    let plan = Project::new().mode(PermissionMode::Plan);
    assert_eq!(judge(&plan), Ask);
    assert_eq!(judge(&plan.allow(rule)), Ask);
    assert_eq!(judge(&Project::new().deny("*")), Deny);
}

const ORDINARY: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
    [remote \"origin\"]\n\turl = git@example.com:a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
    [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = A\n";

/// H3.
#[test]
fn git_only_reads_where_the_session_works_and_its_configuration_names_no_program() {
    let table: &[(&str, &str, Outcome)] = &[
        (".git/config", ORDINARY, Allow),
        (".git/config", "", Allow),
        (".git/config", "[core]\n\tfsmonitor = touch PWNED\n", Ask),
        (".git/config", "[core]\n\tbare = true\n", Ask),
        (".git/config", "[core] fsmonitor = touch PWNED\n", Ask),
        (".git/config", "[core]\n\tworktree = /\n", Ask),
        (
            ".git/config",
            "[lfs]\n\trepositoryformatversion = 0\n",
            Allow,
        ),
        (
            ".git/config",
            "[lfs \"extension.x\"]\n\tclean = touch PWNED\n",
            Ask,
        ),
        (
            ".git/config",
            "[filter \"x\"]\n\tclean = touch PWNED\n",
            Ask,
        ),
        (
            ".git/config",
            "[diff \"x\"]\n\ttextconv = touch PWNED\n",
            Ask,
        ),
        (".git/config", "[diff]\n\texternal = touch PWNED\n", Ask),
        (".git/config", "[include]\n\tpath = ../evil\n", Ask),
        (".git/config", "[gpg]\n\tprogram = touch\n", Ask),
        (".git/config", "[alias]\n\tstatus = !touch PWNED\n", Ask),
        (
            ".git/config",
            "[user]\n\tname = a\\\n[core]\n\tfsmonitor = x\n",
            Ask,
        ),
        (".git/config.worktree", "[core]\n\tfsmonitor = x\n", Ask),
        (".git/commondir", "../evil", Ask),
        (".gitmodules", "[submodule \"x\"]\n\tpath = x\n", Allow),
        (".gitmodules", "[submodule \"x\"]\n\tignore = none\n", Ask),
        ("HEAD", "ref: refs/heads/main\n", Ask),
    ];
    for (file, text, expected) in table {
        let project = Project::new();
        write(&project, ".git/HEAD", "ref: refs/heads/main\n");
        write(
            &project,
            "evil/config",
            "[core]\n\tfsmonitor = touch PWNED\n",
        );
        write(&project, "config", "");
        write(&project, file, text);
        for command in ["git status", "git log --oneline", "git diff"] {
            assert_eq!(
                project.command(command),
                *expected,
                "{command} with {file}: {text}"
            );
        }
    }
}

/// A repository that came in an archive may be somebody else's.
#[test]
fn git_only_reads_a_repository_that_belongs_to_the_directory() {
    let outside = tempfile::tempdir().expect("a directory");
    let secret = outside.path().join("secret");
    std::fs::create_dir_all(secret.join(".git/worktrees/w")).expect("a directory");
    std::fs::write(secret.join(".git/worktrees/w/commondir"), "../..\n").expect("a file");
    std::fs::write(outside.path().join("key"), "KEY").expect("a file");
    type Make<'m> = &'m dyn Fn(&Project);
    let git = |text: String| move |project: &Project| write(project, ".git", &text);
    let link = |name: &'static str, to: &str| {
        let to = outside.path().join(to);
        move |project: &Project| {
            write(project, ".git/config", ORDINARY);
            let name = project.cwd().join(name);
            std::fs::create_dir_all(name.parent().expect("a parent")).expect("a directory");
            symlink(&to, name).expect("a link");
        }
    };
    let whole = secret.join(".git");
    let tree = whole.join("worktrees/w");
    let linked = |project: &Project| {
        write(project, ".git", &format!("gitdir: {}\n", tree.display()));
        let back = project.cwd().join(".git");
        std::fs::write(tree.join("gitdir"), format!("{}\n", back.display())).expect("a file");
    };
    let table: [(&str, Make<'_>, Outcome); 8] = [
        (
            "its own",
            &|it: &Project| write(it, ".git/config", ORDINARY),
            Allow,
        ),
        (
            "another's",
            &git(format!("gitdir: {}\n", whole.display())),
            Ask,
        ),
        ("a work tree of its own", &linked, Allow),
        (
            "a work tree of another",
            &git(format!("gitdir: {}\n", tree.display())),
            Ask,
        ),
        (
            "a link to another",
            &|it: &Project| {
                symlink(&whole, it.cwd().join(".git")).expect("a link");
            },
            Ask,
        ),
        ("packed-refs", &link(".git/packed-refs", "key"), Ask),
        ("exclude", &link(".git/info/exclude", "key"), Ask),
        (
            "alternates",
            &|it: &Project| {
                write(it, ".git/config", ORDINARY);
                write(it, ".git/objects/info/alternates", "/x/objects\n");
            },
            Ask,
        ),
    ];
    for (what, make, expected) in table {
        let project = Project::new();
        make(&project);
        assert_eq!(project.command("git status"), expected, "{what}");
    }
}

/// The host that a rule is compared with is the one that is fetched, or none.
#[test]
fn an_address_that_is_read_in_several_ways_is_denied_by_every_rule_on_hosts() {
    let judge = |project: &Project, host: &str| {
        let (target, cwd) = (Target::Domain(host.to_owned()), project.cwd());
        outcome(
            &project
                .permissions()
                .judge(&question("WebFetch", &target, &cwd)),
        )
    };
    let deny = Project::new()
        .allow("WebFetch")
        .deny("WebFetch(domain:a.example)");
    assert_eq!(judge(&deny, ""), Deny);
    assert_eq!(judge(&deny, "a.example."), Deny);
    assert_eq!(judge(&deny, "b.example"), Allow);
    let allow = Project::new().allow("WebFetch(domain:a.example)");
    assert_eq!(judge(&allow, ""), Ask);
    assert_eq!(judge(&allow, "A.example"), Allow);
}

/// "Always" is about what was asked, not what is around it.
#[test]
fn no_offer_opens_the_root_or_more_than_the_directory_that_was_named() {
    let project = Project::new();
    let offered = |target: &Target, tool: &str| {
        let cwd = project.cwd();
        match project.permissions().judge(&question(tool, target, &cwd)) {
            Verdict::Ask(ask) => serde_json::to_string(&ask.suggestions).expect("json"),
            other => panic!("{other:?}"),
        }
    };
    let around = project.cwd().parent().expect("a parent").to_owned();
    let around = format!("\"{}\"", around.display());
    for (target, tool) in [
        (shell("touch a:*"), "Bash"),
        (shell("rm -r src"), "Bash"),
        (shell("touch /x"), "Bash"),
        (Target::Write("/x".into()), "Write"),
    ] {
        let offers = offered(&target, tool);
        assert!(!offers.contains(&around), "{target:?}: {offers}");
        assert!(!offers.contains("\"/\""), "{target:?}: {offers}");
    }
    assert!(offered(&shell("make"), "Bash").contains("\"make\""));
    assert!(offered(&shell("npm exec x"), "Bash").contains("\"npm exec x\""));
}

/// What a hook allows is still what plan mode wants asked.
#[test]
fn a_hook_does_not_leave_the_plan_mode() {
    let project = Project::new().mode(PermissionMode::Plan).allow("Bash");
    let judge = |target: &Target, tool: &str| {
        let cwd = project.cwd();
        let hooked = Question {
            hook: Some(HookDecision {
                decision: HookPermissionDecision::Allow,
                reason: None,
            }),
            ..question(tool, target, &cwd)
        };
        outcome(&project.permissions().judge(&hooked))
    };
    let server = Target::Mcp {
        server: "disk".to_owned(),
    };
    assert_eq!(judge(&shell("make all"), "Bash"), Ask);
    assert_eq!(judge(&shell("ls"), "Bash"), Allow);
    assert_eq!(judge(&Target::Write(project.cwd().join("a")), "Write"), Ask);
    assert_eq!(judge(&server, "mcp__disk__save"), Ask);
}

/// H3.
#[test]
fn git_is_asked_about_where_the_shell_went_before() {
    let project = Project::new();
    write(&project, ".git/config", ORDINARY);
    write(&project, "sub/HEAD", "ref: refs/heads/main\n");
    write(
        &project,
        "sub/config",
        "[core]\n\tfsmonitor = touch PWNED\n",
    );
    write(&project, "src/a.rs", "");
    write(&project, "file/.git", "gitdir: ../sub\n");
    let cwd = project.cwd();
    let judge = |command: &str, at: &str| outcome(&judge_at(&project, command, &cwd.join(at)));
    assert_eq!(judge("git status", "."), Allow);
    assert_eq!(judge("ls -la", "sub"), Allow);
    for at in ["sub", "src", "file", ".git"] {
        assert_eq!(judge("git status", at), Ask, "in {at}");
    }
    assert_eq!(judge("cd sub && git status", "."), Ask);
    // A directory that somebody added is as good as the first.
    let mut permissions = project.permissions();
    permissions.add_directory(&cwd.join("file"));
    let target = shell("git status");
    let at = cwd.join("file");
    let verdict = permissions.judge(&question("Bash", &target, &at));
    assert_eq!(outcome(&verdict), Ask, "its repository names programs");
}

/// H6: the directory of a judgement is the shell's.
#[test]
fn paths_are_judged_where_the_shell_is() {
    let project = Project::new()
        .mode(PermissionMode::AcceptEdits)
        .allow("Bash(echo *)");
    write(&project, ".git/hooks/x", "");
    let hooks = project.cwd().join(".git/hooks");
    let verdict = judge_at(&project, "echo evil > post-merge", &hooks);
    assert!(is_protected(&verdict), "{verdict:?}");
    let verdict = judge_at(&project, "cat id_rsa", &project.home());
    assert_eq!(outcome(&verdict), Ask);
}

/// H4.
#[test]
fn after_a_part_that_writes_nothing_is_allowed_by_its_path() {
    let project = Project::new()
        .mode(PermissionMode::AcceptEdits)
        .allow("Bash(make *)");
    let cwd = project.cwd();
    std::fs::create_dir_all(cwd.join("d")).expect("a directory");
    std::fs::create_dir_all(cwd.join(".git")).expect("a directory");
    symlink(project.home().join(".bashrc"), cwd.join("d/x")).expect("a link");
    symlink(project.home(), cwd.join("d/o")).expect("a link");
    let table = [
        ("mv d e && echo evil > e/x", Ask),
        ("mv d e && cp evil e/o", Ask),
        ("mv d e; cd e/o; echo evil > evil", Ask),
        ("mv d e; cat e/x", Ask),
        ("mv d e; head -n 1 e/x", Ask),
        ("make d | cat e/x", Ask),
        ("make d && touch e/x", Ask),
        ("echo a > f; cat e/x", Ask),
        ("cp a b; touch c", Ask),
        ("mv a b", Allow),
        ("mv a b && echo done", Allow),
        ("make d && make e", Allow),
        ("make d > log.txt", Allow),
        ("echo a > b", Allow),
        ("cat a > b", Allow),
        ("cd src && touch a", Allow),
    ];
    for (command, expected) in table {
        assert_eq!(project.command(command), expected, "{command}");
    }
}

#[test]
fn a_program_of_the_project_does_not_run_unasked() {
    let project = Project::new();
    write(&project, "bin/wc", "#!/bin/sh\ntouch PWNED\n");
    let path = std::env::join_paths([project.cwd().join("bin"), "/usr/bin".into()]);
    let project = Project {
        path: Some(path.unwrap()),
        ..project
    };
    for (command, expected) in [
        ("wc src/a", Ask),
        ("cat src/a | wc", Ask),
        ("nice wc src/a", Ask),
        ("cat src/a", Allow),
    ] {
        assert_eq!(project.command(command), expected, "{command}");
    }
}

/// A command of which only some parts are read-only is not confined.
#[test]
fn without_confinement_only_the_smallest_set_runs_unasked() {
    let commands = [
        ("cat src/a", Allow, Allow),
        ("echo a; pwd", Allow, Allow),
        ("ls -la", Allow, Allow),
        ("git status", Allow, Ask),
        ("grep -r x .", Allow, Ask),
        ("find . -name x", Allow, Ask),
    ];
    let both = Project::new().allow("Bash(make *)");
    let judged = Project {
        locks: Locks::JudgementOnly,
        ..Project::new().allow("Bash(make *)")
    };
    for (command, with, without) in commands {
        assert_eq!(both.command(command), with, "{command}");
        assert_eq!(judged.command(command), without, "{command} unconfined");
        let mixed = format!("make x; {command}");
        let names_files = command.contains("src/a");
        let expected = if names_files { Ask } else { without };
        assert_eq!(both.command(&mixed), expected, "{mixed}");
    }
}

#[test]
fn a_hook_does_not_allow_what_a_rule_may_forbid() {
    let project = Project::new().deny("Bash(git push:*)");
    let table = [
        ("git push", Deny),
        ("git $x", Ask),
        ("eval \"$x\"", Ask),
        ("fakeroot git push", Ask),
        ("if (", Ask),
        ("make all", Allow),
    ];
    for (command, expected) in table {
        let (target, cwd) = (shell(command), project.cwd());
        let hooked = Question {
            hook: Some(HookDecision {
                decision: HookPermissionDecision::Allow,
                reason: None,
            }),
            ..question("Bash", &target, &cwd)
        };
        let verdict = project.permissions().judge(&hooked);
        assert_eq!(outcome(&verdict), expected, "{command}");
    }
}

#[test]
fn rules_on_files_hold_for_tools_of_servers() {
    let project = Project::new().allow("mcp__fs").deny("Read(**/.env)");
    let table = [
        (json!({"paths": ["a", "./.env"]}), Deny),
        (json!({"from": "in", "to": {"path": ".git/hooks/x"}}), Ask),
        (json!({"destination": "~/.bashrc"}), Ask),
        (json!({"destination": "./src/a"}), Allow),
    ];
    let target = Target::Mcp {
        server: "fs".to_owned(),
    };
    for (input, expected) in table {
        let cwd = project.cwd();
        let question = Question {
            input: input.as_object().expect("an object"),
            ..question("mcp__fs__move", &target, &cwd)
        };
        let verdict = project.permissions().judge(&question);
        assert_eq!(outcome(&verdict), expected, "{input}");
    }
}

#[test]
fn a_shell_does_not_write_a_file_with_other_names_unasked() {
    let project = Project::new().mode(PermissionMode::AcceptEdits);
    write(&project, "one", "");
    write(&project, "two", "");
    std::fs::hard_link(project.cwd().join("two"), project.cwd().join("three")).expect("a link");
    assert_eq!(project.command("echo x > one"), Allow);
    assert_eq!(project.command("echo x > three"), Ask);
}

#[test]
fn commands_that_are_too_large_to_be_judged_are_asked_about_in_every_mode() {
    let commands = [
        format!("make {}", "a ".repeat(5_000)),
        format!("make {}", "a".repeat(100_000)),
        "make;".repeat(200),
        format!("make $x {}", "(:);".repeat(200)),
    ];
    for mode in MODES {
        let project = Project::new().allow("Bash").mode(mode.clone());
        for command in &commands {
            let verdict = judge_at(&project, command, &project.cwd());
            assert!(matches!(verdict, Verdict::Ask(_)), "{mode:?}: {verdict:?}");
        }
    }
}
