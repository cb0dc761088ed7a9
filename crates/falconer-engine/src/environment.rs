//! The variables a session sees. Nothing in this crate reads the environment of the process.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// Names and values, as of one moment.
pub(crate) type Variables = BTreeMap<OsString, OsString>;

/// The variables of one session, shared by everything in it.
///
/// Settings files and the host may add to them while the session runs.
#[derive(Default)]
pub(crate) struct Environment {
    variables: RwLock<Arc<Variables>>,
}

/// Names only: values may be keys.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.snapshot().keys()).finish()
    }
}

impl Environment {
    pub(crate) fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self {
            variables: RwLock::new(Arc::new(variables.into_iter().collect())),
        }
    }

    /// All variables; later changes do not show.
    pub(crate) fn snapshot(&self) -> Arc<Variables> {
        let variables = self.variables.read();
        Arc::clone(&variables.unwrap_or_else(PoisonError::into_inner))
    }

    /// A variable that is set, not empty, and valid Unicode.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let value = self.snapshot().get(OsStr::new(name))?.clone();
        value.into_string().ok().filter(|value| !value.is_empty())
    }

    /// Whether a switch is on: `1`, `true`, `yes` or `on`.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        let value = self.text(name).unwrap_or_default().to_ascii_lowercase();
        matches!(value.as_str(), "1" | "true" | "yes" | "on")
    }

    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.text("HOME").map(PathBuf::from)
    }

    pub(crate) fn extend(&self, more: impl IntoIterator<Item = (OsString, OsString)>) {
        let mut variables = self
            .variables
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut variables).extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_never_shown() {
        let environment = Environment::new([("ANTHROPIC_API_KEY".into(), "sk-ant-secret".into())]);
        let shown = format!("{environment:?}");
        assert!(shown.contains("ANTHROPIC_API_KEY"), "{shown}");
        assert!(!shown.contains("sk-ant-secret"), "{shown}");
    }
}
