//! Where settings come from.

use std::path::{Path, PathBuf};

use falconer_secret::Environment;
use serde_json::Value;

use super::merge::merge;
use super::trust::{ProjectLayers, ProjectServers, Seals, Trust};
use super::{Files, Layer, Source};
use crate::json_file::read_object;
use crate::trust::TrustStore;

/// Files of the administrator.
const MANAGED: &str = "/etc/claude-code/managed-settings.json";
/// Drop-in files beside them that are read.
const MAX_DROP_INS: usize = 256;

/// The places to read from.
#[derive(Debug, Clone)]
pub(crate) struct Sources {
    pub(crate) managed: PathBuf,
    /// `~/.claude`, or what `CLAUDE_CONFIG_DIR` says.
    pub(crate) config_dir: Option<PathBuf>,
    /// `~/.claude.json`.
    pub(crate) user_config: Option<PathBuf>,
    pub(crate) project: PathBuf,
    /// `--settings`.
    pub(crate) flag: Option<Value>,
    pub(crate) enabled: Enabled,
    pub(crate) trust: Trust,
    /// The user's trust in projects; none without a home.
    pub(crate) store: Option<TrustStore>,
}

/// `--setting-sources`; managed and given settings are always read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Enabled {
    pub(crate) user: bool,
    pub(crate) project: bool,
    pub(crate) local: bool,
}

impl Enabled {
    pub(crate) const ALL: Self = Self {
        user: true,
        project: true,
        local: true,
    };
}

impl Sources {
    pub(crate) fn new(environment: &Environment, project: PathBuf) -> Self {
        let given = environment.text("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        let home = environment.home();
        let user_config = given.as_ref().or(home.as_ref());
        Self {
            managed: PathBuf::from(MANAGED),
            user_config: user_config.map(|directory| directory.join(".claude.json")),
            config_dir: given.or_else(|| home.map(|home| home.join(".claude"))),
            project,
            flag: None,
            enabled: Enabled::ALL,
            trust: Trust::default(),
            store: TrustStore::of(environment),
        }
    }

    /// The files that changes are written to.
    pub(crate) fn files(&self) -> Files {
        Files {
            config_dir: self.config_dir.clone(),
            project: self.project.clone(),
            store: self.store.clone(),
        }
    }

    /// The files that are read, if they are there.
    pub(super) fn paths(&self) -> Vec<(Source, PathBuf)> {
        let files = self.files();
        let user = files.user().filter(|_| self.enabled.user);
        let project = self.enabled.project.then(|| files.project_file());
        let local = self.enabled.local.then(|| files.local());
        let managed = Some(self.managed.clone());
        let all = [
            (Source::User, user),
            (Source::Project, project),
            (Source::Local, local),
            (Source::Managed, managed),
        ];
        let given = all.into_iter();
        given
            .filter_map(|(source, path)| Some((source, path?)))
            .collect()
    }

    /// The layers, from the weakest to the strongest, and the servers of the project.
    pub(super) fn layers(&self, warnings: &mut Vec<String>) -> (Vec<Layer>, ProjectServers, Seals) {
        let user = self.files().user().filter(|_| self.enabled.user);
        let user = user.and_then(|path| load(&path, warnings));
        let project = ProjectLayers::read(self, user.as_ref(), warnings);
        let of = |source: Source| move |value: Value| Layer { source, value };
        let mut layers = Vec::new();
        layers.extend(user.map(of(Source::User)));
        layers.extend(project.layers);
        layers.extend(self.flag.clone().map(of(Source::Flag)));
        layers.extend(self.managed(warnings).map(of(Source::Managed)));
        (layers, project.servers, project.seals)
    }

    fn managed(&self, warnings: &mut Vec<String>) -> Option<Value> {
        let mut merged = load(&self.managed, warnings);
        for path in drop_ins(&self.managed.with_extension("d")) {
            let Some(value) = load(&path, warnings) else {
                continue;
            };
            match &mut merged {
                Some(merged) => merge(merged, &value),
                None => merged = Some(value),
            }
        }
        merged
    }
}

fn drop_ins(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .take(MAX_DROP_INS)
        .collect();
    paths.sort();
    paths
}

fn load(path: &Path, warnings: &mut Vec<String>) -> Option<Value> {
    match read_object(path) {
        Ok(value) => value,
        Err(error) => {
            warnings.push(format!(
                "ignored settings file {}: {error}; repair or remove it",
                path.display()
            ));
            None
        }
    }
}
