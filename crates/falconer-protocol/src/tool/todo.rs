//! `TodoWrite`.

use crate::wire::{open_enum, wire_struct};

wire_struct! {
    /// The whole list.
    pub struct TodoWriteInput {
        /// Complete list, in place of the one before.
        pub todos: Vec<TodoItem>,
    }
}

wire_struct! {
    /// The list before and after.
    pub struct TodoWriteOutput {
        /// List before.
        pub old_todos * Vec<TodoItem> => "oldTodos",
        /// List after.
        pub new_todos * Vec<TodoItem> => "newTodos",
    }
}

wire_struct! {
    /// Something to do.
    pub struct TodoItem {
        /// Text in the imperative, such as `Run the tests`.
        pub content: String,
        /// Progress.
        pub status: TodoStatus,
        /// Text while it is being done, such as `Running the tests`.
        pub active_form ? String => "activeForm",
    }
}

open_enum! {
    /// The progress of an item.
    pub enum TodoStatus {
        /// Not started.
        Pending = "pending",
        /// Being done.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
    }
}
