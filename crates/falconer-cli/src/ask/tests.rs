//! Nothing is approved that was not on the screen.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::render::visible;

const WINDOW: Window = Window {
    columns: 60,
    rows: 30,
};

fn bash(command: &str) -> PermissionRequested {
    PermissionRequested::new("1", "Bash", json!({"command": command}), "d")
}

/// A question on a screen of its own.
struct Shown {
    open: Open,
    screen: Screen<Vec<u8>>,
}

impl Shown {
    fn of(mut open: Open) -> Self {
        let mut screen = Screen::new(Vec::new(), "");
        let reader = Reader::new(open.sheet(), || WINDOW);
        reader.begin(&mut screen).unwrap();
        open.reader = Some(reader);
        Self { open, screen }
    }

    fn say(&mut self, line: &str) -> Option<Verdict> {
        match self.open.take(Some(line), &mut self.screen).unwrap() {
            Step::Verdict(verdict) => Some(verdict),
            Step::Again | Step::Read => None,
        }
    }

    /// What was written so far, with its colours.
    fn written(&self) -> String {
        String::from_utf8(self.screen.written().clone()).unwrap()
    }

    fn texts(&self) -> String {
        anstream::adapter::strip_str(&self.written()).to_string()
    }
}

fn long() -> String {
    let lines: Vec<_> = (1..=200).map(|number| format!("echo {number}")).collect();
    lines.join("\n")
}

#[test]
fn a_short_request_is_shown_in_full_and_answered() {
    let mut shown = Shown::of(Open::permission(&bash("cat <<EOF\nbody\nEOF")));
    assert!(shown.texts().contains("│ cat <<EOF\n  │ body\n  │ EOF"));
    assert_eq!(shown.say("y"), Some(Verdict::Allow));
    assert_eq!(shown.open.shown(), Some(falconer_event::Shown::Full));
}

#[test]
fn a_long_request_is_approved_only_after_its_end_or_a_skip() {
    use falconer_event::Shown as How;
    let mut request = bash(&long());
    request.suggestions = vec![json!({"type": "addRules", "behavior": "allow",
        "destination": "session", "rules": [{"toolName": "Bash"}]})];
    let mut shown = Shown::of(Open::permission(&request));
    assert!(shown.texts().contains("lines hidden"));
    for line in ["y", "yes", "a", "/allow", "e", "e touch x"] {
        assert_eq!(shown.say(line), None, "{line}");
        assert_eq!(shown.open.shown(), Some(How::Part), "{line}");
    }
    assert_eq!(shown.say("v"), None);
    assert_eq!(shown.say("y"), None, "the first page is not the end");
    assert_eq!(shown.say("v"), None);
    for _ in 0..20 {
        if shown.open.shown() == Some(How::Viewed) {
            break;
        }
        assert_eq!(shown.say(""), None);
    }
    assert_eq!(shown.say("y"), Some(Verdict::Allow));
    assert_eq!(shown.open.shown(), Some(How::Viewed));
    for number in 1..=200 {
        assert!(
            shown.texts().contains(&format!("│ echo {number}\n")),
            "{number}"
        );
    }

    let mut shown = Shown::of(Open::permission(&bash(&long())));
    assert_eq!(shown.say("skip"), None);
    assert_eq!(shown.say("y"), Some(Verdict::Allow));
    assert_eq!(shown.open.shown(), Some(How::Skipped));

    let mut shown = Shown::of(Open::permission(&bash(&long())));
    assert!(matches!(shown.say("n no"), Some(Verdict::Deny(_))));
    assert_eq!(shown.open.shown(), Some(How::Part));
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~]{0,30}",
        Just("\n".to_owned()),
        Just(" ".repeat(200)),
        Just("\n".repeat(60)),
        "\\PC{0,8}",
        proptest::char::any().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn inputs() -> impl Strategy<Value = (&'static str, Value)> {
    (0..6usize, texts(), texts(), texts()).prop_map(|(kind, one, two, three)| match kind {
        0 => ("Bash", json!({"command": one, "description": two})),
        1 => ("Write", json!({"file_path": one, "content": two})),
        2 => (
            "Edit",
            json!({"file_path": one, "old_string": two, "new_string": three}),
        ),
        3 => ("WebFetch", json!({"url": one, "prompt": two})),
        4 => ("mcp__x__y", json!({"a": one, "b": [two, {"c": three}]})),
        _ => ("Unknown", json!(one)),
    })
}

/// The texts in a value, wherever they are.
fn leaves(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(leaves).collect(),
        Value::Object(fields) => fields.values().flat_map(leaves).collect(),
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_text_of_an_input_is_on_its_sheet((tool, input) in inputs()) {
        let texts = Sheet::default().call(tool, &input).texts();
        for leaf in leaves(&input) {
            let escaped = visible(&serde_json::to_string(leaf).unwrap());
            let is_escaped = texts.iter().any(|text| text.contains(&escaped));
            let mut lines = leaf.split('\n').map(visible);
            prop_assert!(is_escaped || lines.all(|line| line.is_empty() || texts.contains(&line)),
                "{leaf:?} not in {texts:?}");
        }
    }

    /// Whatever is asked, and whatever is typed: an approval comes after every row of the request
    /// was on the screen, unless somebody typed `skip`.
    #[test]
    fn every_row_is_on_the_screen_before_an_approval(
        (tool, input) in inputs(),
        typed in proptest::collection::vec(prop_oneof![
            Just("v"), Just(""), Just("y"), Just("a"), Just("q"), Just("hm"), Just("e x"),
        ], 0..30),
    ) {
        let request = PermissionRequested::new("1", tool, input, "d");
        let mut shown = Shown::of(Open::permission(&request));
        let rows = shown.open.sheet().rows(WINDOW.columns);
        for line in typed {
            let Some(verdict) = shown.say(line) else { continue };
            if !verdict.is_denial() {
                let written = shown.written();
                let mut lines: std::collections::HashSet<_> = written.split('\n').collect();
                lines.insert("");
                for row in &rows {
                    prop_assert!(lines.contains(row.as_str()), "{row:?} not in {written}");
                }
            }
            break;
        }
    }
}
