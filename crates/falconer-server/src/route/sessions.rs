//! Sessions: make, list, change, end.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::IntoResponse;
use falconer_hub::{Bypass, Change, NewSession, SessionOptions};
use falconer_store::{Archived, Cursor, Scope, SessionId, SessionQuery, SessionState};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::messages::new_message;
use crate::api::{ChangeSession, CreateSession, ForkSession, Session, SessionList};
use crate::app::App;
use crate::auth::principal::Principal;
use crate::input::{Asked, Json};
use crate::problem::{Code, Problem};

const BYPASS: &str = "bypassPermissions";
const MODES: [&str; 6] = ["default", "acceptEdits", "plan", "dontAsk", "auto", BYPASS];

type Created = (StatusCode, [(HeaderName, String); 1], axum::Json<Session>);

/// Which sessions.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListSessions {
    /// States, separated by commas.
    state: Option<String>,
    /// What the title or the directory contains.
    q: Option<String>,
    /// `false` (default): without archived ones; `true`: only them; `any`: both.
    archived: Option<String>,
    /// How many at most.
    limit: Option<usize>,
    /// `next` of the page before.
    cursor: Option<String>,
}

/// The sessions, the one that changed last first
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", params(ListSessions),
    responses((status = 200, description = "A page of sessions", body = SessionList)))]
pub(crate) async fn list_sessions(
    State(app): State<Arc<App>>,
    Asked(asked): Asked<ListSessions>,
) -> Result<axum::Json<SessionList>, Problem> {
    let page = app.store.sessions(query(asked)?).await?;
    Ok(axum::Json(SessionList {
        sessions: page.sessions.into_iter().map(Session::from).collect(),
        next: page.next.map(|cursor| cursor.to_string()),
    }))
}

fn query(asked: ListSessions) -> Result<SessionQuery, Problem> {
    let wrong = |text: String| Problem::new(Code::InvalidValue, text);
    let mut query = SessionQuery::default();
    for word in asked.state.as_deref().unwrap_or_default().split(',') {
        if !word.is_empty() {
            query
                .states
                .push(word.parse::<SessionState>().map_err(wrong)?);
        }
    }
    query.text = asked.q.filter(|text| !text.is_empty());
    query.archived = match asked.archived.as_deref() {
        None | Some("" | "false") => Archived::Hide,
        Some("true") => Archived::Only,
        Some("any") => Archived::Any,
        Some(_) => {
            return Err(wrong(
                "archived must be `true`, `false` or `any`".to_owned(),
            ));
        }
    };
    query.limit = asked
        .limit
        .unwrap_or(100)
        .clamp(1, falconer_store::MAX_PAGE);
    let cursor = asked.cursor.filter(|cursor| !cursor.is_empty());
    query.cursor = cursor
        .map(|cursor| cursor.parse::<Cursor>())
        .transpose()
        .map_err(wrong)?;
    Ok(query)
}

/// Make a session, with a first message if there is one
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", request_body = CreateSession,
    responses((status = 201, description = "The session", body = Session)))]
