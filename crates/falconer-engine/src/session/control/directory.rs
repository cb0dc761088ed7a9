//! Directories of the session: more of them, and the files in them for a person who types.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Outcome, text};
use crate::frame::reply::Reply;
use crate::session::core::Core;

/// Files that are looked at for one suggestion.
const LOOKED_AT: usize = 20_000;
/// Files that are suggested.
const SUGGESTED: usize = 15;

/// Adds a directory below one that the session was started with.
pub(super) fn register(core: &Core, body: &Value) -> Reply {
    let asked = match text(body, "directory") {
        Ok(directory) => core.workbench.original_cwd.join(directory),
        Err(reply) => return reply,
    };
    let directory = match std::fs::canonicalize(&asked) {
        Ok(directory) if directory.is_dir() => directory,
        Ok(_) => return Reply::failure(format!("{} is not a directory", asked.display())),
        Err(error) => {
            let name = asked.display();
            return Reply::failure(format!("failed to find the directory {name}: {error}"));
        }
    };
    let is_below = |root: &PathBuf| {
        let root = std::fs::canonicalize(root);
        root.is_ok_and(|root| directory.starts_with(&root) && directory != root)
    };
    if !core.workbench.roots().iter().any(is_below) {
        let name = directory.display();
        return Reply::failure(format!("{name} is not below a directory of the session"));
    }
    let mut permissions = core.permissions();
    let same = |known: &&Path| std::fs::canonicalize(known).is_ok_and(|known| known == directory);
    if permissions.dirs().iter().any(same) {
        let name = directory.display();
        return Reply::failure(format!("{name} is a directory of the session already"));
    }
    permissions.add_directory(&directory);
    Reply::Success(json!({"directory": directory}))
}

/// Files whose path a person may be typing.
pub(super) fn suggest(core: &Arc<Core>, body: &Value) -> Outcome {
    let query = body["query"].as_str().unwrap_or_default().to_lowercase();
    let cwd = core.workbench.cwd();
    Outcome::Later(Box::pin(async move {
        let from = cwd.clone();
        let found = tokio::task::spawn_blocking(move || matching(&from, &query)).await;
        let found = found.unwrap_or_default().into_iter();
        let suggestions: Vec<Value> = found.map(|path| json!({"path": path})).collect();
        Reply::Success(json!({"suggestions": suggestions, "cwd": cwd}))
    }))
}

/// The best first: names that begin with the text, then those that have it near their end.
fn matching(cwd: &Path, query: &str) -> Vec<String> {
    let depth = query.is_empty().then_some(1);
    let walk = ignore::WalkBuilder::new(cwd)
        .max_depth(depth)
        .require_git(false)
        .build();
    let mut found: Vec<String> = walk
        .flatten()
        .take(LOOKED_AT)
        .filter_map(|entry| {
            let path = entry.path().strip_prefix(cwd).ok()?.to_str()?.to_owned();
            let is_directory = entry.file_type().is_some_and(|it| it.is_dir());
            let path = path + if is_directory { "/" } else { "" };
            let fits = path.len() > 1 && path.to_lowercase().contains(query);
            fits.then_some(path)
        })
        .collect();
    found.sort_by_cached_key(|path| {
        let lower = path.to_lowercase();
        let name = lower.trim_end_matches('/').rsplit('/').next();
        let begins = name.is_some_and(|name| name.starts_with(query));
        let place = lower.rfind(query).unwrap_or_default();
        (!begins, path.len().saturating_sub(place), path.clone())
    });
    found.truncate(SUGGESTED);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first() {
        let root = tempfile::tempdir().unwrap();
        for name in [
            "src/main.rs",
            "src/domain/mod.rs",
            "README.md",
            "target/main",
        ] {
            let file = root.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        std::fs::write(root.path().join(".gitignore"), "target\n").unwrap();
        let found = |query| matching(root.path(), query);
        assert_eq!(found(""), ["README.md", "src/"]);
        assert_eq!(
            found("main"),
            ["src/main.rs", "src/domain/", "src/domain/mod.rs"]
        );
        assert_eq!(found("nothing"), Vec::<String>::new());
    }
}
