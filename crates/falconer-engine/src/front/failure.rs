//! A session that is refused before it begins: what stderr says, and what the host gets.

use bytes::Bytes;
use falconer_protocol::message::{
    InvalidConfigFile, ResultMessage, ResultSubtype, StartupFailureReason,
};
use falconer_protocol::{Number, SessionId};
use uuid::Uuid;

use super::flags::FlagProblem;
use crate::frame::{new_uuid, result};
use crate::session::ledger::Tokens;

/// Why a session does not start. The exit code is always 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StartupFailure {
    /// For people; may have several lines.
    pub(crate) stderr: String,
    /// For the host, if it is told on stdout.
    report: Option<Box<Report>>,
}

/// A result that says why there is no session.
#[derive(Debug, Clone, PartialEq)]
struct Report {
    text: String,
    when: When,
    reason: Option<StartupFailureReason>,
    session: Option<SessionId>,
    invalid_config: Option<InvalidConfigFile>,
}

/// Which hosts are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// Only those that set `CLAUDE_CODE_STARTUP_FAILURE_RESULTS`.
    Wanted,
}

/// Whether the host reads results of failed starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureResults {
    Wanted,
    Unasked,
}

impl StartupFailure {
    /// A failure that only people are told about, as `Error: …`.
    pub(crate) fn error(text: impl std::fmt::Display) -> Self {
        Self {
            stderr: format!("Error: {text}"),
            report: None,
        }
    }

    /// A failure every host is told about, in the same words.
    pub(crate) fn told(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            stderr: text.clone(),
            report: Some(Box::new(Report {
                text,
                when: When::Always,
                reason: None,
                session: None,
                invalid_config: None,
            })),
        }
    }

    /// A conversation that cannot be gone on with.
    pub(crate) fn resume(text: impl Into<String>, session: Option<SessionId>) -> Self {
        let mut failure = Self::told(text);
        if let Some(report) = &mut failure.report {
            report.session = session;
        }
        failure
    }

    pub(crate) fn bypass_as_root() -> Self {
        let mut failure = Self::told(
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for \
             security reasons",
        );
        if let Some(report) = &mut failure.report {
            report.when = When::Wanted;
            report.reason = Some(StartupFailureReason::BypassRoot);
        }
        failure
    }

    pub(crate) fn sandbox_unavailable() -> Self {
        let mut failure = Self::told(
            "sandbox required but unavailable: settings enable a sandbox, and this version of \
             falconer-claude has none; remove sandbox.enabled from the settings to run commands \
             without one",
        );
        if let Some(report) = &mut failure.report {
            report.reason = Some(StartupFailureReason::SandboxRequiredUnavailable);
        }
        failure.stderr.insert_str(0, "Error: ");
        failure
    }

    pub(crate) fn config_invalid(path: &std::path::Path, problem: impl std::fmt::Display) -> Self {
        let path = path.display();
        let mut failure = Self::told(format!(
            "Configuration error in {path}: {problem}\nFix the JSON in {path}, or move the file \
             aside to start with default settings."
        ));
        if let Some(report) = &mut failure.report {
            report.reason = Some(StartupFailureReason::ConfigFileInvalid);
            report.invalid_config = Some(InvalidConfigFile {
                path: path.to_string(),
                is_global: Some(true),
                backup_searched: Some(false),
                ..InvalidConfigFile::default()
            });
        }
        failure
    }

    pub(crate) fn directory_unavailable(
        path: &std::path::Path,
        problem: impl std::fmt::Display,
    ) -> Self {
        let mut failure = Self::told(format!(
            "cannot use working directory {}: {problem}",
            path.display()
        ));
        if let Some(report) = &mut failure.report {
            report.reason = Some(StartupFailureReason::CwdUnavailable);
        }
        failure
    }

    /// The result for the host, as a line, if it is to get one.
    pub(crate) fn result(&self, results: FailureResults) -> Option<Bytes> {
        let report = self.report.as_ref()?;
        if report.when == When::Wanted && results == FailureResults::Unasked {
            return None;
        }
        falconer_protocol::to_line(&report.result()).ok()
    }
}

impl Report {
    fn result(&self) -> ResultMessage {
        let fresh = || SessionId::new(Uuid::new_v4().to_string());
        result::spelled_out(ResultMessage {
            subtype: ResultSubtype::ErrorDuringExecution,
            duration_ms: Some(Number::default()),
            duration_api_ms: Some(Number::default()),
            is_error: true,
            num_turns: Some(0),
            session_id: Some(self.session.clone().unwrap_or_else(fresh)),
            total_cost_usd: Some(Number::default()),
            usage: Some(Tokens::default().usage()),
            uuid: Some(new_uuid()),
            errors: vec![self.text.clone()],
            startup_failure_reason: self.reason.clone(),
            invalid_config_file: self.invalid_config.clone(),
            result_index: Some(0),
            ..ResultMessage::default()
        })
    }
}

impl From<FlagProblem> for StartupFailure {
    fn from(problem: FlagProblem) -> Self {
        Self {
            stderr: format!("error: {problem}"),
            report: None,
        }
    }
}
