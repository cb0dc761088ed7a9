//! Reading requests: JSON bodies, query strings and raw bodies, within size and time, with errors
//! of ours.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::problem::{Code, Problem};

/// A JSON body. An empty one counts as `{}`.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let body = read(request, app, app.config.caps.body).await?;
        let text: &[u8] = if body.is_empty() { b"{}" } else { &body };
        match serde_json::from_slice(text) {
            Ok(value) => Ok(Self(value)),
            Err(error) if error.is_data() => {
                Err(Problem::new(Code::InvalidValue, error.to_string()))
            }
            Err(error) => Err(Problem::new(Code::InvalidJson, error.to_string())),
        }
    }
}

/// The query string.
#[derive(Debug)]
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Problem> {
        Query::try_from_uri(&parts.uri)
            .map(|Query(value)| Self(value))
            .map_err(|error| Problem::new(Code::InvalidValue, error.body_text()))
    }
}

/// The body of a request, if it is not larger than `most` and arrives in time.
pub(crate) async fn read(request: Request, app: &App, most: usize) -> Result<Bytes, Problem> {
    let too_large = || {
        Problem::new(
            Code::TooLarge,
            format!("the body is larger than {most} bytes"),
        )
    };
    let announced = (request.headers())
        .get(axum::http::header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > most as u64) {
        return Err(too_large());
    }
    let body = axum::body::to_bytes(request.into_body(), most);
    let late = || Problem::new(Code::Timeout, "the body took too long to arrive");
    match tokio::time::timeout(app.config.caps.body_time, body).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) => {
            if is_too_large(&error) {
                Err(too_large())
            } else {
                Err(Problem::new(Code::InvalidJson, "the body is incomplete"))
            }
        }
        Err(_) => Err(late()),
    }
}

fn is_too_large(error: &axum::Error) -> bool {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = source {
        if error.to_string().contains("length limit exceeded") {
            return true;
        }
        source = error.source();
    }
    false
}
