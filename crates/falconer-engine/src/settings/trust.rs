//! A project that nobody trusts must not grant itself permissions.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::{Layer, Source};

/// An index larger than this is taken to list the file.
const MAX_INDEX: u64 = 256 * 1024 * 1024;
const LOCAL_FILE: &[u8] = b".claude/settings.local.json";

/// Takes what widens permissions out of the layers that come with the project.
pub(super) fn take_back(layers: &mut [Layer], project: &Path, warnings: &mut Vec<String>) {
    for layer in layers {
        let file = match layer.source {
            Source::Project => ".claude/settings.json",
            // The file of the user alone, unless it came with the project.
            Source::Local if grants(&layer.value) && is_tracked(project) => {
                ".claude/settings.local.json"
            }
            Source::Local | Source::User | Source::Flag | Source::Managed => continue,
        };
        let Some(permissions) = layer.value.get_mut("permissions") else {
            continue;
        };
        for key in ["allow", "additionalDirectories", "defaultMode"] {
            let Some(taken) = take(permissions, key) else {
                continue;
            };
            let count = taken.as_array().map_or(1, Vec::len);
            if count > 0 {
                warnings.push(format!(
                    "ignored {count} permissions.{key} of {file}: the workspace {} is not trusted; \
                     trust it, or give the permissions on the command line or in user settings",
                    project.display()
                ));
            }
        }
    }
}

fn take(permissions: &mut Value, key: &str) -> Option<Value> {
    // A mode that only narrows is kept.
    let is_narrow = |value: &Value| {
        key == "defaultMode" && matches!(value.as_str(), Some("default" | "plan" | "dontAsk"))
    };
    let object = permissions.as_object_mut()?;
    if object.get(key).is_some_and(is_narrow) {
        return None;
    }
    object.shift_remove(key)
}

fn grants(value: &Value) -> bool {
    let permissions = value.get("permissions");
    permissions.is_some_and(|permissions| {
        ["allow", "additionalDirectories", "defaultMode"]
            .iter()
            .any(|key| permissions.get(key).is_some())
    })
}

/// Whether the local file is part of the repository, as the index says.
fn is_tracked(project: &Path) -> bool {
    let index = project
        .ancestors()
        .map(|directory| directory.join(".git/index"))
        .find_map(|path| std::fs::File::open(path).ok());
    let Some(index) = index else {
        return false;
    };
    let mut bytes = Vec::new();
    let length = index.take(MAX_INDEX + 1).read_to_end(&mut bytes);
    length.map_or(true, |length| length as u64 > MAX_INDEX)
        || memchr::memmem::find(&bytes, LOCAL_FILE).is_some()
}
