//! Where a command may be by now: `cd` moves it, perhaps.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
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
    places: HashMap<OsString, Rc<Place>>,
    /// What patterns mean in directories; none if that cannot be told.
    patterns: HashMap<(PathBuf, String), Option<Vec<PathBuf>>>,
    /// Entries of directories that may still be looked at.
    budget: usize,
}

/// The places a word may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Where {
    /// One of these.
    At(Vec<Rc<Place>>),
    /// Nobody can tell before it runs.
    Unknown,
}

impl Where {
    /// Whether something is true of all places, and all are known.
    pub fn all(&self, test: impl Fn(&Place) -> bool) -> bool {
        match self {
            Self::At(places) => places.iter().all(|place| test(place)),
            Self::Unknown => false,
        }
    }

    /// Whether something is true of a place it may be.
    pub fn any(&self, test: impl Fn(&Place) -> bool) -> bool {
        match self {
            Self::At(places) => places.iter().any(|place| test(place)),
            Self::Unknown => false,
        }
    }

    /// One place, to name it.
    pub fn first(&self) -> Option<&Place> {
        match self {
            Self::At(places) => places.first().map(Rc::as_ref),
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
    pub(crate) fn may_also_be(&mut self, places: &[Rc<Place>]) {
        let places = places.iter().map(|place| place.real.clone());
        self.bases.extend(places);
        self.bases.truncate(MAX_BASES);
    }

    fn go(&mut self, target: Option<&Word>) {
        let places = target.map(|target| self.places(target));
        match places {
            Some(Where::At(places)) => {
                // Whether it was run, or failed, nobody knows: the old ones stay possible.
                let new = places.into_iter().map(|place| place.real.clone());
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
                Some(home) => self.at(&home.join(below.trim_start_matches('/'))),
                None => Where::Unknown,
            },
            _ if Path::new(path).is_absolute() => self.at(Path::new(path)),
            _ if self.bases.is_empty() => Where::Unknown,
            _ => Where::At(
                self.bases
                    .iter()
                    .map(|base| self.below(base, path))
                    .collect(),
            ),
        }
    }

    fn at(&self, path: &Path) -> Where {
        Where::At(vec![self.place(path)])
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

    fn below(&self, base: &Path, path: &str) -> Rc<Place> {
        let whole = base.join(path);
        self.seen(&whole, || self.place(base).below(Path::new(path)))
    }

    fn place(&self, path: &Path) -> Rc<Place> {
        self.seen(path, || Place::of(path))
    }

    /// Looks a path up unless that was done before. The spelling counts: another one of the same
    /// path is looked up on its own.
    fn seen(&self, path: &Path, look_up: impl FnOnce() -> Place) -> Rc<Place> {
        let key: &OsStr = path.as_os_str();
        let seen = self.seen.borrow().places.get(key).cloned();
        seen.unwrap_or_else(|| {
            let place = Rc::new(look_up());
            let mut seen = self.seen.borrow_mut();
            seen.places.insert(key.to_owned(), Rc::clone(&place));
            place
        })
    }

    /// The files that a pattern means now; none if that cannot be told.
    pub fn expanded(&self, word: &Word) -> Option<Vec<Rc<Place>>> {
        let pattern = word.glob.as_deref()?;
        if word.text.starts_with('~') || self.bases.is_empty() {
            return None;
        }
        let bases = self.bases.iter();
        let found: Option<Vec<Vec<PathBuf>>> =
            bases.map(|base| self.files(base, pattern)).collect();
        let found = found?.into_iter().flatten();
        Some(found.map(|path| self.place(&path)).collect())
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
