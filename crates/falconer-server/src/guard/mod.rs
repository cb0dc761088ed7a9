//! What every request has to pass before its route is looked at: where it says it goes to
//! (`host`), where it comes from (`origin`), what it carries (`content`), and what every answer
//! says to a browser (`headers`).

pub(crate) mod content;
pub(crate) mod headers;
pub(crate) mod host;
pub(crate) mod origin;
