//! Settings files, settings given here, and the sandbox inside them.

use std::fmt;
use std::path::PathBuf;

use falconer_protocol::sandbox::SandboxSettings;

use crate::launch::redact::masked_json;

use super::Options;

/// Settings for one run, above those of user, project and machine.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Settings {
    /// A JSON file.
    File(PathBuf),
    /// A JSON object.
    Inline(serde_json::Value),
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Inline(json) => write!(f, "Inline({})", masked_json(json)),
        }
    }
}

/// A place where the engine reads settings, `CLAUDE.md` files, skills and hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingSource {
    /// The user's home.
    User,
    /// The project, as checked in.
    Project,
    /// The project, as on this machine only.
    Local,
}

impl SettingSource {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// The effect of a required sandbox that cannot be had.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum SandboxFallback {
    #[default]
    Refuse,
    RunUnsandboxed,
}

/// Recorded settings of this file.
#[derive(Clone, Default)]
pub(crate) struct SettingsOptions {
    pub(crate) settings: Option<Settings>,
    pub(crate) managed: Option<serde_json::Value>,
    pub(crate) sources: Option<Vec<SettingSource>>,
    pub(crate) sandbox: Option<SandboxSettings>,
    pub(crate) sandbox_fallback: SandboxFallback,
}

impl fmt::Debug for SettingsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sandbox = self.sandbox.as_ref().map(|sandbox| {
            let json = serde_json::to_value(sandbox).unwrap_or_default();
            masked_json(&json).to_string()
        });
        f.debug_struct("SettingsOptions")
            .field("settings", &self.settings)
            .field(
                "managed",
                &self
                    .managed
                    .as_ref()
                    .map(|json| masked_json(json).to_string()),
            )
            .field("sources", &self.sources)
            .field("sandbox", &sandbox)
            .field("sandbox_fallback", &self.sandbox_fallback)
            .finish()
    }
}

impl Options {
    /// Sets settings for this run.
    ///
    /// Carried by `--settings`. Default: none. Together with [`Options::sandbox`] a file is
    /// read before the launch and merged.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.launch.settings.settings = Some(settings);
        self
    }

    /// Sets a policy that nothing below it can loosen.
    ///
    /// Carried by `--managed-settings`. Default: none.
    #[must_use]
    pub fn managed_settings(mut self, settings: serde_json::Value) -> Self {
        self.launch.settings.managed = Some(settings);
        self
    }

    /// Reads settings, `CLAUDE.md`, skills and hooks from these sources only; an empty list
    /// isolates the run.
    ///
    /// Carried by `--setting-sources`. Default: not sent, which means all of them.
    #[must_use]
    pub fn setting_sources(mut self, sources: impl IntoIterator<Item = SettingSource>) -> Self {
        self.launch.settings.sources = Some(sources.into_iter().collect());
        self
    }

    /// Runs commands in a sandbox.
    ///
    /// Merged into `--settings`. When it is enabled, `failIfUnavailable` is added: the
    /// engine alone would only warn and run unprotected. Default: the machine's settings.
    #[must_use]
    pub fn sandbox(mut self, sandbox: SandboxSettings) -> Self {
        self.launch.settings.sandbox = Some(sandbox);
        self
    }

    /// Accepts that commands run unprotected where no sandbox can be had.
    #[must_use]
    pub fn allow_unsandboxed_fallback(mut self) -> Self {
        self.launch.settings.sandbox_fallback = SandboxFallback::RunUnsandboxed;
        self
    }
}
