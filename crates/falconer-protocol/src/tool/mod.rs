//! Inputs and outputs of the built-in tools that hosts look into.
//!
//! An input comes as the `input` of a tool call or of a permission question, an output as
//! `tool_use_result` and as the `tool_response` of a hook. [`from_value`](crate::from_value)
//! reads both. The other tools stay a `Value`.

mod agent;
mod file;
mod question;
mod search;
mod shell;
mod todo;
mod web;

pub use agent::{AgentInput, AgentOutput, AgentStatus};
pub use file::{
    EditInput, EditOutput, GitDiff, PatchHunk, ReadFile, ReadInput, ReadOutput, WriteInput,
    WriteOutput,
};
pub use question::{
    ASK_USER_QUESTION, AllowedPrompt, AskUserQuestionInput, AskUserQuestionOutput, EXIT_PLAN_MODE,
    ExitPlanModeInput, ExitPlanModeOutput, Question, QuestionOption,
};
pub use search::{GlobInput, GlobOutput, GrepInput, GrepOutput};
pub use shell::{BashInput, BashOutput};
pub use todo::{TodoItem, TodoStatus, TodoWriteInput, TodoWriteOutput};
pub use web::{WebFetchInput, WebFetchOutput, WebSearchInput, WebSearchOutput};
