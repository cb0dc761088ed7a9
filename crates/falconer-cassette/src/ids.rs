//! Ids that the host chooses: recorded ones become those of the live run.

use std::collections::HashMap;

use serde_json::Value;

/// Recorded ids and what they are now. Ids of the engine stay as recorded.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    requests: HashMap<String, Value>,
    prompts: HashMap<String, Value>,
    callbacks: HashMap<String, Value>,
    session: Option<(String, String)>,
}

impl Ids {
    /// Gives the recorded session another id.
    pub(crate) fn map_session(&mut self, recorded: &str, live: &str) {
        self.session = Some((recorded.to_owned(), live.to_owned()));
    }

    /// Learns from a line of the host and the one it stands for.
    pub(crate) fn learn(&mut self, recorded: &Value, live: &Value) {
        pair(
            &mut self.requests,
            &recorded["request_id"],
            &live["request_id"],
        );
        pair(&mut self.prompts, &recorded["uuid"], &live["uuid"]);
        let hooks = (&recorded["request"]["hooks"], &live["request"]["hooks"]);
        if let (Value::Object(recorded), Value::Object(live)) = hooks {
            for (event, matchers) in recorded {
                let live = live.get(event).unwrap_or(&Value::Null);
                pair_all(&mut self.callbacks, &callbacks(matchers), &callbacks(live));
            }
        }
    }

    /// Rewrites a line of the engine for the live host.
    pub(crate) fn apply(&self, line: &mut Value) {
        match line["type"].as_str() {
            Some("control_response") => replace(&self.requests, line, "/response/request_id"),
            Some("control_request") => replace(&self.callbacks, line, "/request/callback_id"),
            Some("system") => replace(&self.requests, line, "/request_id"),
            _ => {}
        }
        for pointer in ["/user_message_uuid", "/command_uuid"] {
            replace(&self.prompts, line, pointer);
        }
        let uuids = line.pointer_mut("/user_message_uuids");
        let uuids = uuids.and_then(Value::as_array_mut);
        uuids.into_iter().flatten().for_each(|uuid| {
            replace(&self.prompts, uuid, "");
        });
        if let Some((recorded, live)) = &self.session {
            rename(line, recorded, live);
        }
    }
}

fn pair(map: &mut HashMap<String, Value>, recorded: &Value, live: &Value) {
    if let (Some(recorded), Value::String(_)) = (recorded.as_str(), live) {
        map.insert(recorded.to_owned(), live.clone());
    }
}

fn pair_all(map: &mut HashMap<String, Value>, recorded: &[&Value], live: &[&Value]) {
    for (recorded, live) in recorded.iter().zip(live) {
        pair(map, recorded, live);
    }
}

/// The callback ids of one event, in order.
fn callbacks(matchers: &Value) -> Vec<&Value> {
    let matchers = matchers.as_array().into_iter().flatten();
    let ids = matchers.filter_map(|matcher| matcher["hookCallbackIds"].as_array());
    ids.flatten().collect()
}

fn replace(map: &HashMap<String, Value>, line: &mut Value, pointer: &str) {
    let Some(place) = line.pointer_mut(pointer) else {
        return;
    };
    if let Some(live) = place.as_str().and_then(|recorded| map.get(recorded)) {
        *place = live.clone();
    }
}

/// Replaces every string that is the recorded id.
fn rename(value: &mut Value, recorded: &str, live: &str) {
    match value {
        Value::String(text) if text == recorded => live.clone_into(text),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| rename(item, recorded, live)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| rename(field, recorded, live)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
