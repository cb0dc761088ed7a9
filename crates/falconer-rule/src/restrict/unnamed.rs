//! Files that a command may touch although no word of it says so for certain.

use std::rc::Rc;

use super::tree::Tree;
use super::words::{Words, named_words, written_words};
use super::{history, named, once_each, touches_one};
use crate::location::{Location, Where};
use crate::path_pattern::PathPattern;
use crate::place::Place;
use crate::shell::{self, Inner, Meaning, Part, Word};

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Edit,
    /// Whatever is done to a file.
    Any,
}

/// The files that a command may touch: the same for all rules of a kind.
#[derive(Debug, Default)]
pub(super) struct Unnamed {
    /// Nobody can tell which, so every rule may be about one.
    any: bool,
    places: Vec<Rc<Place>>,
    trees: Vec<Tree>,
}

impl Unnamed {
    pub(super) fn of(kind: Kind, meanings: &[Meaning], location: Location) -> Self {
        let mut found = Self::default();
        found.any = found.collect(kind, meanings, location).is_none();
        found.places = once_each(std::mem::take(&mut found.places));
        found
    }

    /// Returns whether no rule can be ruled out.
    pub(super) fn may_be_any(&self) -> bool {
        self.any
    }

    pub(super) fn may_touch(&self, pattern: &PathPattern) -> bool {
        let mut trees = self.trees.iter();
        self.any || touches_one(pattern, &self.places) || trees.any(|tree| tree.may_hold(pattern))
    }

    /// Collects what parts may touch; none if that may be anything.
    fn collect(&mut self, kind: Kind, meanings: &[Meaning], mut location: Location) -> Option<()> {
        if sets_patterns(meanings) {
            return None;
        }
        let words: Words = match kind {
            Kind::Edit => written_words,
            Kind::Read | Kind::Any => named_words,
        };
        for meaning in meanings {
            let mut files = words(&meaning.part).into_iter();
            if meaning.goes_deeper || files.any(|word| is_unknown(&word, &location)) {
                return None;
            }
            match kind {
                Kind::Read => self.read(meaning, &location)?,
                Kind::Edit => self.written(meaning, &location)?,
                Kind::Any => known(named::reads_unnamed(meaning))?,
            }
            if kind != Kind::Edit {
                known(history::may_show(meaning, &location))?;
            }
            for inner in &meaning.scripts {
                let Inner::Read(parts) = inner else {
                    return None;
                };
                let is_opaque = |inner: &Meaning| shell::stripped(&inner.part).opaque.is_some();
                known(parts.iter().any(is_opaque))?;
                self.collect(kind, parts, location.clone())?;
            }
            location.follow(&meaning.part);
        }
        Some(())
    }

    fn read(&mut self, meaning: &Meaning, location: &Location) -> Option<()> {
        self.come_across(meaning, location)?;
        self.named(meaning, location)
    }

    /// Programs that are known to read write nothing.
    fn written(&mut self, meaning: &Meaning, location: &Location) -> Option<()> {
        if meaning.part.words.is_empty() || meaning.only_reads {
            return known(meaning.runs_unknown);
        }
        self.named(meaning, location)?;
        for form in &meaning.forms {
            if shell::changes_trees(form) || shell::unpacks(form) {
                self.tree(&shell::stripped(form), location)?;
            }
        }
        Some(())
    }

    /// The files that words of a part name, in whatever way.
    fn named(&mut self, meaning: &Meaning, location: &Location) -> Option<()> {
        known(named::reads_unnamed(meaning))?;
        self.places.extend(named::places(&meaning.part, location)?);
        Some(())
    }

    /// What programs that read whole directories come across.
    fn come_across(&mut self, meaning: &Meaning, location: &Location) -> Option<()> {
        for form in &meaning.forms {
            if shell::reads_trees(form) || shell::renames_trees(form) {
                self.tree(form, location)?;
            }
        }
        let mut inner = meaning.scripts.iter().flat_map(Inner::parts);
        inner.try_for_each(|part| self.come_across(part, location))
    }

    fn tree(&mut self, part: &Part, location: &Location) -> Option<()> {
        let tree = Tree::of(part, location)?;
        if !self.trees.contains(&tree) {
            self.trees.push(tree);
        }
        Some(())
    }
}

fn known(is_unknown: bool) -> Option<()> {
    (!is_unknown).then_some(())
}

/// Returns whether what patterns mean may have changed by the time a part has one.
fn sets_patterns(meanings: &[Meaning]) -> bool {
    let is_pattern = |part: &Part| part.words.iter().any(|word| word.glob.is_some());
    let sets = |part: &Part| {
        part.name() == Some("shopt") || part.assignments.iter().any(|it| it.name == "GLOBIGNORE")
    };
    let mut parts = meanings.iter().map(|meaning| &meaning.part);
    parts.clone().any(sets) && parts.any(is_pattern)
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
