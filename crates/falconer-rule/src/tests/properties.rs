//! What holds for every command and every set of rules.

use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::{CWD, command};
use crate::{Call, Effect, Outcome, Rule, judge, suggest};

/// A command, and the sets of rules of which one is needed for it.
type Leaf = (&'static str, &'static [&'static [&'static str]]);

const MAKE: &[&[&str]] = &[&["Bash(make)"], &["Bash(make *)"]];
const NEVER: &[&[&str]] = &[];

const LEAVES: &[Leaf] = &[
    ("ls", NEVER),
    ("cat a", &[&["Bash(cat *)"]]),
    ("git status", &[&["Bash(git *)"]]),
    ("git push", &[&["Bash(git *)"]]),
    ("git -c a=b log", NEVER),
    ("rm x", &[&["Bash(rm x)"]]),
    ("touch y", &[&["Bash(touch *)"]]),
    ("npm run a", &[&["Bash(npm run:*)"]]),
    ("make", MAKE),
    ("make all", &[&["Bash(make *)"]]),
    ("curl z", &[&["Bash(cu*)"]]),
    ("A=1 make", NEVER),
    ("PATH=. make", NEVER),
    ("timeout 5 make", &[&["Bash(make *)"]]),
    ("timeout 5 rm x", NEVER),
    ("sudo make", NEVER),
    ("make > out", &[&["Bash(make *)", "Edit(./out)"]]),
    ("make < in", &[&["Bash(make *)", "Read(./in)"]]),
    ("$x", NEVER),
    ("find . -delete", NEVER),
    ("env -i make", NEVER),
    ("sh -c 'rm x'", NEVER),
    ("export A=1", NEVER),
    ("true", &[&["Bash(true)"]]),
];

fn is_permitted(leaf: &Leaf, rules: &[&str]) -> bool {
    let mut ways = leaf.1.iter();
    ways.any(|way| way.iter().all(|rule| rules.contains(rule)))
}

const RULES: &[&str] = &[
    "Bash(git *)",
    "Bash(make)",
    "Bash(make *)",
    "Bash(npm run:*)",
    "Bash(rm x)",
    "Bash(cu*)",
    "Bash(touch *)",
    "Bash(find *)",
    "Bash(true)",
    "Bash(cat *)",
    "Bash(echo *)",
    "Bash(f)",
    "Edit(./out)",
    "Read(./in)",
    "Edit(./other/**)",
];

/// How commands are put together; every leaf would run, or may.
fn compound() -> impl Strategy<Value = (String, Vec<Leaf>)> {
    let leaf = prop::sample::select(LEAVES).prop_map(|leaf| (leaf.0.to_owned(), vec![leaf]));
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

fn allowing(rules: &[&'static str]) -> Vec<(Effect, &'static str)> {
    rules.iter().map(|rule| (Effect::Allow, *rule)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_rule_permits_a_command_with_a_part_that_is_not_permitted(
        (text, leaves) in compound(),
        rules in prop::sample::subsequence(RULES, 0..=RULES.len()),
    ) {
        if command(&allowing(&rules), &text) == Outcome::Allow {
            for leaf in leaves {
                prop_assert!(is_permitted(&leaf, &rules), "{} in {:?}", leaf.0, text);
            }
        }
    }

    #[test]
    fn permitted_parts_make_a_permitted_list(
        leaves in prop::collection::vec(prop::sample::select(LEAVES), 1..4),
        rules in prop::sample::subsequence(RULES, 0..=RULES.len()),
    ) {
        let all = leaves.iter().all(|leaf| is_permitted(leaf, &rules));
        let texts: Vec<&str> = leaves.iter().map(|leaf| leaf.0).collect();
        let joined = command(&allowing(&rules), &texts.join(" && "));
        prop_assert_eq!(joined == Outcome::Allow, all, "{:?}", texts);
    }

    #[test]
    fn more_parts_never_lift_a_denial((text, leaves) in compound(), index in any::<prop::sample::Index>()) {
        let denied = index.get(&leaves).0;
        prop_assume!(!denied.contains(['$', '>', '<', '*']));
        let rule = format!("Bash({denied})");
        let rules = [(Effect::Allow, "Bash"), (Effect::Deny, rule.as_str())];
        prop_assert_ne!(command(&rules, &text), Outcome::Allow, "{} in {:?}", denied, text);
    }

    #[test]
    fn another_rule_that_forbids_never_permits(
        (text, _) in compound(),
        rules in prop::sample::subsequence(RULES, 0..=RULES.len()),
        more in prop::sample::select(RULES),
        effect in prop::sample::select(vec![Effect::Deny, Effect::Ask]),
    ) {
        let mut rules = allowing(&rules);
        let before = command(&rules, &text);
        rules.push((effect, more));
        let after = command(&rules, &text);
        prop_assert!(before == Outcome::Allow || after != Outcome::Allow, "{} {:?}", more, text);
    }

    #[test]
    fn any_text_is_survived(text in "\\PC{0,60}|[ -~\n]{0,80}|(Bash|read|WebFetch|Grep|a)\\(\\PC{0,30}\\)?") {
        let input = json!({"command": text, "file_path": text, "url": text});
        for tool in ["Bash", "Read", "Edit", "WebFetch", "Glob", text.as_str()] {
            let call = Call::new(tool, &input, Path::new(CWD));
            match Rule::parse(&text) {
                Ok(rule) => drop(judge(&[(Effect::Deny, rule)], &call)),
                Err(error) => prop_assert!(Rule::parse(&error.nearest).is_ok(), "{}", error),
            }
            for suggestion in suggest(&call) {
                let rules: Vec<_> = suggestion.rules.iter().map(|rule| (Effect::Allow, Rule::parse(rule).expect("a rule"))).collect();
                prop_assert_eq!(judge(&rules, &call).effect, Outcome::Allow);
            }
        }
        let found = command(&[(Effect::Allow, "Bash(safe *)")], &text);
        prop_assert!(found != Outcome::Allow || text.contains("safe"), "{:?}", text);
    }
}
