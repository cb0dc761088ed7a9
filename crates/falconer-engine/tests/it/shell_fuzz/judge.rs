//! Those who say which commands may run.

use std::path::Path;

use falconer_engine::{Launch, explain};
use falconer_rule::Outcome;
use serde_json::json;

/// Says whether a command may run unasked.
#[derive(Debug, Clone)]
pub(super) enum Judge {
    /// The engine, with these arguments.
    Engine(Vec<String>),
    /// Says yes to everything, to test the watchers.
    Everything,
}

impl Judge {
    /// The engine as it is without rules.
    pub(super) fn engine() -> Self {
        Self::Engine(Vec::new())
    }

    /// The engine with these rules that allow.
    pub(super) fn rules(rules: &[&str]) -> Self {
        let one = |rule: &&str| ["--allowedTools".to_owned(), (*rule).to_owned()];
        Self::Engine(rules.iter().flat_map(one).collect())
    }

    /// Returns the reason if the command may run.
    pub(super) fn allows(&self, command: &str, work: &Path, home: &Path) -> Option<String> {
        let Self::Engine(args) = self else {
            return Some("everything is allowed".to_owned());
        };
        let launch = Launch {
            args: args.iter().map(Into::into).collect(),
            env: vec![
                ("HOME".into(), home.into()),
                ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ],
            cwd: work.to_owned(),
            redactor: falconer_secret::Redactor::default(),
        };
        let voice = explain(launch, "Bash", &json!({"command": command})).unwrap();
        (voice.outcome == Outcome::Allow).then_some(voice.because)
    }
}
