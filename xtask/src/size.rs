//! The longest files and functions, as advice and never as a failure.

use crate::tidy::TextFile;

/// From here on a file may hold a second concept.
const FILE_LINES: usize = 500;
/// From here on a function deserves a look.
const FUNCTION_LINES: usize = 60;
/// How many of each are named.
const WORST: usize = 3;

/// A function, or a file, and its length.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Measured {
    place: String,
    lines: usize,
}

pub(crate) fn advice(files: &[TextFile]) -> Vec<String> {
    let sources: Vec<&TextFile> = files
        .iter()
        .filter(|file| file.path.ends_with(".rs"))
        .collect();
    let long_files = sources.iter().map(|file| Measured {
        place: file.path.clone(),
        lines: file.text.lines().count(),
    });
    let long_functions = sources.iter().flat_map(|file| functions(file));
    let mut advice = Vec::new();
    for found in worst(long_files, FILE_LINES) {
        advice.push(format!(
            "{} has {} lines: is there a second concept in it?",
            found.place, found.lines
        ));
    }
    for found in worst(long_functions, FUNCTION_LINES) {
        advice.push(format!(
            "{} has {} lines: could it be several?",
            found.place, found.lines
        ));
    }
    advice
}

fn worst(all: impl Iterator<Item = Measured>, limit: usize) -> Vec<Measured> {
    let mut long: Vec<Measured> = all.filter(|found| found.lines >= limit).collect();
    long.sort_by(|left, right| {
        right
            .lines
            .cmp(&left.lines)
            .then_with(|| left.place.cmp(&right.place))
    });
    long.truncate(WORST);
    long
}

/// Functions by indentation, which `rustfmt` makes reliable: one ends at the
/// first line that closes a brace at the depth it began.
fn functions(file: &TextFile) -> Vec<Measured> {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else {
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let closing = format!("{}}}", " ".repeat(indent));
        let length = lines
            .iter()
            .skip(start)
            .position(|line| *line == closing)
            .map(|offset| offset + 1);
        if let Some(lines) = length {
            found.push(Measured {
                place: format!("{}:{} `{name}`", file.path, start + 1),
                lines,
            });
        }
    }
    found
}

fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_head = before.split_whitespace().all(|word| {
        word.starts_with("pub")
            || matches!(word, "async" | "const" | "unsafe" | "extern")
            || word.ends_with(')')
    });
    let ends_here = line.ends_with([';', '}']);
    let name = after.split(['(', '<']).next()?;
    (is_head && !ends_here && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_functions_are_named_with_their_length() {
        let body = "        step();\n".repeat(60);
        let text = format!(
            "impl A {{\n    pub(crate) async fn long(&self) {{\n{body}    }}\n\n    fn short() {{\n        a();\n    }}\n}}\n"
        );
        let file = TextFile {
            path: "a.rs".to_owned(),
            text,
        };
        assert_eq!(
            functions(&file),
            [
                Measured {
                    place: "a.rs:2 `long`".to_owned(),
                    lines: 62
                },
                Measured {
                    place: "a.rs:65 `short`".to_owned(),
                    lines: 3
                },
            ]
        );
        assert_eq!(
            advice(&[file]),
            ["a.rs:2 `long` has 62 lines: could it be several?"]
        );
    }

    #[test]
    fn only_the_worst_few_files_are_named_longest_first() {
        let files: Vec<TextFile> = (0..5)
            .map(|index| TextFile {
                path: format!("{index}.rs"),
                text: "x\n".repeat(FILE_LINES + index),
            })
            .collect();
        let advice = advice(&files);
        assert_eq!(advice.len(), WORST);
        assert!(advice[0].starts_with("4.rs has 504 lines"), "{advice:?}");
    }
}
