//! What holds of the events of any run, whatever its messages were.

use std::collections::BTreeMap;

use falconer_event::{ActionStatus, Body, Draft, ItemContent};
use falconer_protocol::Message;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cassettes::{Recorded, all, events};

/// Says which rule is broken, if one is.
pub(crate) fn hold(events: &[Draft]) -> Result<(), String> {
    let count =
        |wanted: fn(&Body) -> bool| events.iter().filter(|draft| wanted(&draft.body)).count();
    let started = count(|body| matches!(body, Body::RunStarted(_)));
    if started > 1 {
        return Err(format!("{started} run.started"));
    }
    let completed = count(|body| matches!(body, Body::RunCompleted(_)));
    let is_last = matches!(
        events.last().map(|draft| &draft.body),
        Some(Body::RunCompleted(_))
    );
    if completed != 1 || !is_last {
        return Err(format!("{completed} run.completed, last: {is_last}"));
    }
    items_are_closed(events)?;
    deltas_leave_nothing_out(events)?;
    denials_are_told(events)?;
    turns_end_once(events)?;
    sessions_agree(events)
}

/// Every item that begins is completed once, in this order; an action is, in any case.
fn items_are_closed(events: &[Draft]) -> Result<(), String> {
    let mut states: BTreeMap<&str, &str> = BTreeMap::new();
    for draft in events {
        let (item, step) = match &draft.body {
            Body::ItemStarted(item) => (item, "started"),
            Body::ItemCompleted(item) => (item, "completed"),
            _ => continue,
        };
        let is_action = match &item.content {
            ItemContent::Action(action) => {
                if step == "completed" && action.status == ActionStatus::Running {
                    return Err(format!("{} is completed and runs", item.id));
                }
                true
            }
            _ => false,
        };
        match (states.insert(item.id.as_str(), step), step) {
            (None, _) | (Some("started"), "completed") => {}
            (Some("completed"), _) if !is_action => {}
            (before, now) => return Err(format!("{}: {before:?} then {now}", item.id)),
        }
    }
    match states.iter().find(|(_, step)| **step == "started") {
        Some((id, _)) => Err(format!("{id} is never completed")),
        None => Ok(()),
    }
}

/// A delta says how much of its item was streamed before, while the item is open.
fn deltas_leave_nothing_out(events: &[Draft]) -> Result<(), String> {
    let mut streamed: BTreeMap<&str, u64> = BTreeMap::new();
    for draft in events {
        match &draft.body {
            Body::ItemStarted(item) => drop(streamed.insert(item.id.as_str(), 0)),
            Body::ItemCompleted(item) => drop(streamed.remove(item.id.as_str())),
            Body::ItemDelta { id, offset, text } => match streamed.get_mut(id.as_str()) {
                Some(before) if before == offset => *before += text.chars().count() as u64,
                before => return Err(format!("{id}: a delta at {offset} after {before:?}")),
            },
            _ => {}
        }
    }
    Ok(())
}

/// As many warnings of a turn as it has denials, before its completion.
fn denials_are_told(events: &[Draft]) -> Result<(), String> {
    let mut warned = 0;
    for draft in events {
        match &draft.body {
            Body::Warning(warning) if warning.kind == "permission_denied" => warned += 1,
            Body::TurnCompleted(turn) => {
                if turn.denials.len() != warned {
                    return Err(format!("{} denials, {warned} warnings", turn.denials.len()));
                }
                warned = 0;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Turns are numbered as they begin, and end at most once.
fn turns_end_once(events: &[Draft]) -> Result<(), String> {
    let (mut begun, mut ended) = (0, 0);
    for draft in events {
        match &draft.body {
            Body::TurnStarted(_) => begun += 1,
            Body::TurnCompleted(_) => {
                ended += 1;
                if draft.turn.map(|turn| turn.0) != Some(ended) || ended > begun {
                    return Err(format!(
                        "turn {:?} ends as number {ended} of {begun}",
                        draft.turn
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The end names the session of the start, or the one it was changed to; without a start there
/// was none.
fn sessions_agree(events: &[Draft]) -> Result<(), String> {
    let mut session = None;
    for draft in events {
        match &draft.body {
            Body::RunStarted(run) => session = Some(run.native_session.clone()),
            Body::SessionChanged(falconer_event::SessionChanged::Reset {
                native_session: Some(new),
            }) => session = Some(new.clone()),
            Body::RunCompleted(run) if run.native_session != session => {
                return Err(format!(
                    "{session:?} at the start, {:?} at the end",
                    run.native_session
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Messages an engine may send, in small variety so that their ids meet.
fn message() -> impl Strategy<Value = Message> {
    let id = prop::sample::select(vec!["t1", "t2", "t3"]);
    let kinds = prop_oneof![
        Just(json!({"type": "system", "subtype": "init", "cwd": "/p", "session_id": "s"})),
        Just(json!({"type": "system", "subtype": "init", "cwd": "/p", "session_id": "other"})),
        id.clone().prop_map(call),
        id.clone().prop_map(|id| returned(id, false)),
        id.clone().prop_map(|id| returned(id, true)),
        id.clone().prop_map(progress),
        id.prop_map(|id| json!({"type": "tool_use_summary", "summary": "did", "preceding_tool_use_ids": [id]})),
        Just(json!({"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "hi"}]}})),
        Just(json!({"type": "result", "subtype": "success", "is_error": false, "result": "ok", "session_id": "s"})),
        Just(json!({"type": "result", "subtype": "success", "is_error": true, "permission_denials":
            [{"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {}}]})),
        Just(json!({"type": "system", "subtype": "task_started", "task_id": "k"})),
        Just(json!({"type": "system", "subtype": "task_notification", "task_id": "k", "status": "completed"})),
        Just(json!({"type": "conversation_reset", "new_conversation_id": "n"})),
        Just(json!({"type": "surprise"})),
        (0..2u64).prop_map(block_start),
        (0..2u64).prop_map(block_delta),
    ];
    kinds.prop_map(|value| serde_json::from_value(value).unwrap())
}

fn block_start(index: u64) -> Value {
    json!({"type": "stream_event", "api_message_id": "m", "event": {"type":
        "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}})
}

fn block_delta(index: u64) -> Value {
    json!({"type": "stream_event", "api_message_id": "m", "event": {"type":
        "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": "hé"}}})
}

fn call(id: &str) -> Value {
    json!({"type": "assistant", "message": {"id": "m", "content": [
        {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}}]}})
}

fn returned(id: &str, is_error: bool) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": id, "content": "out", "is_error": is_error}]}})
}

fn progress(id: &str) -> Value {
    json!({"type": "tool_progress", "tool_use_id": id, "tool_name": "Bash", "elapsed_time_seconds": 3})
}

proptest! {
    #[test]
    fn any_messages_in_any_order_keep_the_rules(messages in prop::collection::vec(message(), 0..40)) {
        let events = events(&messages);
        prop_assert_eq!(hold(&events), Ok(()));
    }

    #[test]
    fn recorded_sessions_with_lines_left_out_keep_the_rules(seed in any::<u64>()) {
        let sessions = all();
        let Recorded { name, messages, .. } = &sessions[seed as usize % sessions.len()];
        let kept: Vec<Message> = (messages.iter().enumerate())
            .filter(|(index, _)| seed.rotate_left(*index as u32 % 64) % 3 != 0)
            .map(|(_, message)| message.clone())
            .collect();
        prop_assert_eq!(hold(&events(&kept)), Ok(()), "{}", name);
    }
}
