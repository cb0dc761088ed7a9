//! Protected places: nothing writes there without being asked, in any mode and by any rule.
//!
//! The names are in one table, [`names`]. A command counts as writing a place if a program that
//! is not known to only read names it, in whatever way: better one question too many.

mod configure;
mod names;
mod own;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::LazyLock;

use regex::Regex;

use crate::call::Call;
use crate::location::{Location, Where};
use crate::place::Place;
use crate::shell::{self, Direction, Inner, Meaning, Part, Script, Word};
use crate::subject::{Access, Subject, is_edge, naming};

/// Pieces of words that are looked up on the disk; a command with more is not understood.
const MOST: usize = 4_096;
/// Directories in one name of the table.
const MOST_NAMES: usize = 3;
/// Letters of options that may stand in front of a path: `-avo.git/config`.
const MOST_LETTERS: usize = 8;

/// Whether a place is one of those that are guarded like protected ones, by one of its names.
pub fn is_guarded(place: &Place, guarded: &[Place]) -> bool {
    let is_same = |other: &Place| {
        let mut names = place.names();
        names.any(|name| other.names().any(|other| other == name))
    };
    guarded.iter().any(is_same)
}

/// Whether writing there needs a question whatever the rules say.
pub fn is_protected(place: &Place) -> bool {
    let is_listed = |path: &Path| is_named(path) || is_repository_file(path);
    !place.is_clear || place.different_names().any(is_listed)
}

/// Returns the protected place that a call may write, as far as can be told.
pub fn protected_by(call: &Call<'_>) -> Option<PathBuf> {
    match call.subject() {
        Subject::Files {
            access: Access::Read,
            ..
        }
        | Subject::Host(_) => None,
        Subject::Files { places, .. } | Subject::Tool { places } => {
            let protected = places.iter().find(|place| is_protected(place));
            protected.map(|place| place.spelled.clone())
        }
        Subject::Command { text, script } => match script {
            Ok(script) => protected_write(script, text, call.start(), &[]),
            Err(_) => mentioned(text),
        },
    }
}

/// Returns the protected place that a command may write, or one of those that are guarded like
/// them, as far as can be told.
pub fn protected_write(
    script: &Script,
    text: &str,
    mut location: Location,
    guarded: &[Place],
) -> Option<PathBuf> {
    let mut look = Look {
        budget: MOST,
        is_plain: script.plain().is_ok(),
        guarded,
    };
    let parts = script.meanings();
    look.parts(parts, &mut location).or_else(|| {
        if !is_fed(parts) {
            return None;
        }
        // What a here-document holds, or a variable, may be what a part writes or runs.
        let hit = text.contains("<<").then(|| mentioned(text)).flatten();
        hit.or_else(|| own::mentions(text).then(|| PathBuf::from(own::STATE)))
    })
}

/// Whether a part takes words from its input for what it writes or runs.
fn is_fed(parts: &[Meaning]) -> bool {
    let writes = |meaning: &Meaning| meaning.takes_more && !only_feeds_readers(&meaning.part);
    let mut parts = parts.iter();
    parts.any(|meaning| writes(meaning) || meaning.runs_unknown)
}

/// Whether a file that the shell or a known program writes is only known when it runs.
pub fn writes_unknown(parts: &[Part], mut location: Location) -> bool {
    parts.iter().any(|part| {
        let unknown = written(part)
            .iter()
            .filter(|word| word.glob.is_none())
            .any(|word| location.places(word) == Where::Unknown);
        location.follow(part);
        unknown
    })
}

/// Returns the protected name in a text that could not be taken apart.
pub fn mentioned(text: &str) -> Option<PathBuf> {
    // Quotes may stand in the middle of a name.
    let text = text.to_lowercase().replace(['\'', '"', '\\'], "");
    if own::mentions(&text) {
        return Some(PathBuf::from(own::STATE));
    }
    let Ok(names) = NAMES.as_ref() else {
        return Some(PathBuf::from(text));
    };
    let name = names.captures(&text)?.iter().skip(1).flatten().next();
    name.map(|name| PathBuf::from(name.as_str()))
}

