//! What the machine has to say about a session: settings, trust, the model's address.

use std::path::Path;
use std::sync::Arc;

use falconer_secret::Environment;

use super::failure::StartupFailure;
use crate::session::config::{Decided, SettingsChoice};
use crate::settings::{Enabled, Found, Settings, Sources, Trust, UserConfig};

/// Reads the settings and makes their variables those of the session.
pub(crate) fn look(
    choice: &SettingsChoice,
    environment: &Arc<Environment>,
    cwd: &Path,
) -> Result<Found, StartupFailure> {
    let project = choice.project_root.as_deref().unwrap_or(cwd);
    let mut sources = Sources::new(environment, project.to_owned());
    sources.flag.clone_from(&choice.flag);
    sources.enabled = Enabled {
        user: choice.sources.user,
        project: choice.sources.project,
        local: choice.sources.local,
    };
    let user = UserConfig::read(&sources)
        .map_err(|invalid| StartupFailure::config_invalid(&invalid.path, invalid.error))?;
    sources.trust = match &choice.decided {
        Decided::Nothing => Trust::User,
        Decided::Sources => Trust::Host(user.folder(project)),
        Decided::Content(digest) => Trust::Content(digest.clone()),
    };
    let settings = Settings::load(&sources);
    if settings.check_sandbox().is_err() {
        return Err(StartupFailure::sandbox_unavailable());
    }
    let variables = settings.env().into_iter();
    environment.extend(variables.map(|(name, value)| (name.into(), value.into())));
    Ok(Found {
        sources: Some(sources),
        user,
        settings,
    })
}
