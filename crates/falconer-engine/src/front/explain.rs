//! What would become of a call, without a session.

use std::sync::Arc;

use falconer_rule::{Call, Voice};
use falconer_scenario::Scenario;
use falconer_secret::Environment;
use serde_json::Value;

use super::failure::StartupFailure;
use super::flags::Flags;
use super::open::{Launch, Model, prepare};
use crate::session;
use crate::session::config::Input;

/// Why nobody can say what would become of a call: a session would not start either.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a session would not start: {reason}")]
#[non_exhaustive]
pub struct Unexplained {
    /// What the session would say.
    pub reason: String,
}

/// What the engine would do with a call: by the rules of the flags and of the settings files
/// that a session started like this reads, and by its mode. Hooks are not run, nobody is asked,
/// nothing is started or written.
///
/// # Errors
///
/// [`Unexplained`] if no session could be started like this.
pub fn explain(launch: Launch, tool: &str, input: &Value) -> Result<Voice, Unexplained> {
    let environment = Arc::new(Environment::new(launch.env));
    let home = environment.home();
    let unexplained = |failure: StartupFailure| Unexplained {
        reason: failure.stderr,
    };
    let flags = Flags::parse(launch.args).map_err(StartupFailure::from);
    let prepared = flags.and_then(|flags| {
        let lines = Input::Lines {
            await_initialize: false,
        };
        // Nobody is going to answer as the model.
        let model = Model::Scripted(Box::new(Scenario::new()));
        prepare(flags, lines, environment, &launch.cwd, model)
    });
    let prepared = prepared.map_err(unexplained)?;
    let mut call = Call::new(tool, input, &launch.cwd);
    if let Some(home) = &home {
        call = call.home(home);
    }
    session::explain(prepared.config(), &call).map_err(|refused| Unexplained {
        reason: refused.to_string(),
    })
}

#[cfg(test)]
mod tests;
