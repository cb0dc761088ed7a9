//! Events by page.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use falconer_store::{EventPage, EventQuery, MAX_PAGE, SessionId};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::EventList;
use crate::app::App;
use crate::input::Asked;
use crate::problem::Problem;

/// Which events.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListEvents {
    /// Those with a higher number.
    #[param(format = "uint64")]
    after: Option<u64>,
    /// How many at most.
    limit: Option<usize>,
    /// Types, separated by commas.
    types: Option<String>,
}

/// What happened in a session, in order
#[utoipa::path(get, path = "/v1/sessions/{id}/events", tag = "events", params(ListEvents,
        ("id" = String, Path, description = "The session")),
    responses((status = 200, description = "A page of events", body = EventList)))]
pub(crate) async fn list_events(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Asked(asked): Asked<ListEvents>,
) -> Result<Response, Problem> {
    let types = asked.types.unwrap_or_default();
    let kinds = types
        .split(',')
        .filter(|kind| !kind.is_empty())
        .map(str::to_owned);
    let query = EventQuery::after(asked.after.unwrap_or(0))
        .limit(asked.limit.unwrap_or(500).clamp(1, MAX_PAGE))
        .kinds(kinds.collect());
    let page = app.store.events(&SessionId::from(id), query).await?;
    let kind = [(header::CONTENT_TYPE, "application/json")];
    Ok((kind, written(&page)).into_response())
}

/// The page with each event exactly as it is stored.
fn written(page: &EventPage) -> String {
    let size: usize = page.events.iter().map(|event| event.json.len() + 1).sum();
    let mut out = String::with_capacity(size + 60);
    out.push_str("{\"events\":[");
    for (index, event) in page.events.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&event.json);
    }
    out.push_str(&format!(
        "],\"head\":{},\"more\":{}}}",
        page.head, page.more
    ));
    out
}
