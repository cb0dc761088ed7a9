//! Listing sessions: only the ends of each transcript are read.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use falconer_protocol::SessionId;

use super::archive;
use super::ends::Ends;
use super::files::{Root, entries};
use super::info::{SessionInfo, info_from_ends, is_programmatic, with_archive_mark};
use super::locate::{Project, Scope, all_projects, project_of};
use super::worktrees::worktrees;
use crate::id::is_uuid;
use crate::project_key::{canonical, long_prefix, sanitize};

/// Which sessions [`Sessions::list`](super::Sessions::list) returns.
///
/// ```
/// use falconer::sessions::{ListOptions, Programmatic};
///
/// let page = ListOptions::new().limit(20).offset(40).programmatic(Programmatic::Exclude);
/// # let _ = page;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct ListOptions {
    limit: Option<usize>,
    offset: usize,
    worktrees: Worktrees,
    programmatic: Programmatic,
}

/// Whether the other worktrees of the repository belong to a directory's sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Worktrees {
    /// They do.
    #[default]
    Include,
    /// Only the directory itself.
    Exclude,
}

/// Whether sessions that a program ran, not a person, are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Programmatic {
    /// They are.
    #[default]
    Include,
    /// They are left out, as in the CLI's own picker.
    Exclude,
}

impl ListOptions {
    /// Everything, newest first.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most this many; 0 means no limit.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = (limit > 0).then_some(limit);
        self
    }

    /// Skips this many of the newest.
    pub fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }

    /// With or without the other worktrees of the repository.
    pub fn worktrees(mut self, worktrees: Worktrees) -> Self {
        self.worktrees = worktrees;
        self
    }

    /// With or without the sessions of programs.
    pub fn programmatic(mut self, programmatic: Programmatic) -> Self {
        self.programmatic = programmatic;
        self
    }

    /// Cuts one page out of a sorted list.
    pub(crate) fn page<T>(&self, all: Vec<T>) -> Vec<T> {
        let limit = self.limit.unwrap_or(usize::MAX);
        all.into_iter().skip(self.offset).take(limit).collect()
    }
}

/// Lists the sessions of a scope, newest first.
pub(crate) fn list(root: &Root, scope: &Scope, options: &ListOptions) -> Vec<SessionInfo> {
    let mut ends = Ends::default();
    let mut found: Vec<SessionInfo> = Vec::new();
    for project in projects_to_list(root, scope, options) {
        read_project(root, &project, options, &mut ends, &mut found);
    }
    let mut found = newest_of_each(found);
    found.sort_by_key(|info| std::cmp::Reverse(info.last_modified));
    options.page(found)
}

fn projects_to_list(root: &Root, scope: &Scope, options: &ListOptions) -> Vec<Project> {
    let Scope::Directory(directory) = scope else {
        return all_projects(root);
    };
    let directory = canonical(directory);
    let mut found: Vec<Project> = project_of(root, &directory).into_iter().collect();
    if options.worktrees == Worktrees::Include {
        let others = worktrees(&directory);
        if others.len() > 1 {
            found.extend(projects_of_worktrees(root, &others));
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|project| seen.insert(project.directory.clone()));
    found
}

/// The project directories that stand for one of the worktrees.
fn projects_of_worktrees(root: &Root, worktrees: &[std::path::PathBuf]) -> Vec<Project> {
    let keys: HashMap<String, &Path> = worktrees
        .iter()
        .map(|path| (sanitize(&path.to_string_lossy()), path.as_path()))
        .collect();
    all_projects(root)
        .into_iter()
        .filter_map(|project| {
            let name = project.directory.file_name()?.to_str()?;
            let exact = keys.get(name).copied();
            let path = exact.or_else(|| {
                let long = keys.iter().find(|(key, _)| {
                    long_prefix(key).is_some_and(|prefix| name.starts_with(prefix.as_ref()))
                });
                long.map(|(_, path)| *path)
            })?;
            Some(Project {
                working_directory: Some(path.to_path_buf()),
                directory: project.directory,
            })
        })
        .collect()
}

fn read_project(
    root: &Root,
    project: &Project,
    options: &ListOptions,
    ends: &mut Ends,
    found: &mut Vec<SessionInfo>,
) {
    for path in entries(&project.directory) {
        let Some(id) = listed_id(&path) else { continue };
        // A transcript that cannot be read is not listed: one bad file must not hide all.
        let read = root.open(&path).and_then(|file| ends.read(&file));
        if read.is_err() || ends.size == 0 {
            continue;
        }
        if options.programmatic == Programmatic::Exclude && is_programmatic(ends.head()) {
            continue;
        }
        found.extend(info(id, &path, project, ends));
    }
}

/// The info of the transcript whose ends were read.
pub(crate) fn info(
    id: SessionId,
    path: &Path,
    project: &Project,
    ends: &Ends,
) -> Option<SessionInfo> {
    let info = info_from_ends(id, ends, project.working_directory.as_deref())?;
    Some(match archive::read(&path.with_extension("")) {
        Some(mark) => with_archive_mark(info, mark, ends),
        None => info,
    })
}

/// The session id of a file name, if it is one that is listed.
fn listed_id(path: &Path) -> Option<SessionId> {
    if path.extension() != Some(OsStr::new("jsonl")) {
        return None;
    }
    let stem = path.file_stem()?.to_str()?;
    is_uuid(stem).then(|| SessionId::new(stem))
}

/// The same session may be in several projects; the one written last counts.
fn newest_of_each(found: Vec<SessionInfo>) -> Vec<SessionInfo> {
    let mut at: HashMap<SessionId, usize> = HashMap::with_capacity(found.len());
    let mut kept: Vec<SessionInfo> = Vec::with_capacity(found.len());
    for info in found {
        match at.get(&info.session_id) {
            Some(&old) if info.last_modified > kept[old].last_modified => kept[old] = info,
            Some(_) => {}
            None => {
                at.insert(info.session_id.clone(), kept.len());
                kept.push(info);
            }
        }
    }
    kept
}
