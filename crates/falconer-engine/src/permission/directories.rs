//! The directories a session works in.

use std::path::{Path, PathBuf};

use falconer_rule::Place;

/// Directories in which files may be read, and written when the mode says so.
#[derive(Debug, Clone)]
pub(crate) struct Directories {
    /// The one of the session is the first and stays.
    working: Vec<Place>,
    readable: Vec<Place>,
}

impl Directories {
    pub(super) fn new(cwd: &Path, readable: &[PathBuf]) -> Self {
        Self {
            working: vec![Place::of(cwd)],
            readable: readable.iter().map(|path| Place::of(path)).collect(),
        }
    }

    pub(super) fn add(&mut self, directory: &Path) {
        let place = Place::of(&self.cwd().join(directory));
        if !self.working.contains(&place) {
            self.working.push(place);
        }
    }

    /// Takes a directory away again; the one of the session stays.
    pub(super) fn remove(&mut self, directory: &Path) {
        let place = Place::of(&self.cwd().join(directory));
        let mut is_first = true;
        self.working.retain(|known| {
            let keep = is_first || known.spelled != place.spelled;
            is_first = false;
            keep
        });
    }

    pub(super) fn all(&self) -> Vec<&Path> {
        let all = self.working.iter();
        all.map(|place| place.spelled.as_path()).collect()
    }

    pub(super) fn cwd(&self) -> PathBuf {
        let first = self.working.first();
        first.map_or_else(PathBuf::new, |place| place.spelled.clone())
    }

    pub(super) fn contain(&self, place: &Place) -> bool {
        contain(&self.working, place)
    }

    /// Whether this is one of the working directories, by its real name.
    pub(super) fn are_working(&self, directory: &Path) -> bool {
        let place = Place::of(directory);
        let mut working = self.working.iter();
        place.is_clear && working.any(|known| known.real == place.real)
    }

    /// Whether a program is part of a project. A project that holds the home directory does not
    /// count: everything of its user is below it.
    pub(super) fn bring(&self, program: &Place, home: Option<&Path>) -> bool {
        let home = home.map(Place::of);
        let holds_home = |root: &Path| {
            let mut names = home.iter().flat_map(Place::names);
            names.any(|name| name.starts_with(root))
        };
        let mut roots = self.working.iter().flat_map(Place::names);
        roots.any(|root| {
            let is_inside = program.names().any(|name| name.starts_with(root));
            is_inside && root.parent().is_some() && !holds_home(root)
        })
    }

    pub(super) fn may_read(&self, place: &Place) -> bool {
        self.contain(place) || contain(&self.readable, place)
    }
}

/// Both names of the place have to be inside.
fn contain(directories: &[Place], place: &Place) -> bool {
    let is_inside = |name: &Path| {
        directories
            .iter()
            .any(|directory| directory.names().any(|root| name.starts_with(root)))
    };
    let real_is_inside = directories
        .iter()
        .any(|directory| place.real.starts_with(&directory.real));
    place.is_clear && is_inside(&place.spelled) && real_is_inside
}
