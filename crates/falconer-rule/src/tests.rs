//! Rules against calls.

mod denials;
mod frames;
mod properties;
mod suggestions;
mod traced;

use std::path::Path;

use serde_json::{Value, json};

use crate::{Anchors, Because, Call, Effect, Judgement, Outcome, Rule, RuleSet, judge};

const CWD: &str = "/srv/project";

fn rules(written: &[(Effect, &str)]) -> Vec<(Effect, Rule)> {
    let written = written.iter();
    written
        .map(|(effect, text)| (*effect, Rule::parse(text).expect("a rule")))
        .collect()
}

fn judged(written: &[(Effect, &str)], tool: &str, input: &Value) -> Judgement {
    judged_in(Path::new(CWD), written, tool, input)
}

fn judged_in(cwd: &Path, written: &[(Effect, &str)], tool: &str, input: &Value) -> Judgement {
    let call = Call::new(tool, input, cwd).home(Path::new("/home/u"));
    judge(&rules(written), &call)
}

fn command(written: &[(Effect, &str)], command: &str) -> Outcome {
    judged(written, "Bash", &json!({"command": command})).effect
}

#[test]
fn one_rule_on_one_call() {
    use Effect::{Allow, Ask, Deny};
    let bash = |text: &str| ("Bash", json!({"command": text}));
    let file = |tool: &'static str, path: &str| (tool, json!({"file_path": path}));
    let web = |url: &str| ("WebFetch", json!({"url": url}));
    let table = [
        (Allow, "Bash", bash("anything | at all"), Outcome::Allow),
        (Allow, "Bash(*)", bash("x > y"), Outcome::Allow),
        (Allow, "Bash", bash("if ("), Outcome::Ask),
        (
            Allow,
            "Bash(git status)",
            bash("git status"),
            Outcome::Allow,
        ),
        (
            Allow,
            "Bash(git status)",
            bash("git status -s"),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "Bash(git status:*)",
            bash("git status -s"),
            Outcome::Allow,
        ),
        (
            Allow,
            "Bash(git:*)",
            bash("git -c a=b status"),
            Outcome::NoMatch,
        ),
        (Allow, "Bash(git:*)", bash("gitk"), Outcome::NoMatch),
        (
            Allow,
            "Bash(git:*)",
            bash("git status > out"),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "Bash(git:*)",
            bash("git status > /dev/null"),
            Outcome::Allow,
        ),
        (
            Allow,
            "Bash(git:*)",
            bash("git log $(curl x)"),
            Outcome::NoMatch,
        ),
        (Allow, "Bash(git:*)", bash("$x"), Outcome::NoMatch),
        (Allow, "Bash(git:*)", bash("git log ("), Outcome::Ask),
        (Allow, "Bash(a && b)", bash("a && b"), Outcome::Allow),
        (Deny, "Bash(rm:*)", bash("ls; sudo rm x"), Outcome::Deny),
        (Deny, "Bash(rm:*)", bash("$x"), Outcome::Ask),
        (Deny, "Bash(rm:*)", bash("ls ("), Outcome::Ask),
        (Deny, "Bash(rm:*)", bash("ls; rm x ("), Outcome::Deny),
        (Deny, "Bash(rm:*)", bash("ls"), Outcome::NoMatch),
        (Ask, "Bash(rm:*)", bash("rm x"), Outcome::Ask),
        (Allow, "Read", file("Read", "/etc/passwd"), Outcome::Allow),
        (
            Allow,
            "Read(./src/**)",
            file("Read", "/srv/project/src/a"),
            Outcome::Allow,
        ),
        (
            Allow,
            "Read(./src/**)",
            file("Read", "src/../a"),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "Read(src/**)",
            ("Grep", json!({"pattern": "x", "path": "src/a"})),
            Outcome::Allow,
        ),
        (
            Allow,
            "Read(src/**)",
            ("Grep", json!({"pattern": "x"})),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "Read(src/**)",
            ("Glob", json!({"pattern": "src/**/*.rs"})),
            Outcome::Allow,
        ),
        (
            Allow,
            "Read(src/**)",
            ("Glob", json!({"pattern": "src/../**"})),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "Read(~/x)",
            file("Read", "/home/u/x"),
            Outcome::Allow,
        ),
        (
            Allow,
            "Read(//opt/**)",
            file("Read", "/opt/a/b"),
            Outcome::Allow,
        ),
        (
            Allow,
            "Read(//opt/**)",
            file("Edit", "/opt/a/b"),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "Edit(src/**)",
            file("Write", "src/a"),
            Outcome::Allow,
        ),
        (
            Allow,
            "Edit(src/**)",
            ("NotebookEdit", json!({"notebook_path": "src/a"})),
            Outcome::Allow,
        ),
        (
            Allow,
            "Edit(src/**)",
            file("Read", "src/a"),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "Edit(src/**)",
            ("Write", json!({"file_path": 7})),
            Outcome::NoMatch,
        ),
        (Deny, "Read(.env)", file("Edit", "a/.env"), Outcome::Deny),
        (Deny, "Read(.env)", file("Read", "a/.ENV"), Outcome::Deny),
        (Deny, "Read(.env)", bash("cat a/.env"), Outcome::Deny),
        (Deny, "Edit(.env)", bash("echo x > .env"), Outcome::Deny),
        (
            Allow,
            "WebFetch(domain:docs.rs)",
            web("https://docs.rs/serde"),
            Outcome::Allow,
        ),
        (
            Allow,
            "WebFetch(domain:docs.rs)",
            web("https://DOCS.RS:443/"),
            Outcome::Allow,
        ),
        (
            Allow,
            "WebFetch(domain:docs.rs)",
            web("https://docs.rs@evil.com/"),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "WebFetch(domain:docs.rs)",
            web("https://evil.com/docs.rs"),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "WebFetch(domain:docs.rs)",
            web("https://evil.com\\@docs.rs"),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "WebFetch(domain:docs.rs)",
            web("https://a.docs.rs/"),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "WebFetch(domain:*.docs.rs)",
            web("https://a.docs.rs/"),
            Outcome::Allow,
        ),
        (
            Allow,
            "WebFetch(domain:docs.rs)",
            ("WebFetch", json!({})),
            Outcome::NoMatch,
        ),
        (
            Deny,
            "WebFetch(domain:docs.rs)",
            web("docs.rs"),
            Outcome::Deny,
        ),
        (
            Deny,
            "WebFetch(domain:evil.invalid)",
            web("https:///evil.invalid/"),
            Outcome::Deny,
        ),
        (
            Allow,
            "WebFetch(domain:docs.rs)",
            web("https:evil.invalid/://docs.rs/?q=SECRET"),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "WebFetch(domain:b\u{fc}cher.example)",
            web("https://xn--bcher-kva.example/"),
            Outcome::Allow,
        ),
        (
            Allow,
            "mcp__github",
            ("mcp__github__x", json!({})),
            Outcome::Allow,
        ),
        (
            Allow,
            "mcp__github__*",
            ("mcp__github__x", json!({})),
            Outcome::Allow,
        ),
        (
            Allow,
            "mcp__github",
            ("mcp__github2__x", json!({})),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "mcp__github__get_*",
            ("mcp__github__get_x", json!({})),
            Outcome::Allow,
        ),
        (
            Allow,
            "mcp__github__get_*",
            ("mcp__github__set_x", json!({})),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "mcp__github",
            ("mcp__github__evil__x", json!({})),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "mcp__github__get_*",
            ("mcp__github__get_a__x", json!({})),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "mcp__github",
            ("mcp__github___x", json!({})),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "mcp__github__evil__x",
            ("mcp__github__evil__x", json!({})),
            Outcome::Allow,
        ),
        (
            Deny,
            "mcp__github",
            ("mcp__github__evil__x", json!({})),
            Outcome::Deny,
        ),
        (
            Deny,
            "mcp__github__evil",
            ("mcp__github__evil__x", json!({})),
            Outcome::Deny,
        ),
        (Deny, "mcp__*", ("mcp__any__x", json!({})), Outcome::Deny),
        (
            Allow,
            "mcp__*",
            ("mcp__any__x", json!({})),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "Agent(Explore)",
            ("Agent", json!({"subagent_type": "Explore"})),
            Outcome::Allow,
        ),
        (
            Allow,
            "Agent(Explore)",
            ("Agent", json!({"subagent_type": "other"})),
            Outcome::NoMatch,
        ),
        (
            Allow,
            "Skill(pdf *)",
            ("Skill", json!({"skill": "pdf", "args": "x"})),
            Outcome::Allow,
        ),
        (Deny, "TodoWrite", ("TodoWrite", json!(null)), Outcome::Deny),
    ];
    for (effect, rule, (tool, input), expected) in table {
        let found = judged(&[(effect, rule)], tool, &input);
        assert_eq!(
            found.effect, expected,
            "{rule} on {tool} {input}: {}",
            found.because
        );
        assert!(!found.because.to_string().is_empty());
    }
}

