//! Problems of options, each with the change that solves it.

use std::fmt;

use super::version::OLDEST_CLI_VERSION;
use super::{CliFeature, CliVersion};

/// Something wrong with the options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionProblem {
    /// Parameters that no agent can honour.
    #[error(
        "no agent can honour {}; remove {}: they steer a single completion, and a run makes many",
        .names.join(", "), if .names.len() == 1 { "it" } else { "them" }
    )]
    RefusedParameters {
        /// Their names.
        names: Vec<String>,
    },
    /// Parameters nobody knows.
    #[error("unknown parameters {}; remove them or use the methods of `Options`", .names.join(", "))]
    UnknownParameters {
        /// Their names.
        names: Vec<String>,
    },
    /// Parameters with a value of a wrong type.
    #[error("parameters {} have values of the wrong type", .names.join(", "))]
    MistypedParameters {
        /// Their names.
        names: Vec<String>,
    },
    /// Two options exclude each other.
    #[error("{first} and {second} exclude each other; {advice}")]
    Exclusive {
        /// One.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// Advice for the caller.
        advice: &'static str,
    },
    /// An option does nothing without another.
    #[error("{option} needs {needs}; set it or remove {option}")]
    Needs {
        /// The option.
        option: &'static str,
        /// Requirement that is not met.
        needs: &'static str,
    },
    /// A fallback that is the model itself, or named twice.
    #[error("fallback model {model} is already used; name another one")]
    SameModel {
        /// The model.
        model: String,
    },
    /// A value that cannot be right.
    #[error("{option} cannot be {value:?}: {reason}")]
    InvalidValue {
        /// The option.
        option: &'static str,
        /// The value.
        value: String,
        /// Reason.
        reason: &'static str,
    },
    /// A flag without its value.
    #[error("{flag} has an empty value; give one or leave the option out")]
    EmptyValue {
        /// The flag.
        flag: String,
    },
    /// A byte that no argument or variable can hold.
    #[error("{what} contains a NUL byte, which no process can be given; remove it")]
    NulByte {
        /// Place of the problem.
        what: String,
    },
    /// An argument longer than the system accepts.
    #[error(
        "{flag} is {bytes} bytes long and the system accepts {limit} in one argument; make it \
         shorter or put it in a file"
    )]
    TooLong {
        /// The flag.
        flag: String,
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// An extra argument that has an option.
    #[error("extra argument --{name} would work around an option; use {instead}")]
    ReservedArgument {
        /// Its name.
        name: String,
        /// Replacement.
        instead: &'static str,
    },
    /// Two servers that permission rules could not tell apart.
    #[error("two MCP servers are called {name:?} in tool names; rename one")]
    DuplicateServer {
        /// The name, sanitised.
        name: String,
    },
    /// A server that does not belong here.
    #[error(
        "MCP server {name:?} is not outside this process; register it as a tool server instead"
    )]
    NotExternal {
        /// Its name.
        name: String,
    },
    /// Running without questions, asked for once only.
    #[error(
        "permission mode bypassPermissions runs everything without asking; confirm with \
         `allow_dangerously_skip_permissions` or choose another mode"
    )]
    BypassNotConfirmed,
    /// Running without questions as root.
    #[error(
        "claude refuses to run without permission questions as root; run as a non-root user, use \
         the default permission mode and answer what it asks, or use mode acceptEdits, which asks \
         only for commands, or dontAsk with `allow_tools` rules; in a container or sandbox that \
         really is one set IS_SANDBOX=1"
    )]
    BypassAsRoot,
    /// The sandbox could be missing without anybody noticing.
    #[error(
        "sandbox setting failIfUnavailable: false lets commands run unprotected; remove it, or \
         confirm with `allow_unsandboxed_fallback`"
    )]
    FallbackNotConfirmed,
    /// Settings that cannot be merged.
    #[error("cannot use {what}: {reason}")]
    UnusableSettings {
        /// Value at fault.
        what: String,
        /// Reason.
        reason: String,
    },
    /// A settings file sets the variable of the credential chosen, and would win.
    #[error(
        "settings file {} sets {name}, and claude prefers that to the credential chosen here; \
         remove it there or leave the file out with `setting_sources`", .file.display()
    )]
    SettingsOverrideAuth {
        /// The file.
        file: std::path::PathBuf,
        /// The variable.
        name: String,
    },
    /// Credentials that are incomplete.
    #[error("authentication by {auth} is incomplete: {missing}")]
    IncompleteAuth {
        /// The way chosen.
        auth: &'static str,
        /// Missing credential and the places where it can be given.
        missing: &'static str,
    },
    /// A version that does not speak the protocol.
    #[error("claude {found} is too old; {OLDEST_CLI_VERSION} is needed, run `claude update`")]
    CliTooOld {
        /// The version found.
        found: CliVersion,
    },
    /// A version that cannot do what an option asks.
    #[error(
        "claude {found} does not support {feature}; {} does, run `claude update` or remove the \
         option", .feature.known_since()
    )]
    NeedsNewerCli {
        /// Feature that the options need.
        feature: CliFeature,
        /// The version found.
        found: CliVersion,
    },
}

/// Everything wrong with the options, at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionProblems(Vec<OptionProblem>);

impl From<Vec<OptionProblem>> for OptionProblems {
    fn from(problems: Vec<OptionProblem>) -> Self {
        Self(problems)
    }
}

impl std::ops::Deref for OptionProblems {
    type Target = [OptionProblem];

    fn deref(&self) -> &[OptionProblem] {
        &self.0
    }
}

impl fmt::Display for OptionProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}
