//! Changes of permissions, by the host or by a hook.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use falconer_protocol::permission::{
    PermissionBehavior, PermissionDestination, PermissionMode, PermissionRule, PermissionUpdate,
};
use falconer_rule::{Effect, RuleText};

use super::wire::text_of_wire;
use super::{ModeRefused, Permissions, RuleSource, WrittenRule};
use crate::settings::{Change, Files, Scope, WriteError};

/// What a change did.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Applied {
    /// The mode is another one now.
    pub(crate) mode: Option<PermissionMode>,
    /// The file in which the change was kept.
    pub(crate) written: Option<PathBuf>,
}

/// Why a change was not made, or not kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpdateError {
    #[error(transparent)]
    Mode(#[from] ModeRefused),
    #[error("permission update with an unknown {what}: {value}")]
    Unknown { what: &'static str, value: String },
    /// It is in force for this session all the same.
    #[error("the change of permissions holds for this session only: {0}")]
    NotKept(#[from] WriteError),
}

impl Permissions {
    /// Makes a change, and keeps it where it says.
    ///
    /// What cannot be written to its file is in force for the session nevertheless.
    pub(crate) fn apply(
        &mut self,
        update: &PermissionUpdate,
        files: &Files,
    ) -> Result<Applied, UpdateError> {
        let (destination, change, mode) = self.apply_here(update)?;
        let written = match scope(destination)? {
            Some(scope) => Some(files.write(scope, &change)?),
            None => None,
        };
        Ok(Applied { mode, written })
    }

    fn apply_here<'u>(
        &mut self,
        update: &'u PermissionUpdate,
    ) -> Result<(&'u PermissionDestination, Change, Option<PermissionMode>), UpdateError> {
        match update {
            PermissionUpdate::AddRules(it) => {
                let behavior = behavior(&it.behavior)?;
                let rules = self.add_rules(&it.rules, behavior, source(&it.destination)?);
                Ok((&it.destination, Change::AddRules(behavior, rules), None))
            }
            PermissionUpdate::ReplaceRules(it) => {
                let (behavior, source) = (behavior(&it.behavior)?, source(&it.destination)?);
                Arc::make_mut(&mut self.rules).retain(|entry| {
                    entry.written.behavior != behavior || entry.written.source != source
                });
                let rules = self.add_rules(&it.rules, behavior, source);
                Ok((&it.destination, Change::ReplaceRules(behavior, rules), None))
            }
            PermissionUpdate::RemoveRules(it) => {
                let (behavior, source) = (behavior(&it.behavior)?, source(&it.destination)?);
                let rules: Vec<String> = it.rules.iter().map(text_of_wire).collect();
                self.remove_rules(&rules, behavior, source);
                Ok((&it.destination, Change::RemoveRules(behavior, rules), None))
            }
            PermissionUpdate::SetMode(it) => {
                source(&it.destination)?;
                let old = self.mode.clone();
                self.set_mode(it.mode.clone())?;
                let new = (old != it.mode).then(|| it.mode.clone());
                let change = Change::DefaultMode(it.mode.as_str().to_owned());
                Ok((&it.destination, change, new))
            }
            PermissionUpdate::AddDirectories(it) => {
                source(&it.destination)?;
                for directory in &it.directories {
                    self.directories.add(Path::new(directory));
                }
                let change = Change::AddDirectories(it.directories.clone());
                Ok((&it.destination, change, None))
            }
            PermissionUpdate::RemoveDirectories(it) => {
                source(&it.destination)?;
                for directory in &it.directories {
                    self.directories.remove(Path::new(directory));
                }
                let change = Change::RemoveDirectories(it.directories.clone());
                Ok((&it.destination, change, None))
            }
            _ => Err(UpdateError::Unknown {
                what: "type",
                value: format!("{update:?}").chars().take(200).collect(),
            }),
        }
    }

    fn add_rules(
        &mut self,
        rules: &[PermissionRule],
        behavior: Effect,
        source: RuleSource,
    ) -> Vec<String> {
        let texts: Vec<String> = rules.iter().map(text_of_wire).collect();
        for text in &texts {
            self.add(WrittenRule {
                text: text.clone(),
                behavior,
                source,
            });
        }
        texts
    }

    fn remove_rules(&mut self, rules: &[String], behavior: Effect, source: RuleSource) {
        let parsed: Vec<RuleText> = rules
            .iter()
            .filter_map(|text| RuleText::parse(text).ok())
            .collect();
        Arc::make_mut(&mut self.rules).retain(|entry| {
            let is_meant = rules.contains(&entry.written.text)
                || entry
                    .rule
                    .as_ref()
                    .is_some_and(|rule| parsed.contains(rule));
            !is_meant || entry.written.behavior != behavior || entry.written.source != source
        });
    }
}

fn behavior(behavior: &PermissionBehavior) -> Result<Effect, UpdateError> {
    match behavior {
        PermissionBehavior::Allow => Ok(Effect::Allow),
        PermissionBehavior::Ask => Ok(Effect::Ask),
        PermissionBehavior::Deny => Ok(Effect::Deny),
        other => Err(UpdateError::Unknown {
            what: "behavior",
            value: other.as_str().to_owned(),
        }),
    }
}

fn source(destination: &PermissionDestination) -> Result<RuleSource, UpdateError> {
    match destination {
        PermissionDestination::Session => Ok(RuleSource::Session),
        PermissionDestination::CliArg => Ok(RuleSource::CliArg),
        PermissionDestination::UserSettings => Ok(RuleSource::User),
        PermissionDestination::ProjectSettings => Ok(RuleSource::Project),
        PermissionDestination::LocalSettings => Ok(RuleSource::Local),
        other => Err(UpdateError::Unknown {
            what: "destination",
            value: other.as_str().to_owned(),
        }),
    }
}

/// The settings file of a destination; the session has none.
fn scope(destination: &PermissionDestination) -> Result<Option<Scope>, UpdateError> {
    Ok(match source(destination)? {
        RuleSource::User => Some(Scope::User),
        RuleSource::Project => Some(Scope::Project),
        RuleSource::Local => Some(Scope::Local),
        RuleSource::Session | RuleSource::CliArg | RuleSource::Managed | RuleSource::Flag => None,
    })
}