#[test]
fn deny_beats_ask_beats_allow_whatever_the_order() {
    use Effect::{Allow, Ask, Deny};
    let mut written = vec![
        (Allow, "Bash(git *)"),
        (Ask, "Bash(git push *)"),
        (Deny, "Bash(git push --force *)"),
    ];
    for _ in 0..3 {
        written.rotate_left(1);
        assert_eq!(command(&written, "git status"), Outcome::Allow);
        assert_eq!(command(&written, "git push origin"), Outcome::Ask);
        assert_eq!(
            command(&written, "git status; git push --force"),
            Outcome::Deny
        );
    }
}

#[test]
fn the_deciding_rule_is_named() {
    use Effect::{Allow, Deny};
    let written = [
        (Allow, "Bash(ls *)"),
        (Allow, "Bash(make *)"),
        (Deny, "Read(.env)"),
    ];
    let found = judged(&written, "Bash", &json!({"command": "make all | ls -l"}));
    assert_eq!(found.rule, Some(1));
    assert_eq!(
        found.because.to_string(),
        "every part is allowed: `make all` by the rule `Bash(make *)`, `ls -l` by the rule `Bash(ls *)`"
    );
    let found = judged(&written, "Read", &json!({"file_path": ".env"}));
    assert_eq!(found.rule, Some(2));
    assert_eq!(
        found.because.to_string(),
        "it is denied by the rule `Read(.env)`"
    );
    let found = judged(&written, "Bash", &json!({"command": "make; cargo run"}));
    assert_eq!((found.effect, found.rule), (Outcome::NoMatch, None));
    assert_eq!(found.because, Because::Part("cargo run".to_owned()));
}

