//! Numbers in documents: each comes from one line of code.
//!
//! A size or a time in a document that no entry of the table covers is a problem, and so is an
//! entry whose text a document no longer has. Change the code, and `tidy` names every sentence to
//! change with it.

mod table;

use super::{Problem, TextFile};
use table::{EXAMPLES, NUMBERS, Number};

pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    check_table(NUMBERS, EXAMPLES, files)
}

fn check_table(numbers: &[Number], examples: &[(&str, &str)], files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let documents: Vec<(&str, String)> = files
        .iter()
        .filter(|file| is_document(&file.path))
        .map(|file| (file.path.as_str(), one_line(&file.text)))
        .collect();
    // Only what the table does not cover is left to be complained about.
    let mut covered: Vec<(&str, String)> = examples
        .iter()
        .map(|&(path, text)| (path, text.to_owned()))
        .collect();
    for number in numbers {
        let Some(value) = value_of(number, files) else {
            let text = format!(
                "has no number behind `{}`: mend the table in xtask/src/tidy/numbers/table.rs",
                number.before
            );
            problems.push(Problem::new(number.source, text));
            continue;
        };
        for &(path, template) in number.said {
            let ways = ways(template, value);
            let text = documents.iter().find(|(name, _)| *name == path);
            match ways
                .iter()
                .find(|way| text.is_some_and(|(_, text)| text.contains(way.as_str())))
            {
                Some(way) => covered.push((path, way.clone())),
                None => problems.push(Problem::new(
                    path,
                    format!(
                        "does not say `{}`, the number in {}",
                        ways.join("` or `"),
                        number.source
                    ),
                )),
            }
        }
    }
    for (path, text) in &documents {
        let covered = covered.iter().filter(|(covered, _)| covered == path);
        let rest = without(text, covered.map(|(_, way)| way.as_str()));
        problems.extend(measures(&rest).into_iter().map(|measure| {
            let advice =
                "is in no line of xtask/src/tidy/numbers/table.rs: name the code that decides it";
            Problem::new(*path, format!("`{measure}` {advice}"))
        }));
    }
    problems
}

/// The text without these parts, which may overlap.
fn without<'a>(text: &str, parts: impl Iterator<Item = &'a str>) -> String {
    let mut is_left = vec![true; text.len()];
    for part in parts {
        for (start, part) in text.match_indices(part) {
            is_left[start..start + part.len()].fill(false);
        }
    }
    text.char_indices()
        .map(|(at, letter)| if is_left[at] { letter } else { ' ' })
        .collect()
}

fn is_document(path: &str) -> bool {
    matches!(path, "README.md" | "ARCHITECTURE.md")
        || (path.starts_with("docs/") && path.ends_with(".md"))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A number of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    /// Bytes, or how many of something.
    Count(u64),
    Milliseconds(u64),
}

fn value_of(number: &Number, files: &[TextFile]) -> Option<Value> {
    if number.source.ends_with('/') {
        let tests = files
            .iter()
            .filter(|file| file.path.starts_with(number.source))
            .flat_map(|file| file.text.lines())
            .filter(|line| is_test(line))
            .count();
        return Some(Value::Count(tests as u64 / 100 * 100));
    }
    let text = &files.iter().find(|file| file.path == number.source)?.text;
    // The field itself may be declared above its value.
    let value = text.lines().find_map(|line| {
        let (_, rest) = line.split_once(number.before)?;
        evaluate(rest.split([',', ';']).next()?)
    })?;
    match (number.before, value) {
        (name, Value::Count(count)) if name.contains("_MS ") => Some(Value::Milliseconds(count)),
        (name, Value::Count(count)) if name.contains("_KILOBYTES") => {
            Some(Value::Count(count << 10))
        }
        (_, value) => Some(value),
    }
}

fn is_test(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("#[test") || line.starts_with("#[tokio::test")
}

/// `16 << 20`, `1_000`, `Duration::from_secs(10 * 60)`, with what is left of brackets behind it.
fn evaluate(expression: &str) -> Option<Value> {
    let expression = expression.trim().trim_end_matches(')');
    for (name, factor) in [("from_secs(", 1000), ("from_millis(", 1)] {
        if let Some((_, inner)) = expression.split_once(name) {
            return Some(Value::Milliseconds(count(inner)? * factor));
        }
    }
    count(expression).map(Value::Count)
}

fn count(expression: &str) -> Option<u64> {
    if let Some((left, right)) = expression.split_once("<<") {
        return Some(count(left)? << count(right)?);
    }
    if let Some((left, right)) = expression.split_once('*') {
        return Some(count(left)? * count(right)?);
    }
    expression.trim().replace('_', "").parse().ok()
}

