//! Crash texts without secrets.

use std::io::Write as _;

use crate::redactor::Redactor;

/// Has a panic of any thread written to stderr without secrets.
pub fn redact_panics(redactor: Redactor) {
    std::panic::set_hook(Box::new(move |panic| {
        let text = redactor.clean(panic.to_string());
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("unnamed");
        // Nobody is left to be told that stderr is gone.
        let _ = writeln!(std::io::stderr(), "thread '{name}' {text}");
    }));
}
