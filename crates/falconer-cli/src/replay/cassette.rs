//! The lines between a host and an engine, as the events they mean.

use std::time::Duration;

use falconer::Message;
use falconer_cassette::{Cassette, Direction, Entry};
use falconer_event::{
    Body, Delivery, Draft, End, Event, Item, ItemContent, Ledger, Normaliser, PermissionRequested,
    Prompt, PromptState, Run, RunId, Sequence, Source,
};
use jiff::Timestamp;
use serde_json::Value;

/// The events, and how many lines of the engine could not be read.
pub(super) fn events(cassette: &Cassette) -> (Vec<Event>, usize) {
    let mut about = Run::default();
    "recorded".clone_into(&mut about.engine);
    let mut reading = Reading {
        normaliser: Normaliser::new(about),
        ledger: Ledger::default(),
        sequence: Sequence::new("recorded"),
        run: RunId::from("recorded"),
        events: Vec::new(),
        unreadable: 0,
        exit: None,
    };
    for entry in &cassette.entries {
        reading.entry(entry);
    }
    let mut end = End::default();
    if let Some(code) = reading.exit.filter(|code| *code != 0) {
        end.stderr = vec![format!("the engine exited with code {code}")];
    }
    let last = cassette.entries.last().map_or(0, |entry| entry.t_ms);
    let left = reading.normaliser.finish();
    reading.add(last, left);
    let drafts = reading.ledger.end(end);
    reading.add(last, drafts);
    (reading.events, reading.unreadable)
}

struct Reading {
    normaliser: Normaliser,
    ledger: Ledger,
    sequence: Sequence,
    run: RunId,
    events: Vec<Event>,
    unreadable: usize,
    exit: Option<i64>,
}

impl Reading {
    fn entry(&mut self, entry: &Entry) {
        match entry.dir {
            Direction::Out if entry.line["type"] == "control_request" => {
                let asked = asked(&entry.line).into_iter().collect();
                self.add(entry.t_ms, asked);
            }
            Direction::Out => match serde_json::from_value::<Message>(entry.line.clone()) {
                Ok(message) => {
                    let drafts = self.normaliser.message(&message);
                    drafts.iter().for_each(|draft| self.ledger.observe(draft));
                    self.add(entry.t_ms, drafts);
                }
                Err(_) => self.unreadable += 1,
            },
            Direction::In if entry.line["type"] == "user" => {
                let said = prompt(&entry.line).into_iter().collect();
                self.add(entry.t_ms, said);
            }
            Direction::Exit => self.exit = entry.line["code"].as_i64(),
            _ => {}
        }
    }

    fn add(&mut self, t_ms: u64, drafts: Vec<Draft>) {
        let time = Timestamp::UNIX_EPOCH + Duration::from_millis(t_ms);
        let stamped = drafts
            .into_iter()
            .map(|draft| self.sequence.stamp(&self.run, time.to_string(), draft));
        self.events.extend(stamped);
    }
}

/// What the host told the agent.
fn prompt(line: &Value) -> Option<Draft> {
    let text = match &line["message"]["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    let mut prompt = Prompt::queued(text, Delivery::Queue);
    prompt.state = PromptState::Sent;
    let id = line["uuid"].as_str().unwrap_or_default();
    let item = Item::new(id, ItemContent::Prompt(Box::new(prompt)));
    Some(Draft::new(
        Source::User,
        Body::ItemCompleted(Box::new(item)),
    ))
}

/// What the engine asked before it did something.
fn asked(line: &Value) -> Option<Draft> {
    let request = &line["request"];
    if request["subtype"] != "can_use_tool" {
        return None;
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (id, tool) = (text(&line["request_id"]), text(&request["tool_name"]));
    let mut asked = PermissionRequested::new(id, tool, request["input"].clone(), String::new());
    asked.tool_use_id = text(&request["tool_use_id"]);
    let body = Body::PermissionRequested(Box::new(asked));
    Some(Draft::new(Source::Agent, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recorded_session_can_be_shown() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/cassettes");
        let mut count = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|end| end != "jsonl") {
                continue;
            }
            let (events, _) = events(&Cassette::load(&path).unwrap());
            let last = events.last().map(|event| event.body.kind());
            assert_eq!(last, Some("run.completed"), "{}", path.display());
            count += 1;
        }
        assert!(count > 100, "only {count} recorded sessions were found");
    }
}