pub(crate) async fn create_session(
    State(app): State<Arc<App>>,
    principal: Principal,
    Json(asked): Json<CreateSession>,
) -> Result<Created, Problem> {
    let mode = asked.mode.as_deref().unwrap_or("default");
    check_mode(&app, &principal, mode)?;
    if let Some(isolation) = &asked.isolation {
        principal.need_isolation(isolation)?;
    }
    if asked
        .options
        .as_ref()
        .is_some_and(SessionOptions::asks_less)
    {
        principal.need(Scope::Approve)?;
    }
    let mut new = NewSession::new(
        asked.engine.as_deref().unwrap_or("auto"),
        app.roots.directory(&asked.cwd)?,
    );
    if let Some(id) = &asked.id {
        let wrong = |_| Problem::new(Code::InvalidValue, "a session id must be a UUID");
        let id = uuid::Uuid::parse_str(id).map_err(wrong)?;
        new.id = Some(SessionId::from(id.to_string()));
    }
    new.title = asked.title;
    new.model = asked.model;
    mode.clone_into(&mut new.mode);
    let mut config = json!({});
    if let Some(limits) = &asked.limits {
        config["limits"] = serde_json::to_value(limits).unwrap_or(Value::Null);
    }
    if let Some(isolation) = &asked.isolation {
        config["isolation"] = serde_json::to_value(isolation).unwrap_or(Value::Null);
    }
    if let Some(options) = &asked.options {
        config["options"] = serde_json::to_value(options).unwrap_or(Value::Null);
    }
    if let Some(profile) = &asked.profile {
        if app.hub.profile_asks_less(profile).await? {
            principal.need(Scope::Approve)?;
        }
        config["profile"] = json!(profile);
    }
    new.config = config;
    let first = asked
        .message
        .map(|message| new_message(message, &principal))
        .transpose()?;
    let hub = app.hub.clone();
    let work = async move {
        let session = hub.create(new).await?;
        let Some(first) = first else {
            return Ok(session);
        };
        match hub.send(&session.id, first).await {
            Ok(_) => hub
                .store()
                .session(&session.id)
                .await
                .map_err(Problem::from),
            Err(error) => {
                // A session whose first message failed would only be in the way.
                let _ = hub.delete(&session.id).await;
                Err(Problem::from(error))
            }
        }
    };
    let session = app.finish(work).await??;
    let detail = json!({"engine": session.engine, "cwd": session.cwd, "mode": session.mode,
        "isolation": session.config.get("isolation"), "profile": session.config.get("profile")});
    app.audit(&principal, "session.create", Some(&session.id), detail)
        .await;
    Ok(created(Session::from(session)))
}

fn created(session: Session) -> Created {
    let place = [(header::LOCATION, session.url.clone())];
    (StatusCode::CREATED, place, axum::Json(session))
}

/// Refuses a mode nobody knows, one that needs another right, and bypass mode where it is off.
fn check_mode(app: &App, principal: &Principal, mode: &str) -> Result<(), Problem> {
    if !MODES.contains(&mode) {
        let text = format!(
            "`{mode}` is no permission mode; there are {}",
            MODES.join(", ")
        );
        return Err(Problem::new(Code::InvalidValue, text));
    }
    if mode == BYPASS && app.config.bypass == Bypass::Forbidden {
        let text = "the mode bypassPermissions is not allowed on this server";
        return Err(Problem::new(Code::BypassNotAllowed, text));
    }
    principal.need_mode(mode)
}

/// One session
#[utoipa::path(get, path = "/v1/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "The session", body = Session)))]
pub(crate) async fn get_session(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<axum::Json<Session>, Problem> {
    let session = app.store.session(&id.into()).await?;
    Ok(axum::Json(session.into()))
}

/// Change title, model, mode, or where it is shown
#[utoipa::path(patch, path = "/v1/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, description = "The session")), request_body = ChangeSession,
    responses((status = 200, description = "The session as it is now", body = Session)))]
pub(crate) async fn change_session(
    State(app): State<Arc<App>>,
    principal: Principal,
    Path(id): Path<String>,
    Json(asked): Json<ChangeSession>,
) -> Result<axum::Json<Session>, Problem> {
    if let Some(mode) = &asked.mode {
        check_mode(&app, &principal, mode)?;
    }
    let id = SessionId::from(id);
    let detail = json!({"model": asked.model, "mode": asked.mode, "title": asked.title});
    let mut change = Change::default();
    change.title = asked.title;
    change.model = asked.model;
    change.mode = asked.mode;
    change.pinned = asked.pinned;
    change.archived = asked.archived;
    let (hub, session) = (app.hub.clone(), id.clone());
    let work = async move { hub.change(&session, change).await };
    let record = app.finish(work).await??;
    app.audit(&principal, "session.change", Some(&id), detail)
        .await;
    Ok(axum::Json(record.into()))
}

/// End a session and forget everything about it but the audit
#[utoipa::path(delete, path = "/v1/sessions/{id}", tag = "sessions",
    params(("id" = String, Path, description = "The session")),
    responses((status = 204, description = "It is gone")))]
pub(crate) async fn delete_session(
    State(app): State<Arc<App>>,
    principal: Principal,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let id = SessionId::from(id);
    // An unknown session has no keeper and needs none.
    app.store.session(&id).await?;
    let (hub, session) = (app.hub.clone(), id.clone());
    app.finish(async move { hub.delete(&session).await })
        .await??;
    app.audit(&principal, "session.delete", Some(&id), Value::Null)
        .await;
    Ok(StatusCode::NO_CONTENT)
}

