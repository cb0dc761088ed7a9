//! Words of a part that may be files.

use std::borrow::Cow;

use crate::shell::{self, Direction, Part, Word};
use crate::subject::naming;

/// Finds the words of a part that may be files.
pub(super) type Words = for<'p> fn(&'p Part) -> Vec<Cow<'p, Word>>;

/// Every word that may be a file: better one too many.
pub(super) fn read_words(part: &Part) -> Vec<Cow<'_, Word>> {
    let redirects = part.redirects.iter();
    let opened = redirects.filter(|redirect| redirect.direction == Direction::Read);
    let mut words: Vec<_> = opened.map(|it| Cow::Borrowed(&it.file)).collect();
    if matches!(part.name(), Some("echo" | "printf" | "cd" | "mkdir")) {
        return words;
    }
    for word in part.arguments() {
        words.push(Cow::Borrowed(word));
        let value = word
            .literal
            .as_deref()
            .and_then(|text| text.split_once(['=', ':', '@']));
        words.extend(value.map(|(_, value)| Cow::Owned(Word::plain(value))));
    }
    words
}

/// Every word that is likely a file, so that it is worth a question when nobody knows it.
pub(super) fn named_words(part: &Part) -> Vec<Cow<'_, Word>> {
    let redirects = part.redirects.iter();
    let opened = redirects.filter(|redirect| redirect.direction == Direction::Read);
    let arguments = match part.name() {
        // Where `cd` goes is not read by it, and what is read there is not known from then on.
        Some(
            "cd" | "mkdir" | "exit" | "return" | "sleep" | "kill" | "wait" | "seq" | "true"
            | "false" | ":",
        ) => Vec::new(),
        _ => naming(part),
    };
    let files = opened.map(|redirect| &redirect.file).chain(arguments);
    files.map(Cow::Borrowed).collect()
}

/// Every word that names a file to be written.
pub(super) fn written_words(part: &Part) -> Vec<Cow<'_, Word>> {
    let redirects = part.redirects.iter();
    let opened = redirects.filter(|redirect| redirect.direction == Direction::Write);
    let work = shell::file_work(part).unwrap_or_default();
    let in_place = match part.name() {
        Some("sed" | "perl") => part.arguments(),
        _ => &[],
    };
    opened
        .map(|redirect| Cow::Borrowed(&redirect.file))
        .chain(work.writes.into_iter().map(Cow::Owned))
        .chain(in_place.iter().map(Cow::Borrowed))
        .collect()
}
