//! The desk where requests of the engine are served: each by a task of its own, each answered
//! exactly once unless the engine takes it back.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use falconer_protocol::control::{CanUseTool, EngineRequest, HookCallback, McpMessage};
use falconer_protocol::tool::{ASK_USER_QUESTION, EXIT_PLAN_MODE};
use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::outbox::Outbox;
use super::plans::Plans;
use super::reply::Reply;
use super::stop_rounds::StopRounds;
use crate::elicitation::{DialogRequest, ElicitationRequest};
use crate::handlers::Handlers;
use crate::hook::HookCall;
use crate::permission::{Decision, PermissionRequest};
use crate::position::Position;
use crate::question::{PlanRequest, QuestionRequest};

/// Limits on handlers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeskLimits {
    /// For permissions, questions, plans, elicitations, dialogs. `None` waits for ever.
    pub(crate) permission: Option<Duration>,
    /// For hooks that do not say otherwise.
    pub(crate) hook: Duration,
    /// Number of times in a row that a stop may be blocked.
    pub(crate) stop_blocks: u32,
}

/// Limit on the wait for the last answers, and for cancelled handlers.
const PATIENCE: Duration = Duration::from_millis(200);

/// Serves what the engine asks.
#[derive(Debug)]
pub(crate) struct Desk {
    handlers: Handlers,
    limits: DeskLimits,
    outbox: Arc<Outbox>,
    open: Mutex<HashMap<String, Open>>,
    tasks: TaskTracker,
    plans: Plans,
    stop_rounds: StopRounds,
    failures: AtomicU64,
}

/// A request that has not been answered.
#[derive(Debug)]
struct Open {
    withdrawn: CancellationToken,
    request: Arc<EngineRequest>,
}

/// The circumstances of a request, beside what is asked.
#[derive(Debug)]
struct Origin {
    withdrawn: CancellationToken,
    position: Position,
}

impl Desk {
    pub(crate) fn new(handlers: Handlers, limits: DeskLimits, outbox: Arc<Outbox>) -> Self {
        Self {
            handlers,
            limits,
            outbox,
            open: Mutex::default(),
            tasks: TaskTracker::new(),
            plans: Plans::default(),
            stop_rounds: StopRounds::new(limits.stop_blocks),
            failures: AtomicU64::new(0),
        }
    }

    /// Plans the model has shown, for the requests that do not repeat them.
    pub(crate) fn plans(&self) -> Option<&Plans> {
        self.handlers.plan.is_some().then_some(&self.plans)
    }

    /// Returns the number of handlers that failed, panicked or ran out of time.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a request and serves it in the background; `position` is where in the stream the
    /// engine made it. A request that is open already is not served twice.
    pub(crate) fn accept(self: &Arc<Self>, id: String, request: EngineRequest, position: Position) {
        let request = Arc::new(request);
        let withdrawn = CancellationToken::new();
        let entry = Open {
            withdrawn: withdrawn.clone(),
            request: request.clone(),
        };
        match self.open().entry(id.clone()) {
            std::collections::hash_map::Entry::Occupied(_) => {
                tracing::debug!(id, "the engine repeated a request that is being served");
                return;
            }
            std::collections::hash_map::Entry::Vacant(vacant) => drop(vacant.insert(entry)),
        }
        let desk = self.clone();
        let origin = Origin {
            withdrawn,
            position,
        };
        let serving = async move { desk.serve(id, &request, origin).await };
        self.tasks.spawn(serving.in_current_span());
    }

    /// The engine no longer wants an answer.
    pub(crate) fn withdraw(&self, id: &str) {
        if let Some(open) = self.open().remove(id) {
            open.withdrawn.cancel();
        }
    }

    /// Answers everything that is open on the safe side; handlers are cancelled.
    pub(crate) async fn end(&self, why: &str) {
        let open: Vec<_> = self.open().drain().collect();
        let answers = async {
            for (id, open) in open {
                open.withdrawn.cancel();
                let reply = Reply::safe(&open.request, &self.handlers, why);
                // The engine may be gone already; then nobody waits for the answer.
                let _ = self.outbox.send(reply.into_line(&id)).await;
            }
        };
        // An engine that reads nothing gets no answers: the end of its input denies as well.
        let _ = tokio::time::timeout(PATIENCE, answers).await;
        self.tasks.close();
        // Cancelled handlers end at their next await; one that blocks its thread is left.
        let _ = tokio::time::timeout(PATIENCE, self.tasks.wait()).await;
    }

    /// Cancels every handler without an answer.
    pub(crate) fn abandon(&self) {
        for (_, open) in self.open().drain() {
            open.withdrawn.cancel();
        }
    }

    async fn serve(&self, id: String, request: &EngineRequest, origin: Origin) {
        let work = AssertUnwindSafe(self.handle(request, &origin)).catch_unwind();
        let reply = tokio::select! {
            biased;
            () = origin.withdrawn.cancelled() => return,
            reply = within(self.limit(request), work) => match reply {
                Ok(Ok(reply)) => reply,
                Ok(Err(_)) => self.failed(request, "the handler panicked"),
                Err(limit) => self.failed(request, &format!("no answer within {limit:?}")),
            },
        };
        if self.open().remove(&id).is_some()
            && let Err(error) = self.outbox.send(reply.into_line(&id)).await
        {
            tracing::debug!(%error, id, "the engine left before its request was answered");
        }
    }

