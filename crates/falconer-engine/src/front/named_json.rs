//! JSON that a flag gives as it is, or as the path of a file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use falconer_protocol::Object;
use serde_json::Value;

/// More than any configuration; a larger file is a mistake.
const LARGEST: u64 = 64 << 20;

/// Why there is no JSON.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NamedJson {
    #[error("file not found: {}", .0.display())]
    Missing(PathBuf),
    #[error("failed to read {}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{} is larger than {} MiB", .0.display(), LARGEST >> 20)]
    TooLarge(PathBuf),
    #[error("invalid JSON in {}: {problem}", path.display())]
    Invalid { path: PathBuf, problem: String },
}

/// Reads an object. What is no JSON object is taken as a path, as the official CLI does.
pub(crate) fn read(given: &OsStr, cwd: &Path) -> Result<Object, NamedJson> {
    let inline = given.to_str().map(str::trim);
    if let Some(object) = inline.and_then(|text| object(text).ok()) {
        return Ok(object);
    }
    let path = cwd.join(given);
    let metadata = std::fs::metadata(&path).map_err(|_| NamedJson::Missing(path.clone()))?;
    if metadata.len() > LARGEST {
        return Err(NamedJson::TooLarge(path));
    }
    let text = std::fs::read_to_string(&path).map_err(|source| NamedJson::Unreadable {
        path: path.clone(),
        source,
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    object(text).map_err(|problem| NamedJson::Invalid { path, problem })
}

fn object(text: &str) -> Result<Object, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err("it is not an object".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_json_if_it_can_be_and_a_path_if_not() {
        let directory = tempfile::tempdir().unwrap();
        let cwd = directory.path();
        std::fs::write(cwd.join("good.json"), "\u{feff}{\"a\": 2}").unwrap();
        std::fs::write(cwd.join("bad.json"), "{nope").unwrap();
        std::fs::write(cwd.join("list.json"), "[]").unwrap();
        let value = |given: &str| {
            let json = read(OsStr::new(given), cwd)?;
            Ok::<_, NamedJson>(json.get("a").cloned())
        };
        assert_eq!(value(" {\"a\": 1} ").unwrap(), Some(1.into()));
        assert_eq!(value("good.json").unwrap(), Some(2.into()));
        let missing = cwd.join("{nope");
        assert!(matches!(value("{nope"), Err(NamedJson::Missing(path)) if path == missing));
        for invalid in ["bad.json", "list.json"] {
            let problem = value(invalid).unwrap_err();
            assert!(matches!(problem, NamedJson::Invalid { .. }), "{problem}");
        }
        assert!(matches!(value(""), Err(NamedJson::Unreadable { .. })));
    }
}