#[test]
fn a_file_that_nobody_knows_might_be_a_forbidden_one() {
    use Effect::{Allow, Deny};
    let table = [
        ("cat $X", Outcome::Ask),
        ("cat \"$X\" a", Outcome::Ask),
        ("cat $(echo .env)", Outcome::Ask),
        ("cat < $X", Outcome::Ask),
        ("cat .e*", Outcome::Ask),
        ("X=1; cat $X", Outcome::Ask),
        ("echo $X", Outcome::Allow),
        ("git commit -m \"$X\"", Outcome::Allow),
        ("cat a b", Outcome::Allow),
    ];
    for (text, expected) in table {
        let rules = [(Allow, "Bash"), (Deny, "Read(.env)")];
        assert_eq!(command(&rules, text), expected, "{text}");
        assert_eq!(command(&rules[..1], text), Outcome::Allow, "{text}");
        // What no rule allows stays as it was.
        assert_ne!(command(&rules[1..], text), Outcome::Allow, "{text}");
    }
}

#[test]
fn leaving_the_sandbox_is_never_allowed_by_a_rule() {
    let input = json!({"command": "make", "dangerouslyDisableSandbox": true});
    for rule in ["Bash", "Bash(make)", "Bash(make *)"] {
        let found = judged(&[(Effect::Allow, rule)], "Bash", &input);
        assert_eq!(
            (found.effect, found.because),
            (Outcome::Ask, Because::Unsandboxed),
            "{rule}"
        );
    }
}

