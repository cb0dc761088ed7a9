//! Changes of permissions, by the host or by a hook.

use std::path::Path;
use std::sync::Arc;

use falconer_protocol::permission::{
    PermissionBehavior, PermissionDestination, PermissionMode, PermissionRule, PermissionUpdate,
};
use falconer_rule::{Effect, RuleText};

use super::wire::text_of_wire;
use super::{ModeRefused, Permissions, RuleSource, WrittenRule};

/// A change that was made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Applied {
    /// The mode, if it is another one now.
    pub(crate) mode: Option<PermissionMode>,
    /// The place the change is meant for: the session, or settings of some scope.
    pub(crate) source: RuleSource,
    pub(crate) change: Change,
}

/// A change as settings keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    AddRules(Effect, Vec<String>),
    ReplaceRules(Effect, Vec<String>),
    RemoveRules(Effect, Vec<String>),
    DefaultMode(String),
    AddDirectories(Vec<String>),
    RemoveDirectories(Vec<String>),
}

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpdateError {
    #[error(transparent)]
    Mode(#[from] ModeRefused),
    #[error("permission update with an unknown {what}: {value}")]
    Unknown { what: &'static str, value: String },
}

impl Permissions {
    /// Makes a change for this session.
    pub(crate) fn apply(&mut self, update: &PermissionUpdate) -> Result<Applied, UpdateError> {
        let (source, change, mode) = self.make(update)?;
        Ok(Applied {
            mode,
            source,
            change,
        })
    }

    fn make(
        &mut self,
        update: &PermissionUpdate,
    ) -> Result<(RuleSource, Change, Option<PermissionMode>), UpdateError> {
        match update {
            PermissionUpdate::AddRules(it) => {
                let (behavior, source) = (behavior(&it.behavior)?, source(&it.destination)?);
                let rules = self.add_rules(&it.rules, behavior, source);
                Ok((source, Change::AddRules(behavior, rules), None))
            }
            PermissionUpdate::ReplaceRules(it) => {
                let (behavior, source) = (behavior(&it.behavior)?, source(&it.destination)?);
                Arc::make_mut(&mut self.rules).retain(|entry| {
                    entry.written.behavior != behavior || entry.written.source != source
                });
                let rules = self.add_rules(&it.rules, behavior, source);
                Ok((source, Change::ReplaceRules(behavior, rules), None))
            }
            PermissionUpdate::RemoveRules(it) => {
                let (behavior, source) = (behavior(&it.behavior)?, source(&it.destination)?);
                let rules: Vec<String> = it.rules.iter().map(text_of_wire).collect();
                self.remove_rules(&rules, behavior, source);
                Ok((source, Change::RemoveRules(behavior, rules), None))
            }
            PermissionUpdate::SetMode(it) => {
                let source = source(&it.destination)?;
                let old = self.mode.clone();
                self.set_mode(it.mode.clone())?;
                let new = (old != it.mode).then(|| it.mode.clone());
                let change = Change::DefaultMode(it.mode.as_str().to_owned());
                Ok((source, change, new))
            }
            PermissionUpdate::AddDirectories(it) => {
                let source = source(&it.destination)?;
                for directory in &it.directories {
                    self.directories.add(Path::new(directory));
                }
                let change = Change::AddDirectories(it.directories.clone());
                Ok((source, change, None))
            }
            PermissionUpdate::RemoveDirectories(it) => {
                let source = source(&it.destination)?;
                for directory in &it.directories {
                    self.directories.remove(Path::new(directory));
                }
                let change = Change::RemoveDirectories(it.directories.clone());
                Ok((source, change, None))
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
