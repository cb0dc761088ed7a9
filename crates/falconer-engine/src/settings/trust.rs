//! Which parts of a project's files a session uses.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Layer, Source, Sources};
use crate::json_file::read_object;
use crate::trust::{Content, Grant, ProjectFile, Seal};

/// Keys that a warning names.
const MAX_NAMES: usize = 10;
/// Characters of a key that a warning shows.
const MAX_KEY: usize = 80;

/// Who has decided about a project's own files. What the user trusts counts in any case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Trust {
    /// Nobody but the user, before the session.
    #[default]
    User,
    /// The user, for this session: the content with this digest.
    Content(String),
    /// The host, which named the project's settings as a source.
    Host(Folder),
}

/// Whether the user has accepted the folder in the official CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Folder {
    Accepted,
    #[default]
    Unknown,
}

/// The servers of `.mcp.json` that may be started.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ProjectServers {
    pub(crate) declared: Map<String, Value>,
    /// Somebody saw them and trusts them; no setting has to enable them besides.
    pub(crate) trusted: bool,
}

/// The layers that a project has, as far as they may be used.
#[derive(Debug, Default)]
pub(super) struct ProjectLayers {
    pub(super) layers: Vec<Layer>,
    pub(super) servers: ProjectServers,
    pub(super) seals: Seals,
}

/// What was trusted, and what must not be changed unasked.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Seals {
    /// What somebody trusts; checked before each run.
    pub(crate) trusted: Vec<Arc<Seal>>,
    /// Files that anything of the project runs, whoever decided about it.
    pub(crate) files: Vec<PathBuf>,
}

impl ProjectLayers {
    /// Reads the files once: what is judged is what is used.
    pub(super) fn read(
        sources: &Sources,
        user: Option<&Value>,
        warnings: &mut Vec<String>,
    ) -> Self {
        let mut load = |file: ProjectFile| load(sources, file, warnings);
        let [settings, local, servers] = ProjectFile::ALL.map(&mut load);
        let root = std::fs::canonicalize(&sources.project);
        let root = root.unwrap_or_else(|_| sources.project.clone());
        let mut content = Content::new(
            &root,
            settings,
            local,
            servers,
            sources.config_dir.as_deref(),
        );
        let grant = grant(sources, warnings);
        let own = grant.own();
        let digest = content.digest(&own);
        let is_trusted = digest.is_some() && is_trusted(sources, &grant, digest.as_deref());
        let dropped = content.keep(&own, |kind| match (&sources.trust, is_trusted) {
            (_, true) | (Trust::Host(Folder::Accepted), _) => true,
            (Trust::Host(Folder::Unknown), false) => kind.is_decided_by_the_host(),
            (Trust::User | Trust::Content(_), false) => false,
        });
        let widening = content.narrow(user);
        let is_used = |(file, _): &&(ProjectFile, String)| is_enabled(sources, *file);
        let dropped: Vec<_> = dropped.iter().filter(is_used).collect();
        warn_untrusted(&dropped, sources, grant.digest.as_deref(), warnings);
        for (file, key) in content.never().iter().filter(is_used) {
            warnings.push(format!(
                "ignored {} of {}: a project cannot set it; set it in user settings or in the \
                 environment",
                shown(key),
                file.name()
            ));
        }
        for (file, key) in widening.iter().filter(is_used) {
            warnings.push(format!(
                "ignored {} of {}: it would allow more than your own settings do",
                shown(key),
                file.name()
            ));
        }
        let kept = content.seals(&root);
        let seals = Seals {
            files: kept.iter().flat_map(|seal| seal.paths()).collect(),
            trusted: if is_trusted { kept } else { Vec::new() },
        };
        Self {
            seals,
            ..Self::of(sources, content, is_trusted)
        }
    }

    fn of(sources: &Sources, mut content: Content, trusted: bool) -> Self {
        let mut layers = Vec::new();
        let files = [
            (Source::Project, ProjectFile::Settings),
            (Source::Local, ProjectFile::Local),
        ];
        for (source, file) in files {
            let value = content.take(file).filter(|_| is_enabled(sources, file));
            layers.extend(value.map(|value| Layer { source, value }));
        }
        let servers = content.take(ProjectFile::Servers);
        let servers = servers.filter(|_| is_enabled(sources, ProjectFile::Servers));
        let declared = match servers {
            Some(Value::Object(mut file)) => file.shift_remove("mcpServers"),
            _ => None,
        };
        let declared = match declared {
            Some(Value::Object(declared)) => declared,
            _ => Map::new(),
        };
        Self {
            layers,
            servers: ProjectServers { declared, trusted },
            seals: Seals::default(),
        }
    }
}

fn is_enabled(sources: &Sources, file: ProjectFile) -> bool {
    match file {
        ProjectFile::Settings | ProjectFile::Servers => sources.enabled.project,
        ProjectFile::Local => sources.enabled.local,
        ProjectFile::Definitions => false,
    }
}

/// The value of a file. All of them count for the digest, also those that are not used.
fn load(sources: &Sources, file: ProjectFile, warnings: &mut Vec<String>) -> Option<Value> {
    let is_users = file.is_users(&sources.project, sources.config_dir.as_deref());
    if is_users || !sources.enabled.project && !sources.enabled.local {
        return None;
    }
    let path = sources.project.join(file.name());
    match read_object(&path) {
        Ok(value) => value,
        Err(error) if is_enabled(sources, file) => {
            warnings.push(unusable(&path, &error));
            None
        }
        Err(_) => None,
    }
}

fn unusable(path: &Path, error: &dyn std::fmt::Display) -> String {
    let path = path.display();
    format!("ignored settings file {path}: {error}; repair or remove it")
}

/// What the user trusts; nothing if that cannot be read.
fn grant(sources: &Sources, warnings: &mut Vec<String>) -> Grant {
    let Some(store) = &sources.store else {
        return Grant::default();
    };
    match store.grant_of(&sources.project) {
        Ok(grant) => grant.unwrap_or_default(),
        Err(error) => {
            warnings.push(format!("nothing of the project is trusted: {error}"));
            Grant::default()
        }
    }
}

fn is_trusted(sources: &Sources, grant: &Grant, digest: Option<&str>) -> bool {
    let for_this_session = match &sources.trust {
        Trust::Content(given) => Some(given.as_str()) == digest,
        Trust::User | Trust::Host(_) => false,
    };
    for_this_session || grant.digest.as_deref() == digest
}

/// A key for people: whoever wrote it may want to hide something.
fn shown(key: &str) -> String {
    key.escape_debug().take(MAX_KEY).collect()
}

fn warn_untrusted(
    dropped: &[&(ProjectFile, String)],
    sources: &Sources,
    earlier: Option<&str>,
    warnings: &mut Vec<String>,
) {
    for file in ProjectFile::ALL {
        let of_file = dropped.iter().filter(|(other, _)| *other == file);
        let keys: Vec<&str> = of_file.map(|(_, key)| key.as_str()).collect();
        if keys.is_empty() {
            continue;
        }
        let mut seen = HashSet::new();
        let names = keys.iter().copied().filter(|key| seen.insert(*key));
        let names: Vec<String> = names.take(MAX_NAMES).map(shown).collect();
        let why = match earlier {
            Some(_) => "changed since somebody trusted the project",
            None => "not trusted",
        };
        let count = keys.len();
        let things = if count == 1 { "setting" } else { "settings" };
        warnings.push(format!(
            "ignored {count} {things} of {} ({}): {why}; run `falconer trust` in {} to see and \
             trust this content",
            file.name(),
            names.join(", "),
            sources.project.display()
        ));
    }
}
