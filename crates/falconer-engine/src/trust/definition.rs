//! Agents, skills, commands and the like below `.claude`. This engine does not read them; the
//! official CLI does, and some of them run programs.

use std::path::Path;

use serde_json::{Value, json};

use super::content::ProjectFile;
use super::item::{Item, ItemKind};
use super::script::read;

/// Directories below `.claude` whose files define something.
const DIRECTORIES: [&str; 6] = [
    "agents",
    "commands",
    "output-styles",
    "plugins",
    "skills",
    "workflows",
];
/// Files that are looked at; a project with more of them is known by their number.
const MAX_FILES: usize = 1000;
const MAX_DEPTH: usize = 8;

/// An item for each file.
pub(super) fn items(project: &Path) -> Vec<Item> {
    let mut files = Vec::new();
    for directory in DIRECTORIES {
        walk(project, &format!(".claude/{directory}"), 0, &mut files);
    }
    files.sort();
    let count = files.len();
    let listed = files.into_iter().take(MAX_FILES);
    let mut items: Vec<Item> = listed.filter_map(|file| item(project, file)).collect();
    if count > MAX_FILES {
        items.extend(items.first().cloned().map(|first| Item {
            key: "files".to_owned(),
            value: json!(count),
            scripts: Vec::new(),
            ..first
        }));
    }
    items
}

fn walk(project: &Path, directory: &str, depth: usize, files: &mut Vec<String>) {
    let entries = std::fs::read_dir(project.join(directory)).into_iter();
    for entry in entries.flatten().flatten() {
        let name = format!("{directory}/{}", entry.file_name().to_string_lossy());
        // Follows links, as the CLI does; the depth ends circles.
        let is_directory = entry.path().is_dir();
        if is_directory && depth < MAX_DEPTH && files.len() <= MAX_FILES {
            walk(project, &name, depth + 1, files);
        } else if !is_directory {
            files.push(name);
        }
    }
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
