//! Changes of permissions that last: made in the session, and kept in a settings file.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use falconer_protocol::permission::{PermissionMode, PermissionUpdate};

use super::{Change, Files, Scope, WriteError};
use crate::permission::{self, Permissions, RuleSource};

/// A change that was made and kept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kept {
    /// The mode, if it is another one now.
    pub(crate) mode: Option<PermissionMode>,
    /// The file in which the change was kept; the session has none.
    pub(crate) written: Option<PathBuf>,
}

/// Why a change was not made, or not kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpdateError {
    #[error(transparent)]
    Refused(#[from] permission::UpdateError),
    /// It is in force for this session all the same.
    #[error("the change of permissions holds for this session only: {0}")]
    NotKept(#[from] WriteError),
}

impl Files {
    /// Makes a change of permissions, and keeps it in the file that it names.
    ///
    /// A change that cannot be written to its file is in force for the session nevertheless.
    pub(crate) fn apply(
        &self,
        permissions: &mut Permissions,
        update: &PermissionUpdate,
    ) -> Result<Kept, UpdateError> {
        let applied = permissions.apply(update)?;
        let written = match scope(applied.source) {
            Some(scope) => Some(self.write(scope, &Change::Permissions(applied.change))?),
            None => None,
        };
        Ok(Kept {
            mode: applied.mode,
            written,
        })
    }
}

/// The settings file for rules of a source; the session has none.
fn scope(source: RuleSource) -> Option<Scope> {
    match source {
        RuleSource::User => Some(Scope::User),
        RuleSource::Project => Some(Scope::Project),
        RuleSource::Local => Some(Scope::Local),
        RuleSource::Session | RuleSource::CliArg | RuleSource::Managed | RuleSource::Flag => None,
    }
}
