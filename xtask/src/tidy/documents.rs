//! Promises the documents make: the first two commands of the README work, the
//! second is what build machines run, and the changelog has a place for news.

use super::Problem;
use crate::workspace::Package;

pub(super) fn check_changelog(text: Option<&str>) -> Vec<Problem> {
    let place = "CHANGELOG.md";
    match text {
        None => vec![Problem::new(place, "is missing")],
        Some(text) if text.lines().any(is_unreleased) => Vec::new(),
        Some(_) => vec![Problem::new(
            place,
            "has no section `## Unreleased` for what comes next",
        )],
    }
}

fn is_unreleased(line: &str) -> bool {
    let title = line
        .strip_prefix("## ")
        .map(|title| title.trim().trim_matches(['[', ']']));
    title.is_some_and(|title| title.eq_ignore_ascii_case("unreleased"))
}

pub(super) fn check_readme(
    readme: Option<&str>,
    ci: Option<&str>,
    packages: &[Package],
) -> Vec<Problem> {
    let Some(readme) = readme else {
        return vec![Problem::new("README.md", "is missing")];
    };
    let commands = commands(readme);
    let [_, second, ..] = commands.as_slice() else {
        return vec![Problem::new(
            "README.md",
            "shows fewer than two commands: one to see it work, one to test it",
        )];
    };
    let mut problems: Vec<Problem> = commands
        .iter()
        .take(2)
        .filter_map(|command| Some(Problem::new("README.md", unknown_part(command, packages)?)))
        .collect();
    if !ci.is_some_and(|script| script.lines().any(|line| runs(line, second))) {
        let text = format!("does not run `{second}`, the second command of the README");
        problems.push(Problem::new(".ci/run", text));
    }
    problems
}

/// Checks that each "feature `x` of `crate`" exists, and that no feature is named without a crate.
pub(super) fn check_features(path: &str, text: &str, packages: &[Package]) -> Vec<Problem> {
    const SIGN: &str = "feature `";
    if !path.ends_with(".md") || path == "CHANGELOG.md" {
        return Vec::new();
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mentions = text.split(SIGN).skip(1);
    mentions
        .filter_map(|mention| {
            let mut parts = mention.split('`');
            let (feature, of, owner) = (parts.next()?, parts.next()?, parts.next()?);
            let has = |package: &Package| {
                package.name == owner && package.features.iter().any(|name| name == feature)
            };
            if of != " of " {
                let advice = format!("say which crate has {SIGN}{feature}`");
                return Some(Problem::new(path, advice));
            }
            (!packages.iter().any(has))
                .then(|| Problem::new(path, format!("`{owner}` has no {SIGN}{feature}`")))
        })
        .collect()
}

/// Lines of shell blocks that are commands; getting the source does not count.
fn commands(markdown: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut is_shell = false;
    for line in markdown.lines() {
        let line = line.trim();
        if let Some(language) = line.strip_prefix("```") {
            is_shell = !is_shell && matches!(language.trim(), "sh" | "bash" | "shell" | "console");
        } else if is_shell {
            let command = line.strip_prefix("$ ").unwrap_or(line);
            let command = command.split(" #").next().unwrap_or_default().trim();
            let is_setup = ["git clone", "cd ", "#"]
                .iter()
                .any(|start| command.starts_with(start));
            if !command.is_empty() && !is_setup {
                commands.push(command.to_owned());
            }
        }
    }
    commands
}

/// Says which part of a `cargo` command names something we do not have.
fn unknown_part(command: &str, packages: &[Package]) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let value = |names: [&str; 2]| {
        words
            .windows(2)
            .find(|pair| names.contains(&pair[0]))
            .map(|pair| pair[1])
    };
    if let ["cargo", "xtask", name, ..] = words.as_slice() {
        let is_known = crate::COMMANDS.iter().any(|command| command.name == *name);
        return (!is_known).then(|| format!("`{command}`: xtask has no command `{name}`"));
    }
    let has = |list: fn(&Package) -> &[String], name: &str| {
        packages
            .iter()
            .any(|package| list(package).iter().any(|target| target == name))
    };
    if let Some(name) = value(["-p", "--package"])
        && !packages.iter().any(|package| package.name == name)
    {
        return Some(format!("`{command}`: there is no package `{name}`"));
    }
    if let Some(name) = value(["--example", "--example"])
        && !has(|package| &package.examples, name)
    {
        return Some(format!("`{command}`: there is no example `{name}`"));
    }
    if let Some(name) = value(["--bin", "--bin"])
        && !has(|package| &package.binaries, name)
    {
        return Some(format!("`{command}`: there is no executable `{name}`"));
    }
    None
}

