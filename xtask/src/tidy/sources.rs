//! Rules for Rust files: a head that says what the file is for, nothing
//! ignored, no lint silenced for a whole file, `unsafe` in one crate only.

use super::Problem;

/// The one crate that may contain `unsafe`.
const UNSAFE_CRATE: &str = "crates/falconer-process/";
/// Words that follow `unsafe` where it is code and not prose.
const UNSAFE_BEFORE: [&str; 5] = ["{", "fn ", "impl", "extern", "trait "];

pub(super) fn check(path: &str, text: &str) -> Vec<Problem> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    if !text.starts_with("//!") {
        problems.push(Problem::at(
            path,
            1,
            "start the file with `//!`: what it is for, and what it is not for",
        ));
    }
    for (index, line) in text.lines().enumerate() {
        if let Some(complaint) = complaint(path, line.trim_start()) {
            problems.push(Problem::at(path, index + 1, complaint));
        }
    }
    problems
}

fn complaint(path: &str, line: &str) -> Option<&'static str> {
    if line.starts_with("#[ignore") {
        return Some("an ignored test shows nothing: make it pass or delete it");
    }
    if line.starts_with("#![allow") || line.starts_with("#![expect") {
        return Some(
            "silence a lint where it fires, with `#[expect(.., reason = \"..\")]`, not for a whole file",
        );
    }
    if !path.starts_with(UNSAFE_CRATE) && has_unsafe(line) {
        return Some("only `falconer-process` may contain `unsafe`: move the code there");
    }
    None
}

fn has_unsafe(line: &str) -> bool {
    if line.starts_with("//") {
        return false;
    }
    line.match_indices("unsafe ").any(|(start, word)| {
        let (before, after) = (&line[..start], &line[start + word.len()..]);
        let is_word = !before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let is_quoted = before.replace("\\\"", "").matches('"').count() % 2 == 1;
        is_word && !is_quoted && UNSAFE_BEFORE.iter().any(|next| after.starts_with(next))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_fire_where_they_should_and_nowhere_else() {
        let table = [
            ("crates/a/src/lib.rs", "//! Head.\nfn main() {}", None),
            ("crates/a/src/lib.rs", "fn main() {}", Some(1)),
            ("crates/a/src/lib.rs", "", Some(1)),
            ("crates/a/build.sh", "no head", None),
            ("crates/a/src/lib.rs", "//! Head.\n    #[ignore]\n", Some(2)),
            (
                "crates/a/src/lib.rs",
                "//! Head.\n    #[ignore = \"later\"]\n",
                Some(2),
            ),
            (
                "crates/a/src/lib.rs",
                "//! Head.\n// #[ignore] is not used here\n",
                None,
            ),
            (
                "crates/a/src/lib.rs",
                "//! Head.\n#![allow(dead_code)]\n",
                Some(2),
            ),
            (
                "crates/a/src/lib.rs",
                "//! Head.\n#![expect(dead_code)]\n",
                Some(2),
            ),
            (
                "crates/a/src/lib.rs",
                "//! Head.\n#![doc(html_root_url = \"x\")]\n",
                None,
            ),
            (
                "crates/a/src/lib.rs",
                "//! Head.\n#[expect(dead_code, reason = \"x\")]\n",
                None,
            ),
            (
                "crates/a/src/lib.rs",
                "//! Head.\nlet x = unsafe { y };\n",
                Some(2),
            ),
            (
                "crates/a/src/lib.rs",
                "//! Head.\npub unsafe fn x() {}\n",
                Some(2),
            ),
            (
                "crates/a/src/lib.rs",
                "//! Head.\n// an unsafe { block }\n",
                None,
            ),
            (
                "crates/a/src/lib.rs",
                "//! Head.\nlet not_unsafe = 1;\n",
                None,
            ),
            (
                "crates/a/src/lib.rs",
                "//! Head.\nlet text = \"unsafe fn in a text\";\n",
                None,
            ),
            (
                "crates/falconer-process/src/lib.rs",
                "//! Head.\nunsafe impl Send for X {}\n",
                None,
            ),
        ];
        for (path, text, line) in table {
            let places: Vec<String> = check(path, text)
                .into_iter()
                .map(|problem| problem.place)
                .collect();
            let expected: Vec<String> = line
                .map(|line: usize| format!("{path}:{line}"))
                .into_iter()
                .collect();
            assert_eq!(places, expected, "{path} {text:?}");
        }
    }
}
