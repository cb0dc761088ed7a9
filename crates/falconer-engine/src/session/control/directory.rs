//! Directories of the session: more of them, and the files in them for a person who types.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::{Outcome, text};
use crate::frame::reply::Reply;
use crate::session::actor::Actor;
use crate::session::core::Core;
use crate::turn::hooks::Base;

/// Files that are looked at for one suggestion.
const LOOKED_AT: usize = 20_000;
/// Files that are suggested.
const SUGGESTED: usize = 15;

/// The directory that was added.
#[derive(Debug, Serialize)]
struct Added {
    directory: PathBuf,
}

/// The answer to `file_suggestions`.
#[derive(Debug, Serialize)]
struct Suggestions {
    suggestions: Vec<Suggestion>,
    cwd: PathBuf,
}

#[derive(Debug, Serialize)]
struct Suggestion {
    path: String,
}

/// Adds a directory below one that the session was started with.
/// Hooks hear of it after the answer; they have no say in it.
pub(super) fn register(actor: &mut Actor, body: &Value) -> Reply {
    match add(&actor.core, body) {
        Ok(directory) => {
            let told = Arc::clone(&actor.core).tell_directory(directory.clone());
            actor.jobs.push(Box::pin(told));
            Reply::success(&Added { directory })
        }
        Err(reply) => reply,
    }
}

fn add(core: &Core, body: &Value) -> Result<PathBuf, Reply> {
    let asked = core.workbench.original_cwd.join(text(body, "directory")?);
    let directory = match std::fs::canonicalize(&asked) {
        Ok(directory) if directory.is_dir() => directory,
        Ok(_) => {
            let name = asked.display();
            return Err(Reply::failure(format!("{name} is not a directory")));
        }
        Err(error) => {
            let name = asked.display();
            let error = format!("failed to find the directory {name}: {error}");
            return Err(Reply::failure(error));
        }
    };
    let is_below = |root: &PathBuf| {
        let root = std::fs::canonicalize(root);
        root.is_ok_and(|root| directory.starts_with(&root) && directory != root)
    };
    if !core.workbench.roots().iter().any(is_below) {
        let name = directory.display();
        let error = format!("{name} is not below a directory of the session");
        return Err(Reply::failure(error));
    }
    let mut permissions = core.permissions();
    let same = |known: &&Path| std::fs::canonicalize(known).is_ok_and(|known| known == directory);
    if permissions.dirs().iter().any(same) {
        let name = directory.display();
        let error = format!("{name} is a directory of the session already");
        return Err(Reply::failure(error));
    }
    permissions.add_directory(&directory);
    drop(permissions);
    Ok(directory)
}

impl Core {
    async fn tell_directory(self: Arc<Self>, directory: PathBuf) {
        let prompt = self.state().last_prompt_id.clone();
        let base = Base::of_session(&self, prompt.as_deref());
        let source = "register_repo_root";
        let input = base.directory_added(&directory, source);
        let token = self.hooks.closing();
        self.hooks.fire(&input, Some(source), token).await;
    }
}

/// Files whose path a person may be typing.
pub(super) fn suggest(core: &Arc<Core>, body: &Value) -> Outcome {
    let query = body["query"].as_str().unwrap_or_default().to_lowercase();
    let cwd = core.workbench.cwd();
    Outcome::Later(Box::pin(async move {
        let from = cwd.clone();
        let found = tokio::task::spawn_blocking(move || matching(&from, &query)).await;
        let found = found.unwrap_or_default().into_iter();
        Reply::success(&Suggestions {
            suggestions: found.map(|path| Suggestion { path }).collect(),
            cwd,
        })
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