/// Finds a whole name of the table, or a name that begins like one, in a text.
static NAMES: LazyLock<Result<Regex, regex::Error>> = LazyLock::new(|| {
    let any = |names: &mut dyn Iterator<Item = &&str>| {
        let names: Vec<String> = names.map(|name| regex::escape(name)).collect();
        names.join("|")
    };
    let whole = any(&mut names::LISTS.iter().copied().flatten());
    let beginnings = any(&mut names::BEGINNINGS.iter());
    Regex::new(&format!(
        r"({whole})(?:[^\p{{Alphabetic}}\p{{N}}]|$)|({beginnings})"
    ))
});

/// Files that the shell and known programs write for a part.
fn written(part: &Part) -> Vec<Word> {
    let redirects = part.redirects.iter();
    let redirects =
        redirects.filter(|it| it.direction == Direction::Write && !shell::is_sink(&it.file));
    let work = shell::file_work(part).unwrap_or_default();
    let opened = redirects.map(|redirect| redirect.file.clone());
    opened.chain(work.writes).collect()
}

/// Looks for protected places in the words of a command.
struct Look<'l> {
    budget: usize,
    /// Whether what is known of the parts is certain.
    is_plain: bool,
    guarded: &'l [Place],
}

impl Look<'_> {
    fn parts(&mut self, parts: &[Meaning], location: &mut Location) -> Option<PathBuf> {
        let is_fed = is_fed(parts);
        for meaning in parts {
            let part = &meaning.part;
            let hit = self.part(meaning, location).or_else(|| match is_fed {
                // What is only shown may be what another part writes or runs.
                true => {
                    let mut words = part.arguments().iter();
                    words.find_map(|word| self.word(word, location, is_protected))
                }
                false => None,
            });
            let hit = hit.or_else(|| self.scripts(meaning, location));
            if hit.is_some() {
                return hit;
            }
            location.follow(part);
        }
        None
    }

    /// What a part hands to a shell.
    fn scripts(&mut self, meaning: &Meaning, location: &Location) -> Option<PathBuf> {
        if meaning.goes_deeper {
            return mentioned(&meaning.part.text());
        }
        let mut scripts = meaning.scripts.iter();
        scripts.find_map(|script| match script {
            Inner::Read(parts) => self.parts(parts, &mut location.clone()),
            Inner::Unparsable(text) => mentioned(text),
        })
    }

    fn part(&mut self, meaning: &Meaning, location: &Location) -> Option<PathBuf> {
        let part = &meaning.part;
        for word in written(part) {
            if let Some(path) = self.word(&word, location, is_protected) {
                return Some(path);
            }
        }
        let only_reads = self.is_plain && meaning.only_reads;
        if part.words.is_empty() || only_reads {
            return None;
        }
        let bare = shell::stripped(part);
        if own::decides(meaning) {
            return Some(PathBuf::from(own::STATE));
        }
        if only_adds(&bare) {
            return None;
        }
        if let Some(file) = configure::written_by(part, &meaning.forms) {
            return Some(PathBuf::from(file));
        }
        if let Some(directory) = tree(&bare, location, self.guarded) {
            return Some(directory);
        }
        // `HEAD` is a name of a commit to them.
        let is_version_control = matches!(bare.name(), Some("git" | "gh" | "jj" | "hg"));
        let is_hit = |place: &Place| {
            if is_version_control {
                !place.is_clear || place.different_names().any(is_named)
            } else {
                is_protected(place)
            }
        };
        let here = Word::plain(".");
        let files = shell::script_files(&bare);
        let words = naming(part).into_iter().chain([&here]).chain(&files);
        let hit = words
            .into_iter()
            .find_map(|word| self.word(word, location, is_hit));
        hit.or_else(|| {
            let assignments = part.assignments.iter();
            let mut texts = assignments.map(|one| Word::plain(&one.text));
            texts.find_map(|word| self.word(&word, location, is_hit))
        })
    }

    fn word(
        &mut self,
        word: &Word,
        location: &Location,
        is_hit: impl Fn(&Place) -> bool,
    ) -> Option<PathBuf> {
        let guarded = self.guarded;
        let is_hit = |place: &Place| is_hit(place) || is_guarded(place, guarded);
        if let Some(glob) = &word.glob {
            return match location.expanded(word) {
                Some(places) => first(&places, is_hit),
                None => may_match_hidden(glob).then(|| PathBuf::from(&word.text)),
            }
            .or_else(|| is_named(Path::new(glob)).then(|| PathBuf::from(&word.text)));
        }
        let Some(literal) = &word.literal else {
            return mentioned(&word.text);
        };
        for piece in pieces(literal) {
            let Some(left) = self.budget.checked_sub(1) else {
                return Some(PathBuf::from(&word.text));
            };
            self.budget = left;
            // Only an unquoted tilde is the home directory, but programs expand others.
            match location.places(&Word::plain(piece)) {
                Where::At(places) => {
                    if let Some(path) = first(&places, is_hit) {
                        return Some(path);
                    }
                }
                Where::Unknown if is_named(Path::new(piece)) => {
                    return Some(PathBuf::from(piece));
                }
                Where::Unknown => {}
            }
        }
        None
    }
}

