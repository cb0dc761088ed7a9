//! The version the engine reports.

/// The version of the CLI whose protocol is spoken; hosts compare it to decide what they may use.
pub(crate) const PROTOCOL: &str = "2.1.325";

/// What `claude_code_version` says unless the front chose something else.
pub(crate) const REPORTED: &str = PROTOCOL;
