//! What a session does, for the log of the program around it: ids and outcomes, never texts of a
//! person, the model or a tool.

use falconer_event::{Body, Event};
use tracing::{info, warn};

/// Logs an event that somebody who looks for trouble wants to see.
pub(super) fn log(event: &Event) {
    let Event { session, run, .. } = event;
    match &event.body {
        Body::RunStarted(started) => {
            let (engine, model) = (&started.engine, started.model.as_deref());
            info!(%session, %run, engine, model, native = started.native_session, "a run started");
        }
        Body::RunCompleted(ended) => {
            let failure = ended.failure.as_ref().map(|failure| failure.class.as_str());
            let (outcome, turns) = (ended.outcome, ended.turns);
            info!(%session, %run, ?outcome, failure, turns, usd = ended.cost_usd, "a run ended");
        }
        Body::PermissionRequested(asked) => {
            let (request, tool) = (&asked.id, &asked.tool);
            info!(%session, request, tool, call = asked.tool_use_id, "permission asked");
        }
        Body::PermissionResolved(answer) => {
            let (request, resolution) = (&answer.id, answer.resolution);
            info!(%session, request, ?resolution, by = answer.by, "permission answered");
        }
        Body::QuestionRequested(asked) => {
            info!(%session, request = asked.id, kind = ?asked.kind, "question asked");
        }
        Body::QuestionResolved(answer) => {
            let (request, resolution) = (&answer.id, answer.resolution);
            info!(%session, request, ?resolution, by = answer.by, "question answered");
        }
        Body::Retry(retry) => {
            let (attempt, most) = (retry.attempt, retry.max_attempts);
            let (millis, status) = (retry.delay_ms, retry.status);
            info!(%session, attempt, most, millis, status, "asking the model again");
        }
        Body::Limit(limit) if limit.reached => {
            info!(%session, kind = limit.kind, "a limit is reached");
        }
        Body::Warning(warning) if warning.kind == "transcript" => {
            warn!(%session, "the transcript of a session ends early");
        }
        _ => {}
    }
}