/// Returns the places that the words of a part, or pieces of them, may mean; none if there are too
/// many, or one that nobody can look up has a protected name.
pub(crate) fn named_places(part: &Part, location: &Location) -> Option<Vec<Rc<Place>>> {
    let mut found = Vec::new();
    let mut budget = MOST;
    let files = shell::script_files(&shell::stripped(part));
    let words = naming(part).into_iter().chain(&files);
    for literal in words.filter_map(|word| word.literal.as_deref()) {
        for piece in pieces(literal) {
            budget = budget.checked_sub(1)?;
            match location.places(&Word::plain(piece)) {
                Where::At(places) => found.extend(places),
                Where::Unknown if is_named(Path::new(piece)) => return None,
                Where::Unknown => {}
            }
        }
    }
    Some(found)
}

/// Whether the programs that get words from an input are known to read.
fn only_feeds_readers(part: &Part) -> bool {
    let arguments = part.arguments().iter().map(Word::unquoted);
    let mut programs = arguments.filter(|text| !text.starts_with('-'));
    let program = programs.next();
    matches!(
        program,
        None | Some("cat" | "echo" | "file" | "grep" | "head" | "ls" | "stat" | "tail" | "wc")
    )
}

/// A directory that a part changes with all there is in it, protected places among it.
fn tree(part: &Part, location: &Location, guarded: &[Place]) -> Option<PathBuf> {
    if !shell::changes_trees(part) || part.name() == Some("git") {
        return None;
    }
    let names = find_names(part);
    let is_around = |place: &Place| guarded.iter().any(|it| it.real.starts_with(&place.real));
    let holds = |place: &&Rc<Place>| {
        place.is_dir && (holds_protected(place, location, names.as_deref()) || is_around(place))
    };
    part.arguments().iter().find_map(|word| {
        let Where::At(places) = location.places(word) else {
            return None;
        };
        places.iter().find(holds).map(|place| place.spelled.clone())
    })
}

/// The patterns for names to which `find` keeps, if it does.
fn find_names(part: &Part) -> Option<Vec<String>> {
    let words = part.arguments();
    let is_test = |word: &Word| matches!(word.unquoted(), "-name" | "-iname");
    let values = words.windows(2).filter(|pair| is_test(&pair[0]));
    let names: Vec<String> = values.map(|pair| plain(pair[1].unquoted())).collect();
    let may_widen = |word: &Word| matches!(word.unquoted(), "-o" | "-or" | "!" | "-not" | ",");
    let is_find = part.name() == Some("find") && !words.iter().any(may_widen);
    (is_find && !names.is_empty()).then_some(names)
}

/// Whether the directory is around the one where a command runs, or has a protected place in it.
fn holds_protected(place: &Place, location: &Location, names: Option<&[String]>) -> bool {
    if let Some(names) = names {
        return names.iter().any(|name| may_name_protected(name));
    }
    let is_around = location.bases().iter().any(|base| {
        let base = Place::of(base);
        base.real.starts_with(&place.real)
    });
    let mut entries = std::fs::read_dir(&place.real).into_iter().flatten();
    is_around
        || entries
            .any(|entry| entry.is_ok_and(|entry| is_named(&place.real.join(entry.file_name()))))
}