    fn failed(&self, request: &EngineRequest, why: &str) -> Reply {
        self.failures.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(
            request = request.tag(),
            why,
            "a request of the engine failed"
        );
        Reply::safe(request, &self.handlers, why)
    }

    fn limit(&self, request: &EngineRequest) -> Option<Duration> {
        match request {
            EngineRequest::HookCallback(call) => {
                let own = self
                    .handlers
                    .hook(call.callback_id.as_str())
                    .and_then(|hook| hook.timeout);
                Some(own.unwrap_or(self.limits.hook))
            }
            // Tools have limits of their own.
            EngineRequest::McpMessage(_) => None,
            _ => self.limits.permission,
        }
    }

    async fn handle(&self, request: &EngineRequest, origin: &Origin) -> Reply {
        match request {
            EngineRequest::CanUseTool(ask) => self.permit(ask, origin).await,
            EngineRequest::HookCallback(call) => self.hook(request, call, origin).await,
            EngineRequest::McpMessage(message) => self.mcp(message).await,
            EngineRequest::Elicitation(ask) => match &self.handlers.elicitation {
                Some(handler) => {
                    let request = ElicitationRequest {
                        ask: ask.as_ref().clone(),
                        withdrawn: origin.withdrawn.clone(),
                        position: origin.position,
                    };
                    Reply::Success(handler.clone().elicit(request).await.into_wire())
                }
                None => Reply::Success(crate::ElicitationAnswer::Decline.into_wire()),
            },
            EngineRequest::RequestUserDialog(ask) => match &self.handlers.dialog {
                Some(handler) => {
                    let request = DialogRequest {
                        ask: ask.clone(),
                        withdrawn: origin.withdrawn.clone(),
                        position: origin.position,
                    };
                    Reply::Success(handler.clone().show(request).await.into_wire())
                }
                None => Reply::safe(request, &self.handlers, "no dialog handler"),
            },
            other => Reply::safe(other, &self.handlers, "unsupported"),
        }
    }

    async fn permit(&self, ask: &CanUseTool, origin: &Origin) -> Reply {
        let span = tracing::info_span!("permission", tool = ask.tool_name);
        let decision = self.decide(ask, origin).instrument(span).await;
        Reply::success(decision.into_wire(ask))
    }

    /// Questions and plans go to their own handlers, everything else and the rest to the
    /// permission handler.
    async fn decide(&self, ask: &CanUseTool, origin: &Origin) -> Decision {
        let handlers = &self.handlers;
        if ask.tool_name == ASK_USER_QUESTION
            && let Some(handler) = &handlers.question
            && let Some(request) = QuestionRequest::read(ask, &origin.withdrawn, origin.position)
        {
            return handler
                .clone()
                .answer(request)
                .await
                .into_decision(&ask.input);
        }
        if ask.tool_name == EXIT_PLAN_MODE
            && let Some(handler) = &handlers.plan
        {
            let plan = self.plans.take(ask);
            let request = PlanRequest {
                plan,
                ask: ask.clone(),
                withdrawn: origin.withdrawn.clone(),
                position: origin.position,
            };
            return handler.clone().review(request).await.into_decision();
        }
        let Some(handler) = &handlers.permission else {
            return Decision::deny("nobody is there to allow this call");
        };
        let request = PermissionRequest {
            ask: ask.clone(),
            withdrawn: origin.withdrawn.clone(),
            position: origin.position,
        };
        handler.clone().decide(request).await
    }

    async fn hook(&self, request: &EngineRequest, call: &HookCallback, origin: &Origin) -> Reply {
        let Some(hook) = self.handlers.hook(call.callback_id.as_str()) else {
            return Reply::safe(request, &self.handlers, "unknown hook");
        };
        let span = tracing::info_span!("hook", event = hook.event.as_str());
        let input = HookCall {
            input: call.input.clone(),
            withdrawn: origin.withdrawn.clone(),
            position: origin.position,
        };
        match hook.callback.clone().call(input).instrument(span).await {
            Ok(output) => Reply::success(self.stop_rounds.limit(&call.input, output)),
            Err(error) => self.failed(request, &format!("the hook failed: {error}")),
        }
    }

    async fn mcp(&self, message: &McpMessage) -> Reply {
        let Some(server) = self.handlers.server(&message.server_name) else {
            return Reply::Error(format!("no in-process server `{}`", message.server_name));
        };
        match server.clone().handle(message.message.clone()).await {
            Some(response) => Reply::mcp(&response),
            None => Reply::mcp_notification(),
        }
    }
}

/// Waits for the work, but not longer than the limit; `Err` is the limit that was hit.
async fn within<F: Future>(limit: Option<Duration>, work: F) -> Result<F::Output, Duration> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, work).await.map_err(|_| limit),
        None => Ok(work.await),
    }
}
