//! Files of a project that commands name: when they change, something else runs.

use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

/// Files that one item may name.
const MAX_FILES: usize = 256;
/// Words that one item may have.
const MAX_WORDS: usize = 10_000;
/// Directories of one item in which other words are looked up.
const MAX_DIRECTORIES: usize = 16;
/// Directories in a word.
const MAX_DEPTH: usize = 32;
/// A file larger than this is known by its length and times only.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// The text of a larger file is not shown.
const MAX_SHOWN: usize = 256 * 1024;

/// Programs that run what a file says without being given its name.
const RUNNERS: &[(&str, &[&str])] = &[
    ("npm", &["package.json"]),
    ("npx", &["package.json"]),
    ("yarn", &["package.json", ".yarnrc.yml"]),
    ("pnpm", &["package.json"]),
    ("bun", &["package.json", "bunfig.toml"]),
    ("deno", &["deno.json", "deno.jsonc"]),
    ("make", &["GNUmakefile", "makefile", "Makefile"]),
    ("gmake", &["GNUmakefile", "makefile", "Makefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("rake", &["Rakefile", "rakefile"]),
];
/// What interpreters add to a name, or look for in a directory.
const ENDINGS: &[&str] = &[
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".json",
    ".py",
    ".sh",
    ".rb",
    "/index.js",
    "/index.mjs",
    "/index.cjs",
    "/index.ts",
    "/package.json",
    "/__main__.py",
    "/__init__.py",
];

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

/// The files of the project that the texts in a value name; none if they are too many to look at.
pub(super) fn scripts(project: &Path, value: &Value) -> Option<Vec<Script>> {
    let mut texts = Vec::new();
    collect(value, &mut texts);
    let mut all = Vec::new();
    for text in texts {
        all.extend(words(project, text));
        if all.len() > MAX_WORDS {
            return None;
        }
    }
    let mut found: Vec<Script> = Vec::new();
    for path in paths(project, &all)? {
        let name = path.to_string_lossy().into_owned();
        if found.iter().any(|it| it.path == name) {
            continue;
        }
        found.extend(read(project, &path, name));
        if found.len() > MAX_FILES {
            return None;
        }
    }
    Some(found)
}

/// Every path in the project that one of the words may mean.
fn paths(project: &Path, words: &[String]) -> Option<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for word in words {
        paths.extend(suffixes(word)?);
        // `python3 -m package.module`
        if word.contains('.') && !word.contains('/') {
            paths.extend(inside(&word.replace('.', "/")));
        }
        let program = word.rsplit('/').next().unwrap_or_default();
        let runner = RUNNERS.iter().find(|(name, _)| *name == program);
        let files = runner.into_iter().flat_map(|(_, files)| *files);
        paths.extend(files.map(PathBuf::from));
    }
    paths.sort();
    paths.dedup();
    // `cd scripts && ./check.sh`
    let is_directory = |path: &&PathBuf| project.join(path).is_dir();
    let directories: Vec<PathBuf> = paths.iter().filter(is_directory).cloned().collect();
    if directories.len() > MAX_DIRECTORIES {
        return None;
    }
    let below = directories.iter().flat_map(|directory| {
        let plain = paths.iter();
        plain.map(move |path| directory.join(path))
    });
    let mut paths: Vec<PathBuf> = below.chain(paths.iter().cloned()).collect();
    let ended = paths.iter().flat_map(|path| {
        let name = path.to_string_lossy().into_owned();
        ENDINGS
            .iter()
            .map(move |end| PathBuf::from(format!("{name}{end}")))
    });
    let ended: Vec<PathBuf> = ended.filter(|path| project.join(path).is_file()).collect();
    paths.retain(|path| project.join(path).is_file());
    paths.extend(ended);
    Some(paths)
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
    words
}

/// The path of a word and of each of its ends: what stands before may be the project, whatever the
/// variable, the tilde or the command in front of it says.
fn suffixes(word: &str) -> Option<Vec<PathBuf>> {
    let mut ends = Vec::new();
    let mut rest = Some(word);
    while let Some(end) = rest {
        ends.extend(inside(end));
        if ends.len() > MAX_DEPTH {
            return None;
        }
        rest = end.split_once('/').map(|(_, rest)| rest);
    }
    Some(ends)
}

/// The path of a word, by its spelling: a link may lead anywhere.
fn inside(word: &str) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for component in Path::new(word).components() {
        match component {
            Component::Normal(name) => clean.push(name),
            Component::CurDir | Component::RootDir => {}
            Component::ParentDir if clean.pop() => {}
            Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    (!clean.as_os_str().is_empty()).then_some(clean)
}

/// Follows links for the digest; what is outside of the project is not shown.
pub(super) fn read(project: &Path, place: &Path, path: String) -> Option<Script> {
    let file = &std::fs::canonicalize(project.join(place)).ok()?;
    let metadata = std::fs::metadata(file)
        .ok()
        .filter(std::fs::Metadata::is_file)?;
    let Some((digest, text)) = contents(file) else {
        // Unreadable or too long: any change of the file counts.
        let times = (
            metadata.mtime_nsec(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        );
        let known = format!("{} {} {times:?}", metadata.len(), metadata.ino());
        return Some(Script {
            path,
            digest: format!("unread {}", blake3::hash(known.as_bytes())),
            text: None,
        });
    };
    let is_inside = std::fs::canonicalize(project).is_ok_and(|it| file.starts_with(it));
    Some(Script {
        path,
        digest,
        text: text.filter(|_| is_inside),
    })
}

/// The digest of a file, and its text if it is short enough to be shown.
fn contents(file: &Path) -> Option<(String, Option<String>)> {
    let mut options = std::fs::OpenOptions::new();
    // Something else may be there by now; a FIFO must not block.
    options.read(true).custom_flags(NONBLOCK);
    let opened = options.open(file).ok()?;
    let metadata = opened.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    let mut start = Vec::new();
    let mut reader = opened.take(MAX_BYTES);
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let count = reader.read(&mut chunk).ok()?;
        if count == 0 {
            break;
        }
        hasher.update(&chunk[..count]);
        if start.len() <= MAX_SHOWN {
            start.extend_from_slice(&chunk[..count]);
        }
    }
    let text = (start.len() <= MAX_SHOWN).then(|| String::from_utf8(start).ok());
    Some((hasher.finalize().to_string(), text.flatten()))
}

const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
