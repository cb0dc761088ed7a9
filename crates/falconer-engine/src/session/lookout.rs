//! Watched files: which they are, and how they were when somebody last looked.
//!
//! The system says that something moved; what it was, a look at the files tells. A change counts
//! when two looks see the same, so that a file that is being written is told once, when it is
//! done.

mod survey;
#[cfg(test)]
mod tests;
mod wake;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use self::survey::Survey;
use self::wake::Wake;
use crate::file_state::FileState;
use crate::tool::place::tidy;

/// How many files are watched at most. More in a directory are not heard of.
const MAX_FILES: usize = 1_000;
/// How long a file has to stay the same. Two looks make what a person calls at once.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);
/// How often to look where the system does not say that something moved.
const WITHOUT_WAKE: Duration = Duration::from_secs(1);

/// The files that are watched, and their last known versions.
#[derive(Debug, Default)]
pub(crate) struct Lookout {
    watching: Option<Watching>,
    moved: Arc<Notify>,
    due: Option<Instant>,
}

#[derive(Debug)]
struct Watching {
    /// Where the session was started: paths are relative to it.
    start: PathBuf,
    /// Where it works now: names are relative to it.
    cwd: PathBuf,
    names: Vec<String>,
    paths: Vec<String>,
    /// By the path that hooks are told.
    files: BTreeMap<PathBuf, Watched>,
    waking: Waking,
}

/// How we come to know that something moved.
#[derive(Debug)]
enum Waking {
    /// Nobody listens: nothing is watched.
    Off,
    BySystem(Wake),
    /// The system has nothing to give.
    ByTime,
}

/// Whether there may be more to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attention {
    /// Somewhere we have only begun to listen; what came before is not known.
    Fresh,
    Steady,
}

#[derive(Debug, Default)]
struct Watched {
    /// Where it is.
    place: PathBuf,
    /// The version that hooks know of.
    told: Option<FileState>,
    /// The version of the last look.
    last: Option<FileState>,
}

/// A file that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    pub(crate) path: PathBuf,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Made,
    Changed,
    Removed,
}

impl FileChange {
    /// What hooks call it.
    pub(crate) fn event(&self) -> &'static str {
        match self.kind {
            Kind::Made => "add",
            Kind::Changed => "change",
            Kind::Removed => "unlink",
        }
    }
}

impl Lookout {
    /// Begins to watch `names` in a directory, and `paths`.
    pub(super) fn begin(&mut self, cwd: &Path, names: Vec<String>, paths: Vec<String>) {
        self.watching = Some(Watching {
            start: cwd.to_owned(),
            cwd: cwd.to_owned(),
            names,
            paths,
            files: BTreeMap::new(),
            waking: Waking::Off,
        });
        self.settle_in();
    }

    pub(super) fn is_begun(&self) -> bool {
        self.watching.is_some()
    }

    /// Names are looked for in another directory; paths are replaced.
    pub(super) fn move_to(&mut self, cwd: &Path, paths: Vec<String>) {
        if let Some(watching) = &mut self.watching {
            cwd.clone_into(&mut watching.cwd);
            watching.paths = paths;
        }
        self.settle_in();
    }

    pub(super) fn set_paths(&mut self, paths: Vec<String>) {
        if let Some(watching) = &mut self.watching {
            watching.paths = paths;
        }
        self.settle_in();
    }

    /// Watches no more.
    pub(super) fn close(&mut self) {
        self.watching = None;
        self.due = None;
    }

    /// What to wait for: that something moves, or a time to look.
    pub(super) fn expected(&self) -> (Arc<Notify>, Option<Instant>) {
        (Arc::clone(&self.moved), self.due)
    }

    /// Something moved.
    pub(super) fn expect_look(&mut self) {
        let after = self.watching.as_ref().map(|_| BETWEEN_LOOKS);
        self.due = after.map(|after| Instant::now() + after);
    }

