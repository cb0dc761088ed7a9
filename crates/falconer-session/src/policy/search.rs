//! Searches: calls that read whatever is below a directory, also files that nobody named.
//!
//! What such a call would come across is looked up on the disk before it is made. That is the
//! same for every engine: some leave out what a rule forbids, others do not.

use std::path::{Path, PathBuf};

use falconer_rule::shell::{self, Part, Word};
use falconer_rule::{Call, Location, Subject, Where};
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;
use ignore::{DirEntry, WalkBuilder};

/// How many files and directories are looked at; a search through more is not understood.
const MOST: usize = 10_000;
/// Shells in shells that are looked into.
const MAX_SHELLS: usize = 4;
/// Where version control keeps its own files, which tools for searching leave out.
const VERSION_CONTROL: [&str; 6] = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

/// A search that a call would make.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Search {
    root: PathBuf,
    ignored: Ignored,
    /// Only files that these patterns name.
    globs: Vec<String>,
    /// Only files of this type, as ripgrep knows it.
    kind: Option<String>,
}

/// What about files that version control ignores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ignored {
    Searched,
    LeftOut,
}

/// What a search would come across.
pub(super) enum Finding {
    /// A file that is forbidden, and why.
    Forbidden(PathBuf, String),
    /// More than can be looked at.
    TooMuch(PathBuf),
}

/// The searches of a call; most calls make none.
pub(super) fn searches(call: &Call<'_>) -> Vec<Search> {
    let text = |name: &str| call.input.get(name).and_then(|value| value.as_str());
    let root = || call.cwd.join(text("path").unwrap_or_default());
    match (call.tool, call.subject()) {
        ("Grep", _) => {
            let globs = text("glob").map(split_globs).unwrap_or_default();
            let kind = text("type").map(str::to_owned);
            vec![Search::new(root(), Ignored::LeftOut).of(globs, kind)]
        }
        ("Glob", _) => {
            let globs = text("pattern").map(|pattern| vec![pattern.to_owned()]);
            // It lists what version control ignores, too.
            vec![Search::new(root(), Ignored::Searched).of(globs.unwrap_or_default(), None)]
        }
        (
            _,
            Subject::Command {
                script: Ok(script), ..
            },
        ) => of_parts(script.parts(), &mut call.start(), 0),
        _ => Vec::new(),
    }
}

/// Several patterns may stand in one text, with blanks or commas between them.
fn split_globs(text: &str) -> Vec<String> {
    // A comma in braces belongs to its pattern.
    let mut depth = 0_i32;
    let pieces = text.split(|letter: char| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter.is_whitespace() || (letter == ',' && depth == 0)
    });
    let pieces = pieces.filter(|piece| !piece.is_empty());
    pieces.map(str::to_owned).collect()
}

impl Search {
    fn new(root: PathBuf, ignored: Ignored) -> Self {
        Self {
            root,
            ignored,
            globs: Vec::new(),
            kind: None,
        }
    }

    fn of(mut self, globs: Vec<String>, kind: Option<String>) -> Self {
        (self.globs, self.kind) = (globs, kind);
        self
    }

    /// The first file on the way that is forbidden.
    pub(super) fn finding(&self, forbidden: impl Fn(&Path) -> Option<String>) -> Option<Finding> {
        let mut looked_at = 0;
        for entry in self.walk().build().flatten() {
            looked_at += 1;
            if looked_at > MOST {
                return Some(Finding::TooMuch(self.root.clone()));
            }
            let is_file = entry.file_type().is_some_and(|kind| !kind.is_dir());
            if is_file && let Some(why) = forbidden(entry.path()) {
                return Some(Finding::Forbidden(entry.into_path(), why));
            }
        }
        None
    }

