//! Failures of turns, as a class a program can match and advice a person can follow.
//!
//! A turn has failed when its result says `is_error`; the subtype `success` means nothing
//! then (every API failure arrives under it).

use std::fmt;

use falconer_protocol::message::{
    AssistantError, AssistantMessage, ResultMessage, ResultSubtype, StopReason, TerminalReason,
};

/// A failed turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Failure {
    /// Class of the failure.
    pub class: FailureClass,
    /// The engine's words.
    pub message: String,
    /// The HTTP status of the API, if there was an answer.
    pub status: Option<u16>,
    /// The result itself: cost, usage, denials, session, partial output.
    pub result: Box<ResultMessage>,
}

/// The kinds of failure a caller would treat differently.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureClass {
    /// No credentials, wrong ones, or ones without the right.
    Authentication,
    /// The account has to be paid for.
    Billing,
    /// Too many requests or a used-up quota.
    RateLimit,
    /// The service is overloaded.
    Overloaded,
    /// The service failed or could not be reached.
    Server,
    /// The model does not exist or may not be used.
    ModelNotFound,
    /// The conversation does not fit the model's context.
    PromptTooLong,
    /// The model ran into its output limit again and again.
    OutputLimit,
    /// The model declined to answer.
    Refusal,
    /// The API did not accept the request.
    InvalidRequest,
    /// The limit of turns was reached.
    MaxTurns,
    /// The limit of money was reached.
    Budget,
    /// No valid structured output was given.
    StructuredOutput,
    /// The turn was interrupted.
    Aborted,
    /// The conversation to resume does not exist.
    SessionNotFound,
    /// The engine refused to start, for this reason.
    Startup(String),
    /// Anything else.
    Other,
}

impl FailureClass {
    /// Returns `true` if the same request may well succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::RateLimit | Self::Overloaded | Self::Server)
    }

    /// Returns advice for a person.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Authentication => {
                "set ANTHROPIC_API_KEY to a valid key, or run `claude` and type `/login`"
            }
            Self::Billing => "check the plan and the credit balance of the account",
            Self::RateLimit => "wait for the limit to reset, or ask for a higher one",
            Self::Overloaded => "try again in a moment, or set a fallback model",
            Self::Server => "try again in a moment; if it persists check the network and base URL",
            Self::ModelNotFound => "choose a model the account may use, such as `sonnet`",
            Self::PromptTooLong => "send `/compact`, start a new session, or send less",
            Self::OutputLimit => "ask for a shorter answer, or for one part at a time",
            Self::Refusal => "rephrase the request, or use another model",
            Self::InvalidRequest => "change what the message names: the API did not accept it",
            Self::MaxTurns => "raise the limit of turns, or resume the session to go on",
            Self::Budget => "raise the budget, or resume the session to go on",
            Self::StructuredOutput => "make the schema simpler, or say in the prompt what it means",
            Self::Aborted => "send another message to go on",
            Self::SessionNotFound => "list the sessions of this directory, or start a new one",
            Self::Startup(_) => "follow the message; nothing has run",
            Self::Other => {
                "resume the session to go on; the message and the end of stderr may say why"
            }
        }
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Authentication => "authentication failed",
            Self::Billing => "billing problem",
            Self::RateLimit => "rate limit reached",
            Self::Overloaded => "service overloaded",
            Self::Server => "service failed",
            Self::ModelNotFound => "model not found",
            Self::PromptTooLong => "prompt too long",
            Self::OutputLimit => "output limit reached",
            Self::Refusal => "model refused",
            Self::InvalidRequest => "invalid request",
            Self::MaxTurns => "turn limit reached",
            Self::Budget => "budget exhausted",
            Self::StructuredOutput => "no valid structured output",
            Self::Aborted => "interrupted",
            Self::SessionNotFound => "session not found",
            Self::Startup(reason) => return write!(f, "engine refused to start ({reason})"),
            Self::Other => "turn failed",
        };
        f.write_str(text)
    }
}

impl Failure {
    /// The failure a result reports; `None` if it is a good one.
    pub fn of(result: &ResultMessage) -> Option<Self> {
        result.is_error.then(|| Self {
            class: FailureClass::of(result),
            message: message_of(result),
            status: result
                .api_error_status
                .and_then(|status| status.try_into().ok()),
            result: Box::new(result.clone()),
        })
    }

    /// The failure in a line that holds a result.
    pub(crate) fn of_line(line: &[u8]) -> Option<Self> {
        Self::of(&serde_json::from_slice(line).ok()?)
    }

