//! Names in `ARCHITECTURE.md` exist: what stands in backticks and looks like a
//! file, a folder, a crate of ours or a module of one is looked up.

use std::collections::BTreeSet;

use super::Problem;
use crate::workspace::Package;

const FILE: &str = "ARCHITECTURE.md";
const EXTENSIONS: [&str; 11] = [
    "rs", "toml", "md", "json", "jsonl", "lock", "sh", "mjs", "js", "py", "txt",
];

pub(super) fn check(
    text: Option<&str>,
    files: &BTreeSet<&str>,
    packages: &[Package],
) -> Vec<Problem> {
    let Some(text) = text else {
        return vec![Problem::new(FILE, "is missing")];
    };
    let known = Known { files, packages };
    let mut problems = Vec::new();
    for (line, name) in names(text) {
        if let Some(what) = known.missing(name) {
            problems.push(Problem::at(
                FILE,
                line,
                format!("`{name}` names {what} that does not exist"),
            ));
        }
    }
    problems
}

/// What stands in backticks, with its line, outside of code blocks.
fn names(text: &str) -> Vec<(usize, &str)> {
    let mut names = Vec::new();
    let mut is_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            names.extend(
                line.split('`')
                    .skip(1)
                    .step_by(2)
                    .map(|name| (index + 1, name)),
            );
        }
    }
    names
}

struct Known<'a> {
    files: &'a BTreeSet<&'a str>,
    packages: &'a [Package],
}

impl Known<'_> {
    /// What kind of thing is missing, or nothing if it exists or is not such a name.
    fn missing(&self, name: &str) -> Option<&'static str> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:".contains(letter);
        if name.is_empty() || !name.chars().all(is_plain) || name.starts_with(['/', '-']) {
            return None;
        }
        if name.contains("::") {
            return (!self.has_module(name)).then_some("a module");
        }
        if name.starts_with("falconer-") {
            return (!self.has_crate(name)).then_some("a crate");
        }
        if looks_like_path(name, self.files) {
            return (!self.has_path(name)).then_some("a file or folder");
        }
        None
    }

    fn has_crate(&self, name: &str) -> bool {
        let name = name.trim_end_matches('/');
        self.packages.iter().any(|package| {
            package.name == name || package.binaries.iter().any(|binary| binary == name)
        })
    }

    fn has_path(&self, name: &str) -> bool {
        let name = name.trim_start_matches("./").trim_end_matches('/');
        self.files
            .iter()
            .any(|file| format!("/{file}/").contains(&format!("/{name}/")))
    }

    /// Follows `crate::module::..` as long as the segments are modules of a crate of ours.
    fn has_module(&self, name: &str) -> bool {
        let mut segments = name.split("::");
        let first = segments.next().unwrap_or_default();
        let Some(package) = self
            .packages
            .iter()
            .find(|package| package.name.replace('-', "_") == first)
        else {
            return true;
        };
        let modules: Vec<&str> = segments
            .take_while(|segment| segment.starts_with(|letter: char| letter.is_ascii_lowercase()))
            .collect();
        let path = modules.join("/");
        if path.is_empty() {
            return true;
        }
        // The last segment may be a function, which only the compiler could look up.
        let parent = modules
            .get(..modules.len() - 1)
            .map(|parent| parent.join("/"))
            .unwrap_or_default();
        self.is_module(package, &path) || parent.is_empty() || self.is_module(package, &parent)
    }

    fn is_module(&self, package: &Package, path: &str) -> bool {
        let source = format!("{}/src/{path}", package.folder);
        [format!("{source}.rs"), format!("{source}/mod.rs")]
            .iter()
            .any(|file| self.files.contains(file.as_str()))
    }
}

fn looks_like_path(name: &str, files: &BTreeSet<&str>) -> bool {
    let has_extension = name
        .rsplit_once('.')
        .is_some_and(|(stem, end)| !stem.is_empty() && EXTENSIONS.contains(&end));
    let starts_in_repository = name.split_once('/').is_some_and(|(folder, _)| {
        files.iter().any(|file| {
            file.strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'))
        })
    });
    has_extension || starts_in_repository || name.ends_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_up_if_they_look_like_ours() {
        let files = BTreeSet::from([
            "crates/falconer/src/lib.rs",
            "crates/falconer/src/transport/mod.rs",
            "crates/falconer/src/transport/memory.rs",
            "fixtures/cassettes/a.jsonl",
            ".ci/run",
            "deny.toml",
        ]);
        let packages = [Package {
            name: "falconer".to_owned(),
            folder: "crates/falconer".to_owned(),
            binaries: vec!["falconer-claude".to_owned()],
            ..Package::default()
        }];
        let table = [
            ("crates/falconer", true),
            ("crates/falconer/", true),
            ("crates/gone", false),
            ("transport/memory.rs", true),
            ("memory.rs", true),
            ("gone.rs", false),
            ("fixtures/cassettes/", true),
            ("cassettes/", true),
            ("gone/", false),
            (".ci/run", true),
            (".ci/gone", false),
            ("deny.toml", true),
            ("falconer-claude", true),
            ("falconer-gone", false),
            ("falconer::transport", true),
            ("falconer::transport::memory", true),
            ("falconer::transport::memory::pair", true),
            ("falconer::gone::memory", false),
            ("falconer::Transport", true),
            ("tokio::spawn", true),
            ("application/json", true),
            ("tools/call", true),
            ("fn(a) -> b", true),
            ("--flag=value", true),
        ];
        for (name, exists) in table {
            let problems = check(Some(&format!("See `{name}`.")), &files, &packages);
            assert_eq!(problems.is_empty(), exists, "{name}: {problems:?}");
        }
    }

    #[test]
    fn code_blocks_are_left_alone_and_lines_are_counted() {
        let text = "one\n```\n`gone.rs`\n```\nsee `gone.rs` and `also-gone.rs`\n";
        let places: Vec<String> = check(Some(text), &BTreeSet::new(), &[])
            .into_iter()
            .map(|problem| problem.place)
            .collect();
        assert_eq!(places, ["ARCHITECTURE.md:5", "ARCHITECTURE.md:5"]);
        assert_eq!(check(None, &BTreeSet::new(), &[]).len(), 1);
    }
}
