//! Files in words of any program, whatever it takes them for.

use std::rc::Rc;

use crate::location::{Location, Where};
use crate::place::Place;
use crate::protected::named_places;
use crate::shell::{Meaning, Part, Word};

/// Whether a part takes the names of files from elsewhere than its words: code, input, a list.
pub(super) fn reads_unnamed(meaning: &Meaning) -> bool {
    meaning.runs_code || meaning.runs_unknown || meaning.takes_more || meaning.takes_names
}

/// The files that words of a part, or pieces of them, may mean; none if that cannot be told.
pub(super) fn places(part: &Part, location: &Location) -> Option<Vec<Rc<Place>>> {
    named_places(part, &with_directories(part, location))
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
    let mut found = Vec::new();
    for word in part.arguments() {
        let value = word.unquoted().rsplit('=').next().unwrap_or_default();
        let value = value.strip_prefix("-C").unwrap_or(value);
        if let Where::At(places) = location.places(&Word::plain(value)) {
            found.extend(places.into_iter().filter(|place| place.is_dir));
        }
    }
    location.may_also_be(&found);
    location
}