    /// Returns `true` if the same request may well succeed later.
    pub fn is_retryable(&self) -> bool {
        self.class.is_retryable()
    }

    /// Returns advice for a person.
    pub fn advice(&self) -> &'static str {
        self.class.advice()
    }
}

impl FailureClass {
    /// The class of the error an assistant message carries, if it carries one.
    ///
    /// It comes before the result and is a little more exact.
    pub fn of_message(message: &AssistantMessage) -> Option<Self> {
        message.error.as_ref().map(Self::of_error)
    }

    fn of_error(error: &AssistantError) -> Self {
        match error {
            AssistantError::AuthenticationFailed
            | AssistantError::OauthOrgNotAllowed
            | AssistantError::AccountOnHold
            | AssistantError::VerificationRequired
            | AssistantError::CloudCredentialError => Self::Authentication,
            AssistantError::BillingError => Self::Billing,
            AssistantError::RateLimit => Self::RateLimit,
            AssistantError::Overloaded => Self::Overloaded,
            AssistantError::ServerError => Self::Server,
            AssistantError::ModelNotFound => Self::ModelNotFound,
            AssistantError::MaxOutputTokens => Self::OutputLimit,
            AssistantError::InvalidRequest => Self::InvalidRequest,
            _ => Self::Other,
        }
    }

    fn of(result: &ResultMessage) -> Self {
        if let Some(reason) = &result.startup_failure_reason {
            return Self::Startup(reason.as_str().to_owned());
        }
        match &result.subtype {
            ResultSubtype::ErrorMaxTurns => Self::MaxTurns,
            ResultSubtype::ErrorMaxBudgetUsd => Self::Budget,
            ResultSubtype::ErrorMaxStructuredOutputRetries => Self::StructuredOutput,
            _ => Self::of_reason(result),
        }
    }

    fn of_reason(result: &ResultMessage) -> Self {
        match &result.terminal_reason {
            Some(TerminalReason::AbortedStreaming | TerminalReason::AbortedTools) => Self::Aborted,
            Some(TerminalReason::PromptTooLong | TerminalReason::BlockingLimit) => {
                Self::PromptTooLong
            }
            Some(TerminalReason::MaxTurns) => Self::MaxTurns,
            Some(TerminalReason::BudgetExhausted) => Self::Budget,
            Some(TerminalReason::StructuredOutputRetryExhausted) => Self::StructuredOutput,
            Some(_) if result.stop_reason == Some(StopReason::Refusal) => Self::Refusal,
            Some(_) => Self::of_status(result),
            None => Self::of_text(result),
        }
    }

    fn of_status(result: &ResultMessage) -> Self {
        match result.api_error_status {
            Some(401 | 403) => Self::Authentication,
            Some(402) => Self::Billing,
            Some(400) if mentions(result, "credit balance") => Self::Billing,
            Some(404) => Self::ModelNotFound,
            Some(413) => Self::PromptTooLong,
            Some(429) => Self::RateLimit,
            Some(529) => Self::Overloaded,
            Some(400..=499) => Self::InvalidRequest,
            Some(500..) => Self::Server,
            _ => Self::of_text(result),
        }
    }

    /// Classifies by the text, for engines that give no code.
    fn of_text(result: &ResultMessage) -> Self {
        let table = [
            ("no conversation found", Self::SessionNotFound),
            ("not logged in", Self::Authentication),
            ("/login", Self::Authentication),
            ("overloaded", Self::Overloaded),
            ("connection", Self::Server),
            ("output token maximum", Self::OutputLimit),
            ("output tokens", Self::OutputLimit),
        ];
        let found = table.into_iter().find(|(words, _)| mentions(result, words));
        found.map_or(Self::Other, |(_, class)| class)
    }
}

/// The engine's words: the result, else its errors, else the subtype, else the denials.
fn message_of(result: &ResultMessage) -> String {
    if let Some(text) = result.result.as_ref().filter(|text| !text.is_empty()) {
        return text.clone();
    }
    if !result.errors.is_empty() {
        return result.errors.join("; ");
    }
    let denied: Vec<_> = result
        .permission_denials
        .iter()
        .map(|d| d.tool_name.as_str())
        .collect();
    match denied.as_slice() {
        [] => result.subtype.as_str().to_owned(),
        denied => format!(
            "{} (denied: {})",
            result.subtype.as_str(),
            denied.join(", ")
        ),
    }
}

fn mentions(result: &ResultMessage, words: &str) -> bool {
    let says = |text: &String| text.to_ascii_lowercase().contains(words);
    result.result.iter().chain(&result.errors).any(says)
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.message)
    }
}
