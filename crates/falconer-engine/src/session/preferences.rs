//! Settings while a session runs: taking new ones, writing them, telling where they come from.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use falconer_protocol::system::InitMcpServer;
use serde_json::Value;

use super::core::Core;
use crate::hook::SettingsHooks;
use crate::settings::{Settings, Source};

/// What hooks need of the settings.
pub(crate) fn settings_hooks(settings: &Settings) -> SettingsHooks {
    let texts = |key: &str| {
        let list = settings.effective().get(key)?.as_array()?;
        let texts = list.iter().filter_map(Value::as_str);
        Some(texts.map(str::to_owned).collect())
    };
    let layers = settings.layers().iter().rev().filter_map(|layer| {
        let hooks = layer.value.get("hooks")?.clone();
        Some((source_name(layer.source).to_owned(), hooks))
    });
    SettingsHooks {
        layers: layers.collect(),
        disabled: settings.disable_all_hooks(),
        allowed_urls: texts("allowedHttpHookUrls"),
        allowed_variables: texts("httpHookAllowedEnvVars"),
        seals: settings.seals().trusted.clone(),
    }
}

/// The name of a layer on the wire.
pub(crate) fn source_name(source: Source) -> &'static str {
    match source {
        Source::User => "userSettings",
        Source::Project => "projectSettings",
        Source::Local => "localSettings",
        Source::Flag => "flagSettings",
        Source::Managed => "policySettings",
    }
}

impl Core {
    /// Puts changed settings in force.
    pub(crate) fn take_settings(&self, settings: Settings) {
        for warning in self.hooks.set_settings_hooks(&settings_hooks(&settings)) {
            tracing::warn!(%warning, "a hook of the settings");
        }
        self.permissions().reload(settings.permission_rules());
        let variables = settings.env().into_iter();
        self.workbench
            .shop
            .environment
            .extend(variables.map(|(name, value)| (name.into(), value.into())));
        *self.settings() = settings;
        // What was forbidden on the way stays so.
        self.take_restrictions();
    }

    /// The servers, for `system/init`.
    pub(crate) fn server_listing(&self) -> Vec<InitMcpServer> {
        let listed = self.servers.status().into_iter();
        listed
            .map(|server| InitMcpServer {
                name: server.name,
                status: server.status.to_string(),
                source: server.source,
                ..InitMcpServer::default()
            })
            .collect()
    }

    /// The host says that the model knows a file as of a time, in milliseconds.
    pub(crate) fn seed_read(&self, path: &Path, mtime_ms: f64) {
        let Ok(metadata) = std::fs::metadata(path) else {
            return;
        };
        let then = Duration::try_from_secs_f64(mtime_ms / 1000.0).unwrap_or_default();
        let now = metadata
            .modified()
            .ok()
            .and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        // A file that was changed since counts as unread.
        if now.is_some_and(|now| now <= then + Duration::from_millis(1)) {
            self.workbench.files.seed(path, &metadata);
        }
    }
}
