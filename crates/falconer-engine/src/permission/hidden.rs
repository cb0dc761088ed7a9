//! Files that rules keep from being read, for tools that come across files nobody named.

use std::path::Path;
use std::sync::Arc;

use falconer_rule::{Effect, Matcher, PathPattern, Place};

use super::Permissions;

/// What searches must not show. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hidden {
    patterns: Arc<[PathPattern]>,
}

impl Hidden {
    pub(crate) fn hides(&self, path: &Path) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        let place = Place::of(path);
        self.patterns.iter().any(|pattern| pattern.touches(&place))
    }
}

impl Permissions {
    /// What the rules that deny reading cover now.
    pub(crate) fn hidden(&self) -> Hidden {
        let patterns = self.rules_that(Effect::Deny);
        let patterns = patterns.filter_map(|(_, matcher)| match matcher {
            Matcher::Read(pattern) => Some(pattern.clone()),
            _ => None,
        });
        Hidden {
            patterns: patterns.collect(),
        }
    }
}
