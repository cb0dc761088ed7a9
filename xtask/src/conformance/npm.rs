//! The official CLI and TypeScript SDK, from npm, by lock file.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::{Install, Stamp, start_afresh};
use crate::process;

const LIMIT: Duration = Duration::from_secs(15 * 60);

/// Where the packages are.
#[derive(Debug)]
pub(super) struct Packages {
    pub(super) claude: PathBuf,
    pub(super) typescript_sdk: PathBuf,
}

pub(super) fn ensure(
    pins: &Path,
    folder: &Path,
    install: Install,
    note: &mut dyn FnMut(&str),
) -> Result<Packages> {
    let what = "the official CLI and TypeScript SDK (two downloads of about 100 MB)";
    locked(pins, folder, what, install, note, find)
}

/// Installs what a lock file names, unless it is there already, and finds something in it.
pub(super) fn locked<T>(
    pins: &Path,
    folder: &Path,
    what: &str,
    install: Install,
    note: &mut dyn FnMut(&str),
    find: fn(&Path) -> Result<T>,
) -> Result<T> {
    let stamp = Stamp::new(folder, &pins.join("package-lock.json"))?;
    if stamp.is_current()
        && let Ok(found) = find(folder)
    {
        return Ok(found);
    }
    if install == Install::Forbidden {
        bail!(
            "{what}: not in {}; run `cargo xtask test` without `--no-install`",
            folder.display()
        );
    }
    note(&format!("installing {what}"));
    start_afresh(folder)?;
    for name in ["package.json", "package-lock.json"] {
        std::fs::copy(pins.join(name), folder.join(name))
            .with_context(|| format!("failed to copy {name}"))?;
    }
    run_npm(folder, note)?;
    let found = find(folder)?;
    stamp.write()?;
    Ok(found)
}

fn run_npm(folder: &Path, note: &mut dyn FnMut(&str)) -> Result<()> {
    let mut command = Command::new("npm");
    command.current_dir(folder);
    command.args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
    ]);
    let status = process::stream(&mut command, LIMIT, |line| note(line))?;
    if !status.success() {
        bail!(
            "{} failed in {} ({status})",
            process::shown(&command),
            folder.display()
        );
    }
    Ok(())
}

/// Scripts of packages do not run, so the CLI is taken from its platform package.
fn find(folder: &Path) -> Result<Packages> {
    let scope = folder.join("node_modules/@anthropic-ai");
    let platform = platform()?;
    let candidates = ["claude-code", "claude-agent-sdk"]
        .map(|package| scope.join(format!("{package}-{platform}")).join("claude"));
    let Some(claude) = candidates.iter().find(|file| file.is_file()) else {
        bail!(
            "no executable of the official CLI for {platform} in {}",
            scope.display()
        );
    };
    let typescript_sdk = scope.join("claude-agent-sdk");
    if !typescript_sdk.join("package.json").is_file() {
        bail!("no TypeScript SDK in {}", scope.display());
    }
    Ok(Packages {
        claude: claude.clone(),
        typescript_sdk,
    })
}

fn platform() -> Result<&'static str> {
    let musl = cfg!(target_env = "musl");
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") if musl => Ok("linux-x64-musl"),
        ("linux", "aarch64") if musl => Ok("linux-arm64-musl"),
        ("linux", "x86_64") => Ok("linux-x64"),
        ("linux", "aarch64") => Ok("linux-arm64"),
        ("macos", "x86_64") => Ok("darwin-x64"),
        ("macos", "aarch64") => Ok("darwin-arm64"),
        (system, machine) => bail!("the official CLI is not published for {system} on {machine}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lays out a folder as npm would leave it, without the files named in `missing`.
    fn installed(missing: &str) -> Result<tempfile::TempDir> {
        let folder = tempfile::tempdir()?;
        let scope = folder.path().join("node_modules/@anthropic-ai");
        let claude = format!("claude-code-{}/claude", platform()?);
        for file in [claude.as_str(), "claude-agent-sdk/package.json"] {
            let file = scope.join(file);
            std::fs::create_dir_all(file.parent().context("a folder")?)?;
            if missing.is_empty() || !file.ends_with(missing) {
                std::fs::write(file, "")?;
            }
        }
        Ok(folder)
    }

    #[test]
    fn a_partial_installation_is_not_taken_for_one() -> Result<()> {
        assert!(find(installed("")?.path()).is_ok());
        for missing in ["claude", "package.json"] {
            assert!(
                find(installed(missing)?.path()).is_err(),
                "without {missing}"
            );
        }
        Ok(())
    }

    #[test]
    fn nothing_is_installed_when_that_is_forbidden() -> Result<()> {
        let pins = tempfile::tempdir()?;
        std::fs::write(pins.path().join("package-lock.json"), "{}")?;
        let folder = pins.path().join("npm");
        let result = ensure(pins.path(), &folder, Install::Forbidden, &mut |_| {});
        assert!(
            result
                .expect_err("nothing there")
                .to_string()
                .contains("--no-install")
        );
        assert!(!folder.exists());
        Ok(())
    }
}
