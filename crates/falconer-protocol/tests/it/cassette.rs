//! Every recorded line survives decoding and encoding.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use falconer_protocol::system::SystemMessage;
use falconer_protocol::{HostLine, Message, RawMessage, control, tool};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) struct Line {
    place: String,
    pub(crate) from_engine: bool,
    pub(crate) value: Value,
}

pub(crate) fn recorded_lines() -> Vec<Line> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cassettes");
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(directory).expect("cassettes") {
        let path = entry.expect("entry").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            let text = std::fs::read_to_string(&path).expect("cassette");
            let records = text.lines().enumerate();
            lines.extend(records.filter_map(|(number, record)| {
                parse(record, format!("{}:{}", path.display(), number + 1))
            }));
        }
    }
    lines
}

fn parse(record: &str, place: String) -> Option<Line> {
    let mut record: Value = serde_json::from_str(record).expect("record");
    let from_engine = match record["dir"].as_str()? {
        "out" => true,
        "in" => false,
        _ => return None,
    };
    let value = match record["line"].take() {
        Value::String(text) => serde_json::from_str(&text).ok()?,
        value => value,
    };
    value.is_object().then_some(Line {
        place,
        from_engine,
        value,
    })
}

#[test]
fn every_recorded_line_is_written_back_as_it_was() {
    let lines = recorded_lines();
    assert!(lines.len() >= 2000, "only {} lines found", lines.len());
    for line in &lines {
        let bytes = serde_json::to_vec(&line.value).expect("bytes");
        let written = if line.from_engine {
            let raw = RawMessage::new(bytes.into()).expect(&line.place);
            serde_json::to_value(raw.decode().expect(&line.place))
        } else {
            serde_json::to_value(HostLine::decode(&bytes).expect(&line.place))
        };
        assert_eq!(written.expect(&line.place), line.value, "{}", line.place);
    }
}

#[test]
fn every_recorded_line_of_the_engine_is_typed() {
    let lines = recorded_lines();
    let mut seen = 0;
    for line in lines.iter().filter(|line| line.from_engine) {
        let bytes = serde_json::to_vec(&line.value).expect("bytes");
        let raw = RawMessage::new(bytes.into()).expect(&line.place);
        let decoded = raw.decode_with_notes().expect(&line.place);
        assert_eq!(decoded.misfit, None, "{}", line.place);
        let unknown = matches!(
            decoded.message,
            Message::Unknown(_) | Message::System(SystemMessage::Unknown(_))
        );
        assert!(!unknown, "{}: {}", line.place, line.value);
        seen += 1;
    }
    assert!(seen >= 1500, "only {seen} lines found");
}

/// Whether a value is read as `T` and written back as it was.
fn check_fit<T: DeserializeOwned + Serialize>(value: &Value, place: &str) {
    let read: T = serde_json::from_value(value.clone()).expect(place);
    assert_eq!(serde_json::to_value(&read).expect(place), *value, "{place}");
}

fn check_input(tool: &str, input: &Value, place: &str) {
    match tool {
        "Bash" => check_fit::<tool::BashInput>(input, place),
        "Read" => check_fit::<tool::ReadInput>(input, place),
        "Write" => check_fit::<tool::WriteInput>(input, place),
        "Edit" => check_fit::<tool::EditInput>(input, place),
        "Agent" => check_fit::<tool::AgentInput>(input, place),
        "AskUserQuestion" => check_fit::<tool::AskUserQuestionInput>(input, place),
        "ExitPlanMode" => check_fit::<tool::ExitPlanModeInput>(input, place),
        _ => {}
    }
}

fn check_output(tool: &str, output: &Value, place: &str) {
    match tool {
        "Bash" => check_fit::<tool::BashOutput>(output, place),
        "Read" => check_fit::<tool::ReadOutput>(output, place),
        "Write" => check_fit::<tool::WriteOutput>(output, place),
        "Edit" => check_fit::<tool::EditOutput>(output, place),
        "Agent" => check_fit::<tool::AgentOutput>(output, place),
        "AskUserQuestion" => check_fit::<tool::AskUserQuestionOutput>(output, place),
        "ExitPlanMode" => check_fit::<tool::ExitPlanModeOutput>(output, place),
        _ => {}
    }
}

#[test]
fn recorded_tool_calls_and_results_fit_their_types() {
    let mut names = HashMap::new();
    let mut checked = BTreeSet::new();
    for line in recorded_lines() {
        match serde_json::from_value(line.value) {
            Ok(Message::Assistant(message)) => {
                for call in message.tool_uses() {
                    check_input(&call.name, &call.input, &line.place);
                    names.insert(call.id.clone(), call.name.clone());
                }
            }
            Ok(Message::User(message)) => {
                let result = message.tool_results().next();
                let name = result.and_then(|result| names.get(&result.tool_use_id));
                let output = message
                    .tool_use_result
                    .as_ref()
                    .filter(|out| out.is_object());
                if let (Some(name), Some(output)) = (name, output) {
                    check_output(name, output, &line.place);
                    checked.insert(name.clone());
                }
            }
            _ => {}
        }
    }
    for name in [
        "Bash",
        "Read",
        "Write",
        "Agent",
        "AskUserQuestion",
        "ExitPlanMode",
    ] {
        assert!(checked.contains(name), "no {name} in {checked:?}");
    }
}

#[test]
fn recorded_payloads_fit_the_answers_they_belong_to() {
    let mut checked = 0;
    for line in recorded_lines().iter().filter(|line| line.from_engine) {
        let payload = &line.value["response"]["response"];
        let has = |key: &str| payload.get(key).is_some();
        let place = &line.place;
        if has("commands") {
            check_fit::<control::InitializeResponse>(payload, place);
        } else if has("still_queued") {
            check_fit::<control::InterruptResponse>(payload, place);
        } else if has("categories") {
            check_fit::<control::ContextUsage>(payload, place);
        } else if has("mcpServers") {
            check_fit::<control::McpStatusResponse>(payload, place);
        } else if has("added") {
            check_fit::<control::McpSetServersResponse>(payload, place);
        } else if has("state") {
            check_fit::<control::ListPermissionRulesResponse>(payload, place);
        } else {
            continue;
        }
        checked += 1;
    }
    assert!(checked >= 190, "only {checked} payloads found");
}
