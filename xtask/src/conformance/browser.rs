//! What drives a browser over the page and checks its types, from npm, by lock file. The browser
//! itself is a program of the operating system.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::{Install, npm};
use crate::process;

/// What the tests of the page need.
#[derive(Debug)]
pub(super) struct Browser {
    /// The folder whose `node_modules` has the driver and the type checker.
    pub(super) kit: PathBuf,
    pub(super) chromium: PathBuf,
}

pub(super) fn ensure(
    pins: &Path,
    folder: &Path,
    install: Install,
    note: &mut dyn FnMut(&str),
) -> Result<Browser> {
    let what = "the driver of the browser and the type checker";
    let kit = npm::locked(&pins.join("browser"), folder, what, install, note, find)?;
    let chromium = process::find_program("chromium").context("chromium is not in PATH")?;
    Ok(Browser { kit, chromium })
}

fn find(folder: &Path) -> Result<PathBuf> {
    for package in ["axe-core", "playwright-core", "typescript"] {
        let about = folder
            .join("node_modules")
            .join(package)
            .join("package.json");
        if !about.is_file() {
            bail!("no {package} in {}", folder.display());
        }
    }
    Ok(folder.to_owned())
}
