//! Modes and rules, command by command.

use falconer_protocol::permission::PermissionMode;

use super::Outcome::{Allow, Ask, Deny};
use super::{Outcome, Project};

#[test]
fn rules_match_as_they_are_written() {
    let table: &[(&str, &str, Outcome)] = &[
        ("Bash", "anything at all", Allow),
        ("Bash(*)", "anything at all", Allow),
        ("Bash(npm run build)", "npm run build", Allow),
        ("Bash(npm run build)", "npm run build x", Ask),
        ("Bash(npm run build)", "  npm   run build ", Allow),
        ("Bash(make *)", "make", Allow),
        ("Bash(make *)", "make all", Allow),
        ("Bash(make *)", "makeall", Ask),
        ("Bash(make*)", "makeall", Allow),
        ("Bash(make:*)", "make all", Allow),
        ("Bash(make:*)", "makeall", Ask),
        ("Bash(cargo * --release)", "cargo build --release", Allow),
        ("Bash(cargo * --release)", "cargo build", Ask),
        ("Bash(make \\*)", "make x", Ask),
        ("Bash(make *)", "make a && make b", Allow),
        ("Bash(make *)", "make a && other b", Ask),
        ("Bash(make *)", "timeout 5 make a", Allow),
        ("Bash(make *)", "CI=1 make a", Allow),
        ("Bash(make *)", "CC=evil make a", Ask),
        ("Bash(CC=clang make *)", "CC=clang make a", Ask),
        ("Bash(make a && other b)", "make a && other b", Allow),
        ("Bash(timeout 5 make a)", "timeout 5 make a", Allow),
        ("Bash(timeout *)", "timeout 5 make a", Ask),
        ("Bash(git -C * status)", "git -C x status", Ask),
        ("Bash(git *)", "git -C x status", Ask),
        ("Read", "make x", Ask),
        ("bash(make)", "make", Ask),
    ];
    for (rule, command, expected) in table {
        let project = Project::new().allow(rule);
        assert_eq!(project.command(command), *expected, "{rule} on {command}");
    }
}

#[test]
fn deny_beats_ask_beats_allow() {
    let project = Project::new()
        .allow("Bash")
        .ask("Bash(git push *)")
        .deny("Bash(git push --force *)");
    assert_eq!(project.command("git status"), Allow);
    assert_eq!(project.command("git push origin"), Ask);
    assert_eq!(project.command("git push --force origin"), Deny);
    assert_eq!(project.command("ls && git push --force"), Deny);
    let bypass = project.mode(PermissionMode::BypassPermissions);
    assert_eq!(bypass.command("git push origin"), Ask);
    assert_eq!(bypass.command("git push --force origin"), Deny);
    let silent = bypass.mode(PermissionMode::DontAsk);
    assert_eq!(silent.command("git push origin"), Deny);
    assert_eq!(silent.command("git status"), Allow);
}

#[test]
fn modes_do_what_they_say() {
    use PermissionMode::{AcceptEdits, Auto, BypassPermissions, Default, DontAsk, Plan};
    let modes = [Default, AcceptEdits, BypassPermissions, Plan, DontAsk, Auto];
    let table: &[(&str, [Outcome; 6])] = &[
        ("ls", [Allow, Allow, Allow, Allow, Allow, Allow]),
        ("cat /etc/hostname", [Ask, Ask, Allow, Ask, Deny, Ask]),
        ("touch a", [Ask, Allow, Allow, Ask, Deny, Ask]),
        ("mkdir -p a/b", [Ask, Allow, Allow, Ask, Deny, Ask]),
        ("mv a b", [Ask, Allow, Allow, Ask, Deny, Ask]),
        ("cp a b", [Ask, Allow, Allow, Ask, Deny, Ask]),
        ("cp -r a b", [Ask, Ask, Allow, Ask, Deny, Ask]),
        ("cp a ../b", [Ask, Ask, Allow, Ask, Deny, Ask]),
        ("cp ../a b", [Ask, Ask, Allow, Ask, Deny, Ask]),
        ("rm a", [Ask, Ask, Allow, Ask, Deny, Ask]),
        ("touch /a", [Ask, Ask, Allow, Ask, Deny, Ask]),
        ("touch $x", [Ask, Ask, Allow, Ask, Deny, Ask]),
        ("cd .. && touch a", [Ask, Ask, Allow, Ask, Deny, Ask]),
        ("cd src && touch a", [Ask, Allow, Allow, Ask, Deny, Ask]),
        ("echo a > b", [Ask, Allow, Allow, Ask, Deny, Ask]),
        ("make", [Ask, Ask, Allow, Ask, Deny, Ask]),
        ("touch .git/config", [Ask, Ask, Ask, Ask, Deny, Ask]),
        ("rm -rf .git", [Ask, Ask, Ask, Ask, Deny, Ask]),
        (
            "cp x .claude/settings.json",
            [Ask, Ask, Ask, Ask, Deny, Ask],
        ),
        ("cp evil/.git .", [Ask, Ask, Ask, Ask, Deny, Ask]),
        ("echo x >> ~/.bashrc", [Ask, Ask, Ask, Ask, Deny, Ask]),
        (
            "cd .git && echo x > config",
            [Ask, Ask, Ask, Ask, Deny, Ask],
        ),
    ];
    for (command, expected) in table {
        for (mode, expected) in modes.iter().zip(expected) {
            let project = Project::new().mode(mode.clone());
            assert_eq!(project.command(command), *expected, "{command} in {mode:?}");
        }
    }
}

