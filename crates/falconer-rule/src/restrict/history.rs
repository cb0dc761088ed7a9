//! Content of files that git keeps: the rules know the names of files, a repository knows what
//! was in them.

use crate::location::{Location, Where};
use crate::place::Place;
use crate::shell::{self, Content, Meaning, Operands, Word};

/// Whether a part may have git show the content of a file that it does not name.
pub(super) fn may_show(meaning: &Meaning, location: &Location) -> bool {
    meaning.forms.iter().any(|form| {
        let command = form.arguments().first();
        let is_command = command.is_some_and(|word| !word.unquoted().starts_with('-'));
        if form.name() != Some("git") || !is_command {
            return false;
        }
        match shell::content(form.arguments()) {
            Content::Nothing => false,
            Content::Anything => true,
            Content::Of(operands) => !is_limited(&operands, location),
            // Files of the work tree are looked for on the disk.
            Content::Lines(operands) => !operands.any.iter().all(|word| exists(word, location)),
        }
    })
}

/// Whether the operands limit what is shown to files by their names, which rules are compared with.
fn is_limited(operands: &Operands, location: &Location) -> bool {
    let is_object = |word: &&Word| word.unquoted().contains(':');
    let (objects, others): (Vec<&Word>, Vec<&Word>) = operands.any.iter().partition(is_object);
    let is_file = |word: &&Word| names_file(word, location);
    let (found, revisions): (Vec<&Word>, Vec<&Word>) = others.into_iter().partition(is_file);
    let are_clear = objects.iter().all(|word| is_clear(word, location))
        && operands.files.iter().all(|word| names_file(word, location));
    let are_revisions = revisions.iter().all(|word| is_revision(word, location));
    let has_files = !operands.files.is_empty() || !found.is_empty();
    are_clear && are_revisions && (has_files || revisions.is_empty() && !objects.is_empty())
}

/// Whether a word can only be one file: no directory, and none of the signs with which git
/// selects files.
fn names_file(word: &Word, location: &Location) -> bool {
    let literal = word.literal.as_deref();
    let is_plain = literal.is_some_and(|text| !text.contains([':', '*', '?', '[', '\\']));
    let is_file = |place: &Place| place.is_clear && place.real.is_file();
    is_plain && location.places(word).all(is_file)
}

/// Whether a word cannot select files: no directory, and no pattern.
fn is_revision(word: &Word, location: &Location) -> bool {
    let literal = word.literal.as_deref();
    let is_plain = literal.is_some_and(|text| !text.contains(['*', '?', '[', '\\']));
    is_plain && location.places(word).all(|place| !place.real.exists())
}

fn exists(word: &Word, location: &Location) -> bool {
    location.places(word).all(|place| place.real.exists())
}

/// Whether `REVISION:FILE` is the file that the rules are compared with: git counts from the top
/// of the work tree.
fn is_clear(word: &Word, location: &Location) -> bool {
    let Some((revision, file)) = word.literal.as_deref().and_then(|it| it.split_once(':')) else {
        return false;
    };
    let is_simple = revision
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_./~^-".contains(&byte));
    let is_path = !file.is_empty() && !file.contains([':', '*', '?', '[', '\\', '@', '=']);
    let top = |place: &Place| place.real.join(".git").exists();
    let from_top = || match location.places(&Word::plain(".")) {
        Where::At(places) => places.iter().all(|place| top(place)),
        Where::Unknown => false,
    };
    let is_relative = file.starts_with("./") || file.starts_with("../");
    is_simple && is_path && !file.starts_with('/') && (is_relative || from_top())
}
