//! What "always" may mean.

use std::path::Path;

use serde_json::{Value, json};

use super::CWD;
use crate::{Call, Effect, Outcome, Rule, Width, judge, suggest};

fn suggested(tool: &str, input: &Value) -> Vec<(Width, Vec<String>)> {
    let call = Call::new(tool, input, Path::new(CWD)).home(Path::new("/home/u"));
    let found = suggest(&call);
    // Whatever is suggested would have allowed the call.
    for suggestion in &found {
        let rules = suggestion.rules.iter();
        let rules: Vec<_> = rules
            .map(|rule| (Effect::Allow, Rule::parse(rule).expect("a rule")))
            .collect();
        assert_eq!(
            judge(&rules, &call).effect,
            Outcome::Allow,
            "{suggestion:?}"
        );
    }
    assert!(found.is_sorted_by_key(|suggestion| suggestion.width));
    found.into_iter().map(|it| (it.width, it.rules)).collect()
}

type Expected<'a> = (Width, &'a [&'a str]);

#[test]
fn from_narrow_to_wide() {
    use Width::{Exact, Prefix, Tool};
    let table: &[(&str, Value, &[Expected])] = &[
        (
            "Bash",
            json!({"command": "git commit -m x"}),
            &[
                (Exact, &["Bash(git commit -m x)"]),
                (Prefix, &["Bash(git commit *)"]),
                (Prefix, &["Bash(git *)"]),
                (Tool, &["Bash"]),
            ],
        ),
        (
            "Bash",
            json!({"command": "cargo fmt && git status"}),
            &[
                (Exact, &["Bash(cargo fmt && git status)"]),
                (Prefix, &["Bash(cargo fmt *)", "Bash(git status *)"]),
                (Prefix, &["Bash(cargo *)", "Bash(git *)"]),
                (Tool, &["Bash"]),
            ],
        ),
        (
            "Bash",
            json!({"command": "ls *.rs"}),
            &[(Exact, &["Bash(ls \\*.rs)"]), (Tool, &["Bash"])],
        ),
        // A beginning would not allow what leaves the frame, and nothing allows what is opaque.
        (
            "Bash",
            json!({"command": "git -c a=b log"}),
            &[(Exact, &["Bash(git -c a=b log)"]), (Tool, &["Bash"])],
        ),
        ("Bash", json!({"command": "$x"}), &[(Tool, &["Bash"])]),
        ("Bash", json!({"command": "if ("}), &[]),
        (
            "Bash",
            json!({"command": "make", "dangerouslyDisableSandbox": true}),
            &[],
        ),
        (
            "Write",
            json!({"file_path": "src/a.rs"}),
            &[
                (Exact, &["Edit(//srv/project/src/a.rs)"]),
                (Prefix, &["Edit(//srv/project/src/**)"]),
                (Tool, &["Write"]),
            ],
        ),
        ("Read", json!({"file_path": "/a[b]"}), &[(Tool, &["Read"])]),
        (
            "WebFetch",
            json!({"url": "https://docs.rs/x"}),
            &[
                (Exact, &["WebFetch(domain:docs.rs)"]),
                (Tool, &["WebFetch"]),
            ],
        ),
        (
            "mcp__github__get_issue",
            json!({}),
            &[
                (Exact, &["mcp__github__get_issue"]),
                (Prefix, &["mcp__github"]),
            ],
        ),
        ("TodoWrite", json!({}), &[(Tool, &["TodoWrite"])]),
        ("not a name", json!({}), &[]),
    ];
    for (tool, input, expected) in table {
        let expected: Vec<(Width, Vec<String>)> = expected
            .iter()
            .map(|(width, rules)| {
                (
                    *width,
                    rules.iter().map(|rule| (*rule).to_owned()).collect(),
                )
            })
            .collect();
        assert_eq!(suggested(tool, input), expected, "{tool} {input}");
    }
}

#[test]
fn programs_that_do_anything_have_no_wider_form() {
    let table = [
        ("rm build", "Bash(rm build)"),
        ("rm -rf build/*", "Bash(rm -rf build/\\*)"),
        ("rm *.o", "Bash(rm \\*.o)"),
        ("cp notes out", "Bash(cp notes out)"),
        ("tee out", "Bash(tee out)"),
        ("ssh host ls", "Bash(ssh host ls)"),
        ("bash deploy", "Bash(bash deploy)"),
        ("sudo rm x", "Bash(sudo rm x)"),
        ("eval ls", "Bash(eval ls)"),
        ("python3 x.py", "Bash(python3 x.py)"),
        ("xargs rm", "Bash(xargs rm)"),
        ("env ls", "Bash(env ls)"),
        (
            "for x in a; do rm x; done",
            "Bash(for x in a; do rm x; done)",
        ),
    ];
    for (command, exact) in table {
        let found = suggested("Bash", &json!({"command": command}));
        let expected = [
            (Width::Exact, vec![exact.to_owned()]),
            (Width::Tool, vec!["Bash".to_owned()]),
        ];
        assert_eq!(found, expected, "{command}");
    }
}

#[test]
fn a_command_that_runs_anything_has_no_beginning() {
    for (command, expected) in [
        ("npm exec x", &["Bash(npm exec x)", "Bash"][..]),
        ("docker run x", &["Bash(docker run x)", "Bash"]),
        ("uv run x", &["Bash(uv run x)", "Bash"]),
        (
            "kubectl exec p -- ls",
            &["Bash(kubectl exec p -- ls)", "Bash"],
        ),
        ("go run x.go", &["Bash(go run x.go)", "Bash"]),
        (
            "npm test -- x",
            &["Bash(npm test -- x)", "Bash(npm test *)", "Bash"],
        ),
        (
            "kubectl get x",
            &["Bash(kubectl get x)", "Bash(kubectl get *)", "Bash"],
        ),
    ] {
        let found = suggested("Bash", &json!({ "command": command }));
        let rules: Vec<String> = found.into_iter().flat_map(|(_, rules)| rules).collect();
        assert_eq!(rules, expected, "{command}");
    }
}
