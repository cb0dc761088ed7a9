//! Rules that deny or ask, compared with the parts of a command.

use super::super::Permissions;
use super::super::matcher::Matcher;
use super::super::path_pattern::PathPattern;
use super::super::pattern::CommandPattern;
use super::super::question::Case;
use super::super::shell::{self, Direction, Part, Word};
use super::location::Location;

impl Permissions {
    /// Whether a rule that denies or asks is about a command, or a part of it.
    pub(in super::super) fn restricts_command(
        &self,
        matcher: &Matcher,
        question: &Case<'_>,
        command: &str,
    ) -> bool {
        let parts = question.parts(command);
        match (matcher, parts) {
            (Matcher::Command(pattern), Ok(parts)) => {
                pattern.matches(shell::one_line(command))
                    || parts.iter().any(|part| matches_any_form(pattern, part, 0))
            }
            (Matcher::Command(pattern), Err(_)) => {
                pieces(command).any(|piece| pattern.matches(piece))
            }
            (Matcher::Read(pattern), Ok(parts)) => {
                self.any_file(parts, question, read_words, pattern)
            }
            (Matcher::Edit(pattern), Ok(parts)) => {
                self.any_file(parts, question, written_words, pattern)
            }
            _ => false,
        }
    }

    fn any_file(
        &self,
        parts: &[Part],
        question: &Case<'_>,
        words: impl Fn(&Part) -> Vec<Word>,
        pattern: &PathPattern,
    ) -> bool {
        let mut location = Location::new(question.cwd, self.anchors.home.as_deref());
        parts.iter().any(|part| {
            let hit = words(part)
                .iter()
                .any(|word| location.places(word).any(|place| pattern.touches(place)));
            location.follow(part);
            hit
        })
    }
}

/// Shells in shells that are looked into.
const MAX_SHELLS: usize = 4;

fn matches_any_form(pattern: &CommandPattern, part: &Part, shells: usize) -> bool {
    let mut forms = shell::stripped_for_denial(part);
    forms.push(part.clone());
    forms.push(shell::stripped(part));
    forms.iter().any(|form| {
        let inner = shell::script(form).filter(|_| shells < MAX_SHELLS);
        pattern.matches(&form.text())
            || pattern.matches(&form.unquoted_text())
            || inner.is_some_and(|script| matches_script(pattern, &script, shells + 1))
    })
}

fn matches_script(pattern: &CommandPattern, script: &str, shells: usize) -> bool {
    match shell::parts(script) {
        Ok(parts) => parts
            .iter()
            .any(|part| matches_any_form(pattern, part, shells)),
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
        words.extend(value.map(|(_, value)| Word {
            text: value.to_owned(),
            literal: Some(value.to_owned()),
            ..Word::default()
        }));
    }
    words
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
