//! Rules that deny or ask, compared with the parts of a command.

mod mention;
mod named;
mod reach;

use crate::command_pattern::CommandPattern;
use crate::location::{Location, Where};
use crate::matcher::Matcher;
use crate::path_pattern::PathPattern;
use crate::place::Place;
use crate::shell::{self, Direction, Part, Unparsable, Word};
use crate::subject::naming;

/// Whether a rule that denies or asks is about a command, or a part of it.
pub fn restricts_command(
    matcher: &Matcher,
    command: &str,
    parts: Result<&[Part], &Unparsable>,
    location: Location,
) -> bool {
    match (matcher, parts) {
        (Matcher::Command(pattern), Ok(parts)) => {
            pattern.matches(shell::one_line(command))
                || parts.iter().any(|part| matches_any_form(pattern, part, 0))
        }
        (Matcher::Command(pattern), Err(_)) => pieces(command).any(|piece| pattern.matches(piece)),
        (Matcher::Read(pattern), Ok(parts)) => any_file(parts, location, read_words, pattern, 0),
        (Matcher::Edit(pattern), Ok(parts)) => any_file(parts, location, written_words, pattern, 0),
        _ => false,
    }
}

/// Whether a rule that denies or asks may be about something that is only known when the command
/// runs: a word that expands, a shell that reads its input, a file on the way through a directory.
pub fn may_touch_unknown(
    matcher: &Matcher,
    command: &str,
    parts: &[Part],
    mut location: Location,
) -> bool {
    let words: fn(&Part) -> Vec<Word> = match matcher {
        Matcher::Command(pattern) => {
            let may_reach = |part: &Part| reach::may_reach(pattern, part, 0);
            return parts.iter().any(may_reach) || mention::mentions(pattern, command, parts);
        }
        Matcher::Read(_) => named_words,
        Matcher::Edit(_) => written_words,
        _ => return false,
    };
    // What patterns mean has changed by then.
    let is_pattern = |part: &Part| part.words.iter().any(|word| word.glob.is_some());
    let sets_patterns = |part: &Part| {
        part.name() == Some("shopt") || part.assignments.iter().any(|it| it.name == "GLOBIGNORE")
    };
    if parts.iter().any(sets_patterns) && parts.iter().any(is_pattern) {
        return true;
    }
    parts.iter().any(|part| {
        let unknown = words(part).iter().any(|word| is_unknown(word, &location));
        let on_the_way = match matcher {
            Matcher::Read(pattern) => {
                reach::may_come_across(pattern, part, &location, 0)
                    || named::may_read(pattern, part, &location)
            }
            Matcher::Edit(pattern) => named::may_write(pattern, part, &location),
            _ => false,
        };
        location.follow(part);
        unknown || on_the_way
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

fn any_file(
    parts: &[Part],
    mut location: Location,
    words: fn(&Part) -> Vec<Word>,
    pattern: &PathPattern,
    shells: usize,
) -> bool {
    parts.iter().any(|part| {
        let touches = |place: &Place| pattern.touches(place);
        let hit = words(part)
            .iter()
            .any(|word| location.places(word).any(touches));
        let in_script = || {
            let mut scripts = inner_scripts(part, shells).into_iter();
            scripts.any(|inner| any_file(&inner, location.clone(), words, pattern, shells + 1))
        };
        let hit = hit || in_script();
        location.follow(part);
        hit
    })
}

/// Shells in shells that are looked into.
const MAX_SHELLS: usize = 4;

/// The parts of every script that a part hands to a shell.
fn inner_scripts(part: &Part, shells: usize) -> Vec<Vec<Part>> {
    if shells >= MAX_SHELLS {
        return Vec::new();
    }
    let scripts = shell::scripts(part).into_iter();
    scripts
        .filter_map(|script| Some(shell::read(&script).ok()?.parts().to_vec()))
        .collect()
}

fn matches_any_form(pattern: &CommandPattern, part: &Part, shells: usize) -> bool {
    let mut forms = shell::stripped_for_denial(part);
    forms.push(part.clone());
    forms.push(shell::stripped(part));
    forms
        .iter()
        .any(|form| pattern.matches(&form.text()) || pattern.matches(&form.unquoted_text()))
        || shells < MAX_SHELLS
            && shell::scripts(part)
                .iter()
                .any(|script| matches_script(pattern, script, shells + 1))
}

fn matches_script(pattern: &CommandPattern, script: &str, shells: usize) -> bool {
    match shell::read(script) {
        Ok(script) => (script.parts().iter()).any(|part| matches_any_form(pattern, part, shells)),
        Err(_) => pieces(script).any(|piece| pattern.matches(piece)),
    }
}

/// A rough cut, for what cannot be taken apart.
fn pieces(command: &str) -> impl Iterator<Item = &str> {
    let ends = [';', '|', '&', '\n', '(', ')', '`', '{', '}'];
    command.split(ends).map(str::trim)
}

/// Every word that may be a file: better one too many.
fn read_words(part: &Part) -> Vec<Word> {
    let redirects = part.redirects.iter();
    let opened = redirects.filter(|redirect| redirect.direction == Direction::Read);
    let mut words: Vec<Word> = opened.map(|redirect| redirect.file.clone()).collect();
    if matches!(part.name(), Some("echo" | "printf" | "cd" | "mkdir")) {
        return words;
    }
    for word in part.arguments() {
        words.push(word.clone());
        let value = word
            .literal
            .as_deref()
            .and_then(|text| text.split_once(['=', ':', '@']));
        words.extend(value.map(|(_, value)| Word::plain(value)));
    }
    words
}

/// Every word that is likely a file, so that it is worth a question when nobody knows it.
fn named_words(part: &Part) -> Vec<Word> {
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
    files.cloned().collect()
}

fn written_words(part: &Part) -> Vec<Word> {
    let redirects = part.redirects.iter();
    let opened = redirects.filter(|redirect| redirect.direction == Direction::Write);
    let work = shell::file_work(part).unwrap_or_default();
    let in_place = match part.name() {
        Some("sed" | "perl") => part.arguments(),
        _ => &[],
    };
    opened
        .map(|redirect| redirect.file.clone())
        .chain(work.writes)
        .chain(in_place.iter().cloned())
        .collect()
}
