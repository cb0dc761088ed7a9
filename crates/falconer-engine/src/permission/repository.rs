//! Repositories in which git only reads: its configuration names no programs.
//!
//! Git obeys the repository it finds, and a repository that came in an archive may say anything:
//! filters, drivers and helpers under any name. So the configuration is read here, and every key
//! that is not known to be harmless speaks against running git unasked. So does a repository that
//! shows what is elsewhere: by links, objects of another one, or because it belongs to another
//! work tree.

use std::path::{Path, PathBuf};

/// Larger files are not read.
const MOST_BYTES: u64 = 64 * 1024;

/// Sections whose keys never name a program, whatever they say.
const SECTIONS: &[&str] = &["branch", "color", "gc", "gui", "init", "push", "user"];

/// Other keys that never name a program: section and key.
const KEYS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "abbrev",
            "autocrlf",
            "bare",
            "compression",
            "eol",
            "filemode",
            "ignorecase",
            "logallrefupdates",
            "precomposeunicode",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sparsecheckout",
            "sparsecheckoutcone",
            "symlinks",
            "untrackedcache",
        ],
    ),
    (
        "extensions",
        &["objectformat", "refstorage", "worktreeconfig"],
    ),
    ("fetch", &["prune", "prunetags"]),
    // Others are extensions and transfers: programs that a filter of the user starts.
    ("lfs", &["access", "locksverify", "repositoryformatversion"]),
    ("log", &["date", "decorate"]),
    ("pull", &["ff", "rebase"]),
    (
        "remote",
        &[
            "fetch", "mirror", "prune", "push", "pushurl", "tagopt", "url",
        ],
    ),
    ("submodule", &["active", "url"]),
];

/// Why git may do more than read in a directory, if it may.
pub(super) fn danger(cwd: &Path) -> Option<&'static str> {
    for directory in cwd.ancestors() {
        if is_bare(directory) {
            return Some("a repository without a work tree is in the way");
        }
        let git = directory.join(".git");
        if git.symlink_metadata().is_ok() {
            return match inner(&git) {
                Some(git) => in_repository(directory, &git),
                None => Some("the repository cannot be found"),
            };
        }
    }
    None
}

fn in_repository(work_tree: &Path, git: &Path) -> Option<&'static str> {
    if !git.starts_with(work_tree) && !is_linked(work_tree, git) {
        return Some("the repository belongs to another directory");
    }
    let common = match read(&git.join("commondir")) {
        Ok(Some(path)) => git.join(path.trim_end()),
        Ok(None) => git.to_owned(),
        Err(_) => return Some("the configuration of the repository cannot be read"),
    };
    if [git, common.as_path()].into_iter().any(shows_others) {
        return Some("the repository shows what is elsewhere");
    }
    let files = [
        common.join("config"),
        common.join("config.worktree"),
        git.join("config.worktree"),
    ];
    for file in files {
        match read(&file) {
            Ok(None) => {}
            Ok(Some(text)) if is_harmless(&text) => {}
            Ok(Some(_)) => return Some("the configuration of the repository may name programs"),
            Err(_) => return Some("the configuration of the repository cannot be read"),
        }
    }
    // What is said there about a submodule wins over what we tell git.
    match read(&work_tree.join(".gitmodules")) {
        Ok(Some(text)) if text.to_ascii_lowercase().contains("ignore") => {
            Some("git may run in submodules, too")
        }
        Ok(_) => None,
        Err(_) => Some("the list of submodules cannot be read"),
    }
}

/// Whether a repository says of itself that this is one of its work trees, as git does for those
/// it makes.
fn is_linked(work_tree: &Path, git: &Path) -> bool {
    let named = read(&git.join("gitdir")).ok().flatten();
    let named = named.and_then(|text| Path::new(text.trim_end()).canonicalize().ok());
    named.is_some() && named == work_tree.join(".git").canonicalize().ok()
}

/// Files and directories of a repository from which git shows something.
const SHOWN: &[&str] = &[
    "HEAD",
    "config",
    "config.worktree",
    "index",
    "info",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "logs",
    "objects",
    "objects/info",
    "objects/pack",
    "packed-refs",
    "refs",
    "refs/heads",
    "refs/remotes",
    "refs/tags",
    "shallow",
];

/// Whether links or borrowed objects lead out of a repository.
fn shows_others(git: &Path) -> bool {
    let is_link = |name: &str| git.join(name).is_symlink();
    let borrowed = read(&git.join("objects/info/alternates"));
    let borrows = borrowed.map_or(true, |list| list.is_some_and(|it| !it.trim().is_empty()));
    borrows || SHOWN.iter().any(|name| is_link(name))
}

/// Whether git would take a directory for a repository without a work tree.
fn is_bare(directory: &Path) -> bool {
    let has = |name: &str| directory.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("objects") || has("refs") || has("commondir") || has("config"))
}

/// The directory of a repository: `.git`, or the one that the file `.git` names.
fn inner(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return (!git.is_symlink()).then(|| git.to_owned());
    }
    let text = read(git).ok()??;
    let path = text.strip_prefix("gitdir:")?.trim();
    let path = git.parent()?.join(path);
    path.is_dir().then_some(path)
}

/// The text of a file, if there is one.
fn read(file: &Path) -> Result<Option<String>, std::io::Error> {
    let metadata = match std::fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Err(std::io::Error::other("not a small file"));
    }
    std::fs::read_to_string(file).map(Some)
}

/// Whether every line of a configuration is understood, and none names a program.
fn is_harmless(text: &str) -> bool {
    let mut section = String::new();
    text.lines().all(|line| {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let Some(name) = rest.strip_suffix(']').filter(|name| !name.contains(']')) else {
                return false;
            };
            let name = name.split([' ', '"', '.']).next().unwrap_or_default();
            section = name.to_ascii_lowercase();
            return is_known(&section, None);
        }
        // A value that goes on below hides what comes next.
        if line.ends_with('\\') {
            return false;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, "true"));
        let key = key.trim().to_ascii_lowercase();
        let is_bare = section == "core" && key == "bare";
        is_known(&section, Some(&key)) && (!is_bare || value.trim() == "false")
    })
}

fn is_known(section: &str, key: Option<&str>) -> bool {
    let listed = KEYS.iter().find(|(name, _)| *name == section);
    match (listed, key) {
        _ if SECTIONS.contains(&section) => true,
        (Some((_, keys)), Some(key)) => keys.contains(&key),
        (Some(_), None) => true,
        (None, _) => false,
    }
}
