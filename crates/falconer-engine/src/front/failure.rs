//! A session that is refused before it begins: what stderr says, and what the host gets.

use bytes::Bytes;
use falconer_protocol::SessionId;
use falconer_protocol::message::{InvalidConfigFile, StartupFailureReason};
use serde_json::{Value, json};
use uuid::Uuid;

use super::flags::FlagProblem;

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
        falconer_protocol::to_line(&report.frame()).ok()
    }
}

impl Report {
    fn frame(&self) -> Value {
        let session = match &self.session {
            Some(session) => session.as_str().to_owned(),
            None => Uuid::new_v4().to_string(),
        };
        let mut frame = json!({
            "type": "result",
            "subtype": "error_during_execution",
            "duration_ms": 0,
            "duration_api_ms": 0,
            "is_error": true,
            "num_turns": 0,
            "stop_reason": null,
            "session_id": session,
            "total_cost_usd": 0,
            "usage": no_usage(),
            "modelUsage": {},
            "permission_denials": [],
            "uuid": Uuid::new_v4().to_string(),
            "errors": [self.text],
        });
        if let Some(reason) = &self.reason {
            frame["startup_failure_reason"] = reason.as_str().into();
        }
        if let Some(file) = &self.invalid_config {
            frame["invalid_config_file"] = serde_json::to_value(file).unwrap_or_default();
        }
        frame["result_index"] = 0.into();
        frame
    }
}

fn no_usage() -> Value {
    json!({
        "output_tokens_details": { "thinking_tokens": 0 },
        "input_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 0,
        "server_tool_use": { "web_search_requests": 0, "web_fetch_requests": 0 },
        "service_tier": "standard",
        "cache_creation": { "ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0 },
        "inference_geo": "",
        "iterations": [],
        "speed": "standard",
        "fallback_credit": null,
    })
}

impl From<FlagProblem> for StartupFailure {
    fn from(problem: FlagProblem) -> Self {
        Self {
            stderr: format!("error: {problem}"),
            report: None,
        }
    }
}
