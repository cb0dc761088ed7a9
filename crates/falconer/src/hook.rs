//! Callbacks at the engine's hook points.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use falconer_protocol::hook::{HookEvent, HookInput, HookOutput};
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::position::Position;

/// A callback for one hook event.
///
/// ```
/// use falconer::{Hook, HookCall};
/// use falconer::protocol::hook::{HookEvent, HookOutput};
///
/// let no_force_push = Hook::new(HookEvent::PreToolUse, |call: HookCall| async move {
///     let text = call.input_json().to_string();
///     Ok(if text.contains("push --force") {
///         HookOutput::deny_tool("force pushes are not allowed here")
///     } else {
///         HookOutput::default()
///     })
/// })
/// .matcher("Bash");
/// # let _ = no_force_push;
/// ```
#[derive(Clone)]
pub struct Hook {
    pub(crate) event: HookEvent,
    pub(crate) matcher: Option<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) on_failure: OnFailure,
    pub(crate) callback: Arc<dyn Callback>,
}

/// The effect of a callback that fails, panics or takes too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnFailure {
    /// A tool call is denied, everything else goes on.
    #[default]
    DenyTools,
    /// Whatever the hook guards is blocked: a tool call, a prompt, a compaction. A stop is
    /// not, so that a broken hook cannot keep the agent at work. Engines that cannot block
    /// are refused at start.
    Block,
    /// The engine goes on as if the hook had no opinion. For hooks that only watch.
    Continue,
}

/// One call of a hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookCall {
    /// Event, typed.
    pub input: HookInput,
    /// Fires when the engine no longer waits.
    pub withdrawn: CancellationToken,
    /// Where in the stream of messages the engine asked.
    pub position: Position,
}

impl HookCall {
    /// The input as JSON.
    pub fn input_json(&self) -> serde_json::Value {
        serde_json::to_value(&self.input).unwrap_or_default()
    }
}

/// The reason a callback failed; its text is shown to people, not to the model.
pub type HookError = Box<dyn std::error::Error + Send + Sync>;

pub(crate) trait Callback: Send + Sync + 'static {
    fn call(self: Arc<Self>, call: HookCall) -> BoxFuture<'static, Result<HookOutput, HookError>>;
}

impl<F, Fut> Callback for F
where
    F: Fn(HookCall) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<HookOutput, HookError>> + Send + 'static,
{
    fn call(self: Arc<Self>, call: HookCall) -> BoxFuture<'static, Result<HookOutput, HookError>> {
        // Called inside the future, so that a panic in the closure itself is caught too.
        Box::pin(async move { self(call).await })
    }
}

impl Hook {
    /// A hook without a matcher: called for every such event.
    ///
    /// An `Ok(HookOutput::default())` has no opinion.
    pub fn new<F, Fut>(event: HookEvent, callback: F) -> Self
    where
        F: Fn(HookCall) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<HookOutput, HookError>> + Send + 'static,
    {
        Self {
            event,
            matcher: None,
            timeout: None,
            on_failure: OnFailure::default(),
            callback: Arc::new(callback),
        }
    }

    /// Restricts the hook, for tool events to tools whose name matches (`Bash`,
    /// `Edit|Write`, `mcp__.*`).
    #[must_use]
    pub fn matcher(mut self, matcher: impl Into<String>) -> Self {
        self.matcher = Some(matcher.into());
        self
    }

    /// Gives the callback a limit of its own.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Says what happens when the callback fails.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook")
            .field("event", &self.event)
            .field("matcher", &self.matcher)
            .field("timeout", &self.timeout)
            .field("on_failure", &self.on_failure)
            .finish_non_exhaustive()
    }
}
