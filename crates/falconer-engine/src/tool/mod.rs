//! The tools the model may call.
//!
//! A tool that fails is an answer for the model, not an error of the engine.

pub(crate) mod ask_user_question;
pub(crate) mod bash;
mod call;
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
mod prepared;
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

use std::sync::Arc;

use falconer_protocol::Object;
use falconer_protocol::permission::PermissionMode;
use futures_util::future::BoxFuture;
use serde_json::Value;

pub(crate) use call::{Attempt, Bounds, Call, Effect, Outcome};
pub(crate) use file_memory::FileMemory;
pub(crate) use origin::{ToolOrigin, readable};
pub(crate) use prepared::{Prepared, Tool};
pub(crate) use todo::Todos;

use crate::permission::Target;
use crate::workbench::Workbench;

/// The facts about a tool that do not depend on a call.
pub(crate) trait Describe: std::fmt::Debug + Send + Sync {
    /// Its name towards the model.
    fn name(&self) -> &str;

    /// The text for the model. Our own words.
    fn description(&self) -> String;

    /// The JSON Schema of its input.
    fn input_schema(&self) -> Value;

    /// The MCP server it comes from, if any.
    fn origin(&self) -> Option<ToolOrigin> {
        None
    }

    /// Returns `true` if its calls change nothing, as far as the tool alone can tell. Such calls
    /// may run beside each other.
    fn is_read_only(&self) -> bool;

    /// The field of the input that names a file. Hosts and hooks see the whole path there.
    fn path_field(&self) -> Option<&'static str> {
        None
    }

    /// The reason why a call makes no sense in a permission mode, for the model.
    fn refusal_in(&self, mode: &PermissionMode) -> Option<&'static str> {
        let _ = mode;
        None
    }

    /// Returns `true` if a result says `"is_error": false` where others leave it out.
    fn spells_out_success(&self) -> bool {
        false
    }

    /// Returns `true` if its value ends a turn that owes one; its failures are counted.
    fn gives_final_value(&self) -> bool {
        false
    }

    /// Returns `true` if it is of no use where nobody can be asked.
    fn needs_person(&self) -> bool {
        false
    }

    /// Fills in defaults for everybody who sees the input. Only for inputs that can be read.
    fn complete(&self, input: Object) -> Object {
        input
    }

    /// Takes out of the model's input what models like to add and the tool does not take.
    fn taken(&self, input: Object) -> Object {
        input
    }

    /// Adds to the input what the person who is asked about the call has to see.
    fn present(&self, input: &mut Object, workbench: &Workbench) {
        let _ = (input, workbench);
    }
}

/// A tool with an input type of its own, read once for each call.
pub(crate) trait TypedTool: Describe + 'static {
    /// The input after reading.
    type Input: std::fmt::Debug + Send + Sync + 'static;

    /// Reads an input before anybody is asked about it. The text of a failure goes to the model.
    fn parse(&self, input: &Object) -> Result<Self::Input, String>;

    /// Returns `true` if this call changes nothing.
    fn only_reads(&self, input: &Self::Input) -> bool {
        let _ = input;
        self.is_read_only()
    }

    /// The part of the call that needs permission.
    fn target(&self, input: &Self::Input, workbench: &Workbench) -> Target;

    /// A line about the call for the user, unless it is about a file.
    fn summary(&self, input: &Self::Input) -> Option<String> {
        let _ = input;
        None
    }

    /// Tells by looking whether a call makes sense. Used before permission is asked for, so that
    /// nobody is asked about calls that will fail, and only if the file may be read.
    fn foresight(&self) -> Option<Foresight<Self::Input>> {
        None
    }

    /// Runs a call. Must end soon after `call.cancelled`, leaving no process.
    fn run(&self, input: Arc<Self::Input>, call: Call) -> BoxFuture<'_, Outcome>;
}

/// Says why a call will fail, to the model. May block.
pub(crate) type Foresight<Input> = fn(&Input, &Call) -> Result<(), String>;

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
