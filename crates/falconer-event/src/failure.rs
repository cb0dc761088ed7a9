//! Classes of failures that an engine reports, told by its codes and never by its words.

use falconer_protocol::message::{
    AssistantError, ResultMessage, ResultSubtype, StopReason, TerminalReason,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A class of failures that a program handles in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// No credentials, wrong ones, or ones without the right.
    Authentication,
    /// The account has to be paid for.
    Billing,
    /// Too many requests, or a used-up quota.
    RateLimit,
    /// The service is overloaded.
    Overloaded,
    /// The service failed or could not be reached.
    Service,
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
    /// The engine's limit of turns was reached.
    MaxTurns,
    /// The engine's limit of money was reached.
    Budget,
    /// No valid structured output was given.
    StructuredOutput,
    /// Somebody stopped the turn.
    Interrupted,
    /// The engine refused to start.
    Startup,
    /// A kind of tomorrow.
    #[serde(other)]
    Unknown,
}

impl FailureKind {
    /// Returns what a person can do about it; `None` if the message says it better.
    pub fn advice(self) -> Option<&'static str> {
        let advice = match self {
            Self::Authentication => {
                "set ANTHROPIC_API_KEY to a valid key, or run `claude` and type `/login`"
            }
            Self::Billing => "check the plan and the credit balance of the account",
            Self::RateLimit => "wait for the limit to reset, or ask for a higher one",
            Self::Overloaded => "try again in a moment, or set a fallback model",
            Self::Service => "check the network and ANTHROPIC_BASE_URL, then try again",
            Self::ModelNotFound => "choose a model the account may use, such as `sonnet`",
            Self::PromptTooLong => "start a new session, or send less",
            Self::OutputLimit => "ask for a shorter answer, or for one part at a time",
            Self::Refusal => "rephrase the request, or use another model",
            Self::MaxTurns => "raise the turn limit, or resume the session to continue",
            Self::Budget => "raise the budget, or resume the session to continue",
            Self::StructuredOutput => "simplify the schema, or explain it in the prompt",
            Self::Startup => "check the setup with `falconer doctor`; nothing has run",
            Self::InvalidRequest | Self::Interrupted | Self::Unknown => return None,
        };
        Some(advice)
    }

    /// The kind of a failed result, as far as the engine says it by a code. `said` is the error
    /// the last message of the agent carried, which is more exact than the result.
    pub(crate) fn of(result: &ResultMessage, said: Option<&AssistantError>) -> Option<Self> {
        if result.startup_failure_reason.is_some() {
            return Some(Self::Startup);
        }
        Self::of_subtype(&result.subtype)
            .or_else(|| Self::of_reason(result.terminal_reason.as_ref()))
            .or_else(|| (result.stop_reason == Some(StopReason::Refusal)).then_some(Self::Refusal))
            .or_else(|| Self::of_api(result, said))
            // The API failed without an answer: nobody was reached.
            .or_else(|| {
                let is_api = result.terminal_reason == Some(TerminalReason::ApiError);
                is_api.then_some(Self::Service)
            })
    }

    /// The class in the message is more exact than the status, unless it only says that the service
    /// failed.
    fn of_api(result: &ResultMessage, said: Option<&AssistantError>) -> Option<Self> {
        let said = said.and_then(Self::of_error);
        let exact = said.filter(|kind| *kind != Self::Service);
        let status = || result.api_error_status.and_then(Self::of_status);
        exact.or_else(status).or(said)
    }

    fn of_subtype(subtype: &ResultSubtype) -> Option<Self> {
        match subtype {
            ResultSubtype::ErrorMaxTurns => Some(Self::MaxTurns),
            ResultSubtype::ErrorMaxBudgetUsd => Some(Self::Budget),
            ResultSubtype::ErrorMaxStructuredOutputRetries => Some(Self::StructuredOutput),
            _ => None,
        }
    }

    fn of_reason(reason: Option<&TerminalReason>) -> Option<Self> {
        match reason? {
            TerminalReason::AbortedStreaming | TerminalReason::AbortedTools => {
                Some(Self::Interrupted)
            }
            TerminalReason::PromptTooLong | TerminalReason::BlockingLimit => {
                Some(Self::PromptTooLong)
            }
            TerminalReason::MaxTurns => Some(Self::MaxTurns),
            TerminalReason::BudgetExhausted => Some(Self::Budget),
            TerminalReason::StructuredOutputRetryExhausted => Some(Self::StructuredOutput),
            _ => None,
        }
    }

    fn of_error(error: &AssistantError) -> Option<Self> {
        match error {
            AssistantError::AuthenticationFailed
            | AssistantError::OauthOrgNotAllowed
            | AssistantError::AccountOnHold
            | AssistantError::VerificationRequired
            | AssistantError::CloudCredentialError => Some(Self::Authentication),
            AssistantError::BillingError => Some(Self::Billing),
            AssistantError::RateLimit => Some(Self::RateLimit),
            AssistantError::Overloaded => Some(Self::Overloaded),
            AssistantError::ServerError => Some(Self::Service),
            AssistantError::ModelNotFound => Some(Self::ModelNotFound),
            AssistantError::MaxOutputTokens => Some(Self::OutputLimit),
            AssistantError::InvalidRequest => Some(Self::InvalidRequest),
            _ => None,
        }
    }

    fn of_status(status: u64) -> Option<Self> {
        match status {
            401 | 403 => Some(Self::Authentication),
            402 => Some(Self::Billing),
            404 => Some(Self::ModelNotFound),
            413 => Some(Self::PromptTooLong),
            429 => Some(Self::RateLimit),
            529 => Some(Self::Overloaded),
            400..=499 => Some(Self::InvalidRequest),
            500..=599 => Some(Self::Service),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn kind(more: Value, said: Option<&AssistantError>) -> Option<FailureKind> {
        let mut result = json!({"type": "result", "subtype": "success", "is_error": true,
            "session_id": "s", "uuid": "u"});
        let (Some(result_fields), Value::Object(more)) = (result.as_object_mut(), more) else {
            panic!("both are objects");
        };
        result_fields.extend(more);
        let result: ResultMessage = serde_json::from_value(result).unwrap();
        FailureKind::of(&result, said)
    }

    #[test]
    fn codes_decide_and_words_never_do() {
        use FailureKind::*;
        let table = [
            (json!({"subtype": "error_max_turns"}), None, Some(MaxTurns)),
            (
                json!({"subtype": "error_max_budget_usd"}),
                None,
                Some(Budget),
            ),
            (
                json!({"terminal_reason": "aborted_tools"}),
                None,
                Some(Interrupted),
            ),
            (
                json!({"terminal_reason": "api_error", "api_error_status": 401}),
                None,
                Some(Authentication),
            ),
            (
                json!({"terminal_reason": "api_error", "api_error_status": 529}),
                None,
                Some(Overloaded),
            ),
            (json!({"api_error_status": 503}), None, Some(Service)),
            (json!({"api_error_status": 418}), None, Some(InvalidRequest)),
            (
                json!({"api_error_status": 400}),
                Some(AssistantError::BillingError),
                Some(Billing),
            ),
            (json!({}), Some(AssistantError::RateLimit), Some(RateLimit)),
            (
                json!({"api_error_status": 529}),
                Some(AssistantError::ServerError),
                Some(Overloaded),
            ),
            (json!({}), Some(AssistantError::ServerError), Some(Service)),
            (
                json!({"startup_failure_reason": "cwd_unavailable"}),
                None,
                Some(Startup),
            ),
            (
                json!({"result": "Not logged in · 401 overloaded 529"}),
                None,
                None,
            ),
            (json!({"api_error_status": 7}), None, None),
            (json!({"terminal_reason": "api_error"}), None, Some(Service)),
        ];
        for (more, said, expected) in table {
            let words = format!("{more} {said:?}");
            assert_eq!(kind(more, said.as_ref()), expected, "{words}");
        }
    }

    #[test]
    fn a_kind_of_tomorrow_is_read() {
        let read: FailureKind = serde_json::from_str("\"moon_phase\"").unwrap();
        assert_eq!(read, FailureKind::Unknown);
    }
}
