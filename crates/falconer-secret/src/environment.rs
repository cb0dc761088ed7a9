//! The variables a session sees. Nothing here reads the environment of the process.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use crate::key::{KEEP_VARIABLE, Kept, without_keys};
use crate::redactor::Redactor;

/// Names and values, as of one moment.
pub type Variables = BTreeMap<OsString, OsString>;

/// The variables of one session, shared by everything in it.
///
/// Settings files and the host may add to them while the session runs.
#[derive(Default)]
pub struct Environment {
    variables: RwLock<Arc<Variables>>,
    /// Learns every secret that the session comes to know.
    redactor: Redactor,
}

/// Names only: values may be keys.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.snapshot().keys()).finish()
    }
}

impl Environment {
    /// Makes the variables of a session that nobody shares a redactor with.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self::with_redactor(variables, Redactor::default())
    }

    /// The same, for a host that has a redactor already: it learns what the session learns.
    pub fn with_redactor(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        redactor: Redactor,
    ) -> Self {
        let variables: Variables = variables.into_iter().collect();
        redactor.learn_variables(borrowed(&variables));
        Self {
            variables: RwLock::new(Arc::new(variables)),
            redactor,
        }
    }

    /// Takes the secrets of the session out of what is written.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// All variables; later changes do not show.
    pub fn snapshot(&self) -> Arc<Variables> {
        let variables = self.variables.read();
        Arc::clone(&variables.unwrap_or_else(PoisonError::into_inner))
    }

    /// A variable that is set, not empty, and valid Unicode.
    pub fn text(&self, name: &str) -> Option<String> {
        let value = self.snapshot().get(OsStr::new(name))?.clone();
        value.into_string().ok().filter(|value| !value.is_empty())
    }

    /// Returns `true` if a switch is on: `1`, `true`, `yes` or `on`.
    pub fn is_on(&self, name: &str) -> bool {
        let value = self.text(name).unwrap_or_default().to_ascii_lowercase();
        matches!(value.as_str(), "1" | "true" | "yes" | "on")
    }

    /// Returns the home directory that the variables name.
    pub fn home(&self) -> Option<PathBuf> {
        self.text("HOME").map(PathBuf::from)
    }

    /// Sets variables. Only the environment a session was started with says which keys child
    /// processes keep.
    pub fn extend(&self, more: impl IntoIterator<Item = (OsString, OsString)>) {
        let more = more.into_iter().filter(|(name, _)| name != KEEP_VARIABLE);
        let more: Variables = more.collect();
        self.redactor.learn_variables(borrowed(&more));
        let mut variables = self
            .variables
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut variables).extend(more);
    }
}

fn borrowed(variables: &Variables) -> impl Iterator<Item = (&OsStr, &OsStr)> + Clone {
    let variables = variables.iter();
    variables.map(|(name, value)| (name.as_os_str(), value.as_os_str()))
}

/// Returns the environment of a child process: commands, hooks, helpers and MCP servers get no key.
pub fn for_children(variables: &Variables) -> Vec<(OsString, OsString)> {
    let variables = borrowed(variables);
    without_keys(variables.clone(), &Kept::of(variables))
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

    #[test]
    fn settings_cannot_keep_a_key_for_children() {
        let environment = Environment::new([("ANTHROPIC_API_KEY".into(), "k".into())]);
        environment.extend([
            (KEEP_VARIABLE.into(), "ANTHROPIC_API_KEY".into()),
            ("ANTHROPIC_AUTH_TOKEN".into(), "from-settings-0123".into()),
            ("A".into(), "1".into()),
        ]);
        let children = for_children(&environment.snapshot());
        assert_eq!(children, [("A".into(), "1".into())]);
        let text = environment.redactor().text("it is from-settings-0123");
        assert_eq!(text.as_deref(), Some("it is [redacted]"));
    }
}
