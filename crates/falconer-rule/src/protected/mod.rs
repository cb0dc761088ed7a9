//! Protected places: nothing writes there without being asked, in any mode and by any rule.
//!
//! The names are in one table, [`names`]. A command counts as writing a place if a program that
//! is not known to only read names it, in whatever way: better one question too many.

mod names;

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::call::Call;
use crate::location::{Location, Where};
use crate::place::Place;
use crate::shell::{self, Direction, Part, Script, Word};
use crate::subject::{Access, Subject, is_edge, naming};

/// Pieces of words that are looked up on the disk; a command with more is not understood.
const MOST: usize = 4_096;
/// Directories in one name of the table.
const MOST_NAMES: usize = 3;
/// Letters of options that may stand in front of a path: `-avo.git/config`.
const MOST_LETTERS: usize = 8;

/// Whether writing there needs a question whatever the rules say.
pub fn is_protected(place: &Place) -> bool {
    let is_listed = |path: &Path| is_named(path) || is_repository_file(path);
    !place.is_clear || place.names().any(is_listed)
}

/// Returns the protected place that a call may write, as far as can be told.
pub fn protected_by(call: &Call<'_>) -> Option<PathBuf> {
    match Subject::of(call) {
        Subject::Files {
            access: Access::Read,
            ..
        }
        | Subject::Host(_) => None,
        Subject::Files { places, .. } | Subject::Tool { places } => {
            let protected = places.into_iter().find(is_protected);
            protected.map(|place| place.spelled)
        }
        Subject::Command { text, script } => {
            let location = Location::new(call.cwd, call.home);
            match script {
                Ok(script) => protected_write(&script, location),
                Err(_) => mentioned(&text),
            }
        }
    }
}

/// Returns the protected place that a command may write, as far as can be told.
pub fn protected_write(script: &Script, mut location: Location) -> Option<PathBuf> {
    let mut look = Look {
        budget: MOST,
        is_plain: script.plain().is_ok(),
    };
    for part in script.parts() {
        if let Some(path) = look.part(part, &location) {
            return Some(path);
        }
        location.follow(part);
    }
    None
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
    let text = text.to_lowercase();
    if mentions_decision(&text) {
        return Some(PathBuf::from(STATE));
    }
    let is_whole = |name: &str| {
        let mut ends = text.match_indices(name).map(|(at, _)| at + name.len());
        ends.any(|end| !text[end..].starts_with(char::is_alphanumeric))
    };
    let mut listed = names::LISTS.iter().copied().flatten();
    let name = listed.find(|name| is_whole(name));
    let beginning = || names::BEGINNINGS.iter().find(|name| text.contains(*name));
    name.or_else(beginning).map(PathBuf::from)
}

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
struct Look {
    budget: usize,
    /// Whether what is known of the parts is certain.
    is_plain: bool,
}

impl Look {
    fn part(&mut self, part: &Part, location: &Location) -> Option<PathBuf> {
        for word in written(part) {
            if let Some(path) = self.word(&word, location, is_protected) {
                return Some(path);
            }
        }
        let only_reads = self.is_plain && shell::reads_only(part).is_some();
        if part.words.is_empty() || only_reads {
            return None;
        }
        let bare = shell::stripped(part);
        if decides(part) || decides(&bare) {
            return Some(PathBuf::from(STATE));
        }
        if only_adds(&bare) {
            return None;
        }
        // `HEAD` is a name of a commit to them.
        let is_version_control = matches!(bare.name(), Some("git" | "gh" | "jj" | "hg"));
        let is_hit = |place: &Place| match is_version_control {
            true => !place.is_clear || place.names().any(is_named),
            false => is_protected(place),
        };
        let here = Word::plain(".");
        let words = naming(part).into_iter().chain([&here]);
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
        if let Some(glob) = &word.glob {
            return match location.expanded(word) {
                Some(places) => first(places, &is_hit),
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
            let spelled = Word {
                // Only an unquoted tilde is the home directory, but programs expand others.
                text: piece.to_owned(),
                ..Word::plain(piece)
            };
            match location.places(&spelled) {
                Where::At(places) => {
                    if let Some(path) = first(places, &is_hit) {
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

fn first(places: Vec<Place>, is_hit: impl Fn(&Place) -> bool) -> Option<PathBuf> {
    let hit = places.into_iter().find(is_hit);
    hit.map(|place| place.spelled)
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

/// Where Falconer keeps what people have decided.
const STATE: &str = "~/.local/state/falconer";
/// Commands of `falconer` that speak for a person.
const DECIDING: [&str; 3] = ["trust", "approve", "config"];

/// Whether a part may have Falconer itself write down a decision.
fn decides(part: &Part) -> bool {
    let is_ours = |word: &Word| match &word.literal {
        Some(text) => text.rsplit('/').next() == Some("falconer"),
        None => word.text.contains("falconer"),
    };
    let is_said = |word: &Word| mentions_decision(word.literal.as_ref().unwrap_or(&word.text));
    let assigned = part.assignments.iter();
    if part.words.iter().any(is_said) || assigned.map(|it| &it.text).any(|it| mentions_decision(it))
    {
        return true;
    }
    let may_decide = |word: &Word| match &word.literal {
        Some(text) => DECIDING.contains(&text.as_str()),
        None => true,
    };
    // Not only the first word: another program may be told to run it.
    let at = part.words.iter().position(is_ours);
    at.is_some_and(|at| part.words.iter().skip(at + 1).any(may_decide))
}

/// Whether a text, such as a script, names one of these commands.
fn mentions_decision(text: &str) -> bool {
    let mut words = text.split(|c: char| c.is_whitespace() || "'\"`();&|".contains(c));
    let is_ours = |word: &str| word.rsplit('/').next() == Some("falconer");
    words.any(is_ours) && words.any(|word| DECIDING.contains(&word))
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
    name.trim_end_matches(['.', ' ']).to_lowercase()
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
