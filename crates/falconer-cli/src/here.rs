//! This process: closed to others at its start, and the one place that knows its secrets.

use std::sync::LazyLock;

use falconer_choice::{Credentials, Environment};
use falconer_secret::Redactor;

use crate::exit::say;

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| {
    let environment = Environment::of_this_process();
    // Teaches the secrets of the user's settings and logins before anything is written.
    drop(Credentials::look(&environment, None));
    environment
});

/// Closes the process; before any thread is started.
pub(crate) fn close() {
    let sealed = falconer_process::seal(falconer_secret::carries_secret);
    falconer_secret::redact_panics(redactor().clone());
    if let Err(error) = sealed {
        let text = "other processes of this user can read the keys of this one";
        say("warning:", format_args!("{text}: {error}"));
    }
}

/// The environment this process was started with; its redactor is that of the process.
pub(crate) fn environment() -> &'static Environment {
    &ENVIRONMENT
}

/// Takes secrets out of everything this process shows and writes.
pub(crate) fn redactor() -> &'static Redactor {
    ENVIRONMENT.redactor()
}
