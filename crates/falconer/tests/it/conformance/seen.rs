//! What handlers were told, kept for the assertions afterwards.

use std::future::{Ready, ready};
use std::sync::{Arc, Mutex, PoisonError};

use falconer::protocol::control::CanUseTool;
use falconer::{Decision, PermissionRequest};
use falconer_testkit::scenario::ToolResult;

use super::Stage;

/// A list that handlers add to; clones share it.
#[derive(Debug)]
pub(crate) struct Seen<T>(Arc<Mutex<Vec<T>>>);

impl<T> Clone for Seen<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Seen<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Clone> Seen<T> {
    pub(crate) fn add(&self, value: T) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(value);
    }

    pub(crate) fn all(&self) -> Vec<T> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The permission requests that reached the host.
pub(crate) type Asked = Seen<CanUseTool>;

impl Asked {
    /// A handler that notes what it is asked and always decides the same.
    pub(crate) fn answering(
        &self,
        decision: Decision,
    ) -> impl Fn(PermissionRequest) -> Ready<Decision> + Send + Sync + use<> {
        let asked = self.clone();
        move |request: PermissionRequest| {
            asked.add(request.ask.clone());
            ready(decision.clone())
        }
    }

    /// The names of the tools asked about, in order.
    pub(crate) fn tools(&self) -> Vec<String> {
        self.all().into_iter().map(|ask| ask.tool_name).collect()
    }
}

impl Stage {
    /// The tool results the model got with its `n`th request, counted from 1.
    pub(crate) fn results_in(&self, n: usize) -> Vec<ToolResult> {
        self.server.messages()[n - 1].tool_results()
    }

    /// The only tool result the model got with its `n`th request.
    pub(crate) fn result_in(&self, n: usize) -> ToolResult {
        let mut results = self.results_in(n);
        assert_eq!(results.len(), 1, "{results:?}");
        results.remove(0)
    }

    /// The conversation as the model got it with its `n`th request.
    pub(crate) fn conversation_in(&self, n: usize) -> String {
        self.server.messages()[n - 1].conversation()
    }
}
