//! Nothing of the machine somebody works on gets into the repository: no
//! folders of theirs, no package registry they happen to use.

use super::Problem;

/// Beginnings of absolute paths that exist on somebody's machine only.
/// Put together here, so that this file does not find itself.
const FOLDERS: [&str; 4] = [
    concat!("/wo", "rk/"),
    concat!("/tmp/", "npm"),
    concat!("/tmp/", "pyenv"),
    concat!("/tmp/brief", "_"),
];

/// Hosts that package managers fetch from. Which one is each user's business.
const REGISTRIES: [&str; 6] = [
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("files.", "pythonhosted.org"),
    concat!("pypi.", "org/simple"),
    concat!("static.", "crates.io"),
    concat!("deb.", "debian.org"),
];

/// The one source of packages a `Cargo.lock` may name.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(super) fn check(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(complaint) = complaint(path, line) {
            problems.push(Problem::at(path, index + 1, complaint));
        }
    }
    problems
}

fn complaint(path: &str, line: &str) -> Option<String> {
    if let Some(folder) = FOLDERS.iter().find(|folder| mentions(line, folder)) {
        return Some(format!(
            "`{folder}` exists on one machine only: use a path relative to the repository"
        ));
    }
    if let Some(host) = REGISTRIES.iter().find(|host| line.contains(*host)) {
        return Some(format!(
            "names the package registry `{host}`: leave that to each user's settings"
        ));
    }
    let is_foreign = match path.rsplit('/').next() {
        Some("Cargo.lock") => line.starts_with("source = ") && !line.contains(CRATES_IO),
        Some("package-lock.json") => line.trim_start().starts_with("\"resolved\": \"http"),
        _ => false,
    };
    is_foreign.then(|| "the lock file names a package registry: write it without one".to_owned())
}

/// Whether `folder` occurs as the beginning of a path, not in the middle of one.
fn mentions(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(start, _)| {
        let before = line.get(..start).and_then(|text| text.chars().next_back());
        !before.is_some_and(|letter| letter.is_alphanumeric() || "._-~/}>".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_of_a_machine_are_found() {
        let folder = FOLDERS[0];
        let host = REGISTRIES[0];
        let table = [
            ("a.md", format!("see {folder}notes.md"), true),
            ("a.md", format!("see \"{folder}notes.md\""), true),
            ("a.md", format!("see $HOME{folder}notes.md"), false),
            (
                "a.md",
                format!("see https://example.com{folder}notes.md"),
                false,
            ),
            ("a.md", format!("see ~{folder}notes.md"), false),
            ("a.json", format!("\"url\": \"https://{host}/x\""), true),
            ("a.md", "the crate is on crates.io".to_owned(), false),
            ("Cargo.lock", format!("source = \"{CRATES_IO}\""), false),
            (
                "Cargo.lock",
                "source = \"sparse+https://mirror.example/\"".to_owned(),
                true,
            ),
            (
                "b/package-lock.json",
                "    \"resolved\": \"https://mirror.example/x.tgz\",".to_owned(),
                true,
            ),
            (
                "b/package-lock.json",
                "    \"integrity\": \"sha512-x\",".to_owned(),
                false,
            ),
        ];
        for (path, line, is_problem) in table {
            assert_eq!(!check(path, &line).is_empty(), is_problem, "{path}: {line}");
        }
    }
}