    fn walk(&self) -> WalkBuilder {
        let mut walk = WalkBuilder::new(&self.root);
        walk.follow_links(false).hidden(false);
        match self.ignored {
            Ignored::Searched => walk.standard_filters(false),
            Ignored::LeftOut => walk.filter_entry(is_no_version_control),
        };
        let mut globs = OverrideBuilder::new(&self.root);
        // Without a pattern that can be read everything is looked at.
        if self.globs.iter().all(|glob| globs.add(glob).is_ok())
            && let Ok(globs) = globs.build()
        {
            walk.overrides(globs);
        }
        if let Some(kind) = &self.kind {
            let mut types = TypesBuilder::new();
            if let Ok(types) = types.add_defaults().select(kind).build() {
                walk.types(types);
            }
        }
        walk
    }
}

fn is_no_version_control(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_str();
    entry.depth() == 0 || !name.is_some_and(|name| VERSION_CONTROL.contains(&name))
}

fn of_parts(parts: &[Part], location: &mut Location, shells: usize) -> Vec<Search> {
    let mut found = Vec::new();
    for part in parts {
        for form in shell::stripped_for_denial(part).iter().chain([part]) {
            found.extend(of_part(form, location));
            let script = shell::script(form).filter(|_| shells < MAX_SHELLS);
            if let Some(Ok(inner)) = script.map(|script| shell::parts(&script)) {
                found.extend(of_parts(&inner, &mut location.clone(), shells + 1));
            }
        }
        location.follow(part);
    }
    found
}

/// The directories a program reads as a whole.
fn of_part(part: &Part, location: &Location) -> Vec<Search> {
    let Some((ignored, otherwise)) = reader(part) else {
        return Vec::new();
    };
    let mut roots: Vec<PathBuf> = (part.arguments().iter())
        .flat_map(|word| directories(word, location))
        .collect();
    if roots.is_empty() && otherwise == Otherwise::Here {
        let here = Word {
            literal: Some(".".to_owned()),
            ..Word::default()
        };
        roots = directories(&here, location);
    }
    let search = |root| Search::new(root, ignored);
    roots.into_iter().map(search).collect()
}

/// The directories a word may mean; of a pattern, the one in which it starts.
fn directories(word: &Word, location: &Location) -> Vec<PathBuf> {
    let Where::At(places) = location.places(word) else {
        return Vec::new();
    };
    let directories = places.into_iter().filter(|place| place.is_dir);
    directories.map(|place| place.spelled.clone()).collect()
}

/// What a program reads that names no directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Otherwise {
    Here,
    Nothing,
}

/// Whether a program reads all there is in a directory.
fn reader(part: &Part) -> Option<(Ignored, Otherwise)> {
    let name = Path::new(part.name()?).file_name()?.to_str()?;
    let arguments = || {
        part.arguments()
            .iter()
            .filter_map(|word| word.literal.as_deref())
    };
    let has = |long: &str| arguments().any(|argument| argument == long);
    let has_letter = |letters: &[char]| {
        let short = |argument: &str| argument.starts_with('-') && !argument.starts_with("--");
        arguments().any(|argument| short(argument) && argument.contains(letters))
    };
    match name {
        "rg" | "ag" | "ack" => {
            let is_bare = has_letter(&['u']) || has("--no-ignore") || has("--unrestricted");
            let ignored = if is_bare {
                Ignored::Searched
            } else {
                Ignored::LeftOut
            };
            Some((ignored, Otherwise::Here))
        }
        "grep" | "egrep" | "fgrep" | "zgrep" if has_letter(&['r', 'R']) || has("--recursive") => {
            Some((Ignored::Searched, Otherwise::Here))
        }
        "rgrep" => Some((Ignored::Searched, Otherwise::Here)),
        "git" if has("grep") => Some((Ignored::LeftOut, Otherwise::Here)),
        "tar" | "zip" | "7z" => Some((Ignored::Searched, Otherwise::Nothing)),
        "cp" | "scp" | "rsync"
            if has_letter(&['r', 'R', 'a']) || has("--recursive") || has("--archive") =>
        {
            Some((Ignored::Searched, Otherwise::Nothing))
        }
        "find"
            if ["-exec", "-execdir", "-ok", "-okdir"]
                .iter()
                .any(|action| has(action)) =>
        {
            Some((Ignored::Searched, Otherwise::Here))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
