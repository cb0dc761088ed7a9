//! The official programs that the tests run against, at pinned versions.
//!
//! They are installed into `target/conformance/`, outside version control, and
//! found by the tests through environment variables. Nothing of them is ever
//! committed. Pins are in `xtask/conformance/`.

mod browser;
mod npm;
mod python;
mod system;
mod toolchain;

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::workspace::Workspace;

/// Whether missing things may be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Install {
    Allowed,
    Forbidden,
}

/// Everything the tests need from outside this repository.
#[derive(Debug)]
pub(crate) struct Kit {
    /// The native executable of the official CLI.
    pub(crate) claude: PathBuf,
    /// The folder of the official TypeScript SDK's package.
    pub(crate) typescript_sdk: PathBuf,
    pub(crate) node: PathBuf,
    /// A Python that can import the official Python SDK.
    pub(crate) python: PathBuf,
    /// The folder with the driver of the browser and the type checker.
    pub(crate) browser_kit: PathBuf,
    pub(crate) chromium: PathBuf,
}

impl Kit {
    /// Finds everything, installing what is missing. Says what it waits for through `note`.
    pub(crate) fn prepare(
        workspace: &Workspace,
        install: Install,
        note: &mut dyn FnMut(&str),
    ) -> Result<Kit> {
        toolchain::ensure(install, note)?;
        system::ensure(install, note)?;
        let pins = workspace.root.join("xtask/conformance");
        let place = workspace.target.join("conformance");
        let _alone = alone_in(&place, note)?;
        let packages = npm::ensure(&pins, &place.join("npm"), install, note)?;
        let python = python::ensure(&pins, &place.join("python"), install, note)?;
        let browser = browser::ensure(&pins, &place.join("browser"), install, note)?;
        Ok(Kit {
            claude: packages.claude,
            typescript_sdk: packages.typescript_sdk,
            node: crate::process::find_program("node").context("node is not in PATH")?,
            python,
            browser_kit: browser.kit,
            chromium: browser.chromium,
        })
    }

    /// The variables through which tests find these things.
    pub(crate) fn environment(&self) -> [(&'static str, &Path); 6] {
        [
            ("FALCONER_CLAUDE_PATH", &self.claude),
            ("FALCONER_TS_SDK", &self.typescript_sdk),
            ("FALCONER_NODE", &self.node),
            ("FALCONER_PYTHON", &self.python),
            ("FALCONER_BROWSER_KIT", &self.browser_kit),
            ("FALCONER_CHROMIUM", &self.chromium),
        ]
    }
}

/// Marks a folder as installed completely from exactly these pins.
///
/// Written last, so an installation that was cut off is seen as missing.
#[derive(Debug)]
struct Stamp {
    file: PathBuf,
    pins: String,
}

impl Stamp {
    fn new(folder: &Path, pins: &Path) -> Result<Stamp> {
        let pins = std::fs::read_to_string(pins)
            .with_context(|| format!("failed to read {}", pins.display()))?;
        Ok(Stamp {
            file: folder.join(".installed-from"),
            pins,
        })
    }

    fn is_current(&self) -> bool {
        std::fs::read_to_string(&self.file).is_ok_and(|text| text == self.pins)
    }

    fn write(&self) -> Result<()> {
        std::fs::write(&self.file, &self.pins)
            .with_context(|| format!("failed to write {}", self.file.display()))
    }
}

/// Waits until nobody else installs into `folder`; others wait while the file is open.
fn alone_in(folder: &Path, note: &mut dyn FnMut(&str)) -> Result<File> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("failed to create {}", folder.display()))?;
    let path = folder.join(".lock");
    let file =
        File::create(&path).with_context(|| format!("failed to create {}", path.display()))?;
    if file.try_lock().is_err() {
        note("waiting for another installation to finish");
        file.lock()
            .with_context(|| format!("failed to lock {}", path.display()))?;
    }
    Ok(file)
}

/// Empties a folder, so that nothing of an older or broken installation remains.
fn start_afresh(folder: &Path) -> Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)
            .with_context(|| format!("failed to remove {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder)
        .with_context(|| format!("failed to create {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_current_only_when_written_last_from_the_same_pins() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let pins = folder.path().join("pins.txt");
        std::fs::write(&pins, "sdk==1")?;
        let stamp = Stamp::new(folder.path(), &pins)?;
        assert!(!stamp.is_current(), "an installation that was cut off");
        stamp.write()?;
        assert!(stamp.is_current());
        std::fs::write(&pins, "sdk==2")?;
        assert!(
            !Stamp::new(folder.path(), &pins)?.is_current(),
            "an installation of older pins"
        );
        Ok(())
    }

    #[test]
    fn a_second_installation_waits_for_the_first() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let first = alone_in(folder.path(), &mut |_| {})?;
        let (tx, rx) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                let mut note = |text: &str| tx.send(text.to_owned()).expect("a listener");
                alone_in(folder.path(), &mut note).map(drop)
            });
            let said = rx.recv_timeout(std::time::Duration::from_secs(30));
            assert!(
                said.is_ok_and(|text| text.contains("waiting")),
                "it says that it waits"
            );
            assert!(!second.is_finished(), "it does not go on");
            drop(first);
            second.join().expect("no panic")
        })
    }
}
