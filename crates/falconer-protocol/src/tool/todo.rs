//! `TodoWrite`.

use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// The whole list.
    pub struct TodoWriteInput {
        pub todos: Vec<TodoItem>,
    }
}

wire_struct! {
    /// The list before and after.
    pub struct TodoWriteOutput {
        pub old_todos * Vec<TodoItem> => "oldTodos",
        pub new_todos * Vec<TodoItem> => "newTodos",
    }
}

wire_struct! {
    /// Something to do.
    pub struct TodoItem {
        pub content: String,
        pub status: TodoStatus,
        pub active_form ? String => "activeForm",
    }
}

open_enum! {
    /// How far it is.
    pub enum TodoStatus {
        Pending = "pending",
        InProgress = "in_progress",
        Completed = "completed",
    }
}
