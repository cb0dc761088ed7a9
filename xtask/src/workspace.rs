//! What cargo and git know about this repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::process;

/// The workspace as `cargo metadata` describes it, and the files under version control.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// One member of the workspace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Folder relative to the root.
    pub(crate) folder: String,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) binaries: Vec<String>,
    pub(crate) examples: Vec<String>,
    pub(crate) features: Vec<String>,
}

/// A dependency as a manifest declares it.
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Dev,
    Build,
}

impl Workspace {
    pub(crate) fn load() -> Result<Workspace> {
        let mut command = cargo();
        command.args(["metadata", "--format-version=1", "--no-deps"]);
        let metadata: Value = serde_json::from_str(&process::capture(&mut command)?)
            .context("failed to read the output of `cargo metadata`")?;
        let root = PathBuf::from(text(&metadata, "workspace_root"));
        let packages = array(&metadata, "packages").map(|package| Package::read(package, &root));
        Ok(Workspace {
            packages: packages.collect(),
            target: PathBuf::from(text(&metadata, "target_directory")),
            root,
        })
    }

    /// Paths relative to the root of all files that are, or could be, committed.
    pub(crate) fn files(&self) -> Result<Vec<String>> {
        let mut command = Command::new("git");
        // A clone owned by somebody else, as in a build container, is fine to read.
        command
            .arg("-c")
            .arg(format!("safe.directory={}", self.root.display()));
        command.current_dir(&self.root);
        command.args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        let listing =
            process::capture(&mut command).context("failed to list the files of the repository")?;
        let mut files: Vec<String> = listing.split_terminator('\0').map(str::to_owned).collect();
        files.retain(|file| self.root.join(file).is_file());
        files.sort();
        files.dedup();
        Ok(files)
    }

    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }
}

/// The cargo that runs us, so that a toolchain override stays in force.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

impl Package {
    fn read(package: &Value, root: &Path) -> Package {
        let manifest = PathBuf::from(text(package, "manifest_path"));
        let folder = manifest
            .parent()
            .and_then(|folder| folder.strip_prefix(root).ok());
        Package {
            name: text(package, "name").to_owned(),
            folder: folder
                .map(|folder| folder.to_string_lossy().into_owned())
                .unwrap_or_default(),
            dependencies: array(package, "dependencies")
                .map(Dependency::read)
                .collect(),
            features: features(package),
            binaries: targets(package, "bin"),
            examples: targets(package, "example"),
        }
    }
}

impl Dependency {
    fn read(dependency: &Value) -> Dependency {
        let kind = match dependency.get("kind").and_then(Value::as_str) {
            Some("dev") => Kind::Dev,
            Some("build") => Kind::Build,
            Some(_) | None => Kind::Normal,
        };
        Dependency {
            name: text(dependency, "name").to_owned(),
            kind,
        }
    }
}

fn features(package: &Value) -> Vec<String> {
    let features = package.get("features").and_then(Value::as_object);
    features
        .into_iter()
        .flat_map(|features| features.keys().cloned())
        .collect()
}

fn targets(package: &Value, kind: &str) -> Vec<String> {
    array(package, "targets")
        .filter(|target| array(target, "kind").any(|value| value.as_str() == Some(kind)))
        .map(|target| text(target, "name").to_owned())
        .collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn array<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_workspace_is_read_with_its_members_and_files() {
        let workspace = Workspace::load().expect("cargo metadata");
        let xtask = workspace.package("xtask").expect("the member `xtask`");
        assert_eq!(xtask.folder, "xtask");
        assert_eq!(xtask.binaries, ["xtask"]);
        let tempfile = xtask
            .dependencies
            .iter()
            .find(|dependency| dependency.name == "tempfile");
        assert_eq!(tempfile.map(|dependency| dependency.kind), Some(Kind::Dev));
        let files = workspace.files().expect("git ls-files");
        assert!(files.iter().any(|file| file == "xtask/src/main.rs"));
        assert!(!files.iter().any(|file| file.starts_with("target/")));
    }
}