#[test]
fn a_broken_rule_says_what_was_perhaps_meant() {
    let table = [
        ("", "Bash(git status)"),
        ("   ", "Bash(git status)"),
        ("(git push)", "Bash(git push)"),
        ("Bash(git push", "Bash(git push)"),
        ("bash(git push)", "Bash(git push)"),
        ("Bsh(git push)", "Bash(git push)"),
        ("READ(.env)", "Read(.env)"),
        ("Write(src/**)", "Edit(src/**)"),
        ("Grep(src/**)", "Read(src/**)"),
        ("WebFetch(example.com)", "WebFetch(domain:example.com)"),
        (
            "WebFetch(https://u@example.com:80/x)",
            "WebFetch(domain:example.com)",
        ),
        ("WebFetch(domain:)", "WebFetch(domain:example.com)"),
        ("TodoWrite(x)", "TodoWrite"),
        ("Read(!a)", "Read(./src/**)"),
        ("Read(a/../b)", "Read(./src/**)"),
        ("Ba sh(x)", "Bash(x)"),
        ("a*b", "ab"),
    ];
    for (text, nearest) in table {
        let error = Rule::parse(text).expect_err(text);
        assert_eq!(error.nearest, nearest, "{text}: {error}");
        assert!(error.to_string().contains(nearest), "{error}");
        Rule::parse(nearest).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    let long = format!("Bash({})", "x".repeat(10_000));
    let error = Rule::parse(&long).expect_err("too long").to_string();
    assert!(error.len() < 400, "{}", error.len());
}

#[test]
fn a_rule_that_cannot_allow_is_told() {
    let anchors = Anchors {
        project: CWD.into(),
        home: None,
    };
    let written = rules(&[
        (Effect::Allow, "mcp__*"),
        (Effect::Allow, "Read(~/x)"),
        (Effect::Deny, "Read(~/x)"),
    ]);
    let set = RuleSet::new(&written, &anchors);
    let useless: Vec<usize> = set.useless().iter().map(|rule| rule.index).collect();
    assert_eq!(useless, [0, 1, 2]);
    // The one that denies counts for all it may have meant.
    let input = json!({"file_path": "/a"});
    let found = set.judge(&Call::new("Read", &input, Path::new(CWD)));
    assert_eq!(found.effect, Outcome::Deny);
}

#[test]
fn a_server_that_is_known_settles_whose_tool_it_is() {
    let input = json!({});
    let table = [
        ("mcp__github", "github", Outcome::Allow),
        ("mcp__github", "github__evil", Outcome::NoMatch),
        ("mcp__github__e*", "github", Outcome::Allow),
        ("mcp__github__e*", "github__evil", Outcome::NoMatch),
    ];
    for (rule, server, expected) in table {
        let call = Call::new("mcp__github__evil__x", &input, Path::new(CWD)).server(server);
        let found = judge(&rules(&[(Effect::Allow, rule)]), &call);
        assert_eq!(found.effect, expected, "{rule} for {server}");
    }
    for (glob, server, expected) in [
        ("github/*", None, Outcome::NoMatch),
        ("github/*", Some("github"), Outcome::Allow),
        ("github/*", Some("github__evil"), Outcome::NoMatch),
    ] {
        let mut call = Call::new("mcp__github__evil__x", &input, Path::new(CWD));
        call.server = server;
        let rule = Rule::mcp(glob).unwrap();
        let found = judge(&[(Effect::Allow, rule.clone())], &call);
        assert_eq!(found.effect, expected, "{glob} for {server:?}");
        let found = judge(&[(Effect::Deny, rule)], &call);
        assert_eq!(found.effect, Outcome::Deny, "{glob} for {server:?}");
    }
}

#[test]
fn a_tool_that_nobody_has_is_told() {
    let table = [
        ("Bash(rm *)", Ok(())),
        ("mcp__any__tool", Ok(())),
        ("Todo*", Ok(())),
        ("Deploy", Ok(())),
        ("Reed", Err(Some("Read"))),
        ("Frobnicate", Err(None)),
        ("Frob*", Err(None)),
    ];
    for (text, expected) in table {
        let rule = Rule::parse(text).unwrap();
        let found = rule.check_tool(&["Deploy"]);
        let found = found.map_err(|error| error.nearest);
        let expected = expected.map_err(|nearest: Option<&str>| nearest.map(str::to_owned));
        assert_eq!(found, expected, "{text}");
    }
    let error = Rule::parse("Reed").unwrap().check_tool(&[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the rule `Reed` names the unknown tool `Reed`; did you mean `Read`?"
    );
    let error = Rule::parse("Bahs(rm *)").unwrap_err();
    assert_eq!(error.nearest, "Bash(rm *)");
}
