//! Plans the model has written into its calls.
//!
//! The engine strips the plan's text from the request for approval, but the message that
//! holds the call has it and comes first.

use std::sync::{Mutex, PoisonError};

use falconer_protocol::control::CanUseTool;
use falconer_protocol::tool::EXIT_PLAN_MODE;
use falconer_protocol::{Message, RawMessage};

/// The last plan seen, with the id of its call.
#[derive(Debug, Default)]
pub(crate) struct Plans(Mutex<Option<(String, String)>>);

impl Plans {
    /// Looks for a plan in an assistant message.
    pub(crate) fn look(&self, line: &[u8]) {
        if memchr::memmem::find(line, EXIT_PLAN_MODE.as_bytes()).is_none() {
            return;
        }
        let message = RawMessage::new(line.to_vec().into()).map(|raw| raw.decode());
        let Ok(Ok(Message::Assistant(message))) = message else {
            return;
        };
        for block in &message.message.content {
            let Some(call) = block.as_tool_use() else {
                continue;
            };
            if call.name == EXIT_PLAN_MODE
                && let Some(plan) = call.input.get("plan").and_then(|plan| plan.as_str())
            {
                let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                *last = Some((call.id.as_str().to_owned(), plan.to_owned()));
            }
        }
    }

    /// The plan this request is about: from the request itself, else from the message.
    pub(super) fn take(&self, ask: &CanUseTool) -> Option<String> {
        if let Some(plan) = ask.input.get("plan").and_then(|plan| plan.as_str()) {
            return Some(plan.to_owned());
        }
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match last.take() {
            Some((id, plan)) if ask.tool_use_id.as_ref().is_some_and(|of| of.as_str() == id) => {
                Some(plan)
            }
            _ => None,
        }
    }
}
