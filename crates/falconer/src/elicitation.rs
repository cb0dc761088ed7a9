//! Input that MCP servers ask of the user, and dialogs of the engine itself.

use std::future::Future;
use std::sync::Arc;

use falconer_protocol::control::{Elicitation, RequestUserDialog};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::position::Position;

/// An MCP server wants something from the user: a form filled in, or a page visited.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ElicitationRequest {
    /// The request as the engine sent it.
    pub ask: Elicitation,
    /// Fires when the engine no longer waits.
    pub withdrawn: CancellationToken,
    /// Where in the stream of messages the engine asked.
    pub position: Position,
}

/// The user's answer to an [`ElicitationRequest`].
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum ElicitationAnswer {
    /// The form's fields, or nothing for a visited page.
    Accept(Map<String, Value>),
    /// The user said no.
    Decline,
    /// The user closed the form.
    Cancel,
}

impl ElicitationAnswer {
    pub(crate) fn into_wire(self) -> Value {
        match self {
            Self::Accept(content) => json!({ "action": "accept", "content": content }),
            Self::Decline => json!({ "action": "decline" }),
            Self::Cancel => json!({ "action": "cancel" }),
        }
    }
}

/// A dialog of the engine that only this host can show.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DialogRequest {
    /// The request as the engine sent it.
    pub ask: RequestUserDialog,
    /// Fires when the engine no longer waits.
    pub withdrawn: CancellationToken,
    /// Where in the stream of messages the engine asked.
    pub position: Position,
}

/// The answer to a [`DialogRequest`].
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub enum DialogAnswer {
    /// The result of the dialog; its shape depends on the kind.
    Completed(Value),
    /// The engine does what it does without the dialog.
    Cancelled,
}

impl DialogAnswer {
    pub(crate) fn into_wire(self) -> Value {
        match self {
            Self::Completed(result) => json!({ "behavior": "completed", "result": result }),
            Self::Cancelled => json!({ "behavior": "cancelled" }),
        }
    }
}

/// Answers elicitations. Any `async` closure from [`ElicitationRequest`] to
/// [`ElicitationAnswer`] is one.
pub trait ElicitationHandler: Send + Sync + 'static {
    /// Answers one request.
    fn elicit(
        self: Arc<Self>,
        request: ElicitationRequest,
    ) -> BoxFuture<'static, ElicitationAnswer>;
}

impl<F, Fut> ElicitationHandler for F
where
    F: Fn(ElicitationRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ElicitationAnswer> + Send + 'static,
{
    fn elicit(
        self: Arc<Self>,
        request: ElicitationRequest,
    ) -> BoxFuture<'static, ElicitationAnswer> {
        Box::pin(async move { self(request).await })
    }
}

/// Shows dialogs. Any `async` closure from [`DialogRequest`] to [`DialogAnswer`] is one.
pub trait DialogHandler: Send + Sync + 'static {
    /// Shows one dialog.
    fn show(self: Arc<Self>, request: DialogRequest) -> BoxFuture<'static, DialogAnswer>;
}

impl<F, Fut> DialogHandler for F
where
    F: Fn(DialogRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = DialogAnswer> + Send + 'static,
{
    fn show(self: Arc<Self>, request: DialogRequest) -> BoxFuture<'static, DialogAnswer> {
        Box::pin(async move { self(request).await })
    }
}
