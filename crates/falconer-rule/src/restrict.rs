//! Rules that deny or ask, compared with the parts of a command.

mod history;
mod mention;
mod named;
mod reach;

use std::borrow::Cow;

use crate::command_pattern::CommandPattern;
use crate::location::{Location, Where};
use crate::matcher::Matcher;
use crate::path_pattern::PathPattern;
use crate::place::Place;
use crate::shell::{self, Direction, Inner, Meaning, Part, Script, Unparsable, Word};
use crate::subject::naming;

/// Whether a rule that denies or asks is about a command, or a part of it.
pub fn restricts_command(
    matcher: &Matcher,
    command: &str,
    script: Result<&Script, &Unparsable>,
    location: Location,
) -> bool {
    let meanings = script.map(Script::meanings);
    match (matcher, meanings) {
        (Matcher::Command(pattern), Ok(parts)) => {
            pattern.matches_named(shell::one_line(command))
                || parts.iter().any(|part| is_meant(pattern, part))
        }
        (Matcher::Command(pattern), Err(_)) => {
            pieces(command).any(|piece| pattern.matches_named(piece))
        }
        (Matcher::Read(pattern), Ok(parts)) => any_file(parts, location, read_words, pattern),
        (Matcher::Edit(pattern), Ok(parts)) => any_file(parts, location, written_words, pattern),
        _ => false,
    }
}

/// Whether a rule that denies or asks may be about something that is only known when the command
/// runs: a word that expands, a shell that reads its input, a file on the way through a directory.
pub fn may_touch_unknown(
    matcher: &Matcher,
    command: &str,
    script: &Script,
    location: Location,
) -> bool {
    let meanings = script.meanings();
    match matcher {
        Matcher::Command(pattern) => {
            let may_reach = |part: &Meaning| reach::may_reach(pattern, part);
            meanings.iter().any(may_reach) || mention::mentions(pattern, command, script.parts())
        }
        Matcher::Read(_) | Matcher::Edit(_) | Matcher::AnyPath { .. } => {
            may_touch_file(matcher, meanings, location)
        }
        _ => false,
    }
}

/// Whether a rule on files may be about one that parts reach without naming it.
fn may_touch_file(matcher: &Matcher, meanings: &[Meaning], mut location: Location) -> bool {
    let words: Words = match matcher {
        Matcher::Edit(_) => written_words,
        _ => named_words,
    };
    // What patterns mean has changed by then.
    let is_pattern = |part: &Part| part.words.iter().any(|word| word.glob.is_some());
    let sets_patterns = |part: &Part| {
        part.name() == Some("shopt") || part.assignments.iter().any(|it| it.name == "GLOBIGNORE")
    };
    let mut parts = meanings.iter().map(|meaning| &meaning.part);
    if parts.clone().any(sets_patterns) && parts.any(is_pattern) {
        return true;
    }
    meanings.iter().any(|meaning| {
        let part = &meaning.part;
        let unknown = words(part).iter().any(|word| is_unknown(word, &location));
        let on_the_way = match matcher {
            Matcher::Read(pattern) => {
                reach::may_come_across(pattern, meaning, &location)
                    || named::may_read(pattern, meaning, &location)
                    || history::may_show(meaning, &location)
            }
            Matcher::Edit(pattern) => named::may_write(pattern, meaning, &location),
            _ => named::reads_unnamed(meaning) || history::may_show(meaning, &location),
        };
        let in_script = |inner: &Inner| match inner {
            Inner::Read(parts) => {
                let is_opaque = |inner: &Meaning| shell::stripped(&inner.part).opaque.is_some();
                parts.iter().any(is_opaque) || may_touch_file(matcher, parts, location.clone())
            }
            Inner::Unparsable(_) => true,
        };
        let in_scripts = || meaning.goes_deeper || meaning.scripts.iter().any(in_script);
        let touches = unknown || on_the_way || in_scripts();
        location.follow(part);
        touches
    })
}

/// An option is no file, but its value may be one.
fn is_unknown(word: &Word, location: &Location) -> bool {
    let option = word.literal.as_deref().filter(|it| it.starts_with('-'));
    if option.is_some_and(|option| !option.contains('=')) {
        return false;
    }
    match word.glob {
        Some(_) => location.expanded(word).is_none(),
        None => location.places(word) == Where::Unknown,
    }
}

/// Finds the words of a part that may be files.
type Words = for<'p> fn(&'p Part) -> Vec<Cow<'p, Word>>;

fn any_file(
    parts: &[Meaning],
    mut location: Location,
    words: Words,
    pattern: &PathPattern,
) -> bool {
    parts.iter().any(|meaning| {
        let part = &meaning.part;
        let touches = |place: &Place| pattern.touches(place);
        let hit = words(part)
            .iter()
            .any(|word| location.places(word).any(touches));
        let in_script = || {
            let mut scripts = meaning.scripts.iter().map(Inner::parts);
            scripts.any(|inner| any_file(inner, location.clone(), words, pattern))
        };
        let hit = hit || in_script();
        location.follow(part);
        hit
    })
}

fn is_meant(pattern: &CommandPattern, meaning: &Meaning) -> bool {
    let mut texts = meaning.texts.iter();
    let in_script = |inner: &Inner| match inner {
        Inner::Read(parts) => parts.iter().any(|part| is_meant(pattern, part)),
        Inner::Unparsable(text) => pieces(text).any(|piece| pattern.matches_named(piece)),
    };
    texts.any(|text| pattern.matches_named(text)) || meaning.scripts.iter().any(in_script)
}

/// A rough cut, for what cannot be taken apart.
fn pieces(command: &str) -> impl Iterator<Item = &str> {
    let ends = [';', '|', '&', '\n', '(', ')', '`', '{', '}'];
    command.split(ends).map(str::trim)
}

/// Every word that may be a file: better one too many.
fn read_words(part: &Part) -> Vec<Cow<'_, Word>> {
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
fn named_words(part: &Part) -> Vec<Cow<'_, Word>> {
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

fn written_words(part: &Part) -> Vec<Cow<'_, Word>> {
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
