//! Streams.

use std::sync::Arc;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::auth::principal::Principal;
use crate::input::Asked;
use crate::problem::{Code, Problem};
use crate::stream::feed::{Feed, last_seen};
use crate::stream::overview::Overview;
use crate::stream::{socket, sse};

/// The largest message a client may send on a WebSocket.
const LARGEST: usize = 2 << 20;

/// Where to go on.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Follow {
    /// The number of the last event you have; `Last-Event-ID` counts more.
    #[param(format = "uint64")]
    after: Option<u64>,
}

/// Follow a session: `hello`, then `event`, `delta`, `session`, `ping`
#[utoipa::path(get, path = "/v1/sessions/{id}/stream", tag = "events", params(Follow,
        ("id" = String, Path, description = "The session"),
        ("Last-Event-ID" = Option<String>, Header, description = "The number of the last event you have")),
    responses((status = 200, description = "Server-sent events", body = String, content_type = "text/event-stream")))]
pub(crate) async fn follow_session(
    State(app): State<Arc<App>>,
    principal: Principal,
    Path(id): Path<String>,
    Asked(asked): Asked<Follow>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let header = headers
        .get("last-event-id")
        .map(|value| value.to_str().unwrap_or("?"));
    let after = last_seen(header, asked.after)?;
    let feed = Feed::open(app, principal, id.into(), after).await?;
    Ok(sse::respond(feed))
}

/// Follow everything: `hello`, then `session`, `request`, `gone`, `ping`
#[utoipa::path(get, path = "/v1/stream", tag = "events",
    responses((status = 200, description = "Server-sent events", body = String, content_type = "text/event-stream")))]
pub(crate) async fn follow_everything(
    State(app): State<Arc<App>>,
    principal: Principal,
) -> Result<Response, Problem> {
    Ok(sse::respond(Overview::open(app, principal).await?))
}

/// A WebSocket that carries both directions
#[utoipa::path(get, path = "/v1/ws", tag = "events",
    responses((status = 101, description = "Frames as JSON; see the documentation")))]
pub(crate) async fn open_socket(
    State(app): State<Arc<App>>,
    principal: Principal,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|error| {
        Problem::new(
            Code::InvalidValue,
            format!("this is no WebSocket handshake: {error}"),
        )
    })?;
    let place = app.stream_place()?;
    let work = app.work.clone();
    let upgrade = upgrade.max_message_size(LARGEST).max_frame_size(LARGEST);
    Ok(upgrade.on_upgrade(move |socket| async move {
        let _ = work
            .track_future(socket::run(app, principal, socket, place))
            .await;
    }))
}
