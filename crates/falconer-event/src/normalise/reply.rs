//! Replies of engines that do not stream: a bare text, or one object.

use falconer_protocol::message::ResultMessage;
use serde_json::Value;

use super::Normaliser;
use crate::envelope::Draft;
use crate::turn::{Failure, TurnCompleted, TurnStarted};

impl Normaliser {
    /// Turns a whole reply into events: a text, an object with `result`, `structured_output` or
    /// `error`, or a result message.
    pub fn reply(&mut self, reply: &Value) -> Vec<Draft> {
        let mut out = Vec::new();
        if reply["type"] == "result"
            && let Ok(result) = serde_json::from_value::<ResultMessage>(reply.clone())
        {
            self.result(&result, &mut out);
            return out;
        }
        let mut completed = completed(reply);
        if completed.ok {
            self.start_without_init(reply["session_id"].as_str(), &mut out);
        }
        self.begin_turn(TurnStarted::default(), &mut out);
        if let Some(total) = reply["total_cost_usd"].as_f64() {
            self.spending.engine_says(total);
        }
        completed.total_cost_usd = self.spending.usd();
        self.complete_turn(completed, &mut out);
        out
    }
}

fn completed(reply: &Value) -> TurnCompleted {
    let text = match reply {
        Value::String(text) => Some(text.clone()),
        other => other["result"].as_str().map(str::to_owned),
    };
    let error = match &reply["error"] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(
            other["message"]
                .as_str()
                .map_or_else(|| other.to_string(), str::to_owned),
        ),
    };
    let is_error = reply["is_error"].as_bool().unwrap_or(error.is_some());
    let failure = is_error.then(|| {
        let text = error.or_else(|| text.clone());
        Failure::new(
            "error",
            text.unwrap_or_else(|| "the engine reports an error".to_owned()),
        )
    });
    TurnCompleted {
        ok: !is_error,
        text: text.unwrap_or_default(),
        structured_output: reply
            .get("structured_output")
            .filter(|value| !value.is_null())
            .cloned(),
        failure,
        ..TurnCompleted::default()
    }
}
