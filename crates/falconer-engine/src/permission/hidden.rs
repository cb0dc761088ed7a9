//! Files that rules keep from being read, for tools that come across files nobody named.

use std::path::Path;
use std::sync::Arc;

use falconer_rule::{Effect, Found, Matcher, PathPattern, Place};

use super::Permissions;

/// What searches must not show. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hidden {
    denied: Arc<[PathPattern]>,
    /// Shown only to those who asked for these files by name, and were permitted.
    asked: Arc<[PathPattern]>,
    root: Option<Arc<Place>>,
}

impl Hidden {
    /// What a search below `root`, which was permitted, must not show.
    pub(crate) fn below(self, root: &Path) -> Self {
        if self.is_empty() {
            return self;
        }
        let root = Place::of(root);
        let asked = self.asked.iter();
        let asked = asked.filter(|pattern| !pattern.touches(&root)).cloned();
        Self {
            denied: self.denied,
            asked: asked.collect(),
            root: Some(Arc::new(root)),
        }
    }

    fn is_empty(&self) -> bool {
        self.denied.is_empty() && self.asked.is_empty()
    }

    /// Whether something must not be shown that was found without following links.
    pub(crate) fn hides(&self, path: &Path, kind: Found) -> bool {
        if self.is_empty() {
            return false;
        }
        // Links are looked up once, for the root: there are none below it.
        let found = self.root.as_ref().and_then(|root| {
            let below = path.strip_prefix(&root.spelled).ok()?;
            Some(root.found(below, kind))
        });
        let place = found.unwrap_or_else(|| Place::of(path));
        let mut patterns = self.denied.iter().chain(self.asked.iter());
        patterns.any(|pattern| pattern.touches(&place))
    }
}

impl Permissions {
    /// What the rules on reading cover now.
    pub(crate) fn hidden(&self) -> Hidden {
        Hidden {
            denied: self.reading(Effect::Deny),
            asked: self.reading(Effect::Ask),
            root: None,
        }
    }

    fn reading(&self, effect: Effect) -> Arc<[PathPattern]> {
        let patterns = self.rules_that(effect);
        let patterns = patterns.filter_map(|(_, matcher)| match matcher {
            Matcher::Read(pattern) => Some(pattern.clone()),
            _ => None,
        });
        patterns.collect()
    }
}
