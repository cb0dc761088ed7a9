//! Findings about sandboxes that were tried, for as long as they can be believed.
//!
//! It is kept in memory only: a file could be written by those it is to protect from.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::ProbeReport;
use crate::isolation::IsolationConfig;

/// More circumstances are not remembered.
const MOST: usize = 64;

/// Everything a proof depends on, as text to compare.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Circumstances(String);

/// The place for one proof; held locked while the sandbox is tried.
#[derive(Debug, Default)]
pub(super) struct Known {
    proof: Option<(Instant, ProbeReport)>,
}

type Slot = Arc<tokio::sync::Mutex<Known>>;

static SLOTS: LazyLock<Mutex<HashMap<Circumstances, Slot>>> = LazyLock::new(Mutex::default);

/// Returns the facts that the outcome depends on; `None` if they cannot be told, and then nothing
/// is remembered.
pub(super) fn circumstances(
    program: &Path,
    config: &IsolationConfig,
    path: Option<&OsStr>,
) -> Option<Circumstances> {
    let programs = [
        Some(program.to_owned()),
        find("bwrap", path),
        find("socat", path),
    ];
    let programs: Option<Vec<String>> = programs
        .into_iter()
        .map(|program| identity(&program?))
        .collect();
    let text = format!(
        "{:?} {:?} {:?} {:?} {path:?} {:?}",
        programs?,
        kernel()?,
        config.sandbox,
        config.network,
        config.homes(),
    );
    Some(Circumstances(text))
}

/// The place for a proof under these circumstances.
pub(super) fn slot(circumstances: Circumstances) -> Slot {
    let mut slots = SLOTS.lock().unwrap_or_else(PoisonError::into_inner);
    if slots.len() >= MOST && !slots.contains_key(&circumstances) {
        slots.clear();
    }
    slots.entry(circumstances).or_default().clone()
}

impl Known {
    /// The proof, if it is not older than this.
    pub(super) fn report_within(&self, age: Duration) -> Option<ProbeReport> {
        let (since, report) = self.proof.as_ref()?;
        let elapsed = since.elapsed();
        (elapsed <= age).then(|| ProbeReport {
            age_seconds: elapsed.as_secs(),
            ..report.clone()
        })
    }

    pub(super) fn forget(&mut self) {
        self.proof = None;
    }

    pub(super) fn keep(&mut self, since: Instant, report: &ProbeReport) {
        self.proof = Some((since, report.clone()));
    }
}

fn find(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let mut places = std::env::split_paths(path?).map(|directory| directory.join(program));
    places.find(|place| place.is_file())
}

/// A file that was replaced or changed has another one.
fn identity(program: &Path) -> Option<String> {
    let real = program.canonicalize().ok()?;
    let metadata = std::fs::metadata(&real).ok()?;
    let changed = (metadata.ctime(), metadata.ctime_nsec());
    let file = (metadata.dev(), metadata.ino(), metadata.size());
    Some(format!("{} {file:?} {changed:?}", real.display()))
}

/// The kernel, and what it lets a sandbox do.
fn kernel() -> Option<Vec<String>> {
    let read = |name: &str| std::fs::read_to_string(Path::new("/proc/sys").join(name)).ok();
    let release = read("kernel/osrelease")?;
    let switches = [
        "kernel/version",
        "kernel/unprivileged_userns_clone",
        "kernel/apparmor_restrict_unprivileged_userns",
        "user/max_user_namespaces",
        "user/max_net_namespaces",
    ];
    let switches = switches.map(|name| read(name).unwrap_or_default());
    Some(std::iter::once(release).chain(switches).collect())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};

    use super::circumstances;
    use crate::isolation::{IsolationConfig, NetworkPolicy, SandboxConfig};

    fn program(directory: &Path, name: &str, text: &str) -> PathBuf {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn whatever_could_change_the_outcome_changes_the_circumstances() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let engine = program(root, "engine", "1");
        program(root, "bwrap", "1");
        program(root, "socat", "1");
        let path = root.as_os_str();
        let config = IsolationConfig::with_api_key("sk-ant-a").homes_in(root);
        let same = circumstances(&engine, &config, Some(path)).unwrap();
        let again = || circumstances(&engine, &config, Some(path)).unwrap();
        assert_eq!(again(), same);
        let other_key = IsolationConfig::with_api_key("sk-ant-b").homes_in(root);
        let of = |config: &IsolationConfig| circumstances(&engine, config, Some(path)).unwrap();
        assert_eq!(of(&other_key), same, "the probe uses no credentials");
        let others = [
            config
                .clone()
                .network(NetworkPolicy::with_domains(["docs.rs"])),
            config
                .clone()
                .sandbox(SandboxConfig::new().writable_path("/w")),
            config.clone().homes_in("/"),
        ];
        for other in &others {
            assert_ne!(of(other), same, "{other:?}");
        }
        let longer: OsString = format!("{}:/bin", root.display()).into();
        assert_ne!(
            circumstances(&engine, &config, Some(&longer)).unwrap(),
            same
        );
        for name in ["bwrap", "socat", "engine"] {
            let before = again();
            program(root, name, "22");
            assert_ne!(again(), before, "{name} was changed");
            let before = again();
            std::fs::remove_file(root.join(name)).unwrap();
            assert_eq!(circumstances(&engine, &config, Some(path)), None);
            program(root, name, "22");
            assert_ne!(again(), before, "{name} was replaced");
        }
        assert_eq!(circumstances(&engine, &config, None), None);
    }
}
