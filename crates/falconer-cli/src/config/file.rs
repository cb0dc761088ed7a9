//! The user's file: where it is, changing it without losing comments, bringing old ones up to date.

use std::io::Write;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table};

use super::keys::{self, Key};
use super::layers::{ConfigError, read};
use super::schema::VERSION;
use crate::exit::Fault;
use crate::places;

/// What a new file begins with.
const HEADER: &str = "\
# The configuration of falconer. `falconer config list` shows every key, what it
# is set to and by whom; `falconer config schema` prints its JSON Schema.
";

/// More than any configuration.
const SIZE_LIMIT: u64 = 1 << 20;

/// The user's file.
pub(crate) fn path() -> Result<PathBuf, Fault> {
    Ok(places::config_directory()?.join("config.toml"))
}

/// The file of a profile and its text.
pub(crate) fn profile(name: &str) -> Result<(PathBuf, String), Fault> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_plain) {
        let text = format!("`{name}` is not the name of a profile");
        return Err(Fault::usage(text, "use letters, digits, `-` and `_`"));
    }
    let file = format!("{name}.toml");
    let path = places::config_directory()?.join("profiles").join(file);
    match text(&path)? {
        Some(text) => Ok((path, text)),
        None => {
            let hint = format!(
                "create {} with keys from `run` and `claude`",
                path.display()
            );
            let text = format!("no profile named `{name}`");
            Err(Fault::usage(text, hint))
        }
    }
}

/// The file of the project a directory is in: the nearest one above it.
pub(crate) fn project_path(directory: &Path) -> Option<PathBuf> {
    let files = directory
        .ancestors()
        .map(|place| place.join(".falconer.toml"));
    files.into_iter().find(|file| file.is_file())
}

/// The text of a file; `None` if it is not there.
pub(crate) fn text(path: &Path) -> Result<Option<String>, Fault> {
    let fault = |problem: String| {
        Fault::new(
            crate::exit::Exit::Usage,
            format!("failed to read {}: {problem}", path.display()),
            "make it a readable text file, or move it away",
        )
    };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fault(error.to_string())),
        Ok(metadata) if !metadata.is_file() => return Err(fault("not a regular file".to_owned())),
        Ok(metadata) if metadata.len() > SIZE_LIMIT => {
            return Err(fault(format!("it is larger than {SIZE_LIMIT} bytes")));
        }
        Ok(_) => {}
    }
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) => Err(fault(error.to_string())),
    }
}

/// Replaces a file as a whole, or not at all.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Fault> {
    let failed = |error: std::io::Error| {
        Fault::setup(
            format!("failed to write {}: {error}", path.display()),
            "make the directory writable, or name another with FALCONER_CONFIG_DIR",
        )
    };
    // A link, as people have who keep such files elsewhere, stays a link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = target.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory).map_err(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// What a file is, once it is brought up to date.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Migrated {
    UpToDate,
    /// The new text. The old one is to be kept.
    Rewritten(String),
}

/// Keys of the first format, which had no sections, and where they are now.
const MOVED: [(&str, &str); 6] = [
    ("engine", "run.engine"),
    ("model", "run.model"),
    ("permission_mode", "run.permission_mode"),
    ("allow", "run.allow"),
    ("deny", "run.deny"),
    ("claude_path", "claude.path"),
];

/// Brings an old text up to date; comments stay where they are.
pub(crate) fn migrate(text: &str) -> Migrated {
    let Ok(mut document) = text.parse::<DocumentMut>() else {
        // What is wrong is told when it is read.
        return Migrated::UpToDate;
    };
    let is_old = MOVED.iter().any(|(old, _)| document.get(old).is_some());
    if !is_old || document.get("version").is_some() {
        return Migrated::UpToDate;
    }
    for (old, new) in MOVED {
        let Some((key, item)) = document.remove_entry(old) else {
            continue;
        };
        let (section, name) = new.split_once('.').unwrap_or(("", new));
        let moved = toml_edit::Key::new(name).with_leaf_decor(key.leaf_decor().clone());
        match section_of(&mut document, section) {
            Ok(table) => drop(table.insert_formatted(&moved, item)),
            Err(_) => return Migrated::UpToDate,
        }
    }
    document.insert("version", toml_edit::value(i64::from(VERSION)));
    Migrated::Rewritten(document.to_string())
}

