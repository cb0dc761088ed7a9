//! What a call is about: a command, files, a host, or just the tool.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde_json::Value;

use crate::call::Call;
use crate::location::{Location, Where};
use crate::place::Place;
use crate::shell::{self, Part, Script, Unparsable, Word};
use crate::web::web_host;

/// What a call is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// A shell command, taken apart if that is possible.
    Command {
        /// As given.
        text: String,
        /// Read once, or why it cannot be read.
        script: Result<Script, Unparsable>,
    },
    /// Files that are read or written.
    Files {
        /// What is done to them.
        access: Access,
        /// Every one that is named.
        places: Vec<Rc<Place>>,
    },
    /// A host on the network.
    Host(String),
    /// Nothing that a rule could name but the tool, except for these files.
    Tool {
        /// Files in its input.
        places: Vec<Rc<Place>>,
    },
}

/// What is done to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing is changed.
    Read,
    /// Something may be changed.
    Write,
}

/// Longer texts are no paths.
const MAX_PATH: usize = 1_024;
/// Paths in one input that are looked at.
const MAX_TEXTS: usize = 256;

/// Fields of inputs that name files.
const PATH_FIELDS: [&str; 5] = ["file_path", "notebook_path", "path", "filename", "file"];

impl Subject {
    /// Finds out what a call is about.
    pub(crate) fn of(call: &Call<'_>) -> Self {
        match call.tool {
            "Bash" | "Monitor" | "PowerShell" => command(call),
            "Read" | "NotebookRead" => files(call, Access::Read, &named(call)),
            "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => {
                files(call, Access::Write, &named(call))
            }
            "LS" => files(call, Access::Read, &[base(call)]),
            "Glob" => {
                let pattern = call.text("pattern").unwrap_or_default();
                files(call, Access::Read, &[base(call).join(pattern)])
            }
            "Grep" => {
                let within = call.text("glob").map(|glob| base(call).join(glob));
                let paths = [base(call)].into_iter().chain(within);
                files(call, Access::Read, &paths.collect::<Vec<_>>())
            }
            "WebFetch" => call
                .text("url")
                .and_then(web_host)
                .map_or_else(|| tool(call), Self::Host),
            _ => tool(call),
        }
    }

    /// Whether a file that the call names is only known when it runs.
    pub fn names_unknown_files(&self, call: &Call<'_>) -> bool {
        let Self::Command { script, .. } = self else {
            return false;
        };
        let Ok(script) = script else {
            return true;
        };
        let mut location = call.start();
        script.parts().iter().any(|part| {
            let opened = part.redirects.iter().map(|redirect| &redirect.file);
            let unknown = opened.chain(naming(part)).any(|word| {
                let is_pattern = word.glob.is_some();
                word.literal.is_none() && !(is_pattern && location.expanded(word).is_some())
            });
            location.follow(part);
            unknown
        })
    }

    /// Every file the call may touch, as far as can be told; for a command better one too many.
    pub fn places(&self, call: &Call<'_>) -> Vec<Rc<Place>> {
        match self {
            Self::Files { places, .. } | Self::Tool { places } => places.clone(),
            Self::Host(_) => Vec::new(),
            Self::Command { text, script } => {
                let mut location = call.start();
                match script {
                    Ok(script) => places_of_parts(script.parts(), &mut location, 0),
                    Err(_) => rough_places(text, &location),
                }
            }
        }
    }
}

fn command(call: &Call<'_>) -> Subject {
    let Some(text) = call.text("command") else {
        return tool(call);
    };
    let script = match call.tool {
        // Another language, which nobody here can read.
        "PowerShell" => Err(Unparsable::Syntax),
        _ => shell::read(text),
    };
    Subject::Command {
        text: text.to_owned(),
        script,
    }
}

fn files(call: &Call<'_>, access: Access, paths: &[PathBuf]) -> Subject {
    if paths.is_empty() {
        return tool(call);
    }
    let places = paths.iter().map(|path| Rc::new(Place::of(path))).collect();
    Subject::Files { access, places }
}

fn tool(call: &Call<'_>) -> Subject {
    let mut places = named(call);
    let mut texts = Vec::new();
    collect_texts(call.input, &mut texts);
    places.extend(texts.into_iter().map(|text| absolute(text, call)));
    places.dedup();
    Subject::Tool {
        places: places.iter().map(|path| Rc::new(Place::of(path))).collect(),
    }
}

