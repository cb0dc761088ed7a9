//! Every command that a part may stand for: what a rule forbids must not slip through behind
//! another program, options or a shell.

use super::code::runs_code_of_words;
use super::read_only::takes_names;
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
    let mut texts: Vec<String> = forms
        .iter()
        .chain([part, &bare])
        .flat_map(|form| [form.text(), form.unquoted_text()])
        .collect();
    let mut inner = scripts_of(&forms);
    for list in [&mut texts, &mut inner] {
        list.sort_unstable();
        list.dedup();
    }
    let goes_deeper = shells >= MAX_SHELLS && !inner.is_empty();
    if goes_deeper {
        inner.clear();
    }
    let read_inner = |text: String| match read(&text) {
        Ok(script) => Inner::Read(within(script.parts(), shells + 1)),
        Err(_) => Inner::Unparsable(text),
    };
    Meaning {
        runs_unknown: runs_unknown_as(part, &forms),
        takes_more: takes_more_as(&forms),
        runs_code: runs_code_of_words(part),
        takes_names: takes_names(part),
        part: part.clone(),
        forms,
        texts,
        scripts: inner.into_iter().map(read_inner).collect(),
        goes_deeper,
    }
}
