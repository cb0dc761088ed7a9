//! What the machine has to say about a session: settings, trust, the model's address.

use std::sync::Arc;

use super::failure::StartupFailure;
use crate::environment::Environment;
use crate::session::config::SettingsChoice;
use crate::settings::{Enabled, Settings, Sources, UserConfig};

/// Reads the settings and makes their variables those of the session.
pub(crate) fn look(
    choice: &SettingsChoice,
    environment: &Arc<Environment>,
    cwd: &std::path::Path,
) -> Result<Settings, StartupFailure> {
    let mut sources = Sources::new(environment, cwd.to_owned());
    sources.flag.clone_from(&choice.flag);
    sources.enabled = Enabled {
        user: choice.sources.user,
        project: choice.sources.project,
        local: choice.sources.local,
    };
    let config = UserConfig::read(&sources)
        .map_err(|invalid| StartupFailure::config_invalid(&invalid.path, invalid.error))?;
    sources.trust = config.trust(cwd);
    let settings = Settings::load(&sources);
    if settings.check_sandbox().is_err() {
        return Err(StartupFailure::sandbox_unavailable());
    }
    let variables = settings.env().into_iter();
    environment.extend(variables.map(|(name, value)| (name.into(), value.into())));
    Ok(settings)
}
