//! The lines a change touched, as `structuredPatch`.

use std::time::Duration;

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// How many lines around a change are shown.
const AROUND: usize = 3;
/// Texts above this are not compared and not sent to the host.
pub(crate) const COMPARED: usize = 10 << 20;

/// The hunks between two texts; empty when nothing changed or the texts are too large.
pub(crate) fn hunks(old: &str, new: &str) -> Value {
    if old == new || old.len() > COMPARED || new.len() > COMPARED {
        return json!([]);
    }
    // Past the time limit the difference is coarser, never wrong.
    let diff = TextDiff::configure()
        .timeout(Duration::from_secs(2))
        .diff_lines(old, new);
    let hunks: Vec<Value> = diff
        .grouped_ops(AROUND)
        .iter()
        .filter_map(|group| {
            let (first, last) = (group.first()?, group.last()?);
            let lines: Vec<String> = group
                .iter()
                .flat_map(|op| diff.iter_changes(op))
                .flat_map(|change| lines(change.tag(), change.value(), change.missing_newline()))
                .collect();
            Some(json!({
                "oldStart": first.old_range().start + 1,
                "oldLines": last.old_range().end - first.old_range().start,
                "newStart": first.new_range().start + 1,
                "newLines": last.new_range().end - first.new_range().start,
                "lines": lines,
            }))
        })
        .collect();
    Value::Array(hunks)
}

fn lines(tag: ChangeTag, line: &str, missing_newline: bool) -> Vec<String> {
    let sign = match tag {
        ChangeTag::Equal => ' ',
        ChangeTag::Delete => '-',
        ChangeTag::Insert => '+',
    };
    let mut lines = vec![format!("{sign}{}", line.trim_end_matches(['\n', '\r']))];
    if missing_newline {
        lines.push("\\ No newline at end of file".to_owned());
    }
    lines
}

/// The text before a change for the host; null when it is too large.
pub(crate) fn original(old: &str) -> Value {
    if old.len() > COMPARED {
        Value::Null
    } else {
        Value::String(old.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_are_those_the_official_cli_makes() {
        let check = |old: &str, new: &str, expect: Value| assert_eq!(hunks(old, new), expect);
        check("same\n", "same\n", json!([]));
        check(
            "foo foo\nbar\n",
            "baz baz\nbar\n",
            json!([{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": ["-foo foo", "+baz baz", " bar"]}]),
        );
        check(
            "",
            "hello\n",
            json!([{"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": ["+hello"]}]),
        );
        let long: String = (1..=20).map(|line| format!("{line}\n")).collect();
        check(
            &long,
            &long.replace("\n5\n6\n", "\n"),
            json!([{"oldStart": 2, "oldLines": 8, "newStart": 2, "newLines": 6, "lines": [" 2", " 3", " 4", "-5", "-6", " 7", " 8", " 9"]}]),
        );
    }
}
