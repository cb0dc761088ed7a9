//! Versions of dependencies live in the workspace manifest and nowhere else.

use super::Problem;

pub(super) fn check(path: &str, text: &str) -> Vec<Problem> {
    let is_member = path.ends_with("/Cargo.toml")
        && (path.starts_with("crates/") || path.starts_with("xtask/"));
    if !is_member {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let mut is_dependencies = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[') {
            is_dependencies = section.contains("dependencies");
            // `[dependencies.name]` puts the keys on lines of their own.
        } else if is_dependencies && names_version(line) {
            let advice =
                "put the version into the root `Cargo.toml` and write `.workspace = true` here";
            problems.push(Problem::at(path, index + 1, advice));
        }
    }
    problems
}

/// `name = "1"`, `name = { version = "1" }`, `version = "1"`, and a path or a git address.
fn names_version(line: &str) -> bool {
    let Some((_, value)) = line.split_once('=') else {
        return false;
    };
    if line.starts_with('#') {
        return false;
    }
    let value = value.trim();
    value.starts_with('"')
        || ["version", "path", "git"]
            .iter()
            .any(|key| has_key(value, key))
}

fn has_key(table: &str, key: &str) -> bool {
    table.split(['{', ',']).any(|part| {
        part.trim()
            .strip_prefix(key)
            .is_some_and(|rest| rest.trim_start().starts_with('='))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_outside_the_workspace_manifest_are_found() {
        let table = [
            ("serde = \"1\"", true),
            ("serde = { version = \"1\", features = [\"derive\"] }", true),
            ("other = { path = \"../other\" }", true),
            ("other = { git = \"https://example.com/x\" }", true),
            ("serde.workspace = true", false),
            ("tokio = { workspace = true, features = [\"rt\"] }", false),
            ("rmcp = { workspace = true, optional = true }", false),
            ("# serde = \"1\"", false),
        ];
        for (line, is_problem) in table {
            for section in [
                "dependencies",
                "dev-dependencies",
                "target.'cfg(unix)'.dependencies",
            ] {
                let text = format!(
                    "[package]\nname = \"a\"\n[{section}]\n{line}\n[lints]\nworkspace = true\n"
                );
                let problems = check("crates/a/Cargo.toml", &text);
                assert_eq!(!problems.is_empty(), is_problem, "[{section}] {line}");
                assert!(
                    check("Cargo.toml", &text).is_empty(),
                    "the workspace manifest"
                );
                assert!(
                    check("bench/driver/Cargo.toml", &text).is_empty(),
                    "a workspace of its own"
                );
            }
        }
    }
}
