//! The configuration: one file of the user, variables over it, and projects that narrow it.

mod command;
mod file;
mod keys;
mod layers;
mod reference;
mod schema;

use std::path::Path;

use crate::exit::{Fault, say};

pub(crate) use command::{Config as ConfigCommand, config as config_command};
pub(crate) use file::{path, write};
pub(crate) use keys::nearest;
pub(crate) use layers::{ConfigError, Effective, Layers, Origin, thinking};
pub(crate) use schema::{
    AccountName, Color, Config, EffortLevel, EngineName, Isolation, LogConfig, LogFormat, Mode,
    SandboxedCommands,
};

impl From<ConfigError> for Fault {
    fn from(error: ConfigError) -> Self {
        let hint = match &error {
            ConfigError::UnknownKey { .. } => "`falconer config list` shows all keys",
            ConfigError::NotForProjects { .. } => {
                "move it to your own file; `falconer config path` prints where it is"
            }
            ConfigError::NotForProfiles { .. } => {
                "a profile holds keys of `run` and `claude`; move it to your own file"
            }
            ConfigError::Unreadable { .. } | ConfigError::WrongValue { .. } => {
                "`falconer config edit` opens the file; the reference is docs/configuration.md"
            }
        };
        Self::usage(error, hint)
    }
}

/// The configuration in force in a directory, with a profile if one was chosen. Old files are
/// brought up to date.
pub(crate) fn load(directory: &Path, profile: Option<&str>) -> Result<Effective, Fault> {
    let effective = look_with(directory, profile)?;
    for warning in &effective.warnings {
        say("warning:", warning);
    }
    effective.config.display.color.apply();
    Ok(effective)
}

/// The same without a profile and without a word.
pub(crate) fn look(directory: &Path) -> Result<Effective, Fault> {
    look_with(directory, None)
}

fn look_with(directory: &Path, profile: Option<&str>) -> Result<Effective, Fault> {
    let user = file::path()?;
    if let Some(said) = file::bring_up_to_date(&user)? {
        say("note:", said);
    }
    resolve(directory, file::text(&user)?.as_deref(), profile)
}

/// What the user has configured, variables included, wherever the program is started. Nothing is
/// said or rewritten.
pub(crate) fn of_user() -> Result<Config, Fault> {
    let user = file::path()?;
    let text = file::text(&user)?;
    Ok(layers(&user, text.as_deref(), None, None).resolve()?.config)
}

/// The text of the user's file, if it is there and could be used.
pub(crate) fn usable_text() -> Result<Option<String>, Fault> {
    let path = file::path()?;
    let text = file::text(&path)?;
    if let Some(text) = &text {
        layers::read(&path.display().to_string(), text)?;
    }
    Ok(text)
}

/// The configuration in a directory with this as the text of the user's file.
pub(crate) fn resolve(
    directory: &Path,
    user_text: Option<&str>,
    profile: Option<&str>,
) -> Result<Effective, Fault> {
    let user = file::path()?;
    let profile = profile.map(file::profile).transpose()?;
    let project = file::project_path(directory);
    let project_text = match &project {
        Some(path) => file::text(path)?,
        None => None,
    };
    let project = project.as_deref().zip(project_text.as_deref());
    let profile = profile
        .as_ref()
        .map(|(path, text)| (path.as_path(), text.as_str()));
    Ok(layers(&user, user_text, profile, project).resolve()?)
}

fn layers<'a>(
    user: &'a Path,
    user_text: Option<&'a str>,
    profile: Option<(&'a Path, &'a str)>,
    project: Option<(&'a Path, &'a str)>,
) -> Layers<'a> {
    let variables = std::env::vars_os();
    let variables = variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Layers {
        user: user_text.map(|text| (user, text)),
        profile,
        project,
        variables: variables.collect(),
    }
}

/// The names of all keys.
#[cfg(test)]
pub(crate) fn key_names() -> std::collections::BTreeSet<String> {
    keys::keys().iter().map(|key| key.path.clone()).collect()
}

impl Color {
    fn apply(self) {
        match self {
            Self::Auto => {}
            Self::Always => anstream::ColorChoice::Always.write_global(),
            Self::Never => anstream::ColorChoice::Never.write_global(),
        }
    }
}

#[cfg(test)]
mod tests;
