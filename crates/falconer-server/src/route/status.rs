//! How the server is.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::api::Health;
use crate::app::App;
use crate::problem::Problem;

/// Whether the process answers
#[utoipa::path(get, path = "/health", tag = "status",
    responses((status = 200, description = "It does", body = Health)))]
pub(crate) async fn health() -> axum::Json<Health> {
    axum::Json(Health {
        status: "ok".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Whether it can do its work: shown by reading and writing the store
#[utoipa::path(get, path = "/ready", tag = "status",
    responses((status = 200, description = "It can", body = Health),
        (status = 503, description = "It cannot", body = Health)))]
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Response {
    let (status, text) = match app.is_ready().await {
        _ if app.end.is_cancelled() => (StatusCode::SERVICE_UNAVAILABLE, "stopping".to_owned()),
        Ok(()) => (StatusCode::OK, "ok".to_owned()),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
    };
    let health = Health {
        status: text,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    (status, axum::Json(health)).into_response()
}

/// Counters for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "status",
    responses((status = 200, description = "OpenMetrics", body = String, content_type = "application/openmetrics-text")))]
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let counts = app.store.counts().await?;
    let text = app.metrics.text(&counts, app.open_streams());
    let text = text.map_err(|error| Problem::internal("write the metrics", error))?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

/// This description
#[utoipa::path(get, path = "/openapi.json", tag = "status",
    responses((status = 200, description = "OpenAPI 3.1", body = Object)))]
pub(crate) async fn openapi(State(app): State<Arc<App>>) -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (kind, app.openapi.clone()).into_response()
}
