//! What one hook said, and whether that makes sense.

use std::time::Duration;

use falconer_protocol::hook::{
    BlockDecision, HookEvent, HookOutput, HookPermissionDecision, HookSpecificOutput,
};
use serde_json::Value;

/// How one hook ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ran {
    Answered(Box<HookOutput>),
    /// Plain text on standard output.
    Said(String),
    /// Exit code 2, with the text of standard error.
    Blocked(String),
    Failed(String),
    TimedOut(Duration),
    /// The host is gone.
    HostClosed,
    Cancelled,
    /// It goes on by itself.
    Detached,
    NoOpinion,
}

const FIELDS: [&str; 9] = [
    "continue",
    "suppressOutput",
    "stopReason",
    "decision",
    "systemMessage",
    "reason",
    "hookSpecificOutput",
    "async",
    "asyncTimeout",
];

/// Reads what a program or server printed: JSON if it looks like it, else text.
pub(super) fn read_output(event: &HookEvent, printed: &str) -> Ran {
    let text = printed.trim();
    if !text.starts_with('{') {
        return if text.is_empty() {
            Ran::NoOpinion
        } else {
            Ran::Said(text.to_owned())
        };
    }
    match serde_json::from_str(text) {
        Ok(value) => read_answer(event, value),
        Err(error) => Ran::Failed(format!("its output is not valid JSON: {error}")),
    }
}

/// Reads an answer that is JSON already.
pub(super) fn read_answer(event: &HookEvent, value: Value) -> Ran {
    if !value.is_object() {
        return Ran::Failed("its answer is not a JSON object".to_owned());
    }
    let output: HookOutput = match falconer_protocol::from_value(value) {
        Ok(output) => output,
        Err(error) => return Ran::Failed(format!("its answer cannot be read: {error}")),
    };
    if output.async_ == Some(true) {
        return Ran::Detached;
    }
    match fault(event, &output) {
        Some(fault) => Ran::Failed(format!("its answer makes no sense: {fault}")),
        None => Ran::Answered(Box::new(output)),
    }
}

/// What is wrong with an answer. Wire types keep what does not fit; a hook's answer must fit,
/// because ignoring a misspelt denial would let the tool run.
fn fault(event: &HookEvent, output: &HookOutput) -> Option<String> {
    if let Some(field) = FIELDS
        .iter()
        .find(|field| output.extra.get(field).is_some())
    {
        return Some(format!("`{field}` has the wrong type"));
    }
    if let Some(BlockDecision::Other(decision)) = &output.decision {
        return Some(format!("`decision` is `{decision}`"));
    }
    output
        .hook_specific_output
        .as_ref()
        .and_then(|specific| fault_of_specific(event, specific))
}

fn fault_of_specific(event: &HookEvent, specific: &HookSpecificOutput) -> Option<String> {
    let named = specific.tag().unwrap_or_default();
    if named != event.as_str() {
        return Some(format!("`hookEventName` is `{named}` and not `{event}`"));
    }
    match specific {
        HookSpecificOutput::Unknown(_) => {
            Some("`hookSpecificOutput` does not fit its event".to_owned())
        }
        HookSpecificOutput::PreToolUse(output) => {
            let decision = output.permission_decision.as_ref();
            if let Some(HookPermissionDecision::Other(decision)) = decision {
                return Some(format!("`permissionDecision` is `{decision}`"));
            }
            if output
                .updated_input
                .as_ref()
                .is_some_and(|it| !it.is_object())
            {
                return Some("`updatedInput` is not an object".to_owned());
            }
            let names = [
                "permissionDecision",
                "permissionDecisionReason",
                "additionalContext",
            ];
            names
                .iter()
                .find(|name| output.extra.get(name).is_some())
                .map(|name| format!("`{name}` has the wrong type"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use falconer_protocol::hook::{HookEvent, HookOutput};
    use serde_json::json;

    use super::{Ran, read_answer, read_output};

    #[test]
    fn answers_that_make_no_sense_are_failures() {
        let bad = [
            json!("text"),
            json!([]),
            json!(null),
            json!({"continue": "no"}),
            json!({"decision": "maybe"}),
            json!({"decision": 1}),
            json!({"hookSpecificOutput": 7}),
            json!({"hookSpecificOutput": {"permissionDecision": "deny"}}),
            json!({"hookSpecificOutput": {"hookEventName": "Stop"}}),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "no"}}),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": 1}}),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": "x"}}),
        ];
        for answer in bad {
            let ran = read_answer(&HookEvent::PreToolUse, answer.clone());
            assert!(matches!(ran, Ran::Failed(_)), "{answer} became {ran:?}");
        }
    }

    #[test]
    fn output_is_json_only_if_it_looks_like_it() {
        let event = HookEvent::PreToolUse;
        let cases = [
            ("", Ran::NoOpinion),
            (" \n", Ran::NoOpinion),
            ("hello\n", Ran::Said("hello".to_owned())),
            ("[1]", Ran::Said("[1]".to_owned())),
            ("{}", Ran::Answered(Box::default())),
            ("{\"async\":true}", Ran::Detached),
            (
                " {\"decision\":\"block\",\"reason\":\"r\"} ",
                Ran::Answered(Box::new(HookOutput::block("r"))),
            ),
        ];
        for (printed, expected) in cases {
            assert_eq!(read_output(&event, printed), expected, "{printed:?}");
        }
        let broken = read_output(&event, "{\"decision\": \"block\"");
        assert!(matches!(broken, Ran::Failed(_)), "{broken:?}");
    }
}
