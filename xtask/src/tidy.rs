//! `cargo xtask tidy`: what a tool can check about this repository.
//!
//! Each check is a plain function from text to problems, so that a table can
//! test it. Sizes are advice, everything else fails.

mod architecture;
mod arrows;
mod dependencies;
mod documents;
mod machine;
mod manifests;
mod numbers;
mod sources;

use std::collections::BTreeSet;
use std::fmt;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::report;
use crate::size;
use crate::workspace::Workspace;

/// Something to put right: where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    place: String,
    text: String,
}

impl Problem {
    fn new(place: impl Into<String>, text: impl Into<String>) -> Problem {
        Problem {
            place: place.into(),
            text: text.into(),
        }
    }

    fn at(file: &str, line: usize, text: impl Into<String>) -> Problem {
        Problem::new(format!("{file}:{line}"), text)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.text)
    }
}

/// A file under version control and its text; files that are not text are left out.
#[derive(Debug)]
pub(crate) struct TextFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

pub(crate) fn run(workspace: &Workspace) -> Result<ExitCode> {
    let files = read_files(workspace)?;
    let problems = check(workspace, &files);
    problems
        .iter()
        .for_each(|problem| report::line(&problem.to_string()));
    for advice in size::advice(&files) {
        report::line(&format!("advice: {advice}"));
    }
    report::line(&format!(
        "tidy: {} files, {} problems",
        files.len(),
        problems.len()
    ));
    Ok(if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn check(workspace: &Workspace, files: &[TextFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in files {
        problems.extend(sources::check(&file.path, &file.text));
        problems.extend(machine::check(&file.path, &file.text));
        problems.extend(manifests::check(&file.path, &file.text));
        problems.extend(documents::check_features(
            &file.path,
            &file.text,
            &workspace.packages,
        ));
    }
    problems.extend(numbers::check(files));
    problems.extend(arrows::check(&workspace.packages));
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let text = |name: &str| {
        files
            .iter()
            .find(|file| file.path == name)
            .map(|file| file.text.as_str())
    };
    problems.extend(architecture::check(
        text("ARCHITECTURE.md"),
        &paths,
        &workspace.packages,
    ));
    problems.extend(dependencies::check_reasons(text("Cargo.toml")));
    problems.extend(dependencies::check_count(text("Cargo.lock")));
    problems.extend(documents::check_changelog(text("CHANGELOG.md")));
    problems.extend(documents::check_readme(
        text("README.md"),
        text(".ci/run"),
        &workspace.packages,
    ));
    problems
}

fn read_files(workspace: &Workspace) -> Result<Vec<TextFile>> {
    let mut files = Vec::new();
    for path in workspace.files()? {
        let bytes = std::fs::read(workspace.root.join(&path))
            .with_context(|| format!("failed to read {path}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(TextFile { path, text });
        }
    }
    Ok(files)
}
