//! Rules that deny or ask, compared with the parts of a command.

mod history;
mod mention;
mod named;
mod reach;
mod tree;
mod unnamed;
mod words;

use std::cell::OnceCell;
use std::rc::Rc;

use self::mention::Mentions;
use self::unnamed::{Kind, Unnamed};
use self::words::{Words, read_words, written_words};
use crate::command_pattern::CommandPattern;
use crate::location::{Location, Where};
use crate::matcher::Matcher;
use crate::path_pattern::PathPattern;
use crate::place::Place;
use crate::shell::{self, Inner, Meaning, Script, Unparsable};

/// What rules that deny or ask are compared with: found out once per command, when the first of
/// them wants to know.
#[derive(Debug)]
pub struct Footprint<'s> {
    command: &'s str,
    script: Result<&'s Script, &'s Unparsable>,
    /// Where the command starts.
    start: Location,
    read: OnceCell<Vec<Rc<Place>>>,
    written: OnceCell<Vec<Rc<Place>>>,
    may_read: OnceCell<Unnamed>,
    may_write: OnceCell<Unnamed>,
    may_name: OnceCell<Unnamed>,
    mentions: OnceCell<Mentions<'s>>,
}

impl<'s> Footprint<'s> {
    /// The footprint of a command that starts in a place.
    pub fn new(
        command: &'s str,
        script: Result<&'s Script, &'s Unparsable>,
        start: Location,
    ) -> Self {
        Self {
            command,
            script,
            start,
            read: OnceCell::new(),
            written: OnceCell::new(),
            may_read: OnceCell::new(),
            may_write: OnceCell::new(),
            may_name: OnceCell::new(),
            mentions: OnceCell::new(),
        }
    }

    /// Returns whether a rule that denies or asks is about the command, or a part of it.
    pub fn is_met_by(&self, matcher: &Matcher) -> bool {
        match (matcher, self.script) {
            (Matcher::Command(pattern), Ok(script)) => {
                let mut parts = script.meanings().iter();
                pattern.matches_named(shell::one_line(self.command))
                    || parts.any(|part| is_meant(pattern, part))
            }
            (Matcher::Command(pattern), Err(_)) => {
                pieces(self.command).any(|piece| pattern.matches_named(piece))
            }
            (Matcher::Read(pattern), Ok(script)) => {
                let places = || self.places(script, read_words);
                touches_one(pattern, self.read.get_or_init(places))
            }
            (Matcher::Edit(pattern), Ok(script)) => {
                let places = || self.places(script, written_words);
                touches_one(pattern, self.written.get_or_init(places))
            }
            _ => false,
        }
    }

    /// Returns whether a rule that denies or asks may be about something that is only known when
    /// the command runs: a word that expands, a shell that reads its input, a file on the way
    /// through a directory. A command that cannot be read may do anything.
    pub fn may_be_met_by(&self, matcher: &Matcher) -> bool {
        let Ok(script) = self.script else {
            return true;
        };
        let unnamed = |kind: Kind| Unnamed::of(kind, script.meanings(), self.start.clone());
        match matcher {
            Matcher::Command(pattern) => {
                let mentions = || Mentions::new(self.command, script.meanings());
                let mut parts = script.meanings().iter();
                parts.any(|part| reach::may_reach(pattern, part))
                    || self.mentions.get_or_init(mentions).has(pattern)
            }
            Matcher::Read(pattern) => {
                let files = self.may_read.get_or_init(|| unnamed(Kind::Read));
                files.may_touch(pattern)
            }
            Matcher::Edit(pattern) => {
                let files = self.may_write.get_or_init(|| unnamed(Kind::Edit));
                files.may_touch(pattern)
            }
            Matcher::AnyPath { .. } => {
                let files = self.may_name.get_or_init(|| unnamed(Kind::Any));
                files.may_be_any()
            }
            _ => false,
        }
    }

    fn places(&self, script: &Script, words: Words) -> Vec<Rc<Place>> {
        let mut found = Vec::new();
        collect(script.meanings(), self.start.clone(), words, &mut found);
        once_each(found)
    }
}

/// Collects the places that words of parts mean, in scripts of theirs, too.
fn collect(parts: &[Meaning], mut location: Location, words: Words, found: &mut Vec<Rc<Place>>) {
    for meaning in parts {
        for word in words(&meaning.part) {
            if let Where::At(places) = location.places(&word) {
                found.extend(places);
            }
        }
        for inner in &meaning.scripts {
            collect(inner.parts(), location.clone(), words, found);
        }
        location.follow(&meaning.part);
    }
}

/// Drops repeated places: those that were looked up once are the same.
fn once_each(mut places: Vec<Rc<Place>>) -> Vec<Rc<Place>> {
    places.sort_unstable_by_key(Rc::as_ptr);
    places.dedup_by(|one, other| Rc::ptr_eq(one, other));
    places
}

fn touches_one(pattern: &PathPattern, places: &[Rc<Place>]) -> bool {
    places.iter().any(|place| pattern.touches(place))
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
