//! Streams as server-sent events.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;

use crate::stream::feed::Feed;
use crate::stream::frame::{Frame, sse};
use crate::stream::overview::Overview;

/// How soon a client comes back, in milliseconds.
const RETRY: &[u8] = b"retry: 1000\n\n";

/// Something that goes on saying things.
pub(crate) trait Source: Send + 'static {
    fn next(&mut self) -> impl Future<Output = Option<Vec<Frame>>> + Send;
}

impl Source for Feed {
    async fn next(&mut self) -> Option<Vec<Frame>> {
        Self::next(self).await
    }
}

impl Source for Overview {
    async fn next(&mut self) -> Option<Vec<Frame>> {
        Self::next(self).await
    }
}

/// The answer that goes on as long as the source does. Nothing is read before the client has
/// taken what was read before.
pub(crate) fn respond(source: impl Source) -> Response {
    let first = stream::once(async { Ok::<_, Infallible>(Bytes::from_static(RETRY)) });
    let rest = stream::unfold(source, |mut source| async move {
        let frames = source.next().await?;
        Some((Ok(sse(&frames)), source))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Proxies that collect answers before they pass them on are told not to.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    let body = Body::from_stream(futures_util::StreamExt::chain(first, rest));
    (headers, body).into_response()
}
