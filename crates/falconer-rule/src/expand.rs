//! The files that a pattern in a command means now: `src/*.rs`.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};

/// Entries of directories that are looked at for a command; more cannot be told.
pub(crate) const MOST: usize = 4_096;

/// The files below a directory that match, as a shell would find them; none if there are too
/// many to look at, or the pattern is one of those that shells read differently.
pub(crate) fn expand(base: &Path, pattern: &str, budget: &mut usize) -> Option<Vec<PathBuf>> {
    let mut found = vec![if pattern.starts_with('/') {
        PathBuf::from("/")
    } else {
        base.to_owned()
    }];
    for name in pattern.split('/').filter(|name| !name.is_empty()) {
        found = if name.contains(['*', '?', '[']) {
            step(&found, &matcher(name)?, name.starts_with('.'), budget)?
        } else {
            found.into_iter().map(|path| path.join(name)).collect()
        };
    }
    found.retain(|path| path.symlink_metadata().is_ok());
    Some(found)
}

fn matcher(name: &str) -> Option<GlobMatcher> {
    // `**` and `[^a]` mean something else to some shells. A `\` that is left is part of a name.
    if name.contains("**") || name.contains(['[', '{', '\\']) {
        return None;
    }
    // How many bytes a `?` stands for depends on the locale; a few files too many do no harm.
    let wide = name.replace('?', "*");
    let glob = GlobBuilder::new(&wide).build().ok()?;
    let matcher = glob.compile_matcher();
    // To some shells `.*` also means the parent directory.
    let is_parent = name.starts_with('.') && matcher.is_match("..");
    (!is_parent).then_some(matcher)
}

fn step(
    directories: &[PathBuf],
    matcher: &GlobMatcher,
    hidden: bool,
    budget: &mut usize,
) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    for directory in directories {
        let Ok(entries) = std::fs::read_dir(directory) else {
            continue;
        };
        for entry in entries.filter_map(Result::ok) {
            *budget = budget.checked_sub(1)?;
            let name = entry.file_name();
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            if matcher.is_match(&name) && (hidden || !is_hidden) {
                found.push(directory.join(name));
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::{MOST, expand};

    #[test]
    fn a_pattern_means_the_files_that_a_shell_would_find() {
        let root = tempfile::tempdir().unwrap();
        for name in [
            "a/x.rs", "a/y.rs", "b/x.rs", ".env", ".envrc", "c.txt", "é.txt",
        ] {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let names = |pattern: &str| {
            let found = expand(root.path(), pattern, &mut MOST.clone())?;
            let relative = found
                .iter()
                .map(|path| path.strip_prefix(root.path()).unwrap());
            let mut names: Vec<String> = relative.map(|path| path.display().to_string()).collect();
            names.sort();
            Some(names.join(" "))
        };
        let table = [
            ("*/x.rs", Some("a/x.rs b/x.rs")),
            ("a/*", Some("a/x.rs a/y.rs")),
            ("*", Some("a b c.txt é.txt")),
            (".e*", Some(".env .envrc")),
            (".en?", Some(".env .envrc")),
            (".*", None),
            ("?.txt", Some("c.txt é.txt")),
            ("\\*", None),
            ("a\\?", None),
            ("none/*", Some("")),
            ("**/x.rs", None),
            ("[ab]/x.rs", None),
        ];
        for (pattern, expected) in table {
            assert_eq!(names(pattern).as_deref(), expected, "{pattern}");
        }
        for index in 0..=MOST {
            std::fs::write(root.path().join(format!("many{index}")), "").unwrap();
        }
        assert_eq!(names("*"), None, "too many to look at");
    }
}
