//! The book: every shell example in `docs/` runs, and its links lead somewhere.
//!
//! A block ```` ```console ```` holds commands (`$ `, continued by `> `) and what they write.
//! `...` stands for any lines, `[..]` for any text; `? 3` after a command is its exit code.
//! Variables that are exported and functions hold for the rest of the page, as in one shell.
//! `falconer serve` starts a real server, on a port of its own in place of 4780.

mod shell;

use std::path::{Path, PathBuf};

use shell::Shell;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn pages() -> Vec<(String, String)> {
    let files = std::fs::read_dir(docs())
        .unwrap()
        .map(|file| file.unwrap().path());
    let pages = files.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let mut pages: Vec<_> = pages
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    pages.sort();
    pages
}

#[derive(Debug, Default)]
struct Example {
    command: String,
    code: i32,
    output: Vec<String>,
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut is_console = false;
    for line in page.lines() {
        match (line.strip_prefix("```"), is_console) {
            (Some(_), true) => is_console = false,
            (Some(kind), false) => is_console = kind == "console",
            (None, false) => {}
            (None, true) => match (line.strip_prefix("$ "), examples.last_mut()) {
                (Some(command), _) => examples.push(Example {
                    command: command.to_owned(),
                    ..Example::default()
                }),
                (None, Some(example)) => {
                    if let Some(more) = line.strip_prefix("> ") {
                        example.command += &format!("\n{more}");
                    } else if let Some(code) = line.strip_prefix("? ") {
                        example.code = code.parse().unwrap();
                    } else {
                        example.output.push(line.to_owned());
                    }
                }
                (None, None) => panic!("output before a command: {line}"),
            },
        }
    }
    examples
}

/// Whether lines are as expected.
fn fits(expected: &[String], found: &[&str]) -> bool {
    match (expected.split_first(), found.split_first()) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some((wild, rest)), _) if wild == "..." => {
            (0..=found.len()).any(|skipped| fits(rest, &found[skipped..]))
        }
        (Some(_), None) => false,
        (Some((line, rest)), Some((other, more))) => line_fits(line, other) && fits(rest, more),
    }
}

fn line_fits(expected: &str, found: &str) -> bool {
    let pattern: Vec<_> = expected.split("[..]").map(regex::escape).collect();
    regex::Regex::new(&format!("^{}$", pattern.join(".*")))
        .unwrap()
        .is_match(found)
}

/// Runs the commands of a page one after the other.
fn run_page(name: &str, examples: &[Example]) {
    let mut shell = Shell::new();
    for example in examples {
        let (code, output) = shell.run(&example.command);
        let found: Vec<_> = output.lines().collect();
        let context = format!("{name}: $ {}\n{output}", example.command);
        assert!(
            fits(&example.output, &found),
            "{context}\nexpected: {:#?}",
            example.output
        );
        assert_eq!(code, example.code, "{context}");
    }
}

#[test]
fn every_shell_example_does_what_the_page_says() {
    let mut count = 0;
    for (name, page) in pages() {
        let has_other = page.contains("```sh\n") || page.contains("```bash\n");
        assert!(!has_other, "{name}: use ```console");
        let examples = examples(&page);
        count += examples.len();
        run_page(&name, &examples);
    }
    assert!(count > 20, "only {count} examples were found");
}

#[test]
fn every_page_is_in_the_table_of_contents_and_links_lead_somewhere() {
    let pages = pages();
    let link = regex::Regex::new(r"\]\(([^)#:]+)(#[^)]*)?\)").unwrap();
    let contents = &pages
        .iter()
        .find(|(name, _)| name == "README.md")
        .unwrap()
        .1;
    for (name, page) in &pages {
        assert!(
            name == "README.md" || contents.contains(&format!("({name})")),
            "{name}"
        );
        for found in link.captures_iter(page) {
            let target = docs().join(&found[1]);
            assert!(target.exists(), "{name} links to {}", &found[1]);
        }
    }
}
