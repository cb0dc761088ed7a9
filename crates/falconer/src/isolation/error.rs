//! The reasons an isolated run was not started.

use std::io;
use std::path::PathBuf;

use super::{Escape, ProbeReport, SkillProblem};
use crate::account::NoAccount;

/// An isolated run could not be set up; nothing was started, and nothing is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IsolationError {
    /// The home could not be made, written or locked.
    #[error("failed to {doing} the home of the run, {}: {source}", path.display())]
    Home {
        /// Attempted operation.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Reason for the failure.
        source: io::Error,
    },
    /// The engine runs in this process and shares its home, environment and files.
    #[error(
        "an engine in this process cannot be isolated; run the official CLI, or leave isolation out"
    )]
    InProcess,
    /// A program that the sandbox needs is not installed.
    #[error(
        "the sandbox needs {program}, which is not in PATH; install it (Debian: `apt install \
         bubblewrap socat`), or choose `Sandbox::OffByChoice` to run without protection"
    )]
    MissingProgram {
        /// The program.
        program: &'static str,
    },
    /// There is no sandbox for this system.
    #[error(
        "there is no sandbox for {system}; choose `Sandbox::OffByChoice` to run without protection"
    )]
    Unsupported {
        /// The system.
        system: &'static str,
    },
    /// The sandbox let something through that it must refuse.
    #[error(
        "the sandbox does not protect: {}; repair or reinstall bubblewrap, or choose \
         `Sandbox::OffByChoice` to run without protection", .report
    )]
    NotProtected {
        /// Findings of the probe.
        report: ProbeReport,
    },
    /// The probe of the sandbox did not come to an end.
    #[error("failed to probe the sandbox, so nothing was started: {reason}")]
    ProbeFailed {
        /// Reason.
        reason: String,
    },
    /// A skill cannot be mounted.
    #[error("cannot mount skill {}: {problem}", path.display())]
    Skill {
        /// Directory of the skill.
        path: PathBuf,
        /// Reason it cannot be mounted.
        problem: SkillProblem,
    },
    /// The host has no credentials to inherit.
    #[error("the host has neither Bedrock (CLAUDE_CODE_USE_BEDROCK=1 and AWS_REGION) nor {0}")]
    NoHostAuth(#[source] NoAccount),
    /// The AWS directory cannot be copied.
    #[error("failed to copy the AWS configuration {}: {reason}", path.display())]
    AwsDirectory {
        /// The directory.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// A directory lies outside the root of the run.
    #[error(transparent)]
    Escape(#[from] Escape),
}

impl IsolationError {
    /// Returns advice for a person.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::InProcess => "use the engine `claude`, or leave the isolation out",
            Self::Home { .. } => {
                "make room, or name a writable place with `TMPDIR` or `IsolationConfig::homes_in`"
            }
            Self::MissingProgram { .. } => {
                "install it (Debian: `apt install bubblewrap socat`), or leave the sandbox out"
            }
            Self::Unsupported { .. } => "use a Linux machine, or leave the sandbox out",
            Self::NotProtected { .. } => "reinstall bubblewrap, or leave the sandbox out",
            Self::ProbeFailed { .. } => {
                "try `bwrap --ro-bind / / true` and `claude --version`; what fails there has to be \
                 repaired before a sandbox can be proven"
            }
            Self::Skill { .. } => "correct the skill, or leave it out",
            Self::NoHostAuth(_) => "set ANTHROPIC_API_KEY, or give a key with `with_api_key`",
            Self::AwsDirectory { .. } => "name another directory with `aws_directory`",
            Self::Escape(_) => "choose a directory inside the root",
        }
    }

    pub(super) fn home(
        doing: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Home {
            doing,
            path,
            source,
        }
    }
}