/// Make a session that goes on from here on its own
#[utoipa::path(post, path = "/v1/sessions/{id}/fork", tag = "sessions",
    params(("id" = String, Path, description = "The session")), request_body = ForkSession,
    responses((status = 201, description = "The new session", body = Session)))]
pub(crate) async fn fork_session(
    State(app): State<Arc<App>>,
    principal: Principal,
    Path(id): Path<String>,
    Json(asked): Json<ForkSession>,
) -> Result<Created, Problem> {
    let id = SessionId::from(id);
    let session = app.store.session(&id).await?;
    check_mode(&app, &principal, &session.mode)?;
    if asked.at.is_some_and(|at| at != session.head) {
        let text = format!(
            "a session is forked at its end, which is event {}",
            session.head
        );
        return Err(Problem::new(Code::InvalidValue, text));
    }
    let hub = app.hub.clone();
    let work = async move { hub.fork(&id, asked.title).await };
    let session = app.finish(work).await??;
    let detail = json!({"parent": session.parent});
    app.audit(&principal, "session.fork", Some(&session.id), detail)
        .await;
    Ok(created(session.into()))
}

/// End the agent; the session takes no messages until it is resumed
#[utoipa::path(post, path = "/v1/sessions/{id}/close", tag = "sessions",
    params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "The session as it is now", body = Session)))]
pub(crate) async fn close_session(
    State(app): State<Arc<App>>,
    principal: Principal,
    Path(id): Path<String>,
) -> Result<axum::Json<Session>, Problem> {
    let id = SessionId::from(id);
    app.store.session(&id).await?;
    let (hub, session) = (app.hub.clone(), id.clone());
    let record = app
        .finish(async move { hub.close(&session).await })
        .await??;
    app.audit(&principal, "session.close", Some(&id), Value::Null)
        .await;
    Ok(axum::Json(record.into()))
}

/// Start the agent again, with its own conversation; what is queued goes on
#[utoipa::path(post, path = "/v1/sessions/{id}/resume", tag = "sessions",
    params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "The session as it is now", body = Session)))]
pub(crate) async fn resume_session(
    State(app): State<Arc<App>>,
    principal: Principal,
    Path(id): Path<String>,
) -> Result<axum::Json<Session>, Problem> {
    let id = SessionId::from(id);
    let session = app.store.session(&id).await?;
    // The root it was made below may have been taken away since.
    app.roots.directory(&session.cwd)?;
    let (hub, session) = (app.hub.clone(), id.clone());
    let record = app
        .finish(async move { hub.resume(&session).await })
        .await??;
    app.audit(&principal, "session.resume", Some(&id), Value::Null)
        .await;
    Ok(axum::Json(record.into()))
}

/// End the turn under way; what is queued runs next
#[utoipa::path(post, path = "/v1/sessions/{id}/interrupt", tag = "sessions",
    params(("id" = String, Path, description = "The session")),
    responses((status = 202, description = "The agent was told")))]
pub(crate) async fn interrupt_session(
    State(app): State<Arc<App>>,
    principal: Principal,
    Path(id): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    let id = SessionId::from(id);
    app.store.session(&id).await?;
    let (hub, session) = (app.hub.clone(), id.clone());
    app.finish(async move { hub.interrupt(&session).await })
        .await??;
    app.audit(&principal, "session.interrupt", Some(&id), Value::Null)
        .await;
    Ok(StatusCode::ACCEPTED)
}

/// Stop one background task; the rest goes on
#[utoipa::path(post, path = "/v1/sessions/{id}/tasks/{task}/stop", tag = "sessions",
    params(("id" = String, Path, description = "The session"),
        ("task" = String, Path, description = "The task, as `task.started` names it")),
    responses((status = 202, description = "The agent was told")))]
pub(crate) async fn stop_task(
    State(app): State<Arc<App>>,
    principal: Principal,
    Path((id, task)): Path<(String, String)>,
) -> Result<impl IntoResponse, Problem> {
    let id = SessionId::from(id);
    app.store.session(&id).await?;
    let detail = json!({"task": task});
    let (hub, session) = (app.hub.clone(), id.clone());
    app.finish(async move { hub.stop_task(&session, task).await })
        .await??;
    app.audit(&principal, "task.stop", Some(&id), detail).await;
    Ok(StatusCode::ACCEPTED)
}
