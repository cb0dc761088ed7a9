//! Writing permissions back to a settings file.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::json_file::{ReadError, read_object};
use crate::permission::{self, Effect};
use crate::trust::{ProjectFile, TrustStore, item_digest};

/// The files that may be written.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    pub(crate) config_dir: Option<PathBuf>,
    pub(crate) project: PathBuf,
    /// Where is remembered what was written for the user; none without a home.
    pub(crate) store: Option<TrustStore>,
}

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    User,
    Project,
    Local,
}

/// A change in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Permissions(permission::Change),
    /// A text that is not about permissions, at the end of these keys.
    Text {
        path: Vec<String>,
        value: String,
    },
}

/// Why a file was not written. It is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error("there is no home directory for user settings")]
    NoHome,
    #[error("settings file {} was not changed because it cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: ReadError },
    #[error("settings file {} was not changed: `{key}` is not what it should be", path.display())]
    Shape { path: PathBuf, key: &'static str },
    #[error("settings file {} was not written: it leads out of the project", path.display())]
    LeadsOut { path: PathBuf },
    #[error("failed to write settings file {}: {error}", path.display())]
    Io {
        path: PathBuf,
        error: std::io::Error,
    },
}

impl Files {
    pub(crate) fn user(&self) -> Option<PathBuf> {
        let directory = self.config_dir.as_ref()?;
        Some(directory.join("settings.json"))
    }

    pub(crate) fn project_file(&self) -> PathBuf {
        self.project.join(".claude/settings.json")
    }

    pub(crate) fn local(&self) -> PathBuf {
        self.project.join(".claude/settings.local.json")
    }

    fn path(&self, scope: Scope) -> Result<PathBuf, WriteError> {
        match scope {
            Scope::User => self.user().ok_or(WriteError::NoHome),
            Scope::Project => Ok(self.project_file()),
            Scope::Local => Ok(self.local()),
        }
    }

    /// Changes a file and says which.
    ///
    /// Other keys stay, in their order. The file is replaced in one step.
    pub(crate) fn write(&self, scope: Scope, change: &Change) -> Result<PathBuf, WriteError> {
        let path = self.path(scope)?;
        let io = |error| WriteError::Io {
            path: path.clone(),
            error,
        };
        let directory = path.parent().unwrap_or(Path::new("/"));
        std::fs::create_dir_all(directory).map_err(io)?;
        let target = self.target(scope, &path)?;
        let mut value = match read_object(&target) {
            Ok(value) => value.unwrap_or_else(|| Value::Object(Map::new())),
            Err(error) => return Err(WriteError::Unreadable { path, error }),
        };
        change.make(&mut value).map_err(|key| WriteError::Shape {
            path: path.clone(),
            key,
        })?;
        replace(&target, &value).map_err(io)?;
        self.remember(scope, change);
        Ok(path)
    }

    /// What the user adds to a file of the project did not come with it, and is trusted.
    fn remember(&self, scope: Scope, change: &Change) {
        let file = match scope {
            Scope::User => return,
            Scope::Project => ProjectFile::Settings,
            Scope::Local => ProjectFile::Local,
        };
        let own: Vec<String> = change
            .added()
            .into_iter()
            .map(|(key, text)| item_digest(file, &key, &Value::String(text.clone())))
            .collect();
        let Some(store) = self.store.as_ref().filter(|_| !own.is_empty()) else {
            return;
        };
        if let Err(error) = store.remember_own(&self.project, &own) {
            tracing::warn!(%error, "the change will have to be trusted in the next session");
        }
    }

    /// The file behind links. Those of a project must not lead out of it: a project must not
    /// get somebody else's file changed.
    fn target(&self, scope: Scope, path: &Path) -> Result<PathBuf, WriteError> {
        let is_link = path.symlink_metadata().is_ok_and(|it| it.is_symlink());
        let resolved = if is_link {
            std::fs::canonicalize(path)
        } else {
            let directory = path.parent().map(std::fs::canonicalize);
            let name = path.file_name().unwrap_or_default();
            directory.map_or_else(|| Ok(path.to_owned()), |it| it.map(|it| it.join(name)))
        };
        let resolved = resolved.map_err(|error| WriteError::Io {
            path: path.to_owned(),
            error,
        })?;
        let project = std::fs::canonicalize(&self.project);
        let is_inside = project.is_ok_and(|project| resolved.starts_with(project));
        if scope == Scope::User || is_inside {
            return Ok(resolved);
        }
        Err(WriteError::LeadsOut {
            path: path.to_owned(),
        })
    }
}

