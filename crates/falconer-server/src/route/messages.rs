//! Messages to the agent.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use falconer_hub::NewMessage;
use falconer_store::{BlobId, InputQuery, MessageId, SessionId};

use crate::api::{MessageList, SendMessage, Sent, TakenBack};
use crate::app::App;
use crate::auth::principal::Principal;
use crate::input::Json;
use crate::problem::{Code, Problem};

/// The longest id a sender may give a message.
const LONGEST_ID: usize = 200;

/// Say something to the agent; the same `client_msg_id` counts once
#[utoipa::path(post, path = "/v1/sessions/{id}/messages", tag = "messages",
    params(("id" = String, Path, description = "The session")), request_body = SendMessage,
    responses((status = 202, description = "It is kept and will be delivered", body = Sent)))]
pub(crate) async fn send_message(
    State(app): State<Arc<App>>,
    principal: Principal,
    Path(id): Path<String>,
    Json(asked): Json<SendMessage>,
) -> Result<(StatusCode, axum::Json<Sent>), Problem> {
    let sent = send(&app, &principal, SessionId::from(id), asked).await?;
    Ok((StatusCode::ACCEPTED, axum::Json(sent)))
}

/// Sends a message, to its end.
pub(crate) async fn send(
    app: &App,
    principal: &Principal,
    id: SessionId,
    asked: SendMessage,
) -> Result<Sent, Problem> {
    let message = new_message(asked, principal)?;
    let session = app.store.session(&id).await?;
    app.roots.directory(&session.cwd)?;
    let hub = app.hub.clone();
    let accepted = app
        .finish(async move { hub.send(&id, message).await })
        .await??;
    Ok(Sent {
        message: accepted.message,
        duplicate: accepted.duplicate,
    })
}

pub(crate) fn new_message(
    asked: SendMessage,
    principal: &Principal,
) -> Result<NewMessage, Problem> {
    let wrong = |text: &str| Err(Problem::new(Code::InvalidValue, text));
    if asked.client_msg_id.is_empty() || asked.client_msg_id.len() > LONGEST_ID {
        return wrong("client_msg_id must have 1 to 200 characters");
    }
    if asked.text.trim().is_empty() && asked.attachments.is_empty() {
        return wrong("the message is empty");
    }
    let mut message = NewMessage::new(asked.client_msg_id, asked.text, principal.name());
    message.attachments = asked.attachments.into_iter().map(BlobId::from).collect();
    if let Some(delivery) = asked.delivery {
        message.delivery = delivery;
    }
    Ok(message)
}

/// What was said to the agent, and how far it came
#[utoipa::path(get, path = "/v1/sessions/{id}/messages", tag = "messages",
    params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "In the order they were sent", body = MessageList)))]
pub(crate) async fn list_messages(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<axum::Json<MessageList>, Problem> {
    let id = SessionId::from(id);
    app.store.session(&id).await?;
    let messages = app.store.inputs(&id, InputQuery::default()).await?;
    Ok(axum::Json(MessageList { messages }))
}

/// Take back a message the agent has not been given yet
#[utoipa::path(delete, path = "/v1/sessions/{id}/messages/{message}", tag = "messages",
    params(("id" = String, Path, description = "The session"),
        ("message" = String, Path, description = "The message")),
    responses((status = 200, description = "Whether it was in time", body = TakenBack)))]
pub(crate) async fn cancel_message(
    State(app): State<Arc<App>>,
    Path((id, message)): Path<(String, String)>,
) -> Result<axum::Json<TakenBack>, Problem> {
    let (id, message) = (SessionId::from(id), MessageId::from(message));
    let found = app.store.input(&message).await?;
    if found.session != id {
        return Err(Problem::not_found("message", message));
    }
    let hub = app.hub.clone();
    let taken = app
        .finish(async move { hub.take_back(&id, &message).await })
        .await??;
    let cancelled = taken == falconer_hub::TakenBack::Yes;
    Ok(axum::Json(TakenBack { cancelled }))
}