/// Whether a pattern may be about a name of the table, or one inside of a protected directory.
fn may_name_protected(pattern: &str) -> bool {
    const INSIDE: &[&str] = &[
        "authorized_keys",
        "config",
        "credentials",
        "head",
        "hooks",
        "id_rsa",
        "index",
        "pre-commit",
        "pre-push",
        "settings.json",
        "settings.local.json",
        "token",
    ];
    let Ok(glob) = globset::Glob::new(pattern) else {
        return true;
    };
    let glob = glob.compile_matcher();
    let mut names = TABLE
        .iter()
        .flat_map(|name| name.split('/'))
        .chain(INSIDE.iter().copied());
    names.any(|name| glob.is_match(name))
}

fn first(places: &[Rc<Place>], is_hit: impl Fn(&Place) -> bool) -> Option<PathBuf> {
    let hit = places.iter().find(|place| is_hit(place));
    hit.map(|place| place.spelled.clone())
}

/// Whatever may be a path in a word: the word, the value of an option, pieces of code.
fn pieces(word: &str) -> Vec<&str> {
    let mut pieces = vec![word];
    if word.contains(is_edge) {
        pieces.extend(word.split(is_edge).filter(|piece| !piece.is_empty()));
    }
    if word.starts_with('-') && !word.starts_with("--") {
        let glued = word.char_indices().skip(2).take(MOST_LETTERS);
        pieces.extend(glued.map(|(start, _)| &word[start..]));
    }
    pieces
}

/// Whether a pattern that cannot be looked up may mean a hidden file.
fn may_match_hidden(glob: &str) -> bool {
    let varies = |name: &str| name.contains(['*', '?', '[']);
    glob.split('/')
        .any(|name| name.starts_with('.') && varies(name))
}

/// Whether git only puts the files it is given into the repository.
fn only_adds(part: &Part) -> bool {
    let literal = |word: &Word| word.literal.clone();
    let Some(words) = part
        .words
        .iter()
        .map(literal)
        .collect::<Option<Vec<String>>>()
    else {
        return false;
    };
    let writes = |word: &String| word.starts_with("--output") || word.starts_with("-o");
    matches!(
        words.first().zip(words.get(1)),
        Some((program, command))
            if program == "git" && matches!(command.as_str(), "add" | "stage" | "commit")
    ) && !words.iter().any(writes)
}

/// Whether one of the names in the table is in a path.
fn is_named(path: &Path) -> bool {
    let names: Vec<String> = path
        .components()
        .map(|name| plain(&name.as_os_str().to_string_lossy()))
        .collect();
    let begins = |name: &String| names::BEGINNINGS.iter().any(|it| name.starts_with(it));
    let is_listed = |length: usize| {
        let mut windows = names.windows(length);
        windows.any(|window| TABLE.contains(window.join("/").as_str()))
    };
    names.iter().any(begins) || (1..=MOST_NAMES).any(is_listed)
}

/// Small letters, and without what some disks ignore at the end of a name.
fn plain(name: &str) -> String {
    // Some disks leave these out of names.
    let is_ignored = |letter: &char| matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let name = name.trim_end_matches(['.', ' ']);
    let letters = name.chars().filter(|letter| !is_ignored(letter));
    // There and back, because several small letters may share a capital.
    let capitals: String = letters.flat_map(char::to_uppercase).collect();
    match capitals.to_lowercase() {
        short if short == "git~1" => ".git".to_owned(),
        name => name,
    }
}

/// Whether a file makes its directory a repository without a work tree, or is inside of one.
fn is_repository_file(path: &Path) -> bool {
    path.ancestors().any(|at| {
        let name = at.file_name().and_then(|name| name.to_str());
        match name {
            Some("HEAD") => true,
            Some(name) if names::REPOSITORY.contains(&name) => at
                .parent()
                .is_some_and(|it| it.join("HEAD").symlink_metadata().is_ok()),
            _ => false,
        }
    })
}

static TABLE: LazyLock<HashSet<&str>> =
    LazyLock::new(|| names::LISTS.iter().copied().flatten().copied().collect());