    /// The files that were made, changed or removed, and stay as they are now.
    pub(super) fn look(&mut self) -> Vec<FileChange> {
        let Some(watching) = &mut self.watching else {
            self.due = None;
            return Vec::new();
        };
        let survey = watching.survey();
        watching.add(&survey, |_| None);
        let mut changes = Vec::new();
        let mut is_settled = true;
        for (path, file) in &mut watching.files {
            let now = FileState::of(&file.place);
            if now != file.last {
                file.last = now;
                is_settled = false;
            } else if let Some(kind) = kind(file.told, now) {
                file.told = now;
                let path = path.clone();
                changes.push(FileChange { path, kind });
            }
        }
        let is_known = |it: &Watched| it.told.is_some() || it.last.is_some();
        watching.files.retain(|_, file| is_known(file));
        let attention = watching.listen(survey, &self.moved);
        let pause = match watching.waking {
            _ if !is_settled || attention == Attention::Fresh => Some(BETWEEN_LOOKS),
            Waking::ByTime => Some(WITHOUT_WAKE),
            Waking::Off | Waking::BySystem(_) => None,
        };
        self.due = pause.map(|pause| Instant::now() + pause);
        changes
    }

    /// Takes the files as they are for known, those that are watched already aside.
    fn settle_in(&mut self) {
        let Some(watching) = &mut self.watching else {
            return;
        };
        let survey = watching.survey();
        let mut before = std::mem::take(&mut watching.files);
        watching.add(&survey, FileState::of);
        for (path, file) in &mut watching.files {
            if let Some(known) = before.remove(path) {
                *file = known;
            }
        }
        watching.listen(survey, &self.moved);
        // Something may have changed before we listened.
        self.due = (!watching.is_idle()).then(|| Instant::now() + BETWEEN_LOOKS);
    }
}

impl Watching {
    fn is_idle(&self) -> bool {
        self.names.is_empty() && self.paths.is_empty()
    }

    /// Where the files are now.
    fn survey(&self) -> Survey {
        let mut survey = Survey::default();
        for name in &self.names {
            let place = tidy(&self.cwd.join(name));
            survey.visit(place.clone(), place);
        }
        for path in &self.paths {
            survey.visit(PathBuf::from(path), tidy(&self.start.join(path)));
        }
        survey
    }

    /// Adds files that are new, with what is known of them.
    fn add(&mut self, survey: &Survey, known: impl Fn(&Path) -> Option<FileState>) {
        for (shown, place) in &survey.files {
            if self.files.len() < MAX_FILES && !self.files.contains_key(shown) {
                let state = known(place);
                let file = Watched {
                    place: place.clone(),
                    told: state,
                    last: state,
                };
                self.files.insert(shown.clone(), file);
            }
        }
    }

    /// Lets the system wake us; no thread runs while nothing is watched.
    fn listen(&mut self, survey: Survey, moved: &Arc<Notify>) -> Attention {
        if self.is_idle() {
            self.waking = Waking::Off;
            return Attention::Steady;
        }
        let wake = match std::mem::replace(&mut self.waking, Waking::ByTime) {
            Waking::Off => Wake::new(moved),
            Waking::BySystem(wake) => Ok(wake),
            Waking::ByTime => return Attention::Steady,
        };
        let listening = wake.and_then(|mut wake| Ok((wake.listen_at(survey.directories)?, wake)));
        match listening {
            Ok((attention, wake)) => {
                self.waking = Waking::BySystem(wake);
                attention
            }
            Err(error) => {
                tracing::warn!(%error, "watched files are looked at every second");
                Attention::Fresh
            }
        }
    }
}

fn kind(told: Option<FileState>, now: Option<FileState>) -> Option<Kind> {
    match (told, now) {
        (None, Some(_)) => Some(Kind::Made),
        (Some(_), None) => Some(Kind::Removed),
        (Some(told), Some(now)) if told != now => Some(Kind::Changed),
        _ => None,
    }
}
