//! `TodoWrite`: the model's list of things to do.

use std::sync::{Mutex, PoisonError};

use falconer_protocol::Object;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::input::{self, Field, Kind};
use super::{Call, Outcome, Target, Tool};
use crate::workbench::Workbench;

const ITEM: &[Field] = &[
    Field::required(
        "content",
        Kind::Text,
        "What to do, as an order: \"Run the tests\"",
    ),
    Field::required(
        "status",
        Kind::Choice(&["pending", "in_progress", "completed"]),
        "How far it is",
    ),
    Field::required(
        "activeForm",
        Kind::Text,
        "The same while it is being done: \"Running the tests\"",
    ),
];

const FIELDS: &[Field] = &[Field::required(
    "todos",
    Kind::List(ITEM),
    "The whole list; it replaces the one before",
)];

/// The list as it was last written.
#[derive(Debug, Default)]
pub(crate) struct Todos {
    items: Mutex<Vec<Value>>,
}

impl Todos {
    /// Puts a new list in place and gives the one before.
    fn replace(&self, items: Vec<Value>) -> Vec<Value> {
        let mut held = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, items)
    }
}

/// Writes the list of things to do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TodoWrite;

impl Tool for TodoWrite {
    fn name(&self) -> &str {
        "TodoWrite"
    }

    fn description(&self) -> String {
        "Keeps a list of what is to be done in this session, for yourself and for the user who \
         follows along.\n\n\
         - Use it for work of several steps. A single small step needs no list.\n\
         - Give the whole list every time. Exactly one item is `in_progress` while you work; mark \
         it `completed` as soon as it is done, not before.\n\
         - Add what you discover on the way, and take out what is no longer needed."
            .to_owned()
    }

    fn input_schema(&self) -> Value {
        input::schema(FIELDS)
    }

    fn check(&self, input: &Object) -> Result<(), String> {
        input::check(FIELDS, input)
    }

    fn is_read_only(&self, _input: &Object) -> bool {
        // It changes no file, but two lists at the same time would be one too many.
        false
    }

    fn target(&self, _input: &Object, _workbench: &Workbench) -> Target {
        Target::Nothing
    }

    fn run(&self, call: Call) -> BoxFuture<'_, Outcome> {
        let new = call.input.get("todos").and_then(Value::as_array).cloned();
        let new = new.unwrap_or_default();
        let old = call.workbench.todos.replace(new.clone());
        let output = json!({ "oldTodos": old, "newTodos": new });
        let outcome = Outcome::text(
            "The list was updated. Go on with the next item on it.",
            output,
        );
        Box::pin(std::future::ready(outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::testing;

    #[tokio::test]
    async fn list_is_replaced_and_the_old_one_is_told() {
        let bench = testing::Bench::new();
        let item = |status| json!({"content": "a", "status": status, "activeForm": "doing a"});
        let first = bench
            .run(&TodoWrite, json!({"todos": [item("pending")]}))
            .await;
        assert_eq!(
            first.output,
            Some(json!({"oldTodos": [], "newTodos": [item("pending")]}))
        );
        let second = bench
            .run(&TodoWrite, json!({"todos": [item("completed")]}))
            .await;
        assert_eq!(
            second.output,
            Some(json!({"oldTodos": [item("pending")], "newTodos": [item("completed")]}))
        );
        let bad = json!({"todos": [item("pending"), {"content": 1, "status": "bogus"}, 7]});
        let text = TodoWrite.check(bad.as_object().unwrap()).unwrap_err();
        for name in [
            "todos[1].content",
            "todos[1].status",
            "todos[1].activeForm",
            "todos[2]",
        ] {
            assert!(text.contains(name), "{name} is not in: {text}");
        }
    }
}
