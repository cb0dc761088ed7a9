//! Ending turns and taking prompts back; questions beside the conversation.

use std::sync::Arc;

use falconer_protocol::MessageUuid;
use falconer_protocol::control::{
    CancelAsyncMessageResponse, InterruptResponse, SideQuestionResponse,
};
use falconer_protocol::message::CommandState;
use falconer_protocol::system::ControlRequestProgress;
use serde_json::Value;

use super::{Outcome, text};
use crate::frame::lifecycle;
use crate::frame::reply::Reply;
use crate::session::actor::Actor;
use crate::session::core::Core;
use crate::session::line::Request;
use crate::turn::interrupt::Cause;

/// Ends the turn. Prompts that wait stay, unless the host says otherwise.
pub(super) async fn interrupt(actor: &mut Actor, request: &Request) -> Outcome {
    let core = Arc::clone(&actor.core);
    let mut response = InterruptResponse::default();
    if request.body["cancel_queued"] == Value::Bool(true) {
        let cancelled = core.queue().cancel_all();
        for uuid in &cancelled {
            let frame = lifecycle::command(uuid, CommandState::Cancelled);
            core.speaker.say(frame).await;
        }
        response.cancelled = Some(cancelled);
    }
    response.still_queued = core.queue().uuids();
    let reply = Reply::success(&response.with_empty("still_queued"));
    let outcome = match actor.interrupt() {
        Some(lever) => {
            lever.pull(Cause::User, Some(reply.frame(request.id.as_ref())));
            Outcome::Said
        }
        None => reply.into(),
    };
    if !core.state().tasks_are_spared {
        actor.stop_tasks_after_turn();
    }
    outcome
}

/// Takes back a prompt that waits.
pub(super) async fn cancel_message(actor: &mut Actor, body: &Value) -> Outcome {
    let core = &actor.core;
    let uuid = match text(body, "message_uuid") {
        Ok(uuid) => MessageUuid::from(uuid),
        Err(reply) => return reply.into(),
    };
    let cancelled = core.queue().cancel(&uuid);
    if let Some(prompt) = &cancelled {
        core.record.cancelled(prompt);
        let frame = lifecycle::command(&uuid, CommandState::Cancelled);
        core.speaker.say(frame).await;
    }
    Reply::success(&CancelAsyncMessageResponse {
        cancelled: cancelled.is_some(),
        ..CancelAsyncMessageResponse::default()
    })
    .into()
}

pub(super) fn end_session(actor: &mut Actor) -> Outcome {
    actor.end_session();
    Reply::Done.into()
}

/// Asks the model beside the conversation.
pub(super) async fn side_question(core: &Arc<Core>, request: &Request) -> Outcome {
    let question = match text(&request.body, "question") {
        Ok(question) => question.to_owned(),
        Err(reply) => return reply.into(),
    };
    if let Some(id) = request.id.as_ref().and_then(Value::as_str) {
        core.speaker
            .say(ControlRequestProgress {
                request_id: id.into(),
                status: "started".to_owned(),
                ..ControlRequestProgress::default()
            })
            .await;
    }
    let core = Arc::clone(core);
    Outcome::Later(Box::pin(async move {
        match core.side_question(&question).await {
            Ok(answer) => Reply::success(&SideQuestionResponse {
                response: Some(answer),
                synthetic: Some(false),
                ..SideQuestionResponse::default()
            }),
            Err(failure) => Reply::failure(failure.to_string()),
        }
    }))
}
