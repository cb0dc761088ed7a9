//! Tools of any input type behind one: an input goes in as JSON and comes out ready to run.

use std::sync::Arc;

use falconer_protocol::Object;
use futures_util::future::BoxFuture;

use super::{Call, Describe, Outcome, TypedTool};
use crate::permission::Target;
use crate::workbench::Workbench;

/// Something the model can call.
pub(crate) trait Tool: Describe {
    /// Reads an input. The text of a failure goes to the model.
    fn prepare(self: Arc<Self>, input: &Object) -> Result<Arc<dyn Prepared>, String>;
}

/// A tool together with an input that it has read.
pub(crate) trait Prepared: std::fmt::Debug + Send + Sync {
    fn tool(&self) -> &dyn Describe;

    /// Reads another input for the same tool.
    fn edited(&self, input: &Object) -> Result<Arc<dyn Prepared>, String>;

    /// Returns `true` if the call changes nothing.
    fn only_reads(&self) -> bool;

    /// The part of the call that needs permission.
    fn target(&self, workbench: &Workbench) -> Target;

    /// A line about the call for the user, unless it is about a file.
    fn summary(&self) -> Option<String>;

    /// Returns `true` if [`Prepared::foresee`] has something to look at.
    fn can_foresee(&self) -> bool;

    /// Looks whether the call will fail, and says why to the model. May block.
    fn foresee(&self, call: &Call) -> Result<(), String>;

    /// Runs the call. Ends soon after `call.cancelled`, leaving no process.
    fn run(&self, call: Call) -> BoxFuture<'_, Outcome>;
}

#[derive(Debug)]
struct Ready<T: TypedTool> {
    tool: Arc<T>,
    input: Arc<T::Input>,
}

impl<T: TypedTool> Tool for T {
    fn prepare(self: Arc<Self>, input: &Object) -> Result<Arc<dyn Prepared>, String> {
        let input = Arc::new(self.parse(input)?);
        Ok(Arc::new(Ready { tool: self, input }))
    }
}

impl<T: TypedTool> Prepared for Ready<T> {
    fn tool(&self) -> &dyn Describe {
        self.tool.as_ref()
    }

    fn edited(&self, input: &Object) -> Result<Arc<dyn Prepared>, String> {
        Arc::clone(&self.tool).prepare(input)
    }

    fn only_reads(&self) -> bool {
        self.tool.only_reads(&self.input)
    }

    fn target(&self, workbench: &Workbench) -> Target {
        self.tool.target(&self.input, workbench)
    }

    fn summary(&self) -> Option<String> {
        self.tool.summary(&self.input)
    }

    fn can_foresee(&self) -> bool {
        self.tool.foresight().is_some()
    }

    fn foresee(&self, call: &Call) -> Result<(), String> {
        match self.tool.foresight() {
            Some(foresight) => foresight(&self.input, call),
            None => Ok(()),
        }
    }

    fn run(&self, call: Call) -> BoxFuture<'_, Outcome> {
        self.tool.run(Arc::clone(&self.input), call)
    }
}
