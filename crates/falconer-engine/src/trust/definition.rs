//! Agents, skills, commands and the like below `.claude`. This engine does not read them; the
//! official CLI does, and some of them run programs.

use std::path::Path;

use serde_json::Value;

use super::content::ProjectFile;
use super::item::{Item, ItemKind};
use super::script::read;

/// Entries of `.claude` that define nothing: settings are inspected by their keys, and the others
/// are text for the model, or trees that are looked at on their own. All others count.
const HARMLESS: &[&str] = &[
    ".gitignore",
    "CLAUDE.local.md",
    "CLAUDE.md",
    "README.md",
    "rules",
    "settings.json",
    "settings.local.json",
    "worktrees",
];

/// Files that are looked at; nobody reads more.
const MAX_FILES: usize = 2_000;
const MAX_DEPTH: usize = 8;

/// An item for each file.
///
/// # Errors
/// If there are more files than are looked at.
pub(super) fn items(project: &Path) -> Result<Vec<Item>, String> {
    let mut files = Vec::new();
    walk(project, ".claude", 0, &mut files)?;
    files.sort();
    let items = files.into_iter().filter_map(|file| item(project, file));
    Ok(items.collect())
}

fn walk(
    project: &Path,
    directory: &str,
    depth: usize,
    files: &mut Vec<String>,
) -> Result<(), String> {
    let entries = std::fs::read_dir(project.join(directory)).into_iter();
    for entry in entries.flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if depth == 0 && HARMLESS.contains(&name.as_str()) {
            continue;
        }
        let path = format!("{directory}/{name}");
        // Follows links, as the CLI does; the depth ends circles.
        if !entry.path().is_dir() {
            files.push(path);
        } else if depth < MAX_DEPTH {
            walk(project, &path, depth + 1, files)?;
        } else {
            return Err(format!("`{path}` is too deep to be looked at"));
        }
        if files.len() > MAX_FILES {
            return Err(format!("there are more than {MAX_FILES} files in .claude"));
        }
    }
    Ok(())
}

fn item(project: &Path, file: String) -> Option<Item> {
    let script = read(project, Path::new(&file), file.clone())?;
    Some(Item {
        kind: ItemKind::Definition,
        file: ProjectFile::Definitions,
        key: file,
        at: Vec::new(),
        value: Value::Null,
        scripts: vec![script],
    })
}
