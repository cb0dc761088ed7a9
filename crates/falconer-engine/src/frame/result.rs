//! The `result` line: how a turn ended.

use falconer_protocol::MessageUuid;
use falconer_protocol::message::{
    ResultMessage, ResultSubtype, StopReason, SubagentStats, TerminalReason,
};

/// How a turn ended, before its numbers are known.
///
/// Commands, blocked prompts and failed starts have no `terminal_reason`.
pub(crate) type Ending = Box<ResultMessage>;

/// Makes the end of a turn that came to an answer.
pub(crate) fn completed(text: String, stop_reason: Option<StopReason>) -> Ending {
    let ending = ResultMessage {
        stop_reason,
        terminal_reason: Some(TerminalReason::Completed),
        ..*local(text)
    };
    Box::new(ending.with_empty("api_error_status"))
}

/// Makes the end of a turn that something kept from an answer.
pub(crate) fn failed(
    subtype: ResultSubtype,
    reason: TerminalReason,
    stop_reason: Option<StopReason>,
    text: String,
) -> Ending {
    Box::new(ResultMessage {
        subtype,
        is_error: true,
        errors: vec![text],
        stop_reason,
        terminal_reason: Some(reason),
        ..ResultMessage::default()
    })
}

/// Makes the end of a turn that asked no model: a command, a blocked prompt, a prompt to be kept
/// only.
pub(crate) fn local(text: String) -> Ending {
    Box::new(ResultMessage {
        result: Some(text),
        ..ResultMessage::default()
    })
}

/// Tells whether a turn came to an answer of the model; only then its times are told.
pub(crate) fn is_answered(ending: &ResultMessage) -> bool {
    !ending.is_error && ending.deferred_tool_use.is_none()
}

/// Adds what every result of a turn says, and which prompts it answers.
pub(crate) fn whole(ending: ResultMessage, prompts: &[MessageUuid]) -> ResultMessage {
    let last = prompts.last().cloned();
    let whole = ResultMessage {
        fast_mode_state: Some("off".to_owned()),
        fast_mode_disabled_reason: Some("sdk_opt_in_required".to_owned()),
        subagent_stats: Some(Box::new(SubagentStats::default())),
        user_message_uuids: last.is_some().then(|| prompts.to_vec()),
        user_message_uuid: last,
        ..ending
    };
    spelled_out(whole)
}

/// Has the fields written that hosts read even if there is nothing in them.
pub(crate) fn spelled_out(result: ResultMessage) -> ResultMessage {
    result
        .with_empty("is_error")
        .with_empty("stop_reason")
        .with_empty("modelUsage")
        .with_empty("permission_denials")
}
