//! Asking the host whether a tool may run.

use std::future::Future;
use std::sync::Arc;

use falconer_protocol::control::CanUseTool;
use falconer_protocol::permission::{Allow, Deny, PermissionResult, PermissionUpdate};
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::position::Position;

/// A tool call that needs a decision.
///
/// Only calls that no rule and no mode has decided arrive here.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PermissionRequest {
    /// Request of the engine, word for word: the tool, its input, the reason for asking, the
    /// sub-agent that wants it, and the suggestions.
    pub ask: CanUseTool,
    /// Fires when the engine no longer waits, because the turn was interrupted or another
    /// surface has answered. An answer is ignored then.
    pub withdrawn: CancellationToken,
    /// Where in the stream of messages the engine asked.
    pub position: Position,
}

impl PermissionRequest {
    /// The tool, such as `Bash`.
    pub fn tool_name(&self) -> &str {
        &self.ask.tool_name
    }

    /// Returns the arguments of the call.
    pub fn input(&self) -> &Value {
        &self.ask.input
    }

    /// Ready-made rules for "always allow". Pass at most one to [`Decision::allow_always`].
    pub fn suggestions(&self) -> &[PermissionUpdate] {
        self.ask
            .permission_suggestions
            .as_deref()
            .unwrap_or_default()
    }
}

/// The host's decision about one tool call.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum Decision {
    /// Run it.
    Allow {
        /// Run it with this input instead.
        input: Option<Value>,
        /// Remember this, so that it is not asked again.
        remember: Vec<PermissionUpdate>,
    },
    /// Do not run it; the model reads the reason and goes on.
    Deny {
        /// Reason, in words for the model.
        reason: String,
    },
    /// Do not run it and end the turn. The engine does not show the reason to the model.
    DenyAndStop {
        /// Reason, for the record.
        reason: String,
    },
}

impl Decision {
    /// Run the call as it is.
    pub fn allow() -> Self {
        Self::Allow {
            input: None,
            remember: Vec::new(),
        }
    }

    /// Run the call with another input: the whole of it, as an object with content. Anything
    /// else is a denial, because the engine would run the original.
    pub fn allow_with_input(input: impl Into<Value>) -> Self {
        Self::Allow {
            input: Some(input.into()),
            remember: Vec::new(),
        }
    }

    /// Run the call and remember one rule, usually one of the suggestions.
    ///
    /// The suggestions are alternatives. Returning all of them would, for example, also
    /// switch the session to accepting every edit.
    pub fn allow_always(rule: PermissionUpdate) -> Self {
        Self::Allow {
            input: None,
            remember: vec![rule],
        }
    }

    /// Do not run the call. The model reads the reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny {
            reason: reason.into(),
        }
    }

    /// Do not run the call and end the turn.
    pub fn deny_and_stop(reason: impl Into<String>) -> Self {
        Self::DenyAndStop {
            reason: reason.into(),
        }
    }

    /// The wire form. Always says the input and the call it is about, because older engines
    /// want that.
    pub(crate) fn into_wire(self, ask: &CanUseTool) -> PermissionResult {
        let tool_use_id = ask.tool_use_id.clone();
        let deny = |reason, interrupt| {
            let mut deny = Deny::new(spoken(reason));
            deny.interrupt = interrupt;
            deny.tool_use_id = tool_use_id.clone();
            PermissionResult::Deny(deny)
        };
        match self {
            Self::Allow {
                input: Some(input), ..
            } if !can_replace(&input, &ask.input) => deny(
                "the edited input was not an object with content, so the call was not run".into(),
                None,
            ),
            Self::Allow { input, remember } => PermissionResult::Allow(Allow {
                updated_input: Some(input.unwrap_or_else(|| ask.input.clone())),
                updated_permissions: (!remember.is_empty()).then_some(remember),
                tool_use_id,
                ..Allow::default()
            }),
            Self::Deny { reason } => deny(reason, None),
            Self::DenyAndStop { reason } => deny(reason, Some(true)),
        }
    }
}

/// Returns `true` if the engine would really run the edited input. It takes only objects, and it
/// takes an empty one for no edit at all: it would run what the host wanted to change.
fn can_replace(edited: &Value, original: &Value) -> bool {
    edited == original || edited.as_object().is_some_and(|edited| !edited.is_empty())
}

/// The engine does not take a denial without words.
fn spoken(reason: String) -> String {
    if reason.trim().is_empty() {
        "the user did not allow this call".to_owned()
    } else {
        reason
    }
}

/// Decides about tool calls. Any `async` closure from [`PermissionRequest`] to [`Decision`]
/// is one.
pub trait PermissionHandler: Send + Sync + 'static {
    /// Decides about one call. A panic, or no answer in time, is a denial.
    fn decide(self: Arc<Self>, request: PermissionRequest) -> BoxFuture<'static, Decision>;
}

impl<F, Fut> PermissionHandler for F
where
    F: Fn(PermissionRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Decision> + Send + 'static,
{
    fn decide(self: Arc<Self>, request: PermissionRequest) -> BoxFuture<'static, Decision> {
        // Called inside the future, so that a panic in the closure itself is caught too.
        Box::pin(async move { self(request).await })
    }
}
