//! Reading the list of what may be mounted.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{MountAccess, MountAllowlist, MountError, Root};
use crate::account::document;

impl MountAllowlist {
    /// Reads the list; nothing may be mounted without one.
    ///
    /// # Errors
    ///
    /// [`MountError`] if it is not there, cannot be read, or says something unknown.
    pub fn read(file: impl AsRef<Path>) -> Result<Self, MountError> {
        let file = file.as_ref();
        let fields = document::object(file).map_err(|problem| MountError::File {
            file: file.to_owned(),
            problem,
        })?;
        let resolved = file.canonicalize();
        let file = resolved.map_err(|source| MountError::Unresolved {
            path: file.to_owned(),
            source,
        })?;
        let wrong = |problem: String| MountError::List {
            file: file.clone(),
            problem,
        };
        known(&fields, &["roots", "blocked"]).map_err(wrong)?;
        Ok(Self {
            roots: list(&fields, "roots", root).map_err(wrong)?,
            blocked: list(&fields, "blocked", name).map_err(wrong)?,
            file: file.clone(),
        })
    }
}

fn known(fields: &Map<String, Value>, names: &[&str]) -> Result<(), String> {
    match fields.keys().find(|key| !names.contains(&key.as_str())) {
        Some(key) => Err(format!(
            "`{key}` means nothing here; there are {}",
            names.join(", ")
        )),
        None => Ok(()),
    }
}

fn list<T>(
    fields: &Map<String, Value>,
    name: &str,
    read: impl Fn(&Value) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    match fields.get(name) {
        None => Ok(Vec::new()),
        Some(Value::Array(values)) => values.iter().map(read).collect(),
        Some(_) => Err(format!("`{name}` has to be a list")),
    }
}

fn root(value: &Value) -> Result<Root, String> {
    let fields = value
        .as_object()
        .ok_or("an entry of `roots` has to be an object with a `path`")?;
    known(fields, &["path", "writable"])?;
    let path = fields
        .get("path")
        .and_then(Value::as_str)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute() && path.parent().is_some())
        .ok_or("the `path` of a root has to be absolute, and not the root of the disk")?;
    let most = match fields.get("writable") {
        None | Some(Value::Bool(false)) => MountAccess::ReadOnly,
        Some(Value::Bool(true)) => MountAccess::ReadWrite,
        Some(_) => return Err("`writable` has to be true or false".to_owned()),
    };
    // One that is not there covers nothing.
    let path = path.canonicalize().unwrap_or(path);
    Ok(Root { path, most })
}

fn name(value: &Value) -> Result<String, String> {
    let name = value.as_str().map(|name| name.trim_matches('/'));
    let name = name.filter(|name| !name.is_empty() && !name.contains("//"));
    name.map(str::to_owned)
        .ok_or_else(|| "an entry of `blocked` has to be a name".to_owned())
}
