//! The tools the model may call.
//!
//! A tool that fails is an answer for the model, not an error of the engine.

pub(crate) mod ask_user_question;
pub(crate) mod bash;
pub(crate) mod edit;
mod failure;
mod file_memory;
pub(crate) mod glob;
pub(crate) mod grep;
mod input;
mod interrupt;
pub(crate) mod notebook_edit;
mod origin;
mod patch;
pub(crate) mod place;
pub(crate) mod plan_mode;
pub(crate) mod read;
pub(crate) mod registry;
mod replace;
pub(crate) mod structured_output;
pub(crate) mod task_stop;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod text;
pub(crate) mod todo;
mod walk;
pub(crate) mod web_fetch;
pub(crate) mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use falconer_process::Confinement;
use falconer_protocol::{MessageUuid, Object, ToolUseId};
use falconer_rule::Place;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(crate) use file_memory::FileMemory;
pub(crate) use origin::{ToolOrigin, readable};
pub(crate) use todo::Todos;

use crate::permission::Target;
use crate::workbench::Workbench;

/// Something the model can call.
pub(crate) trait Tool: std::fmt::Debug + Send + Sync {
    /// Its name towards the model.
    fn name(&self) -> &str;

    /// What the model is told of it. Our own words.
    fn description(&self) -> String;

    /// The JSON Schema of its input.
    fn input_schema(&self) -> Value;

    /// Checks an input before anybody is asked about it. The text goes to the model.
    fn check(&self, input: &Object) -> Result<(), String>;

    /// Where the tool comes from, if it is one of an MCP server.
    fn origin(&self) -> Option<ToolOrigin> {
        None
    }

    /// The input as everybody sees it, with what is understood when it is left out. Only called
    /// with inputs that passed [`Tool::check`].
    fn complete(&self, input: Object) -> Object {
        input
    }

    /// The part of the input that the tool takes; the rest is what models like to add.
    fn taken(&self, input: Object) -> Object {
        input
    }

    /// Tells by looking whether a call makes sense. Used before permission is asked for, so that
    /// nobody is asked about calls that will fail, and only if what it looks at may be read.
    fn foresight(&self) -> Option<Foresight> {
        None
    }

    /// Whether the call changes nothing; such calls may run beside each other.
    fn is_read_only(&self, input: &Object) -> bool;

    /// What permission is needed for.
    fn target(&self, input: &Object, workbench: &Workbench) -> Target;

    /// Runs a call. Must end soon after `call.cancelled`, leaving no process.
    fn run(&self, call: Call) -> BoxFuture<'_, Outcome>;
}

/// Says why a call will fail, to the model. May block.
pub(crate) type Foresight = fn(&Call) -> Result<(), String>;

/// One call of a tool.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: ToolUseId,
    pub(crate) input: Object,
    /// The prompt that led to the call: checkpoints belong to it.
    pub(crate) prompt: MessageUuid,
    pub(crate) workbench: Arc<Workbench>,
    pub(crate) cancelled: CancellationToken,
    pub(crate) bounds: Bounds,
}

/// What the permission of a call covers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Nobody was asked about the command, because it only reads.
    pub(crate) only_reads: bool,
    /// The command was allowed because it only reads, so it is kept from doing anything else.
    pub(crate) confinement: Option<Confinement>,
    /// The file that was judged, without links.
    pub(crate) file: Option<PathBuf>,
}

impl Call {
    /// Where to read the file that the input names.
    pub(crate) fn source(&self, path: &Path) -> PathBuf {
        let judged = self.bounds.file.clone();
        judged.unwrap_or_else(|| Place::of(path).real)
    }

    /// Where to write the file that the input names.
    pub(crate) fn destination(&self, path: &Path) -> PathBuf {
        let judged = self.bounds.file.clone();
        judged.unwrap_or_else(|| Place::destination(path))
    }
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    /// What the model sees: text, or a list of content blocks.
    pub(crate) content: Value,
    pub(crate) is_error: bool,
    pub(crate) attempt: Attempt,
    /// `tool_use_result` on the wire: the output shape of `sdk-tools.d.ts`, or an error text.
    pub(crate) output: Option<Value>,
    /// What else it means for the session.
    pub(crate) effects: Vec<Effect>,
}

/// Whether anything was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    Made,
    /// The call made no sense as it stood.
    Refused,
}

/// A consequence beyond the answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// The permission mode changes, by entering or leaving plan mode.
    EnterPlanMode,
    LeavePlanMode,
    /// The value asked for by a schema; the turn ends.
    StructuredOutput(Value),
}

impl Outcome {
    pub(crate) fn text(text: impl Into<String>, output: Value) -> Self {
        Self {
            content: Value::String(text.into()),
            is_error: false,
            attempt: Attempt::Made,
            output: Some(output),
            effects: Vec::new(),
        }
    }

    /// A failure, told to the model as it is and to the host as `Error: …`.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            output: Some(Value::String(format!("Error: {text}"))),
            content: Value::String(text),
            is_error: true,
            attempt: Attempt::Made,
            effects: Vec::new(),
        }
    }

    /// A call that makes no sense as it stands, so that nothing was tried.
    ///
    /// The model sees the text inside `<tool_use_error>`, as for an input that is not valid.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            output: Some(Value::String(format!("Error: {text}"))),
            content: Value::String(format!("<tool_use_error>{text}</tool_use_error>")),
            is_error: true,
            attempt: Attempt::Refused,
            effects: Vec::new(),
        }
    }
}

/// Every tool that comes with the engine, except for those made for one session.
fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(ask_user_question::AskUserQuestion),
        Arc::new(bash::Bash),
        Arc::new(edit::Edit),
        Arc::new(glob::Glob),
        Arc::new(grep::Grep),
        Arc::new(notebook_edit::NotebookEdit),
        Arc::new(plan_mode::EnterPlanMode),
        Arc::new(plan_mode::ExitPlanMode),
        Arc::new(read::Read),
        Arc::new(task_stop::TaskStop),
        Arc::new(todo::TodoWrite),
        Arc::new(web_fetch::WebFetch::default()),
        Arc::new(write::Write),
    ]
}
