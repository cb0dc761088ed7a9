//! Each dependency has a reason in the workspace manifest, and all of them together a limit.

use super::Problem;

/// The most packages of others that `Cargo.lock` may name. Raise it with a reason in the commit.
const MOST_PACKAGES: usize = 485;

/// Checks that a comment stands above each group of dependencies. Our own crates have their
/// reasons in `ARCHITECTURE.md`.
pub(super) fn check_reasons(manifest: Option<&str>) -> Vec<Problem> {
    let lines = manifest.unwrap_or_default().lines().enumerate();
    let dependencies = lines
        .skip_while(|(_, line)| line.trim() != "[workspace.dependencies]")
        .skip(1)
        .take_while(|(_, line)| !line.starts_with('['));
    let mut problems = Vec::new();
    let mut has_reason = false;
    for (index, line) in dependencies {
        if line.trim().is_empty() {
            has_reason = false;
        } else if line.starts_with('#') {
            has_reason = true;
        } else if !has_reason && !line.contains("path = ") && line.contains('=') {
            let name = line.split('=').next().unwrap_or_default().trim();
            let text = format!(
                "`{name}` has no reason: put it below a comment that says what it is for, without \
                 an empty line in between"
            );
            problems.push(Problem::at("Cargo.toml", index + 1, text));
        }
    }
    problems
}

pub(super) fn check_count(lock: Option<&str>) -> Vec<Problem> {
    let lines = lock.unwrap_or_default().lines();
    // Our own have no source.
    let packages = lines.filter(|line| line.starts_with("source = ")).count();
    if packages <= MOST_PACKAGES {
        return Vec::new();
    }
    let text = format!(
        "names {packages} packages of others, more than the {MOST_PACKAGES} that are allowed: choose a smaller \
         dependency or fewer features, or raise the limit in `xtask/src/tidy/dependencies.rs` and say why"
    );
    vec![Problem::new("Cargo.lock", text)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "\
[workspace]
resolver = \"3\"

# About all of them.
[workspace.dependencies]
falconer = { path = \"crates/falconer\", version = \"0.1.0\" }
anyhow = \"1\"

# What it is for.
serde = \"1\"
serde_json = { version = \"1\", features = [
    \"raw_value\",
] }

tokio = \"1\"

[workspace.lints.rust]
unsafe_code = \"deny\"
";

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        let places: Vec<String> = check_reasons(Some(MANIFEST))
            .into_iter()
            .map(|problem| problem.to_string())
            .collect();
        assert_eq!(places.len(), 2, "{places:?}");
        assert!(places[0].starts_with("Cargo.toml:7: `anyhow` has no reason"));
        assert!(places[1].starts_with("Cargo.toml:15: `tokio` has no reason"));
    }

    #[test]
    fn packages_beyond_the_limit_are_found() {
        let ours = "[[package]]\nname = \"falconer\"\n\n";
        let other = "[[package]]\nname = \"a\"\nsource = \"registry\"\n\n";
        let lock = |others| ours.repeat(20) + &other.repeat(others);
        assert_eq!(check_count(Some(&lock(MOST_PACKAGES))), []);
        let problems = check_count(Some(&lock(MOST_PACKAGES + 1)));
        assert!(problems[0].text.contains("names 486 packages"));
    }
}
