//! Settings files: precedence, merging, writing rules back.
//!
//! From the strongest: managed, those given at the start, local, project, user. Single values
//! override, lists are joined. A file that cannot be used is left out with a warning, never half.

mod files;
mod getters;
mod merge;
mod sources;
mod trust;
mod update;
mod user_config;
mod watch;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub(crate) use files::{Change, Files, Scope, WriteError};
pub(crate) use getters::SettingsHook;
pub(crate) use sources::{Enabled, Sources};
pub(crate) use trust::{Folder, ProjectServers, Seals, Trust};
pub(crate) use user_config::{McpScope, McpServer, UserConfig};
pub(crate) use watch::{Changed, Watch};

pub(crate) use merge::merge;

/// Where a layer of settings comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Source {
    User,
    Project,
    Local,
    Flag,
    Managed,
}

/// The settings of one source.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layer {
    pub(crate) source: Source,
    /// Always an object.
    pub(crate) value: Value,
}

/// All settings of a session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    /// From the weakest to the strongest.
    layers: Vec<Layer>,
    effective: Value,
    servers: ProjectServers,
    seals: Seals,
    warnings: Vec<String>,
}

/// All that was found when somebody looked, so that nobody has to look again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// The places that were looked at; none if nobody looked.
    pub(crate) sources: Option<Sources>,
    pub(crate) user: UserConfig,
    pub(crate) settings: Settings,
}

impl Default for Settings {
    fn default() -> Self {
        Self::from_layers(Vec::new(), Vec::new())
    }
}

impl Settings {
    /// Reads the files. Missing ones are nothing special; bad ones are left out with a warning.
    pub(crate) fn load(sources: &Sources) -> Self {
        let mut warnings = Vec::new();
        let (layers, servers, seals) = sources.layers(&mut warnings);
        Self {
            servers,
            seals,
            ..Self::from_layers(layers, warnings)
        }
    }

    fn from_layers(layers: Vec<Layer>, warnings: Vec<String>) -> Self {
        let mut effective = Value::Object(serde_json::Map::new());
        for layer in &layers {
            merge(&mut effective, &layer.value);
        }
        Self {
            layers,
            effective,
            servers: ProjectServers::default(),
            seals: Seals::default(),
            warnings,
        }
    }

    /// The same with other settings in the layer of the command line, for a change on the way.
    pub(crate) fn with_flag(&self, flag: Value) -> Self {
        let mut layers = self.layers.clone();
        match layers.iter_mut().find(|layer| layer.source == Source::Flag) {
            Some(layer) => merge(&mut layer.value, &flag),
            None => {
                let at = layers.partition_point(|layer| layer.source < Source::Flag);
                let layer = Layer {
                    source: Source::Flag,
                    value: flag,
                };
                layers.insert(at, layer);
            }
        }
        Self {
            servers: self.servers.clone(),
            seals: self.seals.clone(),
            ..Self::from_layers(layers, self.warnings.clone())
        }
    }

    /// Everything merged.
    pub(crate) fn effective(&self) -> &Value {
        &self.effective
    }

    /// From the weakest to the strongest.
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The servers of the project that may be started.
    pub(crate) fn project_servers(&self) -> &ProjectServers {
        &self.servers
    }

    /// What of the project may run, as it was trusted.
    pub(crate) fn seals(&self) -> &Seals {
        &self.seals
    }

    /// What could not be used, for people.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
