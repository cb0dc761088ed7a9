//! Directories that a program goes through as a whole.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::rc::Rc;

use crate::location::{Location, Where};
use crate::path_pattern::PathPattern;
use crate::place::{Found, Place};
use crate::shell::{Part, Word};

/// Files and directories that are looked at below the roots of a search.
const MOST: usize = 4_096;

/// The directories that a part goes through, and what is in them: listed once for all rules.
#[derive(Debug)]
pub(super) struct Tree {
    roots: Vec<Rc<Place>>,
    /// None if there is too much to be looked at.
    found: OnceCell<Option<Vec<Place>>>,
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        self.roots == other.roots
    }
}

impl Tree {
    /// The directories among the words of a part, or the one it runs in; none if a word is only
    /// known when it runs.
    pub(super) fn of(part: &Part, location: &Location) -> Option<Self> {
        let mut roots = Vec::new();
        // The command of git may be called like a directory.
        let command = usize::from(part.name() == Some("git"));
        for word in part.arguments().iter().skip(command) {
            roots.extend(known(word, location)?.into_iter().filter(|it| it.is_dir));
        }
        if roots.is_empty() {
            roots = known(&Word::plain("."), location)?;
        }
        Some(Self {
            roots,
            found: OnceCell::new(),
        })
    }

    /// Returns whether a pattern is about a file below the directories; what is too large to be
    /// looked at may hold it.
    pub(super) fn may_hold(&self, pattern: &PathPattern) -> bool {
        match self.found.get_or_init(|| self.walk()) {
            Some(found) => found.iter().any(|place| pattern.touches(place)),
            None => true,
        }
    }

    fn walk(&self) -> Option<Vec<Place>> {
        let mut found = Vec::new();
        for root in &self.roots {
            walk(root, &mut found)?;
        }
        Some(found)
    }
}

fn known(word: &Word, location: &Location) -> Option<Vec<Rc<Place>>> {
    match location.places(word) {
        Where::At(places) => Some(places),
        Where::Unknown => None,
    }
}

fn walk(root: &Place, found: &mut Vec<Place>) -> Option<()> {
    let mut todo = vec![PathBuf::new()];
    while let Some(below) = todo.pop() {
        let Ok(entries) = std::fs::read_dir(root.real.join(&below)) else {
            continue;
        };
        for entry in entries.filter_map(Result::ok) {
            if found.len() == MOST {
                return None;
            }
            let path = below.join(entry.file_name());
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let kind = if is_dir {
                Found::Directory
            } else {
                Found::File
            };
            found.push(root.found(&path, kind));
            if is_dir {
                todo.push(path);
            }
        }
    }
    Some(())
}
