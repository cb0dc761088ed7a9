//! `TodoWrite`: the model's list of things to do.

use std::sync::{Arc, Mutex, PoisonError};

use falconer_protocol::Object;
use falconer_protocol::tool::{TodoItem, TodoWriteInput};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;

use super::input::{self, Field, Kind};
use super::{Call, Describe, Outcome, Target, TypedTool};
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
    items: Mutex<Vec<TodoItem>>,
}

impl Todos {
    /// Puts a new list in place and gives the one before.
    fn replace(&self, items: Vec<TodoItem>) -> Vec<TodoItem> {
        let mut held = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, items)
    }
}

/// Writes the list of things to do.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TodoWrite;

impl Describe for TodoWrite {
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

    fn is_read_only(&self) -> bool {
        // It changes no file, but two lists at the same time would be one too many.
        false
    }
}

/// The list before and after; both are there even if they are empty.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    old_todos: Vec<TodoItem>,
    new_todos: &'a [TodoItem],
}

impl TypedTool for TodoWrite {
    type Input = TodoWriteInput;

    fn parse(&self, input: &Object) -> Result<TodoWriteInput, String> {
        input::read(FIELDS, input)
    }

    fn target(&self, _input: &TodoWriteInput, _workbench: &Workbench) -> Target {
        Target::Nothing
    }

    fn run(&self, input: Arc<TodoWriteInput>, call: Call) -> BoxFuture<'_, Outcome> {
        let output = Output {
            old_todos: call.workbench.todos.replace(input.todos.clone()),
            new_todos: &input.todos,
        };
        let text = "The list was updated. Go on with the next item on it.";
        Box::pin(std::future::ready(Outcome::text(text, output)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
        let text = TodoWrite.parse(bad.as_object().unwrap()).unwrap_err();
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