/// The ways in which a document may say a number, by the unit behind it.
fn ways(template: &str, value: Value) -> Vec<String> {
    let (before, after) = template.split_once("{}").unwrap_or((template, ""));
    let unit = after
        .trim_start()
        .split(|letter: char| !letter.is_alphabetic())
        .next()
        .unwrap_or_default();
    let (number, parts) = match (value, unit) {
        (Value::Count(bytes), "KiB") => (bytes, 1 << 10),
        (Value::Count(bytes), "MiB") => (bytes, 1 << 20),
        (Value::Milliseconds(time), "minute" | "minutes") => (time, 60_000),
        (Value::Milliseconds(time), _) => (time, 1000),
        (Value::Count(count), _) => (count, 1),
    };
    let (whole, rest) = (number / parts, number % parts);
    let mut numbers = Vec::new();
    if rest != 0 {
        numbers.push(format!("{whole}.{}", rest * 10 / parts));
        if whole == 0 && rest * 2 == parts {
            numbers.push("half a".to_owned());
        }
    } else {
        numbers.push(whole.to_string());
        if whole >= 1000 {
            numbers.push(format!("{},{:03}", whole / 1000, whole % 1000));
        }
        if let Some(word) = word(whole) {
            numbers.push(word);
        }
    }
    numbers
        .iter()
        .map(|number| format!("{before}{number}{after}"))
        .collect()
}

fn word(number: u64) -> Option<String> {
    const WORDS: [&str; 11] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    let word = |number: u64| WORDS.get(usize::try_from(number).ok()?).copied();
    match number {
        0..=10 => word(number).map(str::to_owned),
        _ if number.is_multiple_of(100) => Some(format!("{} hundred", word(number / 100)?)),
        _ => None,
    }
}

/// Sizes and times in a text: digits and a unit behind them.
fn measures(text: &str) -> Vec<String> {
    const UNITS: [&str; 9] = [
        "KiB", "MiB", "GiB", "ms", "s", "second", "seconds", "minute", "minutes",
    ];
    let words: Vec<&str> = text.split_whitespace().collect();
    words
        .windows(2)
        .filter_map(|pair| {
            let number = pair[0].trim_start_matches(|letter: char| !letter.is_alphanumeric());
            let unit = pair[1].trim_end_matches(|letter: char| !letter.is_alphanumeric());
            let is_number = number.starts_with(|letter: char| letter.is_ascii_digit())
                && number
                    .chars()
                    .all(|letter| matches!(letter, '0'..='9' | '.' | ','));
            (is_number && UNITS.contains(&unit)).then(|| format!("{number} {unit}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::table::number;
    use super::*;

    const TABLE: &[Number] = &[
        number("a.rs", " body: ", &[("docs/a.md", "Body {} MiB")]),
        number(
            "a.rs",
            "LIMIT: Duration = ",
            &[("README.md", "for {} minutes")],
        ),
        number(
            "tests/",
            "#[test]",
            &[("README.md", "more than {} scenarios")],
        ),
    ];

    fn problems(code: &str, readme: &str, page: &str) -> Vec<String> {
        let file = |path: &str, text: &str| TextFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let files = [
            file("a.rs", code),
            file("tests/b.rs", &"#[tokio::test]\n".repeat(427)),
            file("README.md", readme),
            file("docs/a.md", page),
        ];
        check_table(TABLE, &[("docs/a.md", "took 3 ms")], &files)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    const CODE: &str = "  body: 2 << 20,\nconst LIMIT: Duration = Duration::from_secs(10 * 60);";
    const README: &str = "It waits for ten\nminutes, in more than four hundred scenarios.";
    const PAGE: &str = "Body 2 MiB. It took 3 ms.";

    #[test]
    fn documents_say_what_the_code_says() {
        assert_eq!(problems(CODE, README, PAGE), [""; 0]);
    }

    #[test]
    fn a_number_that_changed_in_one_place_is_named() {
        let table = [
            (
                CODE.replace("2 <<", "3 <<"),
                README.to_owned(),
                PAGE.to_owned(),
            ),
            (
                CODE.replace("10 *", "11 *"),
                README.to_owned(),
                PAGE.to_owned(),
            ),
            (
                CODE.to_owned(),
                README.replace("ten", "five"),
                PAGE.to_owned(),
            ),
            (
                CODE.to_owned(),
                README.replace("four", "five"),
                PAGE.to_owned(),
            ),
            (
                CODE.to_owned(),
                README.to_owned(),
                PAGE.replace("2 M", "4 M"),
            ),
            (
                CODE.to_owned(),
                README.to_owned(),
                format!("{PAGE} Also 7 s."),
            ),
            (
                CODE.replace("body", "page"),
                README.to_owned(),
                PAGE.to_owned(),
            ),
        ];
        for (code, readme, page) in table {
            let found = problems(&code, &readme, &page);
            assert!(!found.is_empty(), "{code}\n{readme}\n{page}");
        }
    }

    #[test]
    fn numbers_of_code_are_read() {
        let table = [
            ("4096", Some(Value::Count(4096))),
            ("128 << 10", Some(Value::Count(128 << 10))),
            ("64 * 1024", Some(Value::Count(64 << 10))),
            ("1_000", Some(Value::Count(1000))),
            ("Duration::from_millis(500)", Some(Value::Milliseconds(500))),
            (
                "Duration::from_secs(600))",
                Some(Value::Milliseconds(600_000)),
            ),
            ("LONGEST", None),
        ];
        for (expression, value) in table {
            assert_eq!(evaluate(expression), value, "{expression}");
        }
    }
}
