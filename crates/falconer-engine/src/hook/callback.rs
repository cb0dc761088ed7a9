//! Hooks that live in the host.

use falconer_protocol::control::{EngineRequest, HookCallback};
use falconer_protocol::hook::HookEvent;
use falconer_protocol::{HookCallbackId, ToolUseId};
use serde_json::Value;

use super::answer::{Ran, read_answer};
use super::registry::Hook;
use super::{Hooks, Occasion};
use crate::host::HostError;

impl Hooks {
    pub(super) async fn call_back(
        &self,
        id: &HookCallbackId,
        hook: &Hook,
        occasion: &Occasion<'_>,
    ) -> Ran {
        let question = EngineRequest::HookCallback(Box::new(HookCallback {
            callback_id: id.clone(),
            input: occasion.input.clone(),
            tool_use_id: Some(tool_use_id(occasion)),
            ..HookCallback::default()
        }));
        let answer = tokio::select! {
            biased;
            () = occasion.cancelled.cancelled() => return Ran::Cancelled,
            answer = self.surroundings.host.ask(question) => answer,
            limit = super::report::past(hook.timeout) => {
                if matches!(occasion.event, HookEvent::Stop | HookEvent::SubagentStop) {
                    self.tell_late(occasion, limit).await;
                }
                return Ran::TimedOut(limit);
            }
        };
        let ran = match answer {
            Ok(value) => read_answer(&occasion.event, value),
            Err(HostError::Refused(why)) => Ran::Failed(why),
            Err(HostError::Closed) => Ran::HostClosed,
        };
        if let Ran::Failed(why) = &ran {
            self.tell_failed(occasion, id, hook.on_failure, why).await;
        }
        ran
    }
}

/// Hosts expect one with every event; those without a tool get a random one.
fn tool_use_id(occasion: &Occasion<'_>) -> ToolUseId {
    let input: Value = serde_json::from_slice(&occasion.line).unwrap_or_default();
    match input.get("tool_use_id").and_then(Value::as_str) {
        Some(id) => ToolUseId::from(id),
        None => {
            let random = || ToolUseId::from(uuid::Uuid::new_v4().to_string());
            occasion.call.cloned().unwrap_or_else(random)
        }
    }
}
