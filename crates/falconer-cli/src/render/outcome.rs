//! What came of a call, in a few words.

use falconer_event::Preview;

use super::plain::{clean, first_line};

/// What a tool returned, where that is worth a line.
pub(super) fn of(tool: &str, preview: &Preview) -> Option<String> {
    let text = clean(&preview.text);
    let said = || Some(first_line(&text)).filter(|line| !line.is_empty());
    match tool {
        "Read" => read(&text, preview.truncated).or_else(said),
        "Glob" => Some(found(&text, "file", preview.truncated)),
        "Grep" => Some(found(&text, "line", preview.truncated)),
        "Edit" | "Write" | "NotebookEdit" | "TodoWrite" => None,
        _ => said(),
    }
}

/// How many lines were read. What has no numbers before its lines is no text: an image, a
/// document, a word about an empty file.
fn read(text: &str, cut: bool) -> Option<String> {
    let numbered = text.lines().filter_map(|line| {
        let (number, rest) = line.trim_start().split_once(['\t', '→'])?;
        number.parse::<u64>().ok().map(|_| rest)
    });
    let lines: Vec<&str> = numbered.collect();
    let count = match lines.as_slice() {
        [] => return None,
        // A file that ends with a newline has no line after it.
        [before @ .., ""] if !cut => before.len(),
        all => all.len(),
    };
    Some(counted(count, "line", cut))
}

/// How much a search found. Notes on the search come after an empty line.
fn found(text: &str, what: &str, cut: bool) -> String {
    let first = text.lines().next().unwrap_or_default();
    if first.is_empty() || first.starts_with("No ") && first.ends_with(" found") {
        return "nothing found".to_owned();
    }
    let announced = first.strip_prefix("Found ").and_then(|rest| {
        let (count, files) = rest.split_once(' ')?;
        files.starts_with("file").then(|| count.parse().ok())?
    });
    match announced {
        Some(files) => counted(files, "file", false),
        None => {
            let lines = text.lines().take_while(|line| !line.is_empty());
            counted(lines.count(), what, cut)
        }
    }
}

/// So many of something; `cut` if there may be more.
fn counted(count: usize, what: &str, cut: bool) -> String {
    let least = if cut { "at least " } else { "" };
    let plural = if count == 1 { "" } else { "s" };
    format!("{least}{count} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_says_what_there_is() {
        let cases = [
            ("Read", "1\tone\n2\ttwo\n", Some("2 lines")),
            ("Read", "1\tone\n2\ttwo\n3\t", Some("2 lines")),
            ("Read", "    7→seven", Some("1 line")),
            ("Read", "1\t[image, 12 KB]\n", Some("1 line")),
            ("Read", "[image, 12 KB]\n[smaller]", Some("[image, 12 KB]")),
            ("Read", "The file is empty.", Some("The file is empty.")),
            ("Glob", "a.rs\nb.rs", Some("2 files")),
            ("Glob", "a.rs\n\n[The newest of 3 files]", Some("1 file")),
            ("Glob", "No files found", Some("nothing found")),
            ("Grep", "No matches found", Some("nothing found")),
            ("Grep", "Found 12 files\na\nb", Some("12 files")),
            ("Grep", "Found 1 file (limit: 1)\na", Some("1 file")),
            ("Grep", "Found a needle\nb:2:x", Some("2 lines")),
            ("Grep", "a:1:x\na:2:y\n\n2 matches", Some("2 lines")),
            ("Edit", "The file was changed.", None),
            ("mcp__shop__buy", "\nsold\nout", Some("sold")),
            ("mcp__shop__buy", "", None),
        ];
        for (tool, output, expected) in cases {
            let said = of(tool, &Preview::of(output));
            assert_eq!(said.as_deref(), expected, "{tool}: {output}");
        }
    }

    #[test]
    fn what_is_cut_off_is_not_counted_as_all() {
        for (tool, output, expected) in [
            ("Read", "1\tx\n".repeat(900), "at least 250 lines"),
            ("Glob", "a\n".repeat(900), "at least 500 files"),
            ("WebFetch", "word ".repeat(900), "word word word"),
        ] {
            let said = of(tool, &Preview::of(&output)).unwrap();
            assert!(said.starts_with(expected), "{tool}: {said}");
        }
    }
}