fn runs(line: &str, command: &str) -> bool {
    let line = line.trim();
    let line = line.strip_prefix("exec ").unwrap_or(line);
    line == command
        || line
            .strip_prefix(command)
            .is_some_and(|rest| rest.trim_start().starts_with('<'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages() -> Vec<Package> {
        vec![Package {
            name: "falconer".to_owned(),
            examples: vec!["hello".to_owned()],
            binaries: vec!["falconer".to_owned()],
            ..Package::default()
        }]
    }

    #[test]
    fn a_changelog_needs_a_place_for_news() {
        let table = [
            (None, false),
            (Some("# Changelog\n"), false),
            (Some("# Changelog\n\n## Unreleased\n"), true),
            (Some("# Changelog\n\n## [Unreleased]\n"), true),
            (Some("# Changelog\n\nUnreleased things\n"), false),
        ];
        for (text, is_good) in table {
            assert_eq!(check_changelog(text).is_empty(), is_good, "{text:?}");
        }
    }

    #[test]
    fn features_that_documents_name_exist() {
        let packages = [Package {
            name: "falconer".to_owned(),
            features: vec!["rmcp".to_owned()],
            ..Package::default()
        }];
        let table = [
            ("the feature `rmcp` of `falconer` does it", true),
            ("the feature `rmcp`\nof `falconer` does it", true),
            ("the feature `gone` of `falconer` does it", false),
            ("the feature `rmcp` of `other` does it", false),
            ("the feature `rmcp` does `it`", false),
            ("this feature is good", true),
        ];
        for (text, is_good) in table {
            let problems = check_features("docs/a.md", text, &packages);
            assert_eq!(problems.is_empty(), is_good, "{text}");
        }
    }

    #[test]
    fn the_first_two_commands_of_the_readme_exist_and_ci_runs_the_second() {
        let ci = "set -e\nexec cargo xtask test </dev/null\n";
        let table = [
            (
                "```sh\ncargo run -p falconer --example hello\ncargo xtask test\n```",
                ci,
                true,
            ),
            (
                "```sh\ngit clone x\ncd x\ncargo run --example hello # see it\n```\n```console\n$ cargo xtask test\n```",
                ci,
                true,
            ),
            (
                "```rust\nlet x = 1;\n```\n```sh\ncargo xtask tidy\ncargo xtask test\n```",
                ci,
                true,
            ),
            (
                "```sh\ncargo run -p falconer --example gone\ncargo xtask test\n```",
                ci,
                false,
            ),
            ("```sh\ncargo run -p gone\ncargo xtask test\n```", ci, false),
            (
                "```sh\ncargo run --bin gone\ncargo xtask test\n```",
                ci,
                false,
            ),
            ("```sh\ncargo xtask gone\ncargo xtask test\n```", ci, false),
            ("```sh\ncargo xtask test\ncargo xtask tidy\n```", ci, false),
            ("```sh\ncargo xtask test\n```", ci, false),
            (
                "```sh\ncargo xtask tidy\ncargo xtask test\n```",
                "cargo test\n",
                false,
            ),
            (
                "```sh\ncargo xtask tidy\ncargo xtask test\n```",
                "# cargo xtask test\n",
                false,
            ),
            (
                "```sh\ncargo xtask tidy\ncargo xtask test\n```",
                "cargo xtask test --no-install\n",
                false,
            ),
        ];
        for (readme, ci, is_good) in table {
            let problems = check_readme(Some(readme), Some(ci), &packages());
            assert_eq!(problems.is_empty(), is_good, "{readme}\n{ci}\n{problems:?}");
        }
    }

    #[test]
    fn missing_documents_are_problems() {
        assert_eq!(check_readme(None, None, &packages()).len(), 1);
        assert_eq!(
            check_readme(
                Some("```sh\ncargo xtask tidy\ncargo xtask test\n```"),
                None,
                &packages()
            )
            .len(),
            1
        );
    }
}
