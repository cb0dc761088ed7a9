//! The lines a change touched, as `structuredPatch`.

use std::time::Duration;

use falconer_protocol::tool::PatchHunk;
use similar::{ChangeTag, TextDiff};

/// How many lines around a change are shown.
const AROUND: usize = 3;
/// Texts above this are not compared and not sent to the host.
pub(crate) const COMPARED: usize = 10 << 20;

/// The hunks between two texts; empty when nothing changed or the texts are too large.
pub(crate) fn hunks(old: &str, new: &str) -> Vec<PatchHunk> {
    if old == new || old.len() > COMPARED || new.len() > COMPARED {
        return Vec::new();
    }
    // Past the time limit the difference is coarser, never wrong.
    let diff = TextDiff::configure()
        .timeout(Duration::from_secs(2))
        .diff_lines(old, new);
    diff.grouped_ops(AROUND)
        .iter()
        .filter_map(|group| {
            let (first, last) = (group.first()?, group.last()?);
            let lines: Vec<String> = group
                .iter()
                .flat_map(|op| diff.iter_changes(op))
                .flat_map(|change| lines(change.tag(), change.value(), change.missing_newline()))
                .collect();
            let (old, new) = (first.old_range().start, first.new_range().start);
            Some(PatchHunk {
                old_start: old as u64 + 1,
                old_lines: (last.old_range().end - old) as u64,
                new_start: new as u64 + 1,
                new_lines: (last.new_range().end - new) as u64,
                lines,
                ..PatchHunk::default()
            })
        })
        .collect()
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

/// The text before a change for the host, unless it is too large.
pub(crate) fn original(old: &str) -> Option<&str> {
    (old.len() <= COMPARED).then_some(old)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn hunks_are_those_the_official_cli_makes() {
        let check =
            |old: &str, new: &str, expect: Value| assert_eq!(json!(hunks(old, new)), expect);
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
