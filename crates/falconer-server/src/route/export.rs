//! A session to take away: as JSONL, byte for byte, or as Markdown, to read.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use falconer_store::{EventQuery, SessionId};
use futures_util::stream;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::input::Asked;
use crate::markdown;
use crate::problem::{Code, Problem};

/// How.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Export {
    /// `jsonl` (default) or `markdown`.
    format: Option<String>,
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Jsonl,
    Markdown,
}

/// The whole session as a file
#[utoipa::path(get, path = "/v1/sessions/{id}/export", tag = "sessions", params(Export,
        ("id" = String, Path, description = "The session")),
    responses((status = 200, description = "All events, one per line, or a readable text", body = String, content_type = "application/x-ndjson")))]
pub(crate) async fn export_session(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Asked(asked): Asked<Export>,
) -> Result<Response, Problem> {
    let (format, kind, end) = match asked.format.as_deref() {
        None | Some("jsonl") => (Format::Jsonl, "application/x-ndjson", "jsonl"),
        Some("markdown") => (Format::Markdown, "text/markdown; charset=utf-8", "md"),
        Some(_) => {
            return Err(Problem::new(
                Code::InvalidValue,
                "format must be `jsonl` or `markdown`",
            ));
        }
    };
    let id = SessionId::from(id);
    let session = app.store.session(&id).await?;
    let first = match format {
        Format::Jsonl => String::new(),
        Format::Markdown => markdown::heading(&session),
    };
    let first = stream::once(async move { Ok::<_, Infallible>(Bytes::from(first)) });
    let rest = stream::unfold(Some(0), move |after| {
        let (app, id) = (Arc::clone(&app), id.clone());
        async move {
            let page = app
                .store
                .events(&id, EventQuery::after(after?))
                .await
                .ok()?;
            let last = page.events.last()?.seq;
            let mut text = String::new();
            for event in &page.events {
                match format {
                    Format::Jsonl => {
                        text.push_str(&event.json);
                        text.push('\n');
                    }
                    Format::Markdown => markdown::write(&mut text, &event.json),
                }
            }
            Some((Ok(Bytes::from(text)), page.more.then_some(last)))
        }
    });
    let name = format!("attachment; filename=\"session.{end}\"");
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, name),
    ];
    let body = Body::from_stream(futures_util::StreamExt::chain(first, rest));
    Ok((headers, body).into_response())
}
