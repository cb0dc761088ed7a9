//! Finding the transcript of a session.

use std::path::{Path, PathBuf};

use falconer_protocol::SessionId;

use super::files::Root;
use super::worktrees::worktrees;
use crate::error::SessionError;
use crate::id::check_session_id;
use crate::project_key::{canonical, long_prefix, project_key, sanitize};

/// Which projects are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    AllProjects,
    /// The project of this working directory, and the worktrees of its repository.
    Directory(PathBuf),
}

/// A project's directory below the projects directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    pub(crate) directory: PathBuf,
    /// The working directory it stands for, if that is known.
    pub(crate) working_directory: Option<PathBuf>,
}

/// A transcript that was found.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    pub(crate) file: PathBuf,
    pub(crate) project: Project,
}

impl Located {
    /// The directory beside the transcript, for sub-agents and the archive mark.
    pub(crate) fn session_dir(&self) -> PathBuf {
        self.file.with_extension("")
    }
}

/// Finds the transcript of `id`. An empty file is not one.
pub(crate) fn find(root: &Root, scope: &Scope, id: &SessionId) -> Result<Located, SessionError> {
    check_session_id(id)?;
    let name = format!("{id}.jsonl");
    let mut searched = Vec::new();
    for project in projects_to_search(root, scope) {
        let file = project.directory.join(&name);
        let opened = root.open(&file).and_then(|file| file.metadata());
        match opened {
            Ok(meta) if meta.len() > 0 => return Ok(Located { file, project }),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(SessionError::io("read", &file)(error));
            }
            Ok(_) | Err(_) => searched.push(project.directory),
        }
    }
    if searched.is_empty() {
        searched.push(match scope {
            Scope::AllProjects => root.path().to_path_buf(),
            Scope::Directory(directory) => root.path().join(project_key(directory)),
        });
    }
    Err(SessionError::NotFound {
        id: id.to_string(),
        searched,
    })
}

/// The project directories of a scope, the most likely first.
fn projects_to_search(root: &Root, scope: &Scope) -> Vec<Project> {
    match scope {
        Scope::AllProjects => all_projects(root),
        Scope::Directory(directory) => {
            let directory = canonical(directory);
            let mut found: Vec<Project> = project_of(root, &directory).into_iter().collect();
            let others = worktrees(&directory);
            let others = others.iter().filter(|other| **other != directory);
            found.extend(others.filter_map(|other| project_of(root, other)));
            found
        }
    }
}

pub(crate) fn all_projects(root: &Root) -> Vec<Project> {
    root.projects()
        .into_iter()
        .map(|directory| Project {
            directory,
            working_directory: None,
        })
        .collect()
}

/// The project directory of a working directory.
///
/// A path that is too long to be exact may have been hashed differently by an older
/// version; then the first directory with the same beginning is taken.
pub(crate) fn project_of(root: &Root, working_directory: &Path) -> Option<Project> {
    let key = sanitize(&working_directory.to_string_lossy());
    let exact = root.directory(&root.path().join(&key));
    let directory = exact.or_else(|| {
        let prefix = long_prefix(&key)?;
        root.projects().into_iter().find(|directory| {
            let name = directory.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with(prefix.as_ref())
        })
    })?;
    Some(Project {
        directory,
        working_directory: Some(working_directory.to_path_buf()),
    })
}