fn replace(target: &Path, value: &Value) -> std::io::Result<()> {
    let directory = target.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::Builder::new()
        .prefix(".settings-")
        .tempfile_in(directory)?;
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    // A new file is readable by its owner only; an old one keeps its mode.
    if let Ok(metadata) = std::fs::metadata(target) {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    file.persist(target)?;
    Ok(())
}

impl Change {
    /// What is in the file afterwards and may need trust: keys and texts.
    fn added(&self) -> Vec<(String, &String)> {
        match self {
            Self::Permissions(change) => permissions_added(change),
            Self::Text { path, value } => vec![(path.join("."), value)],
        }
    }

    /// Makes the change, or names the key that is in the way.
    fn make(&self, value: &mut Value) -> Result<(), &'static str> {
        match self {
            Self::Permissions(change) => change_permissions(change, value),
            Self::Text { path, value: text } => put(value, path, text),
        }
    }
}

fn permissions_added(change: &permission::Change) -> Vec<(String, &String)> {
    use permission::Change;
    let each = |key: &str, texts| -> Vec<(String, &String)> {
        let texts: &Vec<String> = texts;
        texts.iter().map(|text| (key.to_owned(), text)).collect()
    };
    match change {
        Change::AddRules(Effect::Allow, rules) | Change::ReplaceRules(Effect::Allow, rules) => {
            each("permissions.allow", rules)
        }
        Change::AddDirectories(directories) => {
            each("permissions.additionalDirectories", directories)
        }
        Change::DefaultMode(mode) => vec![("permissions.defaultMode".to_owned(), mode)],
        Change::AddRules(..)
        | Change::ReplaceRules(..)
        | Change::RemoveRules(..)
        | Change::RemoveDirectories(_) => Vec::new(),
    }
}

fn change_permissions(change: &permission::Change, value: &mut Value) -> Result<(), &'static str> {
    use permission::Change;
    let object = value.as_object_mut().ok_or("the file")?;
    let permissions = object
        .entry("permissions")
        .or_insert_with(|| Value::Object(Map::new()));
    let permissions = permissions.as_object_mut().ok_or("permissions")?;
    match change {
        Change::AddRules(behavior, rules) => add(list(permissions, behavior.key())?, rules),
        Change::ReplaceRules(behavior, rules) => {
            let list = list(permissions, behavior.key())?;
            list.clear();
            add(list, rules);
        }
        Change::RemoveRules(behavior, rules) => {
            remove(list(permissions, behavior.key())?, rules);
        }
        Change::DefaultMode(mode) => {
            permissions.insert("defaultMode".to_owned(), Value::String(mode.clone()));
        }
        Change::AddDirectories(directories) => {
            add(list(permissions, "additionalDirectories")?, directories);
        }
        Change::RemoveDirectories(directories) => {
            remove(list(permissions, "additionalDirectories")?, directories);
        }
    }
    Ok(())
}

/// Sets a text, and makes the objects around it.
fn put(mut value: &mut Value, path: &[String], text: &str) -> Result<(), &'static str> {
    for key in path {
        let object = value.as_object_mut().ok_or("a key on the way")?;
        value = object
            .entry(key)
            .or_insert_with(|| Value::Object(Map::new()));
    }
    *value = Value::String(text.to_owned());
    Ok(())
}

fn list<'v>(
    permissions: &'v mut Map<String, Value>,
    key: &'static str,
) -> Result<&'v mut Vec<Value>, &'static str> {
    let list = permissions
        .entry(key)
        .or_insert_with(|| Value::Array(Vec::new()));
    list.as_array_mut().ok_or(key)
}

fn add(list: &mut Vec<Value>, texts: &[String]) {
    for text in texts {
        let text = Value::String(text.clone());
        if !list.contains(&text) {
            list.push(text);
        }
    }
}

fn remove(list: &mut Vec<Value>, texts: &[String]) {
    list.retain(|value| {
        !value
            .as_str()
            .is_some_and(|it| texts.iter().any(|text| text == it))
    });
}
