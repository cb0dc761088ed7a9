//! What the official CLI would read of a project that cannot be left out piece by piece.
//!
//! It looks further than the project's directory: at servers, agents and local settings in the
//! directories above, at the main working tree of a linked one, at added directories. And it uses
//! what no project may set. Both can only be prevented by leaving the project out as a whole.

use std::path::{Path, PathBuf};

use falconer_choice::Environment;
use falconer_engine::{Inspection, Standing};

use super::look;
use crate::exit::Fault;
use crate::render::visible_line;

/// Directories of a project in which is looked for more.
const MAX_DIRECTORIES: usize = 50_000;

/// A longer file is not one of git's pointers.
const MAX_POINTER: u64 = 64 * 1024;

/// Why the official CLI gets nothing of a project, whoever trusts it; none if it may.
pub(super) fn obstacle(
    inspection: &Inspection,
    added: &[PathBuf],
) -> Result<Option<String>, Fault> {
    if let Some(why) = unusable(inspection) {
        return Ok(Some(why));
    }
    let own = Environment::of_this_process().claude_directory();
    let Some(nested) = nested(&inspection.project) else {
        return Ok(Some(format!(
            "the official CLI may use content of any of more than {MAX_DIRECTORIES} directories"
        )));
    };
    for place in places(&inspection.project, &nested, added) {
        let above = look(&place)?;
        let is_users = |file: &str| is_user_file(&place, file, own.as_deref());
        let is_foreign = above.items.iter().any(|item| !is_users(&item.file));
        let is_trusted = above.standing == Standing::Trusted;
        if is_foreign && !is_trusted {
            return Ok(Some(format!(
                "the official CLI would also use untrusted content of {}; run `falconer trust` there",
                visible_line(&place.display().to_string())
            )));
        }
        if !is_users(LOCAL)
            && let Some(why) = unusable(&above)
        {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

const LOCAL: &str = ".claude/settings.local.json";

/// Settings that no project may set, or that we read differently: the CLI might use them.
fn unusable(inspection: &Inspection) -> Option<String> {
    let place = visible_line(&inspection.project.display().to_string());
    if let Some(ignored) = inspection.ignored.first() {
        return Some(format!(
            "no project may set {} ({place}), and the official CLI would use it",
            visible_line(ignored)
        ));
    }
    let problem = inspection.problems.first()?;
    Some(format!(
        "the official CLI may read what cannot be checked: {}",
        visible_line(problem)
    ))
}

/// Whether a file is in the user's own configuration directory.
fn is_user_file(place: &Path, file: &str, own: Option<&Path>) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let own = own.and_then(real);
    file == LOCAL && own.is_some() && own == real(&place.join(".claude"))
}

/// The directories of a project with a `.claude` of their own: the official CLI uses skills there
/// as soon as it works below them. None if there are too many directories to look for it.
fn nested(project: &Path) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut todo = vec![project.to_owned()];
    let mut looked_at = 0;
    while let Some(directory) = todo.pop() {
        looked_at += 1;
        if looked_at > MAX_DIRECTORIES {
            return None;
        }
        let entries = std::fs::read_dir(&directory).into_iter();
        for entry in entries.flatten().flatten() {
            let kind = entry.file_type().ok();
            let is_directory = kind.is_some_and(|kind| kind.is_dir());
            match entry.file_name().to_str() {
                Some(".claude") if directory != project => found.push(directory.clone()),
                Some(".git") => {}
                _ if is_directory => todo.push(entry.path()),
                _ => {}
            }
        }
    }
    Some(found)
}

/// Other directories that the official CLI looks at.
fn places(project: &Path, nested: &[PathBuf], added: &[PathBuf]) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    let mut add = |path: &Path| {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if path.is_dir() && path != project && !places.contains(&path) {
            places.push(path);
        }
    };
    nested.iter().for_each(|path| add(path));
    for above in project.ancestors() {
        add(above);
        for directory in git_directories(above) {
            directory.ancestors().for_each(&mut add);
        }
    }
    added.iter().for_each(|path| add(path));
    places
}

/// The directories that a `.git` file names: that of a linked working tree, and the main one.
fn git_directories(directory: &Path) -> Vec<PathBuf> {
    let Some(text) = pointer(&directory.join(".git")) else {
        return Vec::new();
    };
    let Some(named) = text.strip_prefix("gitdir:") else {
        return Vec::new();
    };
    let linked = directory.join(named.trim());
    let common = pointer(&linked.join("commondir"));
    let common = common.map(|text| linked.join(text.trim()));
    let found = [Some(linked), common].into_iter().flatten();
    found
        .filter_map(|path| std::fs::canonicalize(path).ok())
        .collect()
}

fn pointer(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    let is_pointer = metadata.is_file() && metadata.len() <= MAX_POINTER;
    is_pointer.then(|| std::fs::read_to_string(path).ok())?
}
