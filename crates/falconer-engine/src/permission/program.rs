//! Where the programs of commands come from: one that the project brings may do anything.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use falconer_rule::Place;

use super::Directories;

/// The directories in which the shell looks for programs. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Programs {
    directories: Arc<[PathBuf]>,
}

impl Programs {
    /// Reads `PATH`. Relative directories are left out, as they are for commands that only read.
    pub(super) fn new(path: Option<&OsStr>) -> Self {
        let directories = path.map(std::env::split_paths).into_iter().flatten();
        Self {
            directories: directories.filter(|it| it.is_absolute()).collect(),
        }
    }

    /// Why the program of this name may do something else than its name says, if it may.
    pub(super) fn danger(
        &self,
        name: &str,
        working: &Directories,
        home: Option<&Path>,
    ) -> Option<&'static str> {
        let mut files = self.directories.iter().map(|it| it.join(name));
        let program = Place::of(&files.find(|file| file.is_file())?);
        if working.bring(&program, home) {
            return Some("the program it runs is part of the project");
        }
        program
            .names()
            .any(is_switch)
            .then_some("the project chooses which version of the program runs")
    }
}

/// Whether a file starts the program that a file of the project names by its path
/// (`.tool-versions`).
fn is_switch(program: &Path) -> bool {
    const MANAGERS: &[&str] = &[".asdf", "asdf", "mise"];
    let is_shim = program.parent().is_some_and(|it| it.ends_with("shims"));
    let mut names = program.iter();
    is_shim && names.any(|name| MANAGERS.iter().any(|manager| name == *manager))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_the_project_and_those_it_chooses_are_told_from_others() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let files = [
            "project/bin/pip",
            "home/.asdf/shims/node",
            "home/.pyenv/shims/python",
            "usr/ls",
            "usr/pip",
        ];
        for file in files {
            let file = root.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        std::os::unix::fs::symlink(root.join("project/bin/pip"), root.join("usr/linked")).unwrap();
        let path = std::env::join_paths([
            root.join("project/bin"),
            PathBuf::from("."),
            root.join("home/.asdf/shims"),
            root.join("home/.pyenv/shims"),
            root.join("usr"),
        ]);
        let programs = Programs::new(Some(&path.unwrap()));
        let home = root.join("home");
        let is_fine = |name: &str, cwd: &str| {
            let working = Directories::new(&root.join(cwd), &[]);
            programs.danger(name, &working, Some(&home)).is_none()
        };
        for (name, cwd, expected) in [
            ("pip", "project", false),
            ("linked", "project", false),
            ("pip", "elsewhere", true),
            ("node", "project", false),
            ("python", "project", true),
            ("ls", "project", true),
            ("none", "project", true),
            // Somebody's tools are below the home directory.
            ("python", "home", true),
            ("python", "", true),
            ("pip", "", true),
        ] {
            assert_eq!(is_fine(name, cwd), expected, "{name} in {cwd:?}");
        }
    }
}
