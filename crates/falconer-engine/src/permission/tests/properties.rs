//! What holds for every command and every set of rules.

use ignore::gitignore::GitignoreBuilder;
use proptest::prelude::*;

use super::{Outcome, Project};
use crate::permission::wire::{text_of_wire, to_wire};
use falconer_rule::RuleText;
use falconer_rule::shell::is_read_only;

const LEAVES: &[&str] = &[
    "ls",
    "cat a",
    "git status",
    "git push",
    "git -c a=b log",
    "rm x",
    "touch y",
    "npm run a",
    "npm i",
    "make",
    "make all",
    "curl z",
    "echo hi",
    "A=1 make",
    "PATH=. make",
    "timeout 5 make",
    "timeout 5 rm x",
    "sudo make",
    "cat /etc/passwd",
    "make > out",
    "$x",
    "find . -delete",
    "sleep 1",
    "sed -i s/a/b/ c",
    "sort -o a b",
    "echo a > .bashrc",
    "cp a b",
    "env -i make",
    "exit 1",
    "true",
];

const PATTERNS: &[&str] = &[
    "Bash(git *)",
    "Bash(make)",
    "Bash(make *)",
    "Bash(npm run *)",
    "Bash(npm:*)",
    "Bash(rm x)",
    "Bash(cu*)",
    "Bash(touch *)",
    "Bash(cp * b)",
];

/// How commands are put together; every leaf would run, or may.
fn compound() -> impl Strategy<Value = (String, Vec<&'static str>)> {
    let leaf = prop::sample::select(LEAVES).prop_map(|leaf| (leaf.to_owned(), vec![leaf]));
    leaf.prop_recursive(3, 8, 2, |inner| {
        (inner.clone(), inner, 0..14_usize).prop_map(|((a, mut leaves), (b, more), form)| {
            leaves.extend(more);
            let text = match form {
                0 => format!("{a} && {b}"),
                1 => format!("{a} || {b}"),
                2 => format!("{a}; {b}"),
                3 => format!("{a} | {b}"),
                4 => format!("{a}\n{b}"),
                5 => format!("({a}; {b})"),
                6 => format!("{{ {a}; {b}; }}"),
                7 => format!("{a} & {b}"),
                8 => format!("if {a}; then {b}; fi"),
                9 => format!("while {a}; do {b}; done"),
                10 => format!("{a}; echo \"$({b})\""),
                11 => format!("{a}; cat <(\n{b}\n)"),
                12 => format!("f() {{ {a}; }}; {b}"),
                _ => format!("{a}; cat <<EOF\n$({b})\nEOF\n"),
            };
            (text, leaves)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_command_is_allowed_only_if_every_leaf_is(
        (command, leaves) in compound(),
        rules in prop::sample::subsequence(PATTERNS, 0..PATTERNS.len()),
    ) {
        let project = rules.iter().fold(Project::new(), |project, rule| project.allow(rule));
        if project.command(&command) == Outcome::Allow {
            for leaf in leaves {
                prop_assert_eq!(project.command(leaf), Outcome::Allow, "{} in {:?}", leaf, command);
            }
        }
    }

    #[test]
    fn more_parts_never_lift_a_denial(
        (command, leaves) in compound(),
        index in any::<prop::sample::Index>(),
    ) {
        let denied = index.get(&leaves);
        // A pattern takes stars and knows no variables; the rest is spelled out.
        prop_assume!(!denied.contains(['$', '>', '*']));
        let project = Project::new().allow("Bash").deny(&format!("Bash({denied})"));
        prop_assert_ne!(project.command(&command), Outcome::Allow, "{} in {:?}", denied, command);
    }

    #[test]
    fn nothing_that_writes_is_taken_for_reading((command, leaves) in compound()) {
        if is_read_only(&command) {
            for leaf in leaves {
                prop_assert!(is_read_only(leaf), "{} in {:?}", leaf, command);
            }
        }
    }

    #[test]
    fn any_text_is_survived_and_stays_asked(text in "\\PC{0,60}|[ -~\n]{0,80}") {
        let _ = Project::new().allow(&text).deny(&text).command(&text);
        let project = Project::new().allow("Bash(safe *)");
        if project.command(&text) == Outcome::Allow {
            prop_assert!(is_read_only(&text) || text.contains("safe"), "{:?}", text);
        }
    }

    #[test]
    fn rules_are_printed_as_they_were_read(
        tool in "[A-Za-z][A-Za-z0-9_]{0,12}",
        content in prop::option::of("[ -~]{1,30}"),
    ) {
        let rule = RuleText::new(&tool, content.as_deref());
        let again = RuleText::parse(&rule.to_string()).expect("a rule");
        prop_assert_eq!(&again, &rule);
        prop_assert_eq!(RuleText::parse(&text_of_wire(&to_wire(&rule))), Ok(rule));
    }

    #[test]
    fn path_rules_are_those_of_gitignore(
        pattern in "(/)?([a-c*]{1,3}|\\*\\*)(/([a-c*?]{1,3}|\\*\\*)){0,2}(/)?",
        path in "[a-c]{1,2}(/[a-c]{1,2}){0,3}",
    ) {
        let project = Project::new().deny(&format!("Read({pattern})"));
        let mut builder = GitignoreBuilder::new(project.cwd());
        prop_assume!(!pattern.starts_with("//") && builder.add_line(None, &pattern).is_ok());
        // All there is in a directory includes the directory, for rules that deny.
        if let Some(directory) = pattern.strip_suffix("/**") {
            let line = format!("/{}", directory.trim_start_matches('/'));
            prop_assert!(builder.add_line(None, &line).is_ok());
        }
        let reference = builder.build().expect("patterns");
        let full = project.cwd().join(&path);
        let hit = reference.matched_path_or_any_parents(&full, false).is_ignore();
        prop_assert_eq!(project.read(&path) == Outcome::Deny, hit, "{} on {}", pattern, path);
    }
}
