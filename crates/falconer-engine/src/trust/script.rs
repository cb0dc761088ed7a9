//! Files of a project that commands name: when they change, something else runs.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

/// Files of one item that are looked at.
const MAX_FILES: usize = 64;
/// Words of one text that are looked up.
const MAX_WORDS: usize = 10_000;
/// A file larger than this is known by its length and time only.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
/// The text of a larger file is not shown.
const MAX_SHOWN: usize = 256 * 1024;

/// A file of the project that an item names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Script {
    /// Its path in the project.
    pub path: String,
    /// The digest of its bytes.
    pub digest: String,
    /// Its text, unless it is binary or long.
    pub text: Option<String>,
}

/// The files of the project that the texts in a value name.
pub(super) fn scripts(project: &Path, value: &Value) -> Vec<Script> {
    let mut texts = Vec::new();
    collect(value, &mut texts);
    let mut found: Vec<Script> = Vec::new();
    for text in texts {
        for word in words(project, text) {
            let Some(path) = inside(project, &word) else {
                continue;
            };
            let name = path.to_string_lossy().into_owned();
            if found.len() >= MAX_FILES || found.iter().any(|it| it.path == name) {
                continue;
            }
            found.extend(read(project, &path, name));
        }
    }
    found
}

fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(list) => list.iter().for_each(|it| collect(it, texts)),
        Value::Object(object) => object.values().for_each(|it| collect(it, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text itself, and everything in it that could be a word of a shell.
fn words(project: &Path, text: &str) -> Vec<String> {
    let project = project.to_string_lossy();
    let text = text
        .replace("${CLAUDE_PROJECT_DIR}", &project)
        .replace("$CLAUDE_PROJECT_DIR", &project)
        .replace("${PWD}", &project)
        .replace("$PWD", &project);
    let unquoted: String = text
        .chars()
        .filter(|c| !matches!(c, '\'' | '"' | '\\'))
        .collect();
    let ends = |c: char| c.is_whitespace() || ";|&()<>=,`{}[]:".contains(c);
    let mut words: Vec<String> = unquoted.split(ends).map(str::to_owned).collect();
    // Quotes may hold blanks.
    words.extend(text.split(['\'', '"']).map(str::to_owned));
    words.push(text.clone());
    words.retain(|word| !word.is_empty());
    words.truncate(MAX_WORDS);
    words
}

/// The path of a word in the project, by its spelling: a link may lead anywhere.
fn inside(project: &Path, word: &str) -> Option<PathBuf> {
    let path = Path::new(word);
    let relative = match path.is_absolute() {
        true => path.strip_prefix(project).ok()?,
        false => path,
    };
    let mut clean = PathBuf::new();
    for component in relative.components() {
        match component {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            Component::ParentDir if clean.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!clean.as_os_str().is_empty()).then_some(clean)
}

/// Follows links for the digest; what is outside of the project is not shown.
pub(super) fn read(project: &Path, place: &Path, path: String) -> Option<Script> {
    let file = &std::fs::canonicalize(project.join(place)).ok()?;
    let metadata = std::fs::metadata(file).ok().filter(|it| it.is_file())?;
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).ok();
    let read = opened.and_then(|it| it.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok());
    if read.is_none_or(|length| length as u64 > MAX_BYTES) {
        // Unreadable or too long: any change of length or time counts.
        let time = metadata.modified().ok();
        let known = format!("{} {time:?}", metadata.len());
        return Some(Script {
            path,
            digest: format!("unread {}", blake3::hash(known.as_bytes())),
            text: None,
        });
    }
    let digest = blake3::hash(&bytes).to_string();
    let is_inside = std::fs::canonicalize(project).is_ok_and(|it| file.starts_with(it));
    let text = String::from_utf8(bytes).ok().filter(|_| is_inside);
    Some(Script {
        path,
        digest,
        text: text.filter(|text| text.len() <= MAX_SHOWN),
    })
}