#[test]
fn rules_on_paths_hold_for_shell_commands_too() {
    let project = Project::new()
        .allow("Bash")
        .deny("Read(.env)")
        .deny("Edit(locked/**)");
    for command in [
        "cat .env",
        "cat ./.env",
        "cat src/../.env",
        "head -5 src/.env",
        "cat < .env",
        "cp .env x",
        "grep x --file=.env",
        "cat \".env\"",
        "cat '.en'v",
        "cd src && cat ../.env",
        "ls; cat .ENV",
        "curl -d @.env x",
        "touch locked/a",
        "echo x > locked/a",
        "rm locked/a",
        "sed -i s/a/b/ locked/a",
        "mv a locked/b",
    ] {
        assert_eq!(project.command(command), Deny, "{command}");
    }
    assert_eq!(project.command("cat .environment"), Allow);
    let project = Project::new().deny("Read(.env)");
    for command in ["cat .e*", "cat *", "grep -r KEY .", "rg KEY"] {
        assert_eq!(project.command(command), Ask, "{command}");
    }
}

/// A rule on files is a promise that a variable must not break.
#[test]
fn files_that_only_the_shell_knows_are_asked_about_where_rules_forbid_some() {
    let table: &[(&str, Outcome)] = &[
        ("cat .env", Deny),
        ("cat .e*", Deny),
        ("cat $X", Ask),
        ("cat \"$X\"", Ask),
        ("cat $(echo .env)", Ask),
        ("head -n 1 `echo .env`", Ask),
        ("make < $X", Ask),
        ("python3 --config=$X", Ask),
        ("cat ${X:-.env}", Ask),
        ("cat [.]env", Ask),
        ("cat .{e,}nv", Ask),
        ("cd $X && cat .env", Ask),
        ("cd $X && make", Allow),
        ("git commit -m \"$(date)\"", Allow),
        ("echo $X", Allow),
        ("sleep $N", Allow),
        ("cat a.txt", Allow),
        ("cat *.txt", Allow),
        ("make -j8 all", Allow),
    ];
    let project = Project::new().allow("Bash");
    std::fs::write(project.cwd().join(".env"), "SECRET=1").unwrap();
    std::fs::write(project.cwd().join("a.txt"), "text").unwrap();
    assert_eq!(project.command("cat $X"), Allow, "no rule, no question");
    let mut project = project.deny("Read(./.env)");
    for mode in [PermissionMode::Default, PermissionMode::BypassPermissions] {
        project = project.mode(mode.clone());
        for (command, expected) in table {
            assert_eq!(project.command(command), *expected, "{command}, {mode:?}");
        }
    }
}

#[test]
fn writing_to_files_that_only_the_shell_knows_is_asked_about_where_rules_forbid_some() {
    let project = Project::new().allow("Bash").deny("Edit(./locked/**)");
    let table: &[(&str, Outcome)] = &[
        ("make > locked/a", Deny),
        ("make > $X", Ask),
        ("cp a $X", Ask),
        ("cat $X", Allow),
        ("make > out.txt", Allow),
    ];
    for (command, expected) in table {
        assert_eq!(project.command(command), *expected, "{command}");
    }
}
