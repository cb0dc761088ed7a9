//! Files that a rule forbids, in words of any program and below its directories.

use super::reach;
use crate::location::{Location, Where};
use crate::path_pattern::PathPattern;
use crate::place::Place;
use crate::protected::names_place;
use crate::shell::{self, Meaning, Part};

/// Whether a part may read a forbidden file: it is named somewhere in its words, or by its input.
pub(super) fn may_read(pattern: &PathPattern, meaning: &Meaning, location: &Location) -> bool {
    let part = &meaning.part;
    reads_unnamed(meaning)
        || names_place(part, &with_directories(part, location), |place| {
            pattern.touches(place)
        })
}

/// Whether a part takes the names of files from elsewhere than its words: code, input, a list.
pub(super) fn reads_unnamed(meaning: &Meaning) -> bool {
    meaning.runs_code || meaning.runs_unknown || meaning.takes_more || meaning.takes_names
}

/// Whether a part may write a forbidden file. Only programs that are known to read do not.
pub(super) fn may_write(pattern: &PathPattern, meaning: &Meaning, location: &Location) -> bool {
    let part = &meaning.part;
    if part.words.is_empty() || shell::reads_only(part).is_some() {
        return meaning.runs_unknown;
    }
    may_read(pattern, meaning, location)
        || meaning.forms.iter().any(|form| {
            let is_wide = shell::changes_trees(form) || shell::unpacks(form);
            is_wide && reach::meets(pattern, &shell::stripped(form), location)
        })
}

/// Programs may be told to work elsewhere: `env -C conf touch x`.
fn with_directories(part: &Part, location: &Location) -> Location {
    let mut location = location.clone();
    let is_moved = |text: &str| {
        text.starts_with("-C") || text.starts_with("--chdir") || text.starts_with("--directory")
    };
    let mut words = part.arguments().iter();
    if !words.any(|word| is_moved(word.unquoted())) {
        return location;
    }
    let mut found: Vec<Place> = Vec::new();
    for word in part.arguments() {
        let value = word.unquoted().rsplit('=').next().unwrap_or_default();
        let value = value.strip_prefix("-C").unwrap_or(value);
        if let Where::At(places) = location.places(&shell::Word::plain(value)) {
            found.extend(places.into_iter().filter(|place| place.is_dir));
        }
    }
    location.may_also_be(found);
    location
}
