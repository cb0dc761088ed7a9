//! Where a command may be by now: `cd` moves it, perhaps.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::expand::{MOST, expand};
use crate::place::Place;
use crate::shell::{self, Part, Word};

/// More possibilities are not kept apart.
const MAX_BASES: usize = 16;

/// The directories the next part may run in.
#[derive(Debug, Clone)]
pub struct Location {
    /// All that are possible; empty if it cannot be told.
    bases: Vec<PathBuf>,
    home: Option<PathBuf>,
    /// Looked up once, for all rules: copies share it.
    seen: Rc<RefCell<Seen>>,
}

/// What is known of the disk.
#[derive(Debug)]
struct Seen {
    places: HashMap<PathBuf, Place>,
    /// What patterns mean in directories; none if that cannot be told.
    patterns: HashMap<(PathBuf, String), Option<Vec<PathBuf>>>,
    /// Entries of directories that may still be looked at.
    budget: usize,
}

/// The places a word may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Where {
    /// One of these.
    At(Vec<Place>),
    /// Nobody can tell before it runs.
    Unknown,
}

impl Where {
    /// Whether something is true of all places, and all are known.
    pub fn all(&self, test: impl Fn(&Place) -> bool) -> bool {
        match self {
            Self::At(places) => places.iter().all(test),
            Self::Unknown => false,
        }
    }

    /// Whether something is true of a place it may be.
    pub fn any(&self, test: impl Fn(&Place) -> bool) -> bool {
        match self {
            Self::At(places) => places.iter().any(test),
            Self::Unknown => false,
        }
    }

    /// One place, to name it.
    pub fn first(&self) -> Option<Place> {
        match self {
            Self::At(places) => places.first().cloned(),
            Self::Unknown => None,
        }
    }
}

impl Location {
    /// Where a command starts.
    pub fn new(cwd: &Path, home: Option<&Path>) -> Self {
        Self {
            bases: vec![cwd.to_owned()],
            home: home.map(Path::to_owned),
            seen: Rc::new(RefCell::new(Seen {
                places: HashMap::new(),
                patterns: HashMap::new(),
                budget: MOST,
            })),
        }
    }

    /// Takes note of a part that may go somewhere else.
    pub fn follow(&mut self, part: &Part) {
        let part = shell::stripped(part);
        if part.words.is_empty() {
            return;
        }
        match part.name() {
            Some("cd") => {
                let target = shell::reads_only(&part).and_then(|reading| reading.moves_to);
                self.go(target.as_ref());
            }
            Some("pushd" | "popd" | "eval" | "source" | "." | "builtin") | None => self.go(None),
            Some(_) => {}
        }
    }

    /// The directories the next part may run in.
    pub(crate) fn bases(&self) -> &[PathBuf] {
        &self.bases
    }

    /// Takes note of directories that a program may go to by itself.
    pub(crate) fn may_also_be(&mut self, places: Vec<Place>) {
        self.bases
            .extend(places.into_iter().map(|place| place.real));
        self.bases.truncate(MAX_BASES);
    }

    fn go(&mut self, target: Option<&Word>) {
        let places = target.map(|target| self.places(target));
        match places {
            Some(Where::At(places)) => {
                // Whether it was run, or failed, nobody knows: the old ones stay possible.
                let new = places.into_iter().map(|place| place.real);
                self.bases.extend(new);
                if self.bases.len() > MAX_BASES {
                    self.bases.clear();
                }
            }
            Some(Where::Unknown) | None => self.bases.clear(),
        }
    }

    /// What a word means as a path here; a pattern means the files it finds now, the directory
    /// in which it starts, and itself.
    pub fn places(&self, word: &Word) -> Where {
        match (&word.literal, &word.glob) {
            (Some(path), _) => self.literal_places(word, path),
            (None, Some(glob)) => self.pattern_places(word, glob),
            (None, None) => Where::Unknown,
        }
    }

    fn pattern_places(&self, word: &Word, glob: &str) -> Where {
        let Some(mut found) = self.expanded(word) else {
            return Where::Unknown;
        };
        for path in [fixed_start(glob), glob] {
            match self.literal_places(word, path) {
                Where::At(places) => found.extend(places),
                Where::Unknown => return Where::Unknown,
            }
        }
        Where::At(found)
    }

    fn literal_places(&self, word: &Word, path: &str) -> Where {
        match (word.text.starts_with('~'), path.strip_prefix('~')) {
            (true, Some(below)) => match &self.home {
                Some(home) => self.at([home.join(below.trim_start_matches('/'))]),
                None => Where::Unknown,
            },
            _ if Path::new(path).is_absolute() => self.at([PathBuf::from(path)]),
            _ if self.bases.is_empty() => Where::Unknown,
            _ => Where::At(
                self.bases
                    .iter()
                    .map(|base| self.below(base, path))
                    .collect(),
            ),
        }
    }

    fn at(&self, paths: impl IntoIterator<Item = PathBuf>) -> Where {
        Where::At(paths.into_iter().map(|path| self.place(path)).collect())
    }

    fn files(&self, base: &Path, pattern: &str) -> Option<Vec<PathBuf>> {
        let Seen {
            patterns, budget, ..
        } = &mut *self.seen.borrow_mut();
        let found = patterns.entry((base.to_owned(), pattern.to_owned()));
        found
            .or_insert_with(|| expand(base, pattern, budget))
            .clone()
    }

    fn below(&self, base: &Path, path: &str) -> Place {
        let whole = base.join(path);
        let seen = self.seen.borrow().places.get(&whole).cloned();
        seen.unwrap_or_else(|| {
            let place = self.place(base.to_owned()).below(Path::new(path));
            self.seen.borrow_mut().places.insert(whole, place.clone());
            place
        })
    }

    fn place(&self, path: PathBuf) -> Place {
        let mut seen = self.seen.borrow_mut();
        let place = seen.places.entry(path);
        place.or_insert_with_key(|path| Place::of(path)).clone()
    }

    /// The files that a pattern means now; none if that cannot be told.
    pub fn expanded(&self, word: &Word) -> Option<Vec<Place>> {
        let pattern = word.glob.as_deref()?;
        if word.text.starts_with('~') || self.bases.is_empty() {
            return None;
        }
        let bases = self.bases.iter();
        let found: Option<Vec<Vec<PathBuf>>> =
            bases.map(|base| self.files(base, pattern)).collect();
        let found = found?.into_iter().flatten();
        Some(found.map(|path| self.place(path)).collect())
    }
}

/// The directory in which a pattern starts to vary.
fn fixed_start(glob: &str) -> &str {
    let varies = glob.find(['*', '?', '[']).unwrap_or_default();
    match glob[..varies].rfind('/') {
        Some(slash) => &glob[..=slash],
        None => ".",
    }
}