/// Texts that look like paths, wherever they are: nobody knows the fields of a server's tools.
fn collect_texts<'v>(input: &'v Value, found: &mut Vec<&'v str>) {
    match input {
        Value::String(text) => {
            let text = text.strip_prefix("file://").unwrap_or(text);
            let is_path = text.len() <= MAX_PATH
                && !text.contains(char::is_whitespace)
                && !text.contains("://")
                && (text.contains(['/', '\\']) || text.starts_with(['.', '~']));
            if is_path && found.len() < MAX_TEXTS {
                found.push(text);
            }
        }
        Value::Array(values) => values.iter().for_each(|it| collect_texts(it, found)),
        Value::Object(fields) => fields.values().for_each(|it| collect_texts(it, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn named(call: &Call<'_>) -> Vec<PathBuf> {
    let texts = PATH_FIELDS.iter().filter_map(|name| call.text(name));
    texts.map(|text| absolute(text, call)).collect()
}

fn base(call: &Call<'_>) -> PathBuf {
    let path = call.text("path");
    path.map_or_else(|| call.cwd.to_owned(), |path| absolute(path, call))
}

fn absolute(path: &str, call: &Call<'_>) -> PathBuf {
    match (path.strip_prefix("~/"), call.home) {
        (Some(below), Some(home)) => home.join(below),
        _ => call.cwd.join(path),
    }
}

/// Shells in shells that are looked into.
const MAX_SHELLS: usize = 4;

fn places_of_parts(parts: &[Part], location: &mut Location, shells: usize) -> Vec<Rc<Place>> {
    let mut places = Vec::new();
    for part in parts {
        let opened = part.redirects.iter().map(|redirect| &redirect.file);
        for word in opened.chain(naming(part)).chain(part.words.first()) {
            places.extend(places_of_word(word, location));
        }
        for assignment in &part.assignments {
            places.extend(rough_places(&assignment.text, location));
        }
        for form in shell::stripped_for_denial(part) {
            let script = shell::script(&form).filter(|_| shells < MAX_SHELLS);
            let Some(script) = script else { continue };
            match shell::parts(&script) {
                Ok(inner) => places.extend(places_of_parts(&inner, location, shells + 1)),
                Err(_) => places.extend(rough_places(&script, location)),
            }
        }
        location.follow(part);
    }
    places
}

/// The arguments that may name files: not what is only printed, nor the message of a commit.
pub(crate) fn naming(part: &Part) -> Vec<&Word> {
    let arguments = part.arguments();
    match part.name() {
        Some("echo" | "printf") => Vec::new(),
        Some("git") => {
            let is_message = |index: usize| {
                let before = index
                    .checked_sub(1)
                    .and_then(|before| arguments.get(before));
                before.is_some_and(|word| matches!(word.text.as_str(), "-m" | "-am" | "--message"))
            };
            let all = arguments.iter().enumerate();
            all.filter(|(index, _)| !is_message(*index))
                .map(|(_, word)| word)
                .collect()
        }
        _ => arguments.iter().collect(),
    }
}

fn places_of_word(word: &Word, location: &Location) -> Vec<Rc<Place>> {
    let mut places = match (&word.glob, location.places(word)) {
        (Some(_), _) => location.expanded(word).unwrap_or_default(),
        (None, Where::At(places)) => places,
        (None, Where::Unknown) => vec![somewhere(word.unquoted())],
    };
    // Programs take paths in many wrappings: `--file=x`, `@x`, code in quotes.
    let text = word.literal.as_deref().unwrap_or(&word.text);
    if word.literal.is_none() || text.contains(is_edge) {
        places.extend(rough_places(text, location));
    }
    places
}

/// Whatever looks like a path in a text that cannot be taken apart.
fn rough_places(text: &str, location: &Location) -> Vec<Rc<Place>> {
    let words = text.split(is_edge);
    let words = words.map(|word| word.replace('\\', ""));
    words
        .filter(|word| !word.is_empty())
        .flat_map(|word| match location.places(&Word::plain(&word)) {
            Where::At(places) => places,
            Where::Unknown => vec![somewhere(&word)],
        })
        .collect()
}

/// A path below a directory that nobody knows.
fn somewhere(path: &str) -> Rc<Place> {
    let path = path.trim_start_matches(['~', '/']);
    Rc::new(Place::of(&Path::new("/").join(path)))
}

pub(crate) fn is_edge(letter: char) -> bool {
    letter.is_whitespace() || "|&;<>()`{}'\"=,$:@".contains(letter)
}