/// Brings the user's file up to date and keeps the old one; says so, if it did.
pub(crate) fn bring_up_to_date(path: &Path) -> Result<Option<String>, Fault> {
    let Some(old) = text(path)? else {
        return Ok(None);
    };
    let Migrated::Rewritten(new) = migrate(&old) else {
        return Ok(None);
    };
    let backup = free_name(path);
    write(&backup, &old)?;
    write(path, &new)?;
    Ok(Some(format!(
        "updated {} to the new format; the old file is {}",
        path.display(),
        backup.display()
    )))
}

/// A name beside the file that nobody has.
fn free_name(path: &Path) -> PathBuf {
    let numbered = |number: u32| path.with_extension(format!("toml.old{number}"));
    let mut names = (1..).map(numbered);
    names
        .find(|name| !name.exists())
        .unwrap_or_else(|| numbered(0))
}

/// A text with a key set.
pub(crate) fn set(text: &str, key: &Key, value: toml::Value) -> Result<String, ConfigError> {
    let mut document = parse(text)?;
    let (section, name) = match key.path.split_once('.') {
        Some((section, name)) => (section, name),
        None => ("", key.path.as_str()),
    };
    let mut item = toml_edit::value(to_edit(value));
    let table = section_of(&mut document, section)?;
    // A comment behind the value stays.
    if let (Some(old), Some(new)) = (
        table
            .get(name)
            .and_then(Item::as_value)
            .map(|old| old.decor().clone()),
        item.as_value_mut(),
    ) {
        *new.decor_mut() = old;
    }
    // Replaced in its place: what stands before the key stays.
    match table.get_mut(name) {
        Some(old) => *old = item,
        None => drop(table.insert(name, item)),
    }
    if document.get("version").is_none() {
        document.insert("version", toml_edit::value(i64::from(VERSION)));
    }
    let text = document.to_string();
    let text = if text.starts_with("version") && !text.contains('#') {
        format!("{HEADER}{text}")
    } else {
        text
    };
    read("the configuration", &text)?;
    Ok(text)
}

/// A text without a key; `None` if it was not in it.
pub(crate) fn unset(text: &str, key: &Key) -> Result<Option<String>, ConfigError> {
    let mut document = parse(text)?;
    let removed = match key.path.split_once('.') {
        None => document.remove(&key.path),
        Some((section, name)) => {
            match document.get_mut(section).and_then(Item::as_table_like_mut) {
                Some(table) => table.remove(name),
                None => None,
            }
        }
    };
    Ok(removed.map(|_| document.to_string()))
}

fn parse(text: &str) -> Result<DocumentMut, ConfigError> {
    text.parse()
        .map_err(|error: toml_edit::TomlError| ConfigError::Unreadable {
            place: "the configuration".to_owned(),
            problem: error.message().to_owned(),
        })
}

fn section_of<'a>(
    document: &'a mut DocumentMut,
    section: &str,
) -> Result<&'a mut Table, ConfigError> {
    if section.is_empty() {
        return Ok(document.as_table_mut());
    }
    let item = document
        .entry(section)
        .or_insert_with(|| Item::Table(Table::new()));
    // A section written as an inline table becomes one of lines.
    if !item.is_table() {
        let made = std::mem::take(item).into_table().unwrap_or_default();
        *item = Item::Table(made);
    }
    item.as_table_mut().ok_or_else(|| ConfigError::Unreadable {
        place: "the configuration".to_owned(),
        problem: format!("`{section}` is not a section"),
    })
}

fn to_edit(value: toml::Value) -> toml_edit::Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Array(list) => list
            .into_iter()
            .map(to_edit)
            .collect::<toml_edit::Array>()
            .into(),
        // No key has such a value.
        toml::Value::Datetime(_) | toml::Value::Table(_) => "".into(),
    }
}

/// The key with this name.
pub(crate) fn key(name: &str) -> Result<&'static Key, Fault> {
    keys::find(name).map_err(|nearest| {
        Fault::usage(
            format!("unknown key `{name}`; did you mean `{nearest}`?"),
            "`falconer config list` shows all keys",
        )
    })
}
