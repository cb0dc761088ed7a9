//! Every command that a part may stand for: what a rule forbids must not slip through behind
//! another program, options or a shell.

use std::borrow::Cow;

use super::code::runs_code_of_words;
use super::read_only::{reads_only, takes_names};
use super::word::Word;
use super::wrapper::{runs_unknown_as, scripts_of, stripped, stripped_for_denial, takes_more_as};
use super::{Part, read};

/// Shells in shells that are looked into.
const MAX_SHELLS: usize = 4;

/// A part with the commands it may stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) part: Part,
    /// The commands that it may start.
    pub(crate) forms: Vec<Part>,
    /// The same as texts, as written and without quotes.
    pub(crate) texts: Vec<String>,
    /// The part without words that may be options and their values.
    pub(crate) without_values: Vec<Part>,
    /// The same as texts, as far as they are different.
    pub(crate) more_texts: Vec<String>,
    /// What is known of commands that go on with a word nobody knows, and a space.
    pub(crate) open: Vec<String>,
    /// Whether it is known to do nothing but read.
    pub(crate) only_reads: bool,
    pub(crate) scripts: Vec<Inner>,
    /// Whether it has scripts that nobody looks into.
    pub(crate) goes_deeper: bool,
    /// Whether it runs what only turns up when it runs.
    pub(crate) runs_unknown: bool,
    /// Whether it adds words from its input to what it runs.
    pub(crate) takes_more: bool,
    /// Whether it runs code among its words that may do anything.
    pub(crate) runs_code: bool,
    /// Whether it takes the names of files from its input or from a file.
    pub(crate) takes_names: bool,
}

/// A script that a part hands to a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Inner {
    Read(Vec<Meaning>),
    /// The text, which cannot be taken apart.
    Unparsable(String),
}

impl Inner {
    pub(crate) fn is_unparsable(&self) -> bool {
        matches!(self, Self::Unparsable(_))
    }

    pub(crate) fn parts(&self) -> &[Meaning] {
        match self {
            Self::Read(parts) => parts,
            Self::Unparsable(_) => &[],
        }
    }
}

/// Finds out what parts may stand for.
pub(super) fn meanings(parts: &[Part]) -> Vec<Meaning> {
    within(parts, 0)
}

fn within(parts: &[Part], shells: usize) -> Vec<Meaning> {
    parts.iter().map(|part| meaning(part, shells)).collect()
}

fn meaning(part: &Part, shells: usize) -> Meaning {
    let forms = stripped_for_denial(part);
    let bare = stripped(part);
    // Most parts are their own first form.
    let is_form = part.assignments.is_empty() && matches!(bare, Cow::Borrowed(_));
    let others = [part, &*bare].into_iter().filter(|_| !is_form);
    let texts = texts(forms.iter().chain(others), &[]);
    let without_values = without_values(part);
    let more_texts = self::texts(without_values.iter(), &texts);
    let open = forms.iter().chain(&without_values).filter_map(open_start);
    let open = open.collect();
    let mut inner = scripts_of(&forms);
    inner.sort_unstable();
    inner.dedup();
    let goes_deeper = shells >= MAX_SHELLS && !inner.is_empty();
    if goes_deeper {
        inner.clear();
    }
    let read_inner = |text: String| match read(&text) {
        Ok(script) => Inner::Read(within(script.parts(), shells + 1)),
        Err(_) => Inner::Unparsable(text),
    };
    Meaning {
        only_reads: reads_only(part).is_some(),
        runs_unknown: runs_unknown_as(part, &forms),
        takes_more: takes_more_as(&forms),
        runs_code: runs_code_of_words(part),
        takes_names: takes_names(part),
        part: part.clone(),
        forms,
        texts,
        without_values,
        more_texts,
        open,
        scripts: inner.into_iter().map(read_inner).collect(),
        goes_deeper,
    }
}

/// The texts of commands, each once, without those that are known.
fn texts<'p>(forms: impl Iterator<Item = &'p Part>, known: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for form in forms {
        let is_quoted = |word: &Word| word.unquoted() != word.text;
        let is_same = form.assignments.is_empty() && !form.arguments().iter().any(is_quoted);
        let unquoted = (!is_same).then(|| form.unquoted_text());
        for text in [form.text()].into_iter().chain(unquoted) {
            if !found.contains(&text) && !known.contains(&text) {
                found.push(text);
            }
        }
    }
    found
}

/// The words in front of the first that nobody knows, if there is one.
fn open_start(form: &Part) -> Option<String> {
    let unknown = form.words.iter().position(|word| word.literal.is_none())?;
    let known = form.words[..unknown].iter().map(Word::unquoted);
    Some(known.flat_map(|word| [word, " "]).collect())
}

/// The command without the options in front of its first argument, and without the words after
/// them, which may be their values.
fn without_values(part: &Part) -> Vec<Part> {
    let mut found = Vec::new();
    let arguments = part.arguments();
    let is_option = |index: usize| {
        let word = arguments.get(index).map(Word::unquoted);
        word.is_some_and(|word| word.starts_with(['-', '+']))
    };
    for start in 1..arguments.len().min(16) {
        let is_skipped = |index: usize| is_option(index) || index > 0 && is_option(index - 1);
        // A name such as `stash` in front of another one is a command.
        if !(0..start).all(is_skipped) {
            break;
        }
        let mut form = part.clone();
        form.words.drain(1..=start);
        found.push(form);
    }
    found
}
