//! Why no engine could be chosen.

use std::path::PathBuf;

use crate::account::Account;
use crate::credential::Credentials;

/// Why no engine could be chosen. Nothing was started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChooseError {
    /// `auto` found neither.
    #[error("no engine can run here: {}; {looked}", cli_text(.cli))]
    NothingUsable {
        /// Where the official CLI is, or where it was looked for.
        cli: Result<PathBuf, Box<falconer::Error>>,
        /// The credentials that were looked for.
        looked: Box<Credentials>,
    },
    /// The native engine was asked for, and there is nothing it can authenticate with.
    #[error("the native engine has no credentials: {0}")]
    NoCredentials(Box<Credentials>),
    /// An account was chosen, and the engine cannot use it here.
    #[error("the account `{account}` cannot be used by {engine}: {looked}")]
    NoAccount {
        /// The account that was chosen.
        account: Account,
        /// The engine that was to use it.
        engine: &'static str,
        /// The credentials that were looked for.
        looked: Box<Credentials>,
    },
    /// A script was asked for, and none was given.
    #[error("the engine `script` plays a scenario, and none was given")]
    NoScenario,
    /// The scenario cannot be played.
    #[error(transparent)]
    Scenario(#[from] falconer_scenario::Error),
    /// The official CLI was asked for, or named, and cannot be used.
    #[error(transparent)]
    Cli(#[from] falconer::Error),
}

impl ChooseError {
    /// What to do about it.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::NothingUsable { .. } => {
                "set ANTHROPIC_API_KEY, or install Claude Code and log in with `claude` and \
                 `/login`; `falconer demo` needs neither"
            }
            Self::NoCredentials(_) => {
                "set ANTHROPIC_API_KEY, or use `--engine claude` for the login of Claude Code; \
                 `falconer demo` needs neither"
            }
            Self::NoAccount {
                account: Account::Subscription | Account::Vertex,
                ..
            } => "use `--engine claude`, or choose another account",
            Self::NoAccount { .. } => "name a file that holds a key, or choose another account",
            Self::NoScenario | Self::Scenario(_) => {
                "name a scenario file with `--scenario FILE`, or try `falconer demo`"
            }
            Self::Cli(error) => error.advice(),
        }
    }
}

/// There is no such engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown engine `{0}`; there are `auto`, `claude`, `native` and `script`")]
pub struct UnknownEngine(pub(crate) String);

fn cli_text(cli: &Result<PathBuf, Box<falconer::Error>>) -> String {
    match cli {
        Ok(path) => format!(
            "claude is installed at {}, but nothing to authenticate with was found",
            path.display()
        ),
        Err(error) => match &**error {
            falconer::Error::CliNotFound { searched } => {
                let places: Vec<_> = searched.iter().map(|p| p.display().to_string()).collect();
                format!("claude was not found (looked for {})", places.join(", "))
            }
            other => other.to_string(),
        },
    }
}
