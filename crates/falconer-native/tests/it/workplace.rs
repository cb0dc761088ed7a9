//! A directory to work in and a home of its own, so that nothing of the machine is seen.

use std::path::{Path, PathBuf};

use falconer::Options;
use falconer_native::{NativeEngine, Scenario};
use tempfile::TempDir;

pub(crate) struct Workplace {
    root: TempDir,
}

impl Workplace {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("work")).unwrap();
        std::fs::create_dir(root.path().join("home")).unwrap();
        Self { root }
    }

    pub(crate) fn work(&self) -> PathBuf {
        // As the engine sees it, links resolved.
        self.root.path().canonicalize().unwrap().join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.work().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.work().join(name)).ok()
    }

    pub(crate) fn options(&self, scenario: Scenario) -> Options {
        self.options_of(NativeEngine::scripted(scenario))
    }

    pub(crate) fn options_of(&self, engine: NativeEngine) -> Options {
        isolated(&self.work(), &self.home()).engine(engine)
    }
}

fn isolated(work: &Path, home: &Path) -> Options {
    Options::new()
        .cwd(work)
        .env_clear()
        .env_inherit("PATH")
        .env("HOME", home)
        .env("TMPDIR", home)
}
